"""Artificial motions that fit a target spectrum; no record is needed."""

from typing import Any

import numpy as np

from hyloop.core.jit import Floats
from hyloop.errors import BadInput, OutOfBounds
from hyloop.hazards.checks import G, choice, ordinates, period_axis, positive
from hyloop.hazards.design_spectrum import asce7_spectrum
from hyloop.hazards.motion import GroundMotion
from hyloop.hazards.spectrum import response_spectrum

__all__ = ["default_motion", "envelope", "synthetic_motion"]

_GRID = 100  # periods at which the fit is driven; closer than the 5 % bandwidth of the oscillators


def envelope(t: Any, duration: float, kind: str = "saragoni-hart") -> Floats:
    r"""Intensity of the motion over time, 0 to 1, at rest at both ends.

    "saragoni-hart": :math:`(x e^{1-x})^{b}` with its peak :math:`x = t/t_p = 1` at 0.2 of the duration and 5 % left at
    the end. "jennings": a parabolic rise over 0.1 of the duration, a plateau to 0.5, then an exponential decay to 5 %.
    Both are tapered to zero over the last tenth by a half cosine.

    References
    ----------
    Saragoni and Hart (1973), Simulation of artificial earthquakes, Earthquake Eng. Struct. Dyn. 2(3), 249-267.
    Jennings, Housner and Tsai (1968), Simulated earthquake motions, EERL, California Institute of Technology.
    """
    choice("envelope", "kind", kind, ("saragoni-hart", "jennings"))
    tau = np.clip(np.asarray(t, np.float64) / positive("envelope", "duration", duration), 0.0, 1.0)
    if kind == "saragoni-hart":
        x = tau / 0.2
        power = np.log(0.05) / (np.log(5.0) + 1.0 - 5.0)
        shape = (x * np.exp(1.0 - x)) ** power
    else:
        shape = np.minimum((tau / 0.1) ** 2, np.minimum(0.05 ** ((tau - 0.5) / 0.5), 1.0))
    return shape * 0.5 * (1.0 + np.cos(np.pi * np.clip((tau - 0.9) / 0.1, 0.0, 1.0)))


def synthetic_motion(
    periods: Any,
    target: Any,
    duration: float,
    dt: float,
    seed: int,
    *,
    damping: float = 0.05,
    kind: str = "saragoni-hart",
    iterations: int = 20,
) -> GroundMotion:
    """A random motion whose response spectrum fits a target.

    Sinusoids of random phase (spectral representation) are multiplied by an envelope; then, again and again, each
    amplitude is multiplied by target over computed psa at its period, the phases staying as they are. Frequencies run
    from 0.8/longest to 1.25/shortest period, and a small correction shaped like the envelope makes the end
    velocity and the end displacement exactly zero. The best of all iterates is returned, its misfit in
    ``meta["misfit"]`` (root mean square of ln(psa/target)). The same seed gives the same motion.

    Parameters
    ----------
    periods, target : array
        Target pseudo-acceleration (m/s2) at increasing periods (s); straight between them on logarithmic axes.
    duration, dt : float
        s; the duration must be at least twice the longest period.
    seed : int
        Of the random phases.
    damping : float
        Damping of the target spectrum.
    kind : {"saragoni-hart", "jennings"}
        See `envelope`.
    iterations : int
        At least 1.

    References
    ----------
    Gasparini and Vanmarcke (1976), Simulated earthquake motions compatible with prescribed response spectra, MIT R76-4.
    """
    where = "synthetic motion"
    T = period_axis(where, periods, zero=False)
    goal = ordinates(where, "target", target, T.size)
    duration, dt = positive(where, "duration", duration), positive(where, "dt", dt)
    if T.size < 2 or np.any(np.diff(T) <= 0.0):
        raise BadInput(f"{where}: periods must increase, and there must be at least two.")
    if T[0] < 4.0 * dt:
        raise OutOfBounds(
            f"{where}: the shortest period, {T[0]:g} s, needs a dt of {T[0] / 4.0:g} s or less, not {dt:g} s."
        )
    if duration < 2.0 * T[-1]:
        raise OutOfBounds(f"{where}: duration = {duration:g} s must be at least twice the longest period, {T[-1]:g} s.")
    if iterations < 1:
        raise OutOfBounds(f"{where}: iterations = {iterations!r} must be at least 1.")

    n = round(duration / dt) + 1
    t = np.arange(n) * dt
    shape = envelope(t, t[-1], kind)
    grid = np.geomspace(T[0], T[-1], _GRID)
    goal = np.exp(np.interp(np.log(grid), np.log(T), np.log(goal)))
    f = np.fft.rfftfreq(n, dt)
    inside = (f >= 0.8 / T[-1]) & (f <= 1.25 / T[0])
    log_period = -np.log(f[inside])
    phases = np.exp(2j * np.pi * np.random.default_rng(seed).random(inside.sum()))
    # white noise of density S answers with psa² ~ S ω/ζ, so this start has the right shape already
    amplitude = np.interp(log_period, np.log(grid), goal) / np.sqrt(f[inside])
    best, misfit = np.zeros(n), np.inf
    for _ in range(iterations):
        coefficients = np.zeros(f.size, np.complex128)
        coefficients[inside] = amplitude * phases
        a = _at_rest(shape * np.fft.irfft(coefficients, n), shape, dt)
        psa = response_spectrum(a, dt, grid, damping).psa
        level = np.exp(np.mean(np.log(goal / psa)))  # the best factor of this iterate
        error = float(np.sqrt(np.mean(np.log(level * psa / goal) ** 2)))
        if error < misfit:
            best, misfit = level * a, error
        amplitude = amplitude * np.interp(log_period, np.log(grid), goal / psa)
    return GroundMotion(best, dt, f"synthetic-{seed}", {"seed": seed, "envelope": kind, "misfit": misfit})


def _at_rest(a: Floats, shape: Floats, dt: float) -> Floats:
    """Subtract shape·(c0 + c1 τ) so that velocity and displacement end at zero."""
    tau = np.linspace(0.0, 1.0, a.size)
    columns = shape, shape * tau
    motions = [GroundMotion(x, dt) for x in (*columns, a)]
    (v0, d0), (v1, d1), (v, d) = [(m.velocity()[-1], m.displacement()[-1]) for m in motions]
    # Cramer's rule: a threaded linear solver would be slower and its last bit might vary
    determinant = v0 * d1 - v1 * d0
    return a - (v * d1 - v1 * d) / determinant * columns[0] - (v0 * d - v * d0) / determinant * columns[1]


def default_motion(seed: int = 0) -> GroundMotion:
    """A motion for a machine without records: 30 s at 100 Hz, ASCE 7 shape with SDS = 1.0 g and SD1 = 0.6 g."""
    periods = np.geomspace(0.05, 4.0, 60)
    return synthetic_motion(periods, asce7_spectrum(periods, 1.0 * G, 0.6 * G), 30.0, 0.01, seed)
