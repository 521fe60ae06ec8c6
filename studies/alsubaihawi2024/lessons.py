r"""What networks are trained on: deformations of the tower under the choosing records, imposed on drawn dampers.

A run has two places of one motion. The damper at the first is measured, an equal one stands at the second. Drawn
dampers cover those of `specimens`, none of which is drawn. Only the choosing records are used, turned and at other
levels, with synthetic motions and slow sways about an offset as in the wind.

For a network that gives parameters :math:`\theta` a run has the sensitivities :math:`S_i = \partial f/\partial\theta_i`
of the true force at the second place, by differences: the force of a law with slightly wrong parameters is
:math:`f + S^T (\theta - \theta^*)`, and its error can be learned from without running the law.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from hyloop.buildings.tower import Tower
from hyloop.core.writing import replacing
from hyloop.data import data_folder
from hyloop.devices import viscous_specimen
from hyloop.loop import Loop

from .ears import EVERY, SEAL, heard
from .events import CHOOSING
from .specimens import DT, START
from .tower_loop import NOISE_D, TRUE, ground, laid, one_measured, tower_loop

LEVELS = (1.0, 0.45)  # of the choosing records, each as it is and turned
SYNTHETIC, SWAYS = 4, 6  # motions that fit the spectrum; sways
REST = 5.0  # s
RUNS, SEED = 480, 2024
SWAY, OFFSET, SWAYING, RAMP = 0.025, 0.040, 150.0, 30.0  # m, m, s, s
AT, MOST = "d30NW", 40e3  # who is measured; N, most friction of a seal
STEP = 0.02  # of a parameter, for its sensitivity
# columns of a run: what the ear gives, what the instruments show, motion and force at the other place, S and theta
EAR, SHOWN, OWN, FORCE, SENSITIVITY, THETA = (
    slice(*ends) for ends in ((0, 5), (5, 8), (8, 10), (10, 11), (11, 15), (15, 19))
)


def draw(rng: np.random.Generator, duration: float, friction: float | None = None) -> dict[str, float]:
    """Parameters of a drawn `viscous_specimen`: half of them drift, half of them have friction in the seal."""
    factors = {"K": rng.uniform(0.6, 1.4), "C": rng.uniform(0.65, 1.35), "alpha": rng.uniform(0.75, 1.3)}
    ends = {"K_end": rng.uniform(0.9, 1.1), "C_end": rng.uniform(0.6, 1.25), "alpha_end": rng.uniform(0.92, 1.08)}
    if rng.random() < 0.5:
        ends = dict.fromkeys(ends, 1.0)
    rubbing = rng.uniform(0.0, MOST) if rng.random() < 0.5 else 0.0
    own = {key: START[key] * value for key, value in factors.items()}
    return own | ends | {"drift_time": duration, "friction": rubbing if friction is None else friction}


def shaken(name: str, *, turned: bool, level: float, specimen: dict[str, float], at: str = AT) -> np.ndarray:
    """Motions of all dampers (ticks, places) in a hybrid test whose followers are told the truth.

    That of the measured one, the first column, is what its actuator made of the command. With friction the motion
    trembles where it turns, as the force of the seal jumps from one step to the next: a network has to know that sound.
    """
    loop = _told_the_truth(at)
    others = [site.name for site in loop.sites if site.name != at]
    loop = loop.copy({f"{place}.{key}": value for place in (at, others[0]) for key, value in specimen.items()})
    rows = ground(name, REST, turned=turned, scale=level)
    return loop.run(rows, record=[f"{at}.actuator.d", *(f"{place}.d" for place in others)], every="tick").data


@cache
def _told_the_truth(at: str) -> Loop:
    return tower_loop(one_measured(at, laid(Tower()).along), TRUE)


def swaying(seed: int, places: int = 12) -> np.ndarray:
    """Deformations of a tower in the wind (ticks, places): narrow bands about an offset that comes and goes."""
    rng, t = np.random.default_rng([SEED, seed]), np.arange(round(SWAYING / DT)) * DT
    bands = [(0.12, 0.18, 1.0), (0.19, 0.24, 0.4), (0.5, 0.7, 0.15), (0.02, 0.1, 0.4)]  # Hz, Hz, part
    ramp = np.clip(np.minimum(t, SWAYING - t) / RAMP, 0.0, 1.0)
    d = np.outer(ramp, OFFSET * rng.uniform(-1.0, 1.0, places))
    for low, high, part in bands:
        f, phase = rng.uniform(low, high, 6), rng.uniform(0.0, 2.0 * np.pi, 6)
        q = ramp * np.sin(2.0 * np.pi * f * t[:, None] + phase).sum(axis=1) / np.sqrt(6.0)
        d += np.outer(q, SWAY * part * rng.uniform(-1.0, 1.0, places))
    return d


def make_deformations(path: Path, progress: Callable[[float], None] = lambda _: None) -> int:
    """Shake the tower by all that is trained on, and keep what its dampers did; returns how many histories.

    Every second history is of dampers with friction; how much, is kept with it.
    """
    names = CHOOSING if data_folder() is not None else tuple(f"synthetic-{100 + k}" for k in range(len(CHOOSING)))
    shakes = [(name, turned, level) for name in names for turned in (False, True) for level in LEVELS]
    shakes += [(f"synthetic-{k}", False, 1.0) for k in range(SYNTHETIC)]
    cases = [(shake, rubbing) for shake in shakes for rubbing in (False, True)]
    rng = np.random.default_rng([SEED, 1])
    with replacing(path) as temporary, h5py.File(temporary, "w") as file:
        for k, ((name, turned, level), rubbing) in enumerate(cases):
            own = {"C": START["C"] * rng.uniform(0.7, 1.3), "alpha": START["alpha"] * rng.uniform(0.8, 1.25)}
            own["friction"] = rng.uniform(0.05, 1.0) * MOST if rubbing else 0.0
            found = shaken(name, turned=turned, level=level, specimen=own)
            file[f"{k:03d}"] = found
            file[f"{k:03d}"].attrs["friction"] = own["friction"]
            progress((k + 1) / (len(cases) + SWAYS))
        for k in range(SWAYS):
            file[f"{len(cases) + k:03d}"] = swaying(k)
    return len(cases) + SWAYS


def make_runs(source: Path, path: Path, runs: int = RUNS, progress: Callable[[float], None] = lambda _: None) -> None:
    """Impose pairs of deformations on drawn dampers, and keep every 16th tick of what is measured and true.

    The first column of a history is the measured one.
    """
    rng = np.random.default_rng([SEED, 2])
    with h5py.File(source) as given, replacing(path) as temporary, h5py.File(temporary, "w") as file:
        names = list(given)
        for k in range(runs):
            history: Any = given[names[k % len(names)]]
            first, second = 0, int(rng.integers(1, history.shape[1]))
            factor = rng.uniform(0.6, 1.3) * rng.choice([-1.0, 1.0])
            friction = history.attrs.get("friction")
            file[f"{k:04d}"] = one_run(factor * history[:, first], factor * history[:, second], rng, friction)
            progress((k + 1) / runs)


def one_run(d1: np.ndarray, d2: np.ndarray, rng: np.random.Generator, friction: float | None = None) -> np.ndarray:
    """One run (samples, 19) in single precision; see the top of the file for its columns."""
    size, noise = len(d1), rng.uniform(4e3, 10e3)
    params = draw(rng, size * DT, friction)

    def force(d: np.ndarray, **changes: float) -> np.ndarray:
        return viscous_specimen(**(params | changes)).drive(DT, d=d)["f"]

    d_m = d1 + rng.normal(0.0, NOISE_D, size)
    f_m = force(d1) + rng.normal(0.0, noise, size)
    v1 = (d_m - np.concatenate([np.full(EVERY, d_m[0]), d_m[:-EVERY]])) / (EVERY * DT)
    f, v2 = force(d2), np.diff(d2, prepend=d2[:1]) / DT
    slopes = [(force(d2, **{key: params[key] * np.exp(STEP)}) - f) / STEP for key in START]
    slopes.append(SEAL * np.tanh(v2 / viscous_specimen.params["v_s"].default))
    part = np.minimum(np.arange(1, size + 1) * DT / params["drift_time"], 1.0)
    theta = [np.log(params[key] / START[key] * (1.0 + part * (params[f"{key}_end"] - 1.0))) for key in START]
    theta.append(np.full(size, params["friction"] / SEAL))
    rows = np.column_stack([heard(d_m, f_m, DT), f_m, d_m, v1, d2, v2, f, *slopes, *theta])
    return rows[int(rng.integers(EVERY)) :: EVERY].astype(np.float32)


def load_runs(path: Path) -> list[np.ndarray]:
    """All runs of a file."""
    with h5py.File(path) as file:
        runs: list[Any] = [file[name] for name in file]
        return [run[:] for run in runs]
