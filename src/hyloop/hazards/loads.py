"""Load histories: forces and moments at degrees of freedom, as wind or a shaker gives them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from hyloop.core.jit import Floats
from hyloop.errors import BadInput, BadShape, OutOfBounds
from hyloop.hazards.checks import frequency, positive
from hyloop.hazards.motion import band_limited

__all__ = ["LoadHistory", "harmonic_load"]

_SAME = 1e-9  # relative: steps that differ by less are one step, written with fewer digits


@dataclass(frozen=True, eq=False)
class LoadHistory:
    """Loads at a uniform step, linear between samples.

    Parameters
    ----------
    values : array, (N, k)
        Force in N, at rotations moment in N m: a row for each sample, the first at t = 0, a column for each degree of
        freedom. Copied, and not to be written to. A vector is one column.
    dt : float
        Step in s.
    at : sequence of str
        Degree of freedom of each column by name, or ``"story 3"`` and ``"story 3.uz"`` for the floor on top of a
        story (`hyloop.structure.Structure.place`).
    name : str
        Shown in reports.
    meta : mapping
        Where it came from: file, seed, scale factors.
    """

    values: Floats
    dt: float
    at: Sequence[str]
    name: str = "loads"
    meta: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        where = f"loads '{self.name}'"
        at = (self.at,) if isinstance(self.at, str) else tuple(self.at)
        object.__setattr__(self, "values", _table(where, self.values, at))
        object.__setattr__(self, "dt", positive(where, "dt", self.dt))
        object.__setattr__(self, "at", at)
        object.__setattr__(self, "meta", dict(self.meta))

    def __len__(self) -> int:
        return len(self.values)

    @property
    def time(self) -> Floats:
        """Time of each sample, s."""
        return np.arange(len(self), dtype=np.float64) * self.dt

    @property
    def duration(self) -> float:
        """From the first to the last sample, s."""
        return (len(self) - 1) * self.dt

    @property
    def peaks(self) -> Floats:
        """Largest size of each column, N or N m."""
        return np.abs(self.values).max(axis=0)

    def scaled(self, factor: float) -> "LoadHistory":
        """The loads times `factor`; factors multiply up in ``meta["factor"]``."""
        if not np.isfinite(factor):
            raise OutOfBounds(f"loads '{self.name}': factor = {factor!r} must be finite.")
        meta = {**self.meta, "factor": self.meta.get("factor", 1.0) * float(factor)}
        return replace(self, values=self.values * factor, meta=meta)

    def ramped(self, up: float = 0.0, down: float = 0.0) -> "LoadHistory":
        """Times a factor that rises on a line from 0 to 1 in the first `up` s and falls to 0 in the last `down` s."""
        for key, value in (("up", up), ("down", down)):
            if not 0.0 <= value < np.inf:
                raise OutOfBounds(f"loads '{self.name}': ramp {key} = {value!r} s must be finite and not negative.")
        if up + down > self.duration * (1.0 + _SAME):
            raise OutOfBounds(
                f"loads '{self.name}': ramps of {up:g} s up and {down:g} s down exceed the {self.duration:g} s "
                "of the history. Shorten them."
            )
        return replace(self, values=self.values * _envelope(self.time, up, self.duration - down, down)[:, None])

    def resampled(self, dt: float) -> "LoadHistory":
        """At another step, as `GroundMotion.resampled`; but before and after the history its end values go on.

        A mean load that is there from the first sample on is no impulse, so that filtering must not take it for one.
        """
        dt = positive(f"loads '{self.name}'", "dt", dt)
        if np.isclose(dt, self.dt, rtol=_SAME, atol=0.0):
            return self
        # a hair more than the duration, or rounding would drop the last sample
        times = np.arange(int(self.duration / dt + 1e-9) + 1, dtype=np.float64) * dt
        if dt < self.dt:
            columns = [np.interp(times, self.time, column) for column in self.values.T]
        else:
            columns = [band_limited(column, self.dt, times, dt, held=True) for column in self.values.T]
        return replace(self, values=np.column_stack(columns), dt=dt)

    def __add__(self, other: Any) -> "LoadHistory":
        """Both at once: loads at the same degree of freedom add, and the shorter history is followed by zeros."""
        if not isinstance(other, LoadHistory):
            return NotImplemented
        if not np.isclose(other.dt, self.dt, rtol=_SAME, atol=0.0):
            raise BadInput(
                f"loads '{self.name}' have a step of {self.dt:g} s and '{other.name}' one of {other.dt:g} s; bring "
                "them to one step first: resampled(dt)."
            )
        at = (*self.at, *(name for name in other.at if name not in self.at))
        values = np.zeros((max(len(self), len(other)), len(at)))
        for one in (self, other):
            values[: len(one), [at.index(name) for name in one.at]] += one.values
        parts = [one.meta | {"name": one.name} for one in (self, other)]
        return LoadHistory(values, self.dt, at, f"{self.name} + {other.name}", {"parts": parts})


def harmonic_load(
    at: Mapping[str, float], frequency_hz: float, dt: float, cycles: tuple[int, int, int] = (2, 10, 3), name: str = ""
) -> LoadHistory:
    r"""Sine at one or several degrees of freedom, with whole cycles of ramp up, constant amplitude and ramp down.

    .. math:: F_i(t) = F_{0,i}\, e(t) \sin 2 \pi f t

    with an envelope e that rises on a line from 0 to 1, stays, and falls on a line to 0. The default cycles are those
    of the half-power tests of Al-Subaihawi et al. (2024).

    Parameters
    ----------
    at : mapping of str to float
        Amplitude F₀ in N (at rotations N m) by degree of freedom; negative: against the others.
    frequency_hz : float
        f in Hz.
    dt : float
        Step in s.
    cycles : tuple of int
        Cycles of ramp up, of constant amplitude and of ramp down.
    """
    where = "harmonic load"
    dt = positive(where, "dt", dt)
    f = frequency(where, "frequency_hz", frequency_hz, dt)
    if len(cycles) != 3 or any(c != int(c) or c < 0 for c in cycles) or sum(cycles) < 1:
        raise OutOfBounds(f"{where}: cycles = {tuple(cycles)} must be three whole numbers that are not all zero.")
    up, hold, down = (c / f for c in cycles)
    t = np.arange(round((up + hold + down) / dt) + 1, dtype=np.float64) * dt
    history = _envelope(t, up, up + hold, down) * np.sin(2.0 * np.pi * f * t)
    meta = {"frequency": f, "cycles": tuple(int(c) for c in cycles)}
    values = history[:, None] * np.array(list(at.values()), dtype=np.float64)
    return LoadHistory(values, dt, tuple(at), name or f"harmonic-load-{f:g}Hz", meta)


def _envelope(t: Floats, up: float, end: float, down: float) -> Floats:
    """From 0 to 1 until `up`, 1 until `end`, then to 0 in `down` s, and 0 after that."""
    rise = np.minimum(t / up, 1.0) if up > 0.0 else np.ones_like(t)
    return rise * np.clip(1.0 - (t - end) / down, 0.0, 1.0) if down > 0.0 else rise


def _table(where: str, values: Any, at: tuple[str, ...]) -> Floats:
    """Finite rows with a column for each name, as a copy that cannot be written to."""
    try:
        array = np.array(values, np.float64)
    except (TypeError, ValueError) as error:
        raise BadInput(f"{where}: values must be numbers.") from error
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or len(array) == 0 or array.shape[1] != len(at) or not at:
        raise BadShape(
            f"{where}: values have shape {array.shape} for {len(at)} degree(s) of freedom; give a row for each sample "
            "and a column for each degree of freedom."
        )
    if not all(isinstance(name, str) and name for name in at) or len(set(at)) < len(at):
        raise BadInput(f"{where}: at = {list(at)} must be different names; add columns of one degree of freedom.")
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        row, column = bad[0]
        raise BadShape(
            f"{where}: {len(bad)} value(s) are not finite, the first at sample {row} of '{at[column]}'. Repair it."
        )
    array.flags.writeable = False
    return array
