"""Test signals: harmonic, sweep, band-limited noise."""

import numpy as np

from hyloop.core.jit import Floats
from hyloop.errors import BadInput, OutOfBounds
from hyloop.hazards.checks import choice, frequency, positive
from hyloop.hazards.motion import GroundMotion

__all__ = ["band_limited_noise", "harmonic", "sweep"]


def _clock(where: str, duration: float, dt: float) -> Floats:
    """Sample times from 0 to the duration."""
    duration, dt = positive(where, "duration", duration), positive(where, "dt", dt)
    if duration < dt:
        raise OutOfBounds(f"{where}: duration = {duration:g} s is shorter than one step, {dt:g} s.")
    return np.arange(round(duration / dt) + 1, dtype=np.float64) * dt


def harmonic(amplitude: float, frequency_hz: float, duration: float, dt: float, phase: float = 0.0) -> GroundMotion:
    """``amplitude · sin(2π f t + phase)``: m/s2, Hz, s, s, rad."""
    where = "harmonic"
    t = _clock(where, duration, dt)
    amplitude, f = positive(where, "amplitude", amplitude), frequency(where, "frequency_hz", frequency_hz, dt)
    if not np.isfinite(phase):
        raise OutOfBounds(f"{where}: phase = {phase!r} must be finite, in rad.")
    return GroundMotion(
        amplitude * np.sin(2.0 * np.pi * f * t + phase),
        dt,
        f"harmonic-{f:g}Hz",
        {"amplitude": amplitude, "frequency": f, "phase": phase},
    )


def sweep(amplitude: float, start: float, end: float, duration: float, dt: float, law: str = "log") -> GroundMotion:
    r"""Sine whose frequency runs from `start` to `end` (Hz).

    Law "linear": :math:`f = f_0 + (f_1 - f_0) t/D`. Law "log": :math:`f = f_0 (f_1/f_0)^{t/D}`, the same time for each
    octave. The phase is the exact integral of the frequency.
    """
    where = "sweep"
    t = _clock(where, duration, dt)
    amplitude = positive(where, "amplitude", amplitude)
    f0, f1 = frequency(where, "start", start, dt), frequency(where, "end", end, dt)
    if choice(where, "law", law, ("log", "linear")) == "linear" or f0 == f1:
        cycles = f0 * t + 0.5 * (f1 - f0) / duration * t**2
    else:
        rate = np.log(f1 / f0) / duration
        cycles = f0 * np.expm1(rate * t) / rate
    return GroundMotion(
        amplitude * np.sin(2.0 * np.pi * cycles),
        dt,
        f"sweep-{f0:g}-{f1:g}Hz",
        {"amplitude": amplitude, "start": f0, "end": f1, "law": law},
    )


def band_limited_noise(rms: float, low: float, high: float, duration: float, dt: float, seed: int) -> GroundMotion:
    """Gaussian noise of flat power between `low` and `high` (Hz), nothing outside, scaled to `rms` (m/s2) exactly.

    Random Fourier coefficients on the bins inside the band (spectral representation), so the signal is periodic over
    its length. The same seed gives the same signal.
    """
    where = "band-limited noise"
    n = _clock(where, duration, dt).size
    rms = positive(where, "rms", rms)
    low, high = positive(where, "low", low), frequency(where, "high", high, dt)
    bins = np.fft.rfftfreq(n, dt)
    inside = (bins >= low) & (bins <= high)
    if not inside.any():
        raise BadInput(
            f"{where}: no frequency bin lies between low = {low:g} and high = {high:g} Hz; "
            f"bins are {bins[1]:g} Hz apart. Widen the band or give a longer duration."
        )
    rng = np.random.default_rng(seed)
    coefficients = np.zeros(bins.size, np.complex128)
    coefficients[inside] = rng.standard_normal(inside.sum()) + 1j * rng.standard_normal(inside.sum())
    a = np.fft.irfft(coefficients, n)
    a *= rms / np.sqrt(np.mean(a**2))
    return GroundMotion(a, dt, f"noise-{low:g}-{high:g}Hz", {"rms": rms, "low": low, "high": high, "seed": seed})
