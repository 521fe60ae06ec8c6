"""Load histories in experiment files.

A kind of loads is one class that inherits `LoadTable`, says its `kind` and returns a `LoadHistory` from `own`; it
stands in the union at the end, and files, messages and the JSON Schema then know it.
"""

from abc import abstractmethod
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from hyloop.errors import BadInput, BadShape
from hyloop.files.excitations import check_count, naming
from hyloop.files.fields import Quantity, Table, kinds, refuse, word
from hyloop.files.load_tables import read_loads
from hyloop.files.units import quantity
from hyloop.hazards import LoadHistory, harmonic_load
from hyloop.structure import Structure

__all__ = ["LOADS", "HarmonicLoad", "LoadSpec", "LoadTable", "RampedLoad", "TableLoad", "load_history"]

_ROTATIONS = ("rx", "ry", "rz")
_EXAMPLE = 'as in at = { "roof.ux" = ... } or { "story 3" = ... }'

Ramp = Annotated[float, Quantity("s", low=0.0, high=86400.0)]


class LoadTable(Table):
    """What every kind of loads has."""

    scale: Annotated[float, Quantity("-")] = 1.0
    """Factor on the loads."""

    @abstractmethod
    def own(self, dt: float, seed: int, structure: Structure) -> LoadHistory:
        """The loads before scale and ramps, at `dt` or at a step of their own; `seed` is for these loads alone."""

    def history(self, dt: float, seed: int, structure: Structure) -> LoadHistory:
        """The loads, scaled."""
        return self.own(dt, seed, structure).scaled(self.scale)


class RampedLoad(LoadTable):
    """Loads that may be ramped, as those of wind are."""

    ramp_up: Ramp = 0.0
    """Time in which the loads rise on a line from zero, from the start on."""
    ramp_down: Ramp = 0.0
    """Time in which the loads fall on a line to zero, at the end."""

    def history(self, dt: float, seed: int, structure: Structure) -> LoadHistory:
        return super().history(dt, seed, structure).ramped(self.ramp_up, self.ramp_down)


class TableLoad(RampedLoad):
    """Loads from a file: text with columns, MATLAB, TDMS, Parquet, NumPy (.npz), HDF5 or a recording."""

    kind: Literal["table"]
    file: str
    """File, relative to the experiment file."""
    at: dict[str, Annotated[str, BeforeValidator(word)]]
    """Column (heading or number) by the degree of freedom on which it acts; "story 3" is the floor on top of it."""
    unit: str | None = None
    """Unit of the forces, where the file does not say it."""
    moment_unit: str | None = None
    """Unit of what acts on rotations (rx, ry, rz), where the file does not say it."""
    dt: Annotated[float, Quantity("s", above=0.0)] | None = None
    """Step of the file, where the file does not say it."""
    t: Annotated[str | None, BeforeValidator(word)] = None
    """Column of the times, by name or number; default: t or time."""
    decimal: Literal["comma", "point"] | None = None
    """Decimal sign of a text that does not tell."""

    @model_validator(mode="after")
    def _somewhere(self) -> Self:
        if not self.at:
            refuse("at", BadInput(f"is empty; say where each column acts, {_EXAMPLE}."))
        return self

    def own(self, dt: float, seed: int, structure: Structure) -> LoadHistory:
        wanted = {name: ("N m", self.moment_unit) if is_rotation(name) else ("N", self.unit) for name in self.at}
        return read_loads(Path(self.file), self.at, wanted, dt=self.dt, t=self.t, decimal=self.decimal)


def is_rotation(name: str) -> bool:
    """Whether a degree of freedom of this name turns, so that what acts on it is a moment."""
    return name.rpartition(".")[2] in _ROTATIONS


def _amplitudes(given: Any) -> Any:
    if not isinstance(given, dict) or not given:
        raise BadInput(f"got {given!r}, wanted amplitudes by degree of freedom, {_EXAMPLE}.")
    return {str(name): quantity(value, "N m" if is_rotation(str(name)) else "N", name) for name, value in given.items()}


class HarmonicLoad(LoadTable):
    """A sine at one or several degrees of freedom in whole cycles: ramp up, constant amplitude, ramp down."""

    kind: Literal["harmonic"]
    at: Annotated[dict[str, float], BeforeValidator(_amplitudes)]
    """Amplitude by degree of freedom, in N, at rotations (rx, ry, rz) in N m; "story 3" is the floor on top of it."""
    frequency: Annotated[float, Quantity("Hz", above=0.0)]
    cycles: Annotated[tuple[int, ...], Field(strict=False)] = (2, 10, 3)
    """Cycles of ramp up, of constant amplitude and of ramp down; ramps are lines."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if len(self.cycles) != 3 or min(self.cycles) < 0 or sum(self.cycles) == 0:
            refuse(
                "cycles", BadShape(f"got {list(self.cycles)}; give three numbers that are not all zero: [2, 10, 3].")
            )
        return self

    def own(self, dt: float, seed: int, structure: Structure) -> LoadHistory:
        up, hold, down = self.cycles
        return harmonic_load(self.at, self.frequency, dt, (up, hold, down))


LoadSpec = Annotated[TableLoad | HarmonicLoad, Field(discriminator="kind")]
LOADS = kinds(LoadSpec)


def load_history(name: str, spec: LoadSpec, dt: float, seed: int, structure: Structure) -> tuple[LoadHistory, str]:
    """The loads of a table at the step `dt`, and a note on what they are."""
    own = int(np.random.SeedSequence(seed, spawn_key=tuple(name.encode())).generate_state(1)[0])
    with naming("loads", f"loads.{name}"):
        if isinstance(spec, HarmonicLoad):
            check_count("loads.frequency: the duration", sum(spec.cycles) / spec.frequency, dt)
        history = spec.history(dt, own, structure)
        check_count("loads: the duration", history.duration, dt)
        history = history.resampled(dt)
    k = int(np.argmax(history.peaks))
    peak = f"{history.peaks[k]:.4g} {'N m' if is_rotation(history.at[k]) else 'N'} at {history.at[k]}"
    count = f"{len(history.at)} degree{'s' if len(history.at) > 1 else ''} of freedom"
    decided = "; ".join(str(remark) for remark in history.meta.get("notes", ()))
    said = f"{history.name}{f' ({decided})' if decided else ''}"
    return history, f"excitation: loads {name}: {said} at {count}, peak {peak}, {history.duration:.4g} s"
