"""What a loop is given, checked: a mistake in a call is named before anything is built or moves."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

import hyloop.integrators
from hyloop.core import Param
from hyloop.errors import BadInput, BadShape, UnknownName
from hyloop.hazards.loads import LoadHistory
from hyloop.hazards.motion import GroundMotion
from hyloop.integrators import Method
from hyloop.loop.chains import coupled_blocks
from hyloop.loop.limits import Limits
from hyloop.loop.site import FreeBlock, Site
from hyloop.structure import Structure

METHODS = [name for name in hyloop.integrators.__all__ if name.islower()]

__all__ = ["bounds", "check_parts", "excitation_rows", "joined", "vector"]

_HISTORIES = (GroundMotion, LoadHistory)


def check_parts(structure: Any, sites: Any, method: Any, blocks: Any, limits: Any) -> None:
    """Refuse parts of another kind."""
    if not isinstance(structure, Structure):
        advice = "; call its structure()" if hasattr(structure, "structure") else ""
        raise BadInput(f"structure must be a Structure, got {_kind(structure)}{advice}.")
    if not isinstance(method, Method):
        advice = f"; call it: {method.__name__}()" if callable(method) and hasattr(method, "__name__") else ""
        if isinstance(method, str):  # as in a file, where methods are named
            found = next(iter(get_close_matches(method, METHODS, n=1)), "mkr_alpha")
            advice = f". In Python it is a function: from hyloop.integrators import {found}; method={found}()"
        raise BadInput(f"method must be an integration method such as mkr_alpha(), got {_kind(method)}{advice}.")
    if limits is not None and not isinstance(limits, Limits):
        raise BadInput(f"limits must be Limits(...), got {_kind(limits)}.")
    for name, given, kind in (("sites", sites, Site), ("blocks", blocks, FreeBlock)):
        if not isinstance(given, (list, tuple)) or not all(isinstance(item, kind) for item in given):
            raise BadInput(f"{name} must be a list of {kind.__name__}(...), got {_kind(given)}.")


def _kind(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return f"a {type(value).__name__} of {', '.join(sorted({type(item).__name__ for item in value})) or 'nothing'}"
    return f"{value!r}" if isinstance(value, (str, int, float)) else f"a {type(value).__name__}"


def excitation_rows(excitation: Any, structure: Structure, dt: float, allow_empty: bool = False) -> np.ndarray:
    """Excitations as finite numbers in one piece: a row for each step, a column for each excitation."""
    wanted = structure.influence.shape[1] + structure.loads.shape[1]
    if isinstance(excitation, _HISTORIES):
        excitation = joined(structure, [excitation], dt)
    elif isinstance(excitation, (list, tuple)) and any(isinstance(one, _HISTORIES) for one in excitation):
        excitation = joined(structure, excitation, dt)
    try:
        rows = np.asarray(excitation, dtype=float)
    except (TypeError, ValueError) as error:
        raise BadInput(f"excitation must be numbers, got {_kind(excitation)}.") from error
    rows = rows[:, None] if rows.ndim == 1 else rows
    if rows.ndim != 2 or rows.shape[1] != wanted or (len(rows) == 0 and not allow_empty):
        raise BadShape(
            f"excitation must have one row for each step and {wanted} column(s), got shape {np.shape(excitation)}."
        )
    bad = ~np.isfinite(rows)
    if bad.any():
        row = int(np.argwhere(bad)[0, 0])
        raise BadShape(
            f"excitation: {int(bad.sum())} value(s) are not finite, the first in row {row} "
            f"(t = {row * dt:g} s). Repair the record."
        )
    return np.ascontiguousarray(rows)


def joined(structure: Structure, histories: Sequence[Any], dt: float) -> np.ndarray:
    """Rows of ground motions, one for each direction or none, and of load histories; what is shorter ends in zeros."""
    for one in histories:
        if not isinstance(one, _HISTORIES):
            raise BadInput(f"excitation: a list holds GroundMotion and LoadHistory, got {_kind(one)}.")
    motions = [one.resampled(dt).a for one in histories if isinstance(one, GroundMotion)]
    loads = [one.resampled(dt) for one in histories if isinstance(one, LoadHistory)]
    directions = structure.influence.shape[1]
    if motions and len(motions) != directions:
        raise BadShape(
            f"excitation: {len(motions)} ground motion(s) for {directions} direction(s) of the ground; give one for "
            "each, in their order."
        )
    rows = np.zeros((max(map(len, (*motions, *loads))), directions + structure.loads.shape[1]))
    for k, a in enumerate(motions):
        rows[: len(a), k] = a
    place = {name: directions + k for k, name in enumerate(structure.load_names)}
    for load in loads:
        for name, column in zip(load.at, load.values.T, strict=True):
            if name not in place:
                hint = "; add it: structure.with_loads(history)" if not place else ""
                raise UnknownName("load", name, place, f"loads '{load.name}'{hint}")
            rows[: len(column), place[name]] += column
    return rows


def bounds(sites: Sequence[Site], blocks: Sequence[FreeBlock]) -> dict[str, Param]:
    """Parameters that can be changed, by channel, with what they may be."""
    found = {}
    for site in sites:
        for role, instance in site.chain.items():
            if role != "device" or site.shares is None:
                found |= {f"{site.prefix(role)}.{key}": spec for key, spec in instance.block.params.items()}
    for other in (*(free for free in blocks if free.shares is None), *coupled_blocks(sites)):
        found |= {f"{other.name}.{key}": spec for key, spec in other.block.block.params.items()}
    return found


def vector(name: str, given: Any, n: int) -> np.ndarray:
    """n finite numbers; zeros where nothing is given."""
    found = np.zeros(n) if given is None else np.array(given, dtype=float)
    if found.shape != (n,) or not np.isfinite(found).all():
        raise BadShape(f"{name} must be {n} finite numbers, got {given!r}.")
    return found
