"""Ground motions: a record of acceleration and what is done with one before a run."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from hyloop.core.jit import Floats
from hyloop.errors import BadInput, OutOfBounds
from hyloop.hazards.checks import positive, samples

__all__ = ["Baseline", "GroundMotion", "band_limited"]

_HALF_WIDTH = 32  # of the downsampling filter, in new samples: a transition band of 0.08 of the new rate
_CUTOFF = 0.46  # of the new rate: the stop band then begins at the new Nyquist frequency
_KAISER = 7.9  # shape of the window for 80 dB


@dataclass(frozen=True)
class Baseline:
    """Velocity (m/s) and displacement (m) by integration from rest: where the record ends and its peaks."""

    end_velocity: float
    end_displacement: float
    peak_velocity: float
    peak_displacement: float

    @property
    def drift(self) -> float:
        """End velocity over peak velocity: near 0 for a sound record, near 1 where an offset was left in it."""
        return abs(self.end_velocity) / self.peak_velocity if self.peak_velocity else 0.0


@dataclass(frozen=True, eq=False)
class GroundMotion:
    """Ground acceleration at a uniform step, linear between samples.

    Parameters
    ----------
    a : array
        Acceleration in m/s2; copied, and not to be written to.
    dt : float
        Step in s.
    name : str
        Shown in reports.
    meta : mapping
        Where it came from: file, unit, seed, scale factors.
    """

    a: Floats
    dt: float
    name: str = "motion"
    meta: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        where = f"motion '{self.name}'"
        object.__setattr__(self, "a", samples(where, "a", self.a))
        object.__setattr__(self, "dt", positive(where, "dt", self.dt))
        object.__setattr__(self, "meta", dict(self.meta))

    def __len__(self) -> int:
        return self.a.size

    @property
    def time(self) -> Floats:
        """Time of each sample, s."""
        return np.arange(self.a.size, dtype=np.float64) * self.dt

    @property
    def duration(self) -> float:
        """From the first to the last sample, s."""
        return (self.a.size - 1) * self.dt

    @property
    def pga(self) -> float:
        """Peak ground acceleration, m/s2."""
        return float(np.abs(self.a).max())

    def velocity(self) -> Floats:
        """Velocity from rest, m/s; exact for acceleration that is linear between samples."""
        return np.concatenate(([0.0], np.cumsum(0.5 * self.dt * (self.a[:-1] + self.a[1:]))))

    def displacement(self) -> Floats:
        """Displacement from rest, m; exact for acceleration that is linear between samples."""
        steps = self.dt * self.velocity()[:-1] + self.dt**2 / 6.0 * (2.0 * self.a[:-1] + self.a[1:])
        return np.concatenate(([0.0], np.cumsum(steps)))

    def _with(self, a: Floats, dt: float | None = None, **note: Any) -> "GroundMotion":
        return replace(self, a=a, dt=self.dt if dt is None else dt, meta={**self.meta, **note})

    def scaled(self, factor: float) -> "GroundMotion":
        """The motion times `factor`; factors multiply up in ``meta["factor"]``."""
        if not np.isfinite(factor):
            raise OutOfBounds(f"motion '{self.name}': factor = {factor!r} must be finite.")
        return self._with(self.a * factor, factor=self.meta.get("factor", 1.0) * float(factor))

    def to_peak(self, peak: float) -> "GroundMotion":
        """Scaled to a peak ground acceleration in m/s2."""
        peak = positive(f"motion '{self.name}'", "peak", peak)
        if self.pga == 0.0:
            raise BadInput(f"motion '{self.name}': is zero throughout and cannot be scaled to a peak.")
        return self.scaled(peak / self.pga)

    def in_model_time(self, length: float) -> "GroundMotion":
        """Time compressed for a model of length scale λ that keeps acceleration: Δt becomes √λ Δt.

        Parameters
        ----------
        length : float
            λ, model over prototype, 0.5 for half scale (the argument of `hyloop.structure.Similitude`).
        """
        length = positive(f"motion '{self.name}'", "length", length)
        return self._with(self.a, self.dt * length**0.5, length_scale=self.meta.get("length_scale", 1.0) * length)

    def resampled(self, dt: float) -> "GroundMotion":
        """The motion at another step.

        A smaller step interpolates linearly, which is what the record means between its samples. A larger step
        goes through a zero-phase Kaiser-windowed sinc evaluated at the new times: flat up to 0.42/dt, 80 dB down from
        0.5/dt, so that nothing folds back. The ground is at rest before and after the record.
        """
        dt = positive(f"motion '{self.name}'", "dt", dt)
        if np.isclose(dt, self.dt, rtol=1e-9, atol=0.0):
            return self
        # a hair more than the duration, or rounding would drop the last sample
        times = np.arange(int(self.duration / dt + 1e-9) + 1, dtype=np.float64) * dt
        if dt < self.dt:
            return self._with(np.interp(times, self.time, self.a), dt)
        return self._with(band_limited(self.a, self.dt, times, dt), dt)

    def baseline(self) -> Baseline:
        """How far velocity and displacement have drifted at the end."""
        v, d = self.velocity(), self.displacement()
        return Baseline(float(v[-1]), float(d[-1]), float(np.abs(v).max()), float(np.abs(d).max()))

    def corrected(self, order: int = 1, high_pass: float | None = None) -> "GroundMotion":
        """Baseline corrected.

        A polynomial fitted to the velocity by least squares, zero at the start, is taken out through its derivative
        (degree `order` in acceleration). Before that, `high_pass` (Hz) applies a Butterworth filter of order 4
        forwards and backwards, padded with zeros on both sides for as long as it rings.

        References
        ----------
        Boore (2005), On pads and filters: processing strong-motion data, BSSA 95(2), 745-750, doi 10.1785/0120040160.
        """
        where = f"motion '{self.name}'"
        if not 0 <= order <= 6 or order != int(order):
            raise OutOfBounds(f"{where}: order = {order!r} must be a whole number from 0 to 6.")
        if self.a.size < order + 2:
            raise BadInput(f"{where}: {self.a.size} samples are too few for a baseline of order {order}.")
        a = self.a
        if high_pass is not None:
            high_pass = positive(where, "high_pass", high_pass)
            if high_pass >= 0.5 / self.dt:
                raise OutOfBounds(f"{where}: high_pass = {high_pass:g} Hz must be below {0.5 / self.dt:g} Hz.")
            from scipy import signal  # here: it takes longer to import than the rest of hyloop, and few need it

            sos = signal.butter(4, high_pass, "highpass", fs=1.0 / self.dt, output="sos")
            pad = int(np.ceil(1.5 * 8 / high_pass / self.dt))  # Boore (2005): 1.5 n/fc, n = 8 after both passes
            a = signal.sosfiltfilt(sos, np.pad(a, pad), padlen=0)[pad:-pad]
        tau = np.linspace(0.0, 1.0, a.size)
        powers = np.arange(1, order + 2)
        coefficients = np.linalg.lstsq(tau[:, None] ** powers, self._with(a).velocity(), rcond=None)[0]
        a = a - (tau[:, None] ** (powers - 1)) @ (coefficients * powers) / self.duration
        return self._with(a, baseline={"order": int(order), "high_pass": high_pass})


def band_limited(a: Floats, dt: float, times: Floats, new_dt: float, held: bool = False) -> Floats:
    """Windowed-sinc interpolation at `times` (Kaiser), at most 4096 of them at once to bound the memory.

    Before and after the samples lies zero, or the first and last one where they are `held`.
    """
    reach = int(np.ceil(_HALF_WIDTH * new_dt / dt))
    padded = np.pad(a, reach + 1, mode="edge" if held else "constant")
    out = np.empty(times.size)
    for start in range(0, times.size, 4096):
        part = times[start : start + 4096, None]
        index = np.floor(part / dt).astype(np.int64) + np.arange(-reach, reach + 2)
        lag = (part - index * dt) / new_dt
        window = np.i0(_KAISER * np.sqrt(np.clip(1.0 - (lag / _HALF_WIDTH) ** 2, 0.0, None))) / np.i0(_KAISER)
        kernel = 2.0 * _CUTOFF * np.sinc(2.0 * _CUTOFF * lag) * window * (np.abs(lag) <= _HALF_WIDTH)
        out[start : start + 4096] = (padded[index + reach + 1] * kernel).sum(1)
    return out * dt / new_dt
