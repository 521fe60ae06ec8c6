"""Elastic response spectra by the exact piecewise-linear method."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hyloop.core.jit import Floats, jit, verb
from hyloop.errors import OutOfBounds
from hyloop.hazards.checks import period_axis, positive, samples

__all__ = ["Spectrum", "response_spectrum"]

_STEPS_PER_PERIOD = 20
_TERMS = 18


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Peak responses of damped oscillators.

    Attributes
    ----------
    periods : array
        Natural periods, s.
    sd : array
        Peak relative displacement, m.
    psv, psa : array
        Pseudo-velocity ω·sd in m/s and pseudo-acceleration ω²·sd in m/s2.
    sa : array
        Peak total (absolute) acceleration, m/s2; equal to psa where there is no damping.
    damping : float
        Fraction of critical.
    """

    periods: Floats
    sd: Floats
    psv: Floats
    psa: Floats
    sa: Floats
    damping: float


def response_spectrum(a: Any, dt: float, periods: Any, damping: float = 0.05) -> Spectrum:
    """Response spectrum of a ground acceleration that is linear between its samples.

    The oscillator ü + 2ζω u̇ + ω² u = −a is advanced with the exact solution for linear loading (Nigam and Jennings);
    its coefficients come from a power series, which does not cancel when ωΔt is small as the closed forms do. Peaks
    between samples are not missed: a step longer than T/20 is divided, and where the velocity changes sign within a
    step the peak of the cubic through both ends and both slopes is taken. The cubic is within (2π/20)⁴/384 = 3e-5 of a
    sinusoid, so no finer steps are needed. The total acceleration is treated likewise. Peaks are sought from the first
    to the last sample; append zeros to include free vibration after it.

    Parameters
    ----------
    a : array
        Ground acceleration, m/s2 (any unit; the result follows it).
    dt : float
        Step, s.
    periods : array
        Natural periods, s; 0 gives the peak ground acceleration.
    damping : float
        Fraction of critical, from 0 to below 1.

    References
    ----------
    Nigam and Jennings (1969), Calculation of response spectra from strong-motion earthquake records, BSSA 59(2),
    909-922.
    """
    where = "response spectrum"
    ground = samples(where, "a", a)
    dt = positive(where, "dt", dt)
    T = period_axis(where, periods)
    if not 0.0 <= damping < 1.0:
        raise OutOfBounds(f"{where}: damping = {damping!r} must be from 0 to below 1; 0.05 is 5 % of critical.")
    sd, sa = np.zeros(T.size), np.full(T.size, np.abs(ground).max())
    finite = T > 0.0
    omega = 2.0 * np.pi / T[finite]
    substeps = np.maximum(np.ceil(_STEPS_PER_PERIOD * dt / T[finite]), 1.0).astype(np.int64)
    operators = _operators(omega * dt / substeps, damping)
    sd[finite], sa[finite] = _peaks(ground, dt, omega, float(damping), substeps, operators)
    psv, psa = np.zeros(T.size), sa.copy()
    psv[finite], psa[finite] = omega * sd[finite], omega**2 * sd[finite]
    return Spectrum(T, sd, psv, psa, sa, float(damping))


def _operators(theta: Floats, zeta: float) -> Floats:
    """Operators of one step h on (u, h u̇, −h²a, −h²Δa) for every θ = ωh: for each, two rows of four.

    u = Σ c_k τ^k on 0 ≤ τ ≤ 1 solves u″ + 2ζθ u′ + θ² u = p + Δp τ term by term. θ is at most 2π/20, so the terms
    fall faster than 0.7^k/k! and the last one is below rounding.
    """
    start = np.broadcast_to(np.eye(4), (theta.size, 4, 4))  # a column for each unit start (u, h u̇, p, Δp)
    square, damp = (theta**2)[:, None], (2.0 * zeta * theta)[:, None]
    c, after = start[:, 0], start[:, 1]
    u, v = c + after, after.copy()
    for k in range(_TERMS):
        load = start[:, 2 + k] if k < 2 else 0.0
        c, after = after, (load - square * c - damp * (k + 1) * after) / ((k + 2) * (k + 1))
        u, v = u + after, v + (k + 2) * after
    return np.concatenate((u, v), axis=1)


@verb
def _between(y0: float, s0: float, y1: float, s1: float) -> float:
    """Largest |y| on a step of unit length: at its end, or where the Hermite cubic has zero slope.

    The slope is s0 + 2 b t + 3 c t². Only a change of its sign counts, so exactly one root lies on the step: the one
    where the curvature has the sign of s1.
    """
    peak = abs(y1)
    if s0 * s1 < 0.0:
        b = 3.0 * (y1 - y0) - 2.0 * s0 - s1
        c = 2.0 * (y0 - y1) + s0 + s1
        root = np.sqrt(max(b * b - 3.0 * c * s0, 0.0))
        t = -s0 / (b + root) if s0 < 0.0 else -s0 / (b - root)
        peak = max(peak, abs(y0 + t * (s0 + t * (b + t * c))))
    return peak


@jit
def _peaks(a: Floats, dt: float, omega: Floats, zeta: float, substeps: Any, operators: Floats) -> tuple[Floats, Floats]:
    """Peak relative displacement and total acceleration of each oscillator, from rest."""
    sd, sa = np.zeros(omega.size), np.zeros(omega.size)
    for j in range(omega.size):
        n = substeps[j]
        h, w = dt / n, omega[j]
        A = operators[j]
        u, v = 0.0, 0.0  # v is the velocity times h
        total, slope = 0.0, 0.0  # total acceleration times h², and its rate over a step
        theta2, damp = (w * h) ** 2, 2.0 * zeta * w * h
        for i in range(a.size - 1):
            p, dp = -h * h * a[i], -h * h * (a[i + 1] - a[i]) / n
            slope = -damp * (p - damp * v - theta2 * u) - theta2 * v
            for _ in range(n):
                u1 = A[0] * u + A[1] * v + A[2] * p + A[3] * dp
                v1 = A[4] * u + A[5] * v + A[6] * p + A[7] * dp
                p += dp
                total1 = -damp * v1 - theta2 * u1
                slope1 = -damp * (p - damp * v1 - theta2 * u1) - theta2 * v1
                sd[j] = max(sd[j], _between(u, v, u1, v1))
                sa[j] = max(sa[j], _between(total, slope, total1, slope1))
                u, v, total, slope = u1, v1, total1, slope1
        sa[j] /= h * h
    return sd, sa
