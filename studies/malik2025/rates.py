"""Controllers of other rates than that of the training, with the very same networks.

A network takes a sample every 1/64 s and runs in phases, so that a controller of 512 Hz has 8 of them in turn and one
of 2048 Hz 32. Histories and device are simulated at the other rate.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.interpolate import CubicSpline

from hyloop.neural import load_network

from .data import SEEDS
from .frame import DT
from .looped import hybrid_test
from .motions import Motion
from .scores import listening, table
from .specimens import Run, measure

RATES = (512, 1024, 2048)  # Hz
DELAY = 10e-3  # s, of the link


def in_ticks(d: np.ndarray, dt: float) -> np.ndarray:
    """A deformation history in ticks of `dt`, by cubic splines: an actuator turns smoothly within a tick, too."""
    if dt == DT:
        return d
    t = np.arange(len(d)) * DT
    return CubicSpline(t, d)(np.arange(0.0, t[-1] + 1e-9, dt))


def measured(kind: str, shakes: Sequence[Motion], moved: Sequence[np.ndarray], level: float, rate: int) -> list[Run]:
    """Runs of the validation side in a laboratory of some rate; devices are those of the study."""
    named = [(motion.name, motion.event) for motion in shakes]
    return measure(kind, named, [in_ticks(d, 1.0 / rate) for d in moved], level, SEEDS["validation"], 1.0 / rate)


def validated(network: Path, named: str, runs: Sequence[Run], rate: int) -> np.ndarray:
    """NRMSE in % of every run, with a link of `DELAY`."""
    model = listening(load_network(network), named, delay=round(DELAY * rate), dt=1.0 / rate)
    return table(model, runs)[:, 0]


def looped(kind: str, level: float, motion: Motion, network: Path, number: int, rate: int) -> float:
    """NRMSE in % of the second story in the hybrid test."""
    return float(hybrid_test(kind, level, motion, network, number, 1.0 / rate).scores[0])
