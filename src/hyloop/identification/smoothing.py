r"""The noise of a measured signal, found from the signal itself, and a smoother that takes most of it away.

A motion that is sampled well has small high differences; white noise of standard deviation σ has large ones, with
variance :math:`\binom{2m}{m} \sigma^2` in order m. With σ known, the signal is taken for a smooth one whose m-th
differences are normal and independent, and the expected value of it, given what was measured, is Whittaker's smoother:

.. math:: \hat y = y - \lambda D^T (I + \lambda D D^T)^{-1} D y

where D takes m-th differences. λ is the most likely one: it maximises the density of :math:`D y`, which is normal with
the covariance :math:`\sigma^2 (D D^T + I/\lambda)`. Nothing is filtered in one direction, so nothing lags.

References
----------
Anderson (1971), The Statistical Analysis of Time Series, Wiley, section 3.4 (variate differences),
doi:10.1002/9781118186428; Whittaker (1923), doi:10.1017/S0013091500077853; Wahba (1985), doi:10.1214/aos/1176349743.
"""

from dataclasses import dataclass
from math import comb

import numpy as np

__all__ = ["Smoother", "noise_of", "smoother"]

_ORDER = 8  # of the differences that show the noise: a motion of 13 samples in a period leaves 1e-4 of its size in them
_NORMAL = 0.67449  # quartile of the normal distribution: the median of |e| over its standard deviation
_ORDERS = (4, 3, 2)  # of smoothers, the one for the smoothest motions first
_WEIGHTS = 1e-6, 1e10  # of λ; the largest passes periods of 110 samples and more, and leaves a tenth of the noise
_CLOSE = 0.05  # of log λ
_CUT = 1e-4  # chance that the largest of all samples of white noise is called a corner


def noise_of(signal: np.ndarray, order: int = _ORDER) -> float:
    """Standard deviation of white noise in a signal, from the median of its high differences.

    A median, because corners and jumps of the motion are few and their differences large.
    """
    order = min(order, len(signal) // 2)
    high = np.diff(signal, order) / np.sqrt(comb(2 * order, order))
    return float(np.median(np.abs(high))) / _NORMAL


@dataclass(frozen=True, eq=False)
class Smoother:
    """Whittaker's smoother for signals of one length: order of the differences, and λ."""

    order: int
    weight: float
    factor: np.ndarray

    def __call__(self, signal: np.ndarray) -> np.ndarray:
        """The smooth part of a signal."""
        from scipy.linalg import cho_solve_banded

        removed = self.weight * cho_solve_banded((self.factor, True), np.diff(signal, self.order))
        for _ in range(self.order):  # Dᵀ: differences of what is zero outside, with the other sign
            removed = -np.diff(removed, prepend=0.0, append=0.0)
        return signal - removed


def smoother(signal: np.ndarray, noise: float) -> Smoother | None:
    """The smoother for a signal with a known standard deviation of its noise; None where none is right for it.

    Orders are tried from the smoothest on. One is wrong if it cuts a corner: if it takes more from some sample than
    white noise ever has.
    """
    from scipy.stats import norm

    largest = noise * float(norm.isf(_CUT / (2.0 * len(signal))))
    for order in _ORDERS:
        if len(signal) > 4 * order:
            made = _likeliest(signal, noise, order)
            if np.abs(signal - made(signal)).max() <= largest:
                return made
    return None


def _likeliest(signal: np.ndarray, noise: float, order: int) -> Smoother:
    from scipy.linalg import cho_solve_banded
    from scipy.optimize import minimize_scalar

    high = np.diff(signal, order)

    def surprise(log: float) -> float:
        """-2 log of the density of the differences, less what does not depend on λ."""
        weight = float(np.exp(log))
        factor = _factor(len(high), order, weight)
        square = weight * float(high @ cho_solve_banded((factor, True), high)) / noise**2
        return square + 2.0 * float(np.sum(np.log(factor[0]))) - len(high) * log

    low, top = np.log(_WEIGHTS)
    found = minimize_scalar(surprise, bounds=(low, top), method="bounded", options={"xatol": _CLOSE})
    weight = float(np.exp(found.x))  # pyright: ignore[reportAttributeAccessIssue]
    return Smoother(order, weight, _factor(len(high), order, weight))


def _factor(n: int, order: int, weight: float) -> np.ndarray:
    """Lower Cholesky factor of I + λ D Dᵀ in bands; D Dᵀ has binomial coefficients in its diagonals."""
    from scipy.linalg import cholesky_banded

    bands = np.empty((order + 1, n))
    for k in range(order + 1):
        bands[k] = weight * (-1) ** k * comb(2 * order, order + k) + (k == 0)
    return cholesky_banded(bands, lower=True)
