"""Transfer functions near to a measured response: linear least squares, repeated, then a descent.

References
----------
Levy (1959), doi:10.1109/TAC.1959.6429401; Sanathanan, Koerner (1963), doi:10.1109/TAC.1963.1105517.
"""

import numpy as np

from hyloop.core.levenberg_marquardt import Minimum, Nielsen, minimise, together
from hyloop.identification.rig.model import Structure, sections, value_and_slopes

__all__ = ["near", "steepness"]

_ROUNDS = 12  # of the repeated linear least squares; it settles in three or four
_PARTS = (0.0, 0.3, 0.6, 0.8, 0.95)  # of the whole delay that may be dead time
_TRIALS = 60
_TOLERANCE = 1e-9


def steepness(f: np.ndarray, G: np.ndarray, variance: np.ndarray) -> tuple[float, float]:
    """Delay in s that the phase shows, from a line through it weighted by its precision, and its standard deviation."""
    phase = np.unwrap(np.angle(G))
    precision = np.abs(G) ** 2 / (variance / 2.0 + (1e-4 * np.abs(G)) ** 2)
    w, omega = np.sqrt(precision), 2.0 * np.pi * f
    A = np.column_stack([w * omega, w])
    (slope, _), *_ = np.linalg.lstsq(A, w * phase, rcond=None)
    return -float(slope), float(np.sqrt(np.linalg.inv(A.T @ A)[0, 0]))


def near(kind: Structure, s: np.ndarray, G: np.ndarray, weight: np.ndarray, delay: float) -> Minimum:
    """The best of some descents to a response; `s` of the order of one, `weight` the inverse standard deviations."""
    best = None
    for part in _PARTS if kind.dead_time else (0.0,):
        tau = part * max(delay, 0.0)
        b, a = _repeated(kind, s, G * np.exp(s * tau), weight)
        start = sections(kind, b, a, tau)
        if len(start) != kind.size or not np.isfinite(start).all():
            continue
        found = descend(kind, s, G, weight, start)
        if best is None or found.cost < best.cost:
            best = found
    if best is None:
        start = sections(kind, np.ones(kind.zeros + 1) * 0.1, np.ones(kind.poles + 1), 0.0)
        best = descend(kind, s, G, weight, start)
    return best


def _repeated(kind: Structure, s: np.ndarray, G: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients in rising powers by linear least squares, each time weighted by the denominator found before."""
    powers_b, powers_a = (s[:, None] ** np.arange(1, k + 1) for k in (kind.zeros, kind.poles))
    D, b, a = np.ones(len(s), complex), np.ones(1), np.ones(1)
    for _ in range(_ROUNDS):
        w = (weight / np.abs(D))[:, None]
        A = w * np.hstack([np.ones((len(s), 1)), powers_b, -powers_a * G[:, None]])
        rhs = w[:, 0] * G
        x = np.linalg.lstsq(np.vstack([A.real, A.imag]), np.concatenate([rhs.real, rhs.imag]), rcond=1e-14)[0]
        b, a = x[: kind.zeros + 1], np.concatenate([[1.0], x[kind.zeros + 1 :]])
        D = 1.0 + powers_a @ a[1:]
    return b, a


def descend(kind: Structure, s: np.ndarray, G: np.ndarray, weight: np.ndarray, start: np.ndarray) -> Minimum:
    """Levenberg-Marquardt on the weighted differences of responses."""

    def evaluate(theta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        H, slopes = value_and_slopes(kind, theta, s)
        r, J = weight * (H - G), weight * slopes
        return float(np.sum(np.abs(r) ** 2)), 2.0 * np.real(J.conj() @ r), 2.0 * np.real(J.conj() @ J.T)

    return minimise(*together(evaluate), start, Nielsen(), trials=_TRIALS, tolerance=_TOLERANCE)
