r"""A transfer function with a dead time, by parameters that any search may move freely.

.. math:: G(s) = g\,e^{-s\tau}\,
    \frac{1 + \beta_1 s + \dots}{\prod_i (1 + e^{p_{i1}} s + e^{p_{i2}} s^2)\,(1 + e^{p_0} s)}

Every section has positive coefficients, so that every G is stable; zeros may lie anywhere.
"""

from dataclasses import dataclass

import numpy as np

from hyloop.errors import OutOfBounds

__all__ = ["Structure", "coefficients", "sections", "value_and_slopes"]

_MOST = 10  # poles: more cannot be told from a record, nor their coefficients be written with ten digits
_FASTEST = 30.0  # of logarithms: a coefficient of e^-30 is none
_DAMPED = 2e-3  # least damping ratio of a start: without any a descent would begin on the edge of stability


@dataclass(frozen=True)
class Structure:
    """How many poles and zeros there are, and whether there is a dead time."""

    poles: int
    zeros: int
    dead_time: bool

    def __post_init__(self) -> None:
        if not 0 <= self.poles <= _MOST:
            raise OutOfBounds(f"poles = {self.poles} must lie between 0 and {_MOST}.")
        if not 0 <= self.zeros <= max(self.poles - 1, 0):
            raise OutOfBounds(f"zeros = {self.zeros} must be fewer than the poles, {self.poles}, and not negative.")

    @property
    def size(self) -> int:
        """Number of free parameters: gain, dead time, poles, zeros."""
        return 1 + self.dead_time + self.poles + self.zeros

    def memory(self, theta: np.ndarray) -> tuple[float, float]:
        """Slowest time constant, and dead time, both times the scale of s."""
        _, a, tau = coefficients(self, theta)
        roots = np.roots(a[::-1]) if self.poles else np.zeros(0)
        with np.errstate(divide="ignore"):  # without damping it never forgets
            return float(np.max(1.0 / np.abs(roots.real), initial=0.0)), max(tau, 0.0)

    def __str__(self) -> str:
        plural = {1: ""}
        zeros = f", {self.zeros} zero{plural.get(self.zeros, 's')}" if self.zeros else ""
        return f"{self.poles} pole{plural.get(self.poles, 's')}{zeros}, {'a' if self.dead_time else 'no'} dead time"


def value_and_slopes(kind: Structure, theta: np.ndarray, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """G and its derivatives by the parameters (gain, dead time, poles, zeros), at values of s."""
    poles, zeros = _parts(kind, theta)
    e = np.exp(np.clip(poles, -_FASTEST, _FASTEST))
    relative = np.empty((kind.size, len(s)), complex)  # of G
    row = 1 + kind.dead_time
    G = np.ones(len(s), complex)
    for i in range(0, kind.poles - 1, 2):
        part = 1.0 + e[i] * s + e[i + 1] * s**2
        relative[row + i], relative[row + i + 1] = -e[i] * s / part, -e[i + 1] * s**2 / part
        G /= part
    if kind.poles % 2:
        part = 1.0 + e[-1] * s
        relative[row + kind.poles - 1] = -e[-1] * s / part
        G /= part
    if kind.dead_time:
        relative[1] = -s
        G *= np.exp(-s * theta[1])
    numerator = 1.0 + sum(b * s ** (j + 1) for j, b in enumerate(zeros))
    slopes = relative * (theta[0] * G * numerator)
    for j in range(kind.zeros):
        slopes[row + kind.poles + j] = theta[0] * G * s ** (j + 1)
    slopes[0] = G * numerator
    return theta[0] * G * numerator, slopes


def _parts(kind: Structure, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    row = 1 + kind.dead_time
    return theta[row : row + kind.poles], theta[row + kind.poles :]


def coefficients(kind: Structure, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Numerator and denominator in rising powers of s, the latter beginning with 1, and the dead time."""
    poles, zeros = _parts(kind, theta)
    e = np.exp(np.clip(poles, -_FASTEST, _FASTEST))
    a = np.ones(1)
    for i in range(0, kind.poles - 1, 2):
        a = np.convolve(a, [1.0, e[i], e[i + 1]])
    if kind.poles % 2:
        a = np.convolve(a, [1.0, e[-1]])
    return theta[0] * np.array([1.0, *zeros]), a, float(theta[1]) if kind.dead_time else 0.0


def sections(kind: Structure, b: np.ndarray, a: np.ndarray, tau: float) -> np.ndarray:
    """Parameters near to coefficients in rising powers of s; what no section can be is moved to what it can."""
    roots = np.roots(a[::-1])
    # those on the right are mirrored, which leaves the gain; those on the edge of stability are moved off it
    fading = np.maximum(np.abs(np.real(roots)), _DAMPED * np.abs(roots))
    roots = -fading + 1j * np.imag(roots)
    complex_ = [r for r in roots if r.imag > 1e-9 * abs(r)]
    real = sorted((-r.real for r in roots if abs(r.imag) <= 1e-9 * abs(r)), reverse=True)
    pairs = [(-2.0 * r.real / abs(r) ** 2, 1.0 / abs(r) ** 2) for r in complex_]
    while len(real) > 1:
        one, two = real.pop(0), real.pop(0)
        pairs.append((1.0 / one + 1.0 / two, 1.0 / (one * two)))
    logs = [np.log(x) for pair in pairs for x in pair] + [-np.log(r) for r in real]
    gain = b[0] / a[0] if b[0] != 0.0 else 1e-6
    zeros = [x / b[0] if b[0] != 0.0 else 0.0 for x in b[1:]]
    return np.array([gain, *([tau] if kind.dead_time else []), *logs, *zeros])
