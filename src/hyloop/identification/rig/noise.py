"""How much noise the measured displacement has, at every frequency and as a whole."""

from collections.abc import Callable

import numpy as np
from scipy.stats import norm

from hyloop.identification.rig.spectra import Response

__all__ = ["MODEL", "noise_size", "smooth_noise"]

MODEL = 1e-4  # of the motion: no rig is a linear transfer function to better than this, nor is its record
_NEIGHBOURS = 2  # points on either side that are averaged, at least
_MEAN_OF = 200.0  # lines, at least: their mean is known to 7 %


def smooth_noise(points: Response, length: float) -> Callable[[np.ndarray], np.ndarray]:
    """Power spectral density of the noise, one-sided, as a function of the frequency in Hz; length of the record in s.

    Each value is a mean over so many lines that its own chance does not tell in the weights it is used for.
    """
    density = points.noise + MODEL**2 * points.power
    lines = np.gradient(points.f) * length
    total = np.concatenate([[0.0], np.cumsum(lines)])
    mean = np.empty(len(density))
    for k in range(len(density)):
        first, last = max(k - _NEIGHBOURS, 0), min(k + _NEIGHBOURS + 1, len(density))
        while total[last] - total[first] < _MEAN_OF and (first > 0 or last < len(density)):
            first, last = max(first - 1, 0), min(last + 1, len(density))
        mean[k] = np.average(density[first:last], weights=lines[first:last])
    at, level = np.log(points.f), np.log(mean)
    return lambda f: np.exp(np.interp(np.log(f), at, level))


def noise_size(left: np.ndarray, level: float) -> tuple[float, float, float]:
    """Root mean square of what a model leaves, and its interval, which allows for samples that are alike.

    The variance of a mean square of Gaussian noise is 2σ⁴/N times the sum of its squared correlations (Bendat, Piersol
    2010, Random Data, section 8.2).
    """
    n = len(left)
    left = left - left.mean()
    power = np.abs(np.fft.rfft(left, 2 * n)) ** 2
    lags = np.fft.irfft(power)[: n // 4] / n
    if lags[0] == 0.0:
        return 0.0, 0.0, 0.0
    alike = 1.0 + 2.0 * float(np.sum(np.maximum((lags[1:] / lags[0]) ** 2 - 1.0 / n, 0.0)))
    size, spread = float(np.sqrt(lags[0])), norm.ppf(0.5 + 0.5 * level) * np.sqrt(0.5 * alike / n)
    return size, size * max(1.0 - spread, 0.0), size * (1.0 + spread)
