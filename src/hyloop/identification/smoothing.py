r"""The noise of a measured signal, found from the signal itself, and a smoother that takes most of it away.

A motion that is sampled well has small high differences; white noise of standard deviation σ has large ones, with
variance :math:`\binom{2m}{m} \sigma^2` in order m. With σ known, the signal is taken for a smooth one whose m-th
differences are normal and independent, and the expected value of it, given what was measured, is Whittaker's smoother:

.. math:: \hat y = y - \lambda D^T (I + \lambda D D^T)^{-1} D y

where D takes m-th differences. λ is the most likely one: it maximises the density of :math:`D y`, which is normal with
the covariance :math:`\sigma^2 (D D^T + I/\lambda)`. Nothing is filtered in one direction, so nothing lags.

A motion with corners, such as a triangular wave, is smooth only between them, and a smoother that rounds a reversal
falsifies what a device does there. With :math:`w = (I + \lambda D D^T)^{-1} D y`, the sample where a corner would
explain most is the largest of :math:`(D_{m-2})^T w`. Where that is larger than chance allows, the signal is cut, the
sample itself is left as it is, and the parts are smoothed each for itself.

References
----------
Anderson (1971), The Statistical Analysis of Time Series, Wiley, section 3.4 (variate differences),
doi:10.1002/9781118186428; Whittaker (1923), doi:10.1017/S0013091500077853; Wahba (1985), doi:10.1214/aos/1176349743;
Harvey, Koopman (1992), doi:10.1080/07350015.1992.10509913 (corners).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import comb

import numpy as np

__all__ = ["Smoother", "noise_of", "smoother"]

_HIGH = 8  # order of the differences that show the noise: of a motion of 13 samples in a period 1e-4 are left in them
_NORMAL = 0.67449  # quartile of the normal distribution: the median of |e| over its standard deviation
_ORDER = 4  # of the smoother: cubic pieces cost nothing
_WEIGHTS = 1e-6, 1e10  # of λ; the largest passes periods of 110 samples and more, and leaves a tenth of the noise
_CLOSE = 0.05  # of log λ
_CHANCE = 1e-4  # that a signal without corners is cut
_APART = 8  # samples between corners that are cut at one time; nearer ones may be echoes of one
_PASSES = 12  # of cutting, after which a signal is given up
_SHORTEST = 3 * _ORDER  # samples of a part; a shorter one is left as it is


def noise_of(signal: np.ndarray, order: int = _HIGH) -> float:
    """Standard deviation of white noise in a signal, from the median of its high differences.

    A median, because corners and jumps of the motion are few and their differences large.
    """
    order = min(order, len(signal) // 2)
    high = np.diff(signal, order) / np.sqrt(comb(2 * order, order))
    return float(np.median(np.abs(high))) / _NORMAL


@dataclass(frozen=True, eq=False)
class Smoother:
    """Whittaker's smoother for signals of one length: λ, and the parts, each with its factor, that are smooth."""

    weight: float
    parts: tuple[tuple[slice, np.ndarray], ...]

    def __call__(self, signal: np.ndarray) -> np.ndarray:
        """The smooth part of a signal."""
        smooth = signal.copy()
        for part, w in self.tensions(signal):
            smooth[part] -= self.weight * _transposed(w, _ORDER)
        return smooth

    def tensions(self, signal: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Every part, and w in it."""
        from scipy.linalg import cho_solve_banded

        for part, factor in self.parts:
            yield part, cho_solve_banded((factor, True), np.diff(signal[part], _ORDER))

    def corners(self, signal: np.ndarray) -> list[int]:
        """Samples where a corner explains more than chance allows, the largest of their neighbourhood."""
        from scipy.stats import norm

        u = np.zeros(len(signal))
        for part, w in self.tensions(signal):
            u[part.start + 1 : part.stop - 1] = np.abs(_transposed(w, _ORDER - 2))
        usual = float(np.median(u[u > 0.0])) / _NORMAL if np.any(u > 0.0) else 0.0
        limit, found = usual * float(norm.isf(_CHANCE / (2.0 * len(signal)))), []
        for i in np.argsort(-u):
            if not u[i] > limit:
                break
            if all(abs(i - j) >= _APART for j in found):
                found.append(int(i))
        return found


def smoother(signal: np.ndarray, noise: float) -> Smoother | None:
    """The smoother for a signal with a known standard deviation of its noise; None where corners are everywhere."""
    cuts: set[int] = set()
    for _ in range(_PASSES):
        made = _likeliest(signal, noise, _parts(len(signal), sorted(cuts)))
        if made is None:
            return None
        found = made.corners(signal)
        if not found:
            return made
        cuts.update(found)
    return None


def _parts(n: int, cuts: list[int]) -> list[slice]:
    """What lies between the samples that are cut out, as far as it is long enough."""
    ends = pairwise([-1, *cuts, n])
    return [slice(a + 1, b) for a, b in ends if b - a - 1 >= _SHORTEST]


def _likeliest(signal: np.ndarray, noise: float, parts: list[slice]) -> Smoother | None:
    from scipy.optimize import minimize_scalar

    if not parts:
        return None
    high = [np.diff(signal[part], _ORDER) for part in parts]
    count = sum(map(len, high))

    def made(log: float) -> Smoother:
        weight = float(np.exp(log))
        return Smoother(weight, tuple((part, _factor(len(one), weight)) for part, one in zip(parts, high, strict=True)))

    def surprise(log: float) -> float:
        """-2 log of the density of the differences, less what does not depend on λ."""
        trial = made(log)
        squares = sum(float(one @ w) for one, (_, w) in zip(high, trial.tensions(signal), strict=True))
        logs = sum(float(np.sum(np.log(factor[0]))) for _, factor in trial.parts)
        return trial.weight * squares / noise**2 + 2.0 * logs - count * log

    low, top = np.log(_WEIGHTS)
    found = minimize_scalar(surprise, bounds=(low, top), method="bounded", options={"xatol": _CLOSE})
    return made(float(found.x))  # pyright: ignore[reportAttributeAccessIssue]


def _transposed(w: np.ndarray, order: int) -> np.ndarray:
    """Dᵀ w: differences of what is zero outside, with the other sign."""
    for _ in range(order):
        w = -np.diff(w, prepend=0.0, append=0.0)
    return w


def _factor(n: int, weight: float) -> np.ndarray:
    """Lower Cholesky factor of I + λ D Dᵀ in bands; D Dᵀ has binomial coefficients in its diagonals."""
    from scipy.linalg import cholesky_banded

    bands = np.empty((_ORDER + 1, n))
    for k in range(_ORDER + 1):
        bands[k] = weight * (-1) ** k * comb(2 * _ORDER, _ORDER + k) + (k == 0)
    return cholesky_banded(bands, lower=True)
