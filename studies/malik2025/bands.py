r"""A band of error for a network that listens, wide where a live test gives reason for it.

.. math:: half = q\,(floor + w\,R), \qquad R^2 \leftarrow \lambda R^2 + (1 - \lambda)\,(f_m - f_{twin})^2, \quad
          \lambda = e^{-\delta t/\tau}

The twin is the law fitted to the device as it is meant to be, moved like the measured one: deaf, so that its residual
tells how much the device of today differs and how hard the motion is. The weight w is chosen, and then q calibrated, on
device draws of the validation events that nothing was trained on; test events judge.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.signal import lfilter

from hyloop.metrics import calibrate, compare_bands
from hyloop.neural.frozen import FrozenNetwork
from hyloop.trust import Watch

from .baselines import fitted_lugre
from .frame import DT
from .scores import listening
from .specimens import Run

COVERAGE, FLOOR = 0.9, 200.0  # share of the samples, N
WEIGHTS = (0.0, 0.05, 0.1, 0.2, 0.4)
DELAY, JITTER = 6, 8  # ticks: the link of the experiment


@dataclass(frozen=True)
class Calibrated:
    """Weight of the twin's residual and q; of every weight tried, the width on the choosing draws and q."""

    weight: float
    q: float
    tried: list[tuple[float, float, float]]


def residual(kind: str, run: Run) -> np.ndarray:
    """Running root mean square of what the twin gets wrong at the measured device, tick by tick."""
    twin = fitted_lugre(kind, run.level).drive(DT, v=run.heard[:, 2])["f"]
    fade = np.exp(-DT / Watch.window)
    return np.sqrt(lfilter([1.0 - fade], [1.0, -fade], (run.heard[:, 0] - twin) ** 2))


def errors_and_residuals(kind: str, network: FrozenNetwork, runs: Sequence[Run]) -> tuple[list, list]:
    """Errors of the network and residuals of the twin, run by run."""
    model = listening(network, delay=DELAY, jitter=JITTER)
    return [model(run) - run.f for run in runs], [residual(kind, run) for run in runs]


def calibrated(errors: Sequence[np.ndarray], residuals: Sequence[np.ndarray], chosen: int) -> Calibrated:
    """The weight with the narrowest band on the first `chosen` runs, and q from the others."""
    first, rest = slice(0, chosen), slice(chosen, None)

    def width(weight: float) -> float:
        scores = [FLOOR + weight * R for R in residuals[first]]
        return compare_bands(calibrate(errors[first], scores, COVERAGE), errors[first], scores).width

    def q(weight: float) -> float:
        return calibrate(errors[rest], [FLOOR + weight * R for R in residuals[rest]], COVERAGE)

    tried = [(weight, width(weight), q(weight)) for weight in WEIGHTS]
    weight, _, factor = min(tried, key=lambda row: row[1])
    return Calibrated(weight, factor, tried)
