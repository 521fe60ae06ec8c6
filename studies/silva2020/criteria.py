"""What a run is judged by: the benchmark's nine criteria, named by what they mean."""

import math
from typing import Any, NamedTuple

import numpy as np

from hyloop.core import jit

LONGEST = 49  # samples that the benchmark's code looks for a delay in; a lead reads as 0

# number of each criterion in the code and the published table, and in the paper's text
NUMBERS = {
    "delay": ("J1", "J1"),
    "tracking": ("J2", "J2"),
    "tracking_peak": ("J3", "J3"),
    "floor1": ("J4", "J4"),
    "floor1_peak": ("J5", "J7"),
    "floor2": ("J6", "J5"),
    "floor3": ("J7", "J6"),
    "floor2_peak": ("J8", "J8"),
    "floor3_peak": ("J9", "J9"),
}


class Criteria(NamedTuple):
    """In % but for the delay in ms. The last two are ours: of the true displacement, which no noise hides."""

    delay: float  # of the measured displacement behind the one wanted
    tracking: float  # error of the measured displacement: root mean square
    tracking_peak: float
    floor1: float  # measured displacement against that of the reference
    floor1_peak: float
    floor2: float  # displacement of the numerical part against that of the reference
    floor3: float
    floor2_peak: float
    floor3_peak: float
    true_tracking: float  # error of the true displacement
    true_floor1: float  # true displacement against that of the reference


def nrms(a: np.ndarray, b: np.ndarray) -> float:
    """Standard deviation of the difference over that of b, in %, as the code has it; the paper prints raw sums."""
    return _percent(np.std(a - b), np.std(b))


def peak(a: np.ndarray, b: np.ndarray) -> float:
    """Largest difference over the largest b, in %."""
    return _percent(np.max(np.abs(a - b)), np.max(np.abs(b)))


def _percent(part: Any, whole: Any) -> float:
    """Infinite where there is nothing to compare with: a run that broke off before the ground moved."""
    return 100.0 * float(part) / float(whole) if whole > 0.0 else math.inf


def delay(measured: np.ndarray, wanted: np.ndarray, rate: int) -> float:
    """Lag in ms at which the two correlate best."""
    return 1e3 / rate * _lag(measured - measured.mean(), wanted - wanted.mean())


@jit
def _lag(a, b):
    """Samples by which a comes behind b, from 0 to `LONGEST`."""
    best, most = 0, -np.inf
    for k in range(LONGEST + 1):
        product = 0.0
        for i in range(len(b) - k):
            product += a[i + k] * b[i]
        if product > most:
            best, most = k, product
    return best


def criteria(y: np.ndarray, measured: np.ndarray, true: np.ndarray, reference: np.ndarray, rate: int) -> Criteria:
    """All of them, from displacements (N, 3) of the numerical part and the reference and (N,) of the specimen."""
    n = len(y)
    xr = reference[:n]
    return Criteria(
        delay(measured, y[:, 0], rate),
        nrms(measured, y[:, 0]),
        peak(measured, y[:, 0]),
        nrms(measured, xr[:, 0]),
        peak(measured, xr[:, 0]),
        nrms(y[:, 1], xr[:, 1]),
        nrms(y[:, 2], xr[:, 2]),
        peak(y[:, 1], xr[:, 1]),
        peak(y[:, 2], xr[:, 2]),
        nrms(true, y[:, 0]),
        nrms(true, xr[:, 0]),
    )
