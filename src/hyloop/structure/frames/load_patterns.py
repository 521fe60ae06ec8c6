"""How a lateral load is spread over a structure that is pushed, and where its displacement is told."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from hyloop.errors import BadInput, BadShape, OutOfBounds, UnknownName
from hyloop.structure.structure import Structure

__all__ = ["PATTERNS", "LoadPattern", "dof_heights", "load_pattern", "roof"]

PATTERNS = ("first_mode", "uniform", "triangle")


class LoadPattern(NamedTuple):
    """Loads of one unit of the load factor.

    Attributes
    ----------
    load : ndarray, (n,)
        Brought to a base shear of one, so that the load factor is the base shear in N; as given where its loads have
        no base shear, such as a moment about the vertical axis.
    along : ndarray, (n,)
        Displacement of every degree of freedom when the ground moves by one that way: ``along @ load`` is the base
        shear of one unit.
    """

    load: np.ndarray
    along: np.ndarray


def roof(structure: Structure) -> int:
    """The degree of freedom that is led where none is named: the highest floor, or what moves most in mode 1."""
    if structure.floors:
        return structure.dof(structure.floors[-1])
    moves = structure.influence.any(axis=1)
    shape = np.abs(structure.modes(count=1).shapes[:, 0]) * (moves if moves.any() else 1.0)
    return int(np.argmax(shape))


def dof_heights(structure: Structure) -> np.ndarray:
    """Height of every degree of freedom in m, known for those of the floors; nan elsewhere."""
    heights = np.full(structure.n, np.nan)
    if structure.heights:
        heights[[structure.dof(floor) for floor in structure.floors]] = np.cumsum(structure.heights)
    return heights


def load_pattern(
    structure: Structure, pattern: Any = "first_mode", control: str | int | None = None, heights: Any = None
) -> LoadPattern:
    r"""Loads on all degrees of freedom.

    With :math:`\iota` the influence of the ground motion along which the control degree of freedom moves, loads act
    where :math:`\iota` is not zero:

    ============== =========================================================================================
    ``first_mode`` :math:`M\varphi`, of the mode with the largest effective mass that way, which is mode 1 of
                   most frames
    ``uniform``    :math:`M\iota`, as a constant acceleration
    ``triangle``   :math:`m_i \iota_i h_i`, in proportion to the height as well
    ============== =========================================================================================

    Parameters
    ----------
    pattern : str, mapping of name to number, or array_like, (n,)
        One of these, or loads in any proportion.
    control : str or int, optional
        Default: `roof`.
    heights : array_like, (n,), optional
        Of the degrees of freedom in m, for ``triangle``. Default: those of the floors.
    """
    at = roof(structure) if control is None else structure.dof(control)
    ways = np.abs(structure.influence[at])
    along = structure.influence[:, int(np.argmax(ways))] if ways.any() else np.zeros(structure.n)
    if isinstance(pattern, str):
        if pattern not in PATTERNS:
            raise UnknownName("load pattern", pattern, PATTERNS)
        if not along.any():
            raise BadInput(
                f"pattern '{pattern}': no ground motion moves {structure.names[at]}, so that there is no direction to "
                "push in. Give loads by degree of freedom, or another control."
            )
        load = np.where(along != 0.0, _named(structure, pattern, along, heights), 0.0)
    else:
        load = _given(structure, pattern)
    if not (np.isfinite(load).all() and load.any()):
        raise OutOfBounds("pattern: the loads must be finite and not all zero.")
    shear = float(along @ load)
    # what is left of a sum of loads that cancel is round-off and no base shear
    return LoadPattern(load / shear if abs(shear) > 1e-12 * np.abs(along * load).sum() else load, along)


def _named(structure: Structure, pattern: str, along: np.ndarray, heights: Any) -> np.ndarray:
    inertia = structure.M @ along
    if not inertia.any():
        raise BadInput(f"pattern '{pattern}': nothing has mass in this direction. Give loads by degree of freedom.")
    if pattern == "uniform":
        return inertia
    if pattern == "first_mode":
        shapes = structure.modes().shapes
        return structure.M @ shapes[:, int(np.argmax((shapes.T @ inertia) ** 2))]
    known = dof_heights(structure) if heights is None else np.asarray(heights, dtype=float)
    if known.shape != (structure.n,):
        raise BadShape(f"heights: {structure.n} are needed, one for each degree of freedom; got {known.shape}.")
    missing = np.flatnonzero((inertia != 0.0) & ~np.isfinite(known))
    if len(missing):
        raise BadInput(
            f"pattern 'triangle': the height of {structure.names[missing[0]]} is not known. Give heights, or loads by "
            "degree of freedom."
        )
    return np.where(inertia != 0.0, inertia * np.nan_to_num(known), 0.0)


def _given(structure: Structure, pattern: Any) -> np.ndarray:
    if isinstance(pattern, Mapping):
        load = np.zeros(structure.n)
        for name, value in pattern.items():
            load[structure.dof(name)] = value
        return load
    load = np.array(pattern, dtype=float)
    if load.shape != (structure.n,):
        raise BadShape(f"pattern: {structure.n} loads are needed, one for each degree of freedom; got {load.shape}.")
    return load
