r"""Fit to the whole record: simulate, subtract, and weigh what is left by the noise of every frequency.

The model's motion is computed for all of the record, from rest at its first sample; the first part, in which what came
before it fades, does not count. Offset and drift of the two signals do not count either (a straight line is taken off).
What is left is noise where the model is right, so that its Fourier lines are independent, and

.. math:: \tfrac12 \chi^2(\theta) = \sum_k |R_k(\theta)|^2 / \sigma_k^2

is the negative logarithm of the likelihood; half its second derivatives are the information of the record on θ.
"""

from collections.abc import Callable

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from hyloop.core.levenberg_marquardt import Minimum, Nielsen, minimise, together
from hyloop.identification.rig.model import Structure, value_and_slopes

__all__ = ["END", "Whole", "motion"]

_TRIALS = 40
END = 32  # samples at either end that do not count: what the command does beyond shows in a band-limited motion
_TOLERANCE = 1e-7  # of the cost, which is about the number of lines: far less than chance


class Whole:
    """A record prepared for fits.

    Parameters
    ----------
    u, y : ndarray
        Command and measurement.
    dt : float
        Sampling interval in s.
    band : tuple of float
        Lowest and highest frequency in Hz that count.
    skip : float
        Time in s at the beginning that does not count.
    noise : callable
        Power spectral density (one-sided) of the noise at frequencies in Hz.
    scale : float
        Frequency in rad/s by which s is divided.
    hold : float
        Interval in s over which the command was held by its controller; 0 where it was not.
    """

    def __init__(
        self,
        u: np.ndarray,
        y: np.ndarray,
        dt: float,
        band: tuple[float, float],
        skip: float,
        noise: Callable[[np.ndarray], np.ndarray],
        scale: float,
        hold: float,
    ) -> None:
        self.dt, self.band, self.skip, self.scale, self.hold = dt, band, skip, scale, hold
        self._y = y
        first, last = max(int(np.ceil(skip / dt)), END), len(u) - END
        count = last - first
        self._rows = slice(first, last)
        self._size, U = _padded(u, first)
        omega = 2.0 * np.pi * np.fft.rfftfreq(self._size, dt)
        self._s, self._U = 1j * omega / scale, U * _held(omega, hold)
        f = np.fft.rfftfreq(count, dt)
        self._lines = np.flatnonzero((f >= band[0]) & (f <= band[1]))
        self.f = f[self._lines]
        self._sigma = np.sqrt(0.5 * noise(self.f) * count / dt)
        self._straight = np.linalg.qr(np.column_stack([np.ones(count), np.arange(count) / count]))[0]

    def _motion(self, G: np.ndarray) -> np.ndarray:
        """Displacement that a response G, or several, make of the command."""
        made = np.asarray(irfft(G * self._U, self._size, axis=-1))
        return made[..., : len(self._y)]

    def _weighted(self, signal: np.ndarray) -> np.ndarray:
        """Fourier lines of what counts of a signal, over the deviation of their noise."""
        part = signal[..., self._rows]
        part = part - (part @ self._straight) @ self._straight.T
        return np.asarray(rfft(part, axis=-1))[..., self._lines] / self._sigma

    def evaluate(self, kind: Structure, theta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Cost, gradient and information."""
        G, slopes = value_and_slopes(kind, theta, self._s)
        r = self._weighted(self._motion(G) - self._y)
        J = self._weighted(self._motion(slopes))
        gradient, information = np.real(J.conj() @ r), np.real(J.conj() @ J.T)
        return float(np.sum(np.abs(r) ** 2)), 2.0 * gradient, 2.0 * information

    def fit(self, kind: Structure, start: np.ndarray) -> Minimum:
        """The likeliest parameters, from a start near to them."""
        return minimise(
            *together(lambda theta: self.evaluate(kind, theta)), start, Nielsen(), trials=_TRIALS, tolerance=_TOLERANCE
        )


def motion(kind: Structure, theta: np.ndarray, scale: float, hold: float, command: np.ndarray, dt: float) -> np.ndarray:
    """Displacement that a transfer function makes of a command, from rest at its first value."""
    slowest, dead = kind.memory(theta)
    faded = int(np.ceil((8.0 * slowest + dead) / scale / dt))
    size, U = _padded(np.asarray(command, float), max(faded, END))
    omega = 2.0 * np.pi * np.fft.rfftfreq(size, dt)
    G = value_and_slopes(kind, theta, 1j * omega / scale)[0] * _held(omega, hold)
    return theta[0] * command[0] + np.asarray(irfft(G * U, size))[: len(command)]


def _padded(u: np.ndarray, tail: int) -> tuple[int, np.ndarray]:
    """Transform of a command, counted from its first value, with room behind it in which its motion fades."""
    n = len(u)
    size = int(next_fast_len(n + 2 * tail, real=True) or 0)
    long = np.zeros(size)
    long[:n] = u - u[0]
    long[n : n + tail] = long[n - 1] * 0.5 * (1.0 + np.cos(np.pi * np.arange(tail) / tail))
    return size, np.asarray(rfft(long))


def _held(omega: np.ndarray, hold: float) -> np.ndarray:
    """Response of a hold of order zero."""
    return np.sinc(omega * hold / (2.0 * np.pi)) * np.exp(-0.5j * omega * hold)
