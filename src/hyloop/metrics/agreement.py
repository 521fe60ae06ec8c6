r"""How well a prediction agrees with a measurement.

Every function takes the measured (true) history :math:`y` first and the predicted one :math:`\hat y` second, both of
:math:`N` samples. Results are fractions, not percent; errors have the unit of the histories.

References
----------
.. [1] Malik, Cao, Ricles, Downey (2025), "Online Cyber-Physical Neural Network Model for Real-Time Hybrid Simulation",
   section 3 (definitions above Table 3). NRMSE there is in percent.
.. [2] Coble, Cao, Downey, Ricles (2024), "Physics-informed machine learning for dry friction and backlash modeling in
   structural control systems", Table 6, doi:10.1016/j.ymssp.2024.111522.
.. [3] Wang, Lv, Wu, Wang (2020), "ANN based on forgetting factor for online model updating in substructure
   pseudo-dynamic hybrid simulation", Eq. (21).
.. [4] Luo, Sun, Li, Xia (2024), "Structural nonlinear boundary condition identification using a hybrid physics
   data-driven approach", Eqs. (3) and (4).
"""

from typing import Any

import numpy as np

from hyloop.errors import UnknownName
from hyloop.metrics.check import not_zero, pair

__all__ = ["mae", "mre", "nrmse", "pearson_r", "r2", "rmse", "rrse", "running_rmsd", "snr", "trac"]

_SCALES = {
    "range": lambda y: np.ptp(y),
    "peak": lambda y: np.max(np.abs(y)),
    "rms": lambda y: np.sqrt(np.mean(y**2)),
    "std": lambda y: np.std(y),
}


def rmse(measured: Any, predicted: Any) -> float:
    r"""Root mean squared error :math:`\sqrt{\sum (y - \hat y)^2 / N}`; Table 6 of [2]_ and the table it beats.

    References: see `hyloop.metrics.agreement`.
    """
    y, p = _both(measured, predicted)
    return float(np.sqrt(np.mean((y - p) ** 2)))


def nrmse(measured: Any, predicted: Any, by: str = "range") -> float:
    r"""Normalised root mean squared error, RMSE / scale.

    Parameters
    ----------
    by : {"range", "peak", "rms", "std"}
        Scale of the measured history: max(y) - min(y), max\|y\|, root mean square, or standard deviation.

    Notes
    -----
    The range is what [1]_ (in percent) and Table 6 of [2]_ (as a fraction) use. Al-Subaihawi et al. (2024, tall
    building) report NRMSE in percent without defining it; the range is the custom of the same laboratory. The RMSD of
    [3]_ is relative to the root mean square: ``nrmse(y, p, by="rms")`` is its last value.
    """
    if by not in _SCALES:
        raise UnknownName("normalisation", by, _SCALES, where="nrmse")
    y, _ = _both(measured, predicted)
    return rmse(measured, predicted) / not_zero("nrmse", f"the {by} of measured", float(_SCALES[by](y)))


def mae(measured: Any, predicted: Any) -> float:
    r"""Mean absolute error :math:`\sum |y - \hat y| / N` of [1]_ and Table 6 of [2]_.

    Notes
    -----
    The sum printed in [2]_ runs from 0 to N, which is one term more than the N it is divided by; [1]_ has it right.
    """
    y, p = _both(measured, predicted)
    return float(np.mean(np.abs(y - p)))


def mre(measured: Any, predicted: Any) -> float:
    r"""Mean relative error :math:`\mathrm{mean}|y - \hat y| / \max|y|`, Eq. (4) of [4]_.

    Notes
    -----
    The error is relative to the peak of the true history, not to each sample. [4]_ prints it in percent.
    """
    y, p = _both(measured, predicted)
    return float(np.mean(np.abs(y - p)) / not_zero("mre", "the peak of measured", float(np.max(np.abs(y)))))


