"""Regular plane frames: bays, stories and sections in, a `Model` out."""

from collections.abc import Sequence
from itertools import pairwise
from string import ascii_uppercase
from typing import Any

import numpy as np

from hyloop.errors import BadInput, BadShape, OutOfBounds
from hyloop.structure.frames.model import Model

__all__ = ["plane_frame"]


def plane_frame(
    bays: Any,
    heights: Any,
    columns: Any,
    beams: Any,
    *,
    masses: Any = None,
    gravity: Any = None,
    leaning: Any = None,
    base: str | Sequence[str] = "fixed",
    joints: tuple[float, float] = (0.0, 0.0),
    column_hinges: float | None = None,
    beam_hinges: float | None = None,
    column_interior: Any = None,
    beam_interior: Any = None,
    rigid_floors: bool = False,
    pdelta: bool = True,
) -> Model:
    """A moment frame. Column lines are A, B, ... from the left and levels 0, 1, ... from the ground: node ``"B2"``.

    Members are called ``"column A1"`` (below level 1) and ``"beam A1-B1"``.

    Parameters
    ----------
    bays, heights : float or sequence of float
        Widths of the bays and heights of the stories in m, between the axes.
    columns, beams : section or sequence of sections
        One for all stories, or one for each from the bottom to the top. A `FibreSection` makes force-based members,
        an `ElasticSection` elastic ones.
    masses : float or sequence of float, optional
        Mass of each floor in kg, spread over its nodes by the width each of them carries; it moves in x and y.
    gravity : float or sequence of float, optional
        Dead load of each floor in N, spread in the same way.
    leaning : float or sequence of float, optional
        Load of each floor in N that stands on columns outside this frame and leans on it. It has a P-Delta effect
        only, at column line A (or at the floors, where they are rigid).
    base : str or sequence of str
        Support of all columns: "fixed", "pinned" or degrees of freedom.
    joints : (float, float)
        Width of the columns and depth of the beams in m, within which joints are rigid.
    column_hinges, beam_hinges : float, optional
        Lengths of the plastic hinges in m, for fibre sections. Default: fibres all along.
    column_interior, beam_interior : ElasticSection, optional
        Section between the hinges. Default: the uncracked one.
    rigid_floors : bool
        One horizontal displacement for each floor, that of ``"floor1"``, ... Beams of fibres then feel the axial
        force that keeps them from growing when they crack.
    pdelta : bool
        P-Delta of the columns: of the present axial force with fibres, of the dead load with elastic ones.

    Examples
    --------
    >>> from hyloop.structure.fibres.sections import ElasticSection
    >>> concrete = ElasticSection(E=25e9, A=0.16, Iz=0.16 * 0.4**2 / 12)
    >>> model = plane_frame(6.0, [3.5, 3.0], concrete, concrete, masses=2e4)
    >>> model.structure().modes().periods[:2].round(3)
    array([0.387, 0.105])
    """
    widths, stories = _lengths("bays", bays), _lengths("heights", heights)
    if len(widths) >= len(ascii_uppercase):
        raise BadShape(f"plane_frame: {len(widths)} bays; at most {len(ascii_uppercase) - 1} have letters.")
    if len(joints) != 2 or min(joints) < 0.0:
        raise OutOfBounds(
            f"plane_frame: joints = {joints!r}; give the width of the columns and the depth of the beams."
        )
    count = len(stories)
    column_of, beam_of = (_by_story(*pair, count) for pair in (("columns", columns), ("beams", beams)))
    floor_mass, floor_load, floor_leaning = (
        _by_floor(*pair, count) for pair in (("masses", masses), ("gravity", gravity), ("leaning", leaning))
    )
    x, y = np.concatenate([[0.0], np.cumsum(widths)]), np.concatenate([[0.0], np.cumsum(stories)])
    lines = ascii_uppercase[: len(x)]
    share = np.convolve(widths, [0.5, 0.5]) / widths.sum()  # of a floor, by the width a column line carries

    model = Model(dimensions=2)
    for level, height in enumerate(y):
        for line, place in zip(lines, x, strict=True):
            model.node(f"{line}{level}", place, height)
    for line in lines:
        model.support(f"{line}0", base)
    for s in range(1, count + 1):
        if rigid_floors:
            model.diaphragm(f"floor{s}", [f"{line}{s}" for line in lines])
        for line, part in zip(lines, share, strict=True):
            m, P = part * floor_mass[s - 1], part * floor_load[s - 1]
            if m > 0.0:
                model.mass(f"{line}{s}", ux=m, uy=m)
            if P > 0.0:
                model.load(f"{line}{s}", uy=-P)
            above = part * floor_load[s - 1 :].sum()
            ends = (0.0 if s == 1 else joints[1] / 2, joints[1] / 2)
            nodes, parts = (f"{line}{s - 1}", f"{line}{s}"), (column_hinges, column_interior)
            _member(model, f"column {line}{s}", nodes, column_of[s - 1], ends, parts, above if pdelta else None)
        for left, right in pairwise(lines):
            ends = (joints[0] / 2, joints[0] / 2)
            nodes, parts = (f"{left}{s}", f"{right}{s}"), (beam_hinges, beam_interior)
            _member(model, f"beam {left}{s}-{right}{s}", nodes, beam_of[s - 1], ends, parts, None)
        if leaning is not None:
            floor = "floor" if rigid_floors else "A"
            lower = "A0" if s == 1 else f"{floor}{s - 1}"
            model.lean_on(f"leaning {s}", lower, f"{floor}{s}", floor_leaning[s - 1 :].sum())
    return model


def _member(
    model: Model,
    name: str,
    ends: tuple[str, str],
    section: Any,
    rigid: tuple[float, float],
    parts: tuple[float | None, Any],
    compression: float | None,
) -> None:
    """A member with its hinges and interior, where its section has fibres; `compression` in N asks for P-Delta."""
    hinges, interior = parts
    if hasattr(section, "Iz"):
        if hinges is not None or interior is not None:
            raise BadInput(
                f"plane_frame: {name}: hinges and interior belong to fibre sections; its section is elastic."
            )
        force = compression if compression is not None and compression > 0.0 else None
        model.elastic(name, *ends, section, offsets=rigid, axial_force=force)
    else:
        lengths = None if hinges is None else (hinges, hinges)
        model.fibre(
            name, *ends, section, hinges=lengths, interior=interior, offsets=rigid, pdelta=compression is not None
        )


def _lengths(name: str, given: Any) -> np.ndarray:
    values = np.atleast_1d(np.asarray(given, dtype=float))
    if values.ndim != 1 or len(values) == 0 or not (np.isfinite(values).all() and values.min() > 0.0):
        raise OutOfBounds(f"plane_frame: {name} = {given!r} must be positive lengths in m.")
    return values


def _by_story(name: str, given: Any, count: int) -> list[Any]:
    sections = list(given) if isinstance(given, (list, tuple)) else [given] * count
    if len(sections) != count:
        raise BadShape(f"plane_frame: {len(sections)} {name} for {count} stories; give one section, or one for each.")
    return sections


def _by_floor(name: str, given: Any, count: int) -> np.ndarray:
    values = np.atleast_1d(np.asarray(0.0 if given is None else given, dtype=float))
    if values.shape not in ((1,), (count,)) or not (np.isfinite(values).all() and values.min() >= 0.0):
        raise OutOfBounds(
            f"plane_frame: {name} = {given!r}; give one number, or one for each of the {count} floors, "
            "none of them negative."
        )
    return np.broadcast_to(values, count)
