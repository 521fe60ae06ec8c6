"""Limits in experiment files: what stops a run."""

from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import PlainValidator, WithJsonSchema

from hyloop.errors import BadInput
from hyloop.files.fields import Quantity, Table
from hyloop.files.units import quantity
from hyloop.loop import Drift
from hyloop.loop import Limits as LoopLimits
from hyloop.structure import Structure

__all__ = ["Force", "Length", "Limits", "loop_limits"]

Force = Annotated[float, Quantity("N", above=0.0)]
Length = Annotated[float, Quantity("m", above=0.0)]


class MaxDrift(NamedTuple):
    """A story drift: a length in m, or a part of the story's height."""

    value: float
    relative: bool


def _read(given: Any) -> MaxDrift:
    if not isinstance(given, str) or not given.strip(" 0123456789.eE+-/"):
        raise BadInput(f"got {given!r}; give the unit: '2 %' is a part of the story height, '60 mm' a length.")
    relative = "%" in given
    value = quantity(given, "-" if relative else "m")
    if not value > 0.0:
        raise BadInput(f"got {given!r}; it must be positive.")
    return MaxDrift(value, relative)


class Limits(Table):
    """What stops a run. Of sites: for those that have no limit of their own."""

    max_d: Length | None = None
    """Deformation of a device."""
    max_f: Force | None = None
    """Force of a device."""
    max_drift: Annotated[MaxDrift | None, PlainValidator(_read), WithJsonSchema({"type": "string"})] = None
    """Drift of any story: part of its height ("2 %") or length ("60 mm")."""
    max_u: Length | None = None
    """Displacement (rotation) of any degree of freedom, in m (rad); default 10."""
    max_energy: Annotated[float, Quantity("-", above=0.0)] | None = None
    """Kinetic energy, in terms of the most that a passive structure can have; default 4."""


def loop_limits(spec: Limits, frame: Structure) -> LoopLimits:
    """The limits of a loop."""
    given = {key: getattr(spec, key) for key in ("max_u", "max_energy") if getattr(spec, key) is not None}
    if spec.max_drift is None:
        return LoopLimits(**given)
    along = [frame.story(k) for k in range(1, max(len(frame.floors), 1) + 1)]
    value, relative = spec.max_drift
    if relative and not frame.heights:
        raise BadInput(
            "a part of the story height needs heights, which this structure does not have; give a length, "
            "such as '60 mm'."
        )
    sizes = np.broadcast_to(value * np.asarray(frame.heights) if relative else value, len(along))
    drifts = {f"story {k + 1}": Drift(row, float(size)) for k, (row, size) in enumerate(zip(along, sizes, strict=True))}
    return LoopLimits(**given, drifts=drifts)