def r2(measured: Any, predicted: Any) -> float:
    r"""Coefficient of determination :math:`1 - \sum (y - \hat y)^2 / \sum (y - \bar y)^2` of [1]_.

    It is 1 for a perfect prediction, 0 for one no better than the mean, and negative for a worse one.
    """
    return 1.0 - rrse(measured, predicted) ** 2


def rrse(measured: Any, predicted: Any) -> float:
    r"""Root relative squared error :math:`\sqrt{\sum (y - \hat y)^2 / \sum (y - \bar y)^2}` of [2]_.

    Notes
    -----
    Table 6 of [2]_ prints the numerator in the denominator too, which would always be 1. The numbers of the paper show
    what was computed: with :math:`y^T y` below the fraction, RRSE would follow from the SNR as
    :math:`10^{-\mathrm{SNR}/20}`; it is larger, by 1.3 % in Table 8 and 2.8 % in Table 11 and by the same factor for
    both models of a table, as it must be if the mean of the measured force is taken off. So the usual definition holds.
    """
    y, p = _both(measured, predicted)
    spread = not_zero("rrse or r2", "the variance of measured", float(np.sum((y - np.mean(y)) ** 2)))
    return float(np.sqrt(np.sum((y - p) ** 2) / spread))


def trac(measured: Any, predicted: Any) -> float:
    r"""Time response assurance criterion :math:`(y^T \hat y)^2 / (y^T y \; \hat y^T \hat y)` of [1]_ and [2]_.

    It is blind to scale and sign: a prediction of twice the force, or of the opposite one, has TRAC 1.
    """
    y, p = _both(measured, predicted)
    size = not_zero("trac", "measured or predicted", float((y @ y) * (p @ p)))
    return float((y @ p) ** 2 / size)


def snr(measured: Any, predicted: Any) -> float:
    r"""Signal-to-noise ratio :math:`10 \log_{10} [y^T y / (y - \hat y)^T (y - \hat y)]` in dB, Table 6 of [2]_.

    It is infinite for a perfect prediction.
    """
    y, p = _both(measured, predicted)
    signal, noise = not_zero("snr", "measured", float(y @ y)), float((y - p) @ (y - p))
    return float(10.0 * np.log10(signal / noise)) if noise else np.inf


def pearson_r(measured: Any, predicted: Any) -> float:
    r"""Pearson correlation coefficient :math:`\mathrm{Cov}(y, \hat y) / \sqrt{\mathrm{Var}(y) \mathrm{Var}(\hat y)}`.

    Eq. (3) of [4]_. Covariance and variances must have the same divisor, which then cancels.
    """
    y, p = _both(measured, predicted)
    y, p = y - np.mean(y), p - np.mean(p)
    spread = not_zero("pearson_r", "the variance of measured or predicted", float(np.sqrt((y @ y) * (p @ p))))
    return float(y @ p / spread)


def running_rmsd(measured: Any, predicted: Any) -> np.ndarray:
    r"""Running deviation :math:`\sqrt{\sum_{j \le i} (y_j - \hat y_j)^2 / \sum_{j \le i} y_j^2}`, Eq. (21) of [3]_.

    Notes
    -----
    The paper calls it root mean square deviation, but it has no unit: it is the error relative to the root mean square
    of the true force so far. The text below Eq. (21) explains a single squared error as the cumulative value; the
    formula, with its sums, is meant. As long as the true force is zero, the result is 0 where the prediction is zero
    too and infinite where it is not.
    """
    y, p = _both(measured, predicted)
    error, size = np.cumsum((y - p) ** 2), np.cumsum(y**2)
    undefined = np.where(error > 0.0, np.inf, 0.0)
    return np.sqrt(np.divide(error, size, out=undefined, where=size > 0.0))


def _both(measured: Any, predicted: Any) -> tuple[np.ndarray, np.ndarray]:
    return pair("measured", measured, "predicted", predicted)
