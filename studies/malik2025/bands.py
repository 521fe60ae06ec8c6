r"""A band of error for networks that listen, wide where a live test gives reason for it.

.. math:: half = q\,(floor + w_f |f| + w_s\,s)

with the force f of the networks and their standard deviation s. Weights are those under which the errors in runs of
the *training* events are likeliest if they have a Laplace distribution of that scale; q is calibrated on events that
nothing was trained on: the validation events, their second components, and synthetic motions scaled to the same
spectrum, all with devices of their own. The specimen is virtual, so that further events cost nothing, but they are not
drawn from one source with records: `left_out` shows what that does, one validation event at a time. Which parts the
score has was chosen there; test events judge.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.optimize import minimize
from scipy.signal import lfilter

from hyloop.metrics import calibrate, compare_bands
from hyloop.neural.frozen import FrozenNetwork
from hyloop.trust import Watch

from .baselines import fitted_lugre
from .data import split
from .frame import DT, LEVELS, STROKE, deformations
from .motions import plain
from .scores import listening
from .specimens import Run, measure

COVERAGE = 0.9  # share of the samples
DELAY, JITTER = 6, 8  # ticks: the link of the experiment
EVERY = 40  # ticks: samples of a run nearer than that say little new
RESOLUTION = 20.0  # N: errors are not told apart below it, so that no score becomes zero
SYNTHETIC = {f"synthetic-{k}": f"synthetic {k}" for k in range(200, 216)}
# where weights come from, then where q does: stations, components, and seeds of the devices
FITTING = (("train", (0, 1), (541,)),)
CALIBRATING = (
    ("validation", (0,), tuple(range(501, 509))),
    ("validation", (1,), (521, 522)),
    ("synthetic", (0,), (531, 532, 533)),
)
PARTS = ("floor", "force", "spread", "twin")


@dataclass(frozen=True)
class Heard:
    """One run: error of the mean of the networks, and columns for the parts of a score, tick by tick."""

    event: str
    error: np.ndarray
    columns: dict[str, np.ndarray]

    def score(self, weights: dict[str, float]) -> np.ndarray:
        """The sum of the weighted parts."""
        return sum(weight * self.columns[part] for part, weight in weights.items())  # type: ignore[return-value]


@dataclass(frozen=True)
class LeftOut:
    """A score judged on each validation event by a q that has not known it."""

    coverage: list[float]  # of each event
    inside: float  # share of the runs with 80 to 97 %
    width: float  # N
    interval: float  # N: width, and 2/(1 - coverage) times what misses exceed it by; the least is the best


@cache
def moved(side: str, components: tuple[int, ...], level: float) -> tuple[tuple[tuple[str, str], np.ndarray], ...]:
    """Name, event and deformations under the motions of a side that the stroke of the device allows."""
    shakes = plain(SYNTHETIC if side == "synthetic" else split()[side], components)
    found = deformations(shakes, level)
    return tuple(((m.name, m.event), d) for m, d in zip(shakes, found, strict=True) if np.abs(d).max() < STROKE)


def drawn(kind: str, groups: Sequence[tuple[str, tuple[int, ...], tuple[int, ...]]]) -> list[Run]:
    """Measured runs of several groups of motions, at all capacities."""
    found = []
    for (side, components, seeds), level in ((group, v) for group in groups for v in LEVELS):
        named, histories = zip(*moved(side, components, level), strict=True)
        for seed in seeds:
            found += measure(kind, named, histories, level, seed)
    return found


def heard(kind: str, networks: Sequence[FrozenNetwork], run: Run) -> dict[int, Heard]:
    """What the first network and what all together say in a run over the link of the experiment, by their number."""
    forces = np.array([listening(network, delay=DELAY, jitter=JITTER)(run) for network in networks])
    shared = {"floor": np.ones(len(run.f)), "twin": residual(kind, run)}
    found = {}
    for count in {1, len(networks)}:
        f = forces[:count].mean(axis=0)
        spread = {"spread": forces.std(axis=0, ddof=1)} if count > 1 else {}
        found[count] = Heard(run.event, f - run.f, {**shared, "force": np.abs(f), **spread})
    return found


def residual(kind: str, run: Run) -> np.ndarray:
    """Running root mean square of what the fitted law gets wrong at the measured device, tick by tick."""
    twin = fitted_lugre(kind, run.level).drive(DT, v=run.heard[:, 2])["f"]
    fade = np.exp(-DT / Watch.window)
    return np.sqrt(lfilter([1.0 - fade], [1.0, -fade], (run.heard[:, 0] - twin) ** 2))


def weigh(runs: Sequence[Heard], parts: Sequence[str]) -> dict[str, float]:
    """Positive weights of the parts of a score under which the errors are likeliest; every run counts the same."""
    errors = np.concatenate([np.abs(run.error[::EVERY]) for run in runs]) + RESOLUTION
    rows = np.concatenate([np.column_stack([run.columns[part][::EVERY] for part in parts]) for run in runs])
    share = np.concatenate([np.full(size := len(run.error[::EVERY]), 1.0 / size) for run in runs]) / len(runs)
    unit = np.sqrt(share @ rows**2) / (share @ errors)  # weights of like size, and forces over the mean error
    rows, errors = rows / unit / (share @ errors), errors / (share @ errors)

    def unlikely(logarithms: np.ndarray) -> tuple[float, np.ndarray]:
        weights = np.exp(logarithms)
        scale = rows @ weights
        slope = share * (1.0 / scale - errors / scale**2)
        return float(share @ (np.log(scale) + errors / scale)), (slope @ rows) * weights

    start = np.full(len(parts), -np.log(len(parts)))
    found = minimize(unlikely, start, jac=True, method="L-BFGS-B", bounds=[(-12.0, 4.0)] * len(parts))
    return dict(zip(parts, (np.exp(found.x) / unit).tolist(), strict=True))


def factor(runs: Sequence[Heard], weights: dict[str, float]) -> float:
    """q of a score, from runs that did not make its weights."""
    return calibrate([run.error[::EVERY] for run in runs], [run.score(weights)[::EVERY] for run in runs], COVERAGE)


def left_out(runs: Sequence[Heard], weights: dict[str, float], records: Sequence[str]) -> LeftOut:
    """Leave out one event with records at a time: q from all others, judged on it."""
    covered, by_run, widths, intervals = [], [], [], []
    for event in records:
        q = factor([run for run in runs if run.event != event], weights)
        there = [run for run in runs if run.event == event]
        judged = compare_bands(q, [run.error for run in there], [run.score(weights) for run in there])
        halves = [q * run.score(weights) for run in there]
        beyond = [np.mean(np.maximum(np.abs(r.error) - h, 0.0)) for r, h in zip(there, halves, strict=True)]
        covered.append(judged.pooled)
        by_run += list(judged.by_run)
        widths.append(judged.width)
        intervals.append(judged.width + 2.0 / (1.0 - COVERAGE) * np.mean(beyond))
    return LeftOut(covered, inside(np.array(by_run)), float(np.mean(widths)), float(np.mean(intervals)))


def inside(by_run: np.ndarray) -> float:
    """Share of the runs of which 80 to 97 % lie in the band."""
    return float(np.mean((by_run >= 0.8) & (by_run <= 0.97)))
