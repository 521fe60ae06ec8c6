"""The runs of the study, in pieces that a task can do: each gives plain rows of numbers."""

from typing import Any

import numpy as np

from hyloop.core import Instance
from hyloop.devices import draw_brfd, lugre_exact, mr_damper
from hyloop.devices.lugre import lugre_level

from .benchmark import CASES, NOMINAL, plants
from .criteria import Criteria
from .laboratory import PERFECT, Outcome, Setting, test
from .schemes import scheme

FILES = ("benchmark.py", "criteria.py", "laboratory.py", "schemes.py", "campaign.py")
JUDGED, TWENTY = 2020, 2021  # seeds of the thousand plants, and of the twenty of the ranking
SIZE = 3000.0  # N, of the nonlinear specimens: that of the linear one in the stronger parts of a record
COLUMNS = (*Criteria._fields, "stable", "force", "stroke", "velocity")


def _row(outcome: Outcome) -> list[float]:
    return [*outcome.criteria, float(outcome.stable), outcome.force, outcome.stroke, outcome.velocity]


def _made(name: str, rate: int = 4096, delay: float | None = None) -> Instance | str:
    return PERFECT if name == PERFECT else scheme(name, rate, delay)


def nominal(name: str) -> list[list[float]]:
    """A scheme with the nominal plant; a row for each case."""
    return [_row(test(_made(name), Setting(case))[0]) for case in CASES]


def ranking(name: str, count: int) -> list[list[float]]:
    """A scheme with so many random plants, each with a noise of its own; the mean for each case."""
    found = []
    for case in CASES:
        rows = [
            _row(test(_made(name), Setting(case, seed=k), plant)[0]) for k, plant in enumerate(plants(count, TWENTY))
        ]
        found.append([float(value) for value in np.mean(rows, axis=0)])
    return found


def many(name: str, delay: float, first: int, last: int, all_cases: bool) -> list[list[float]]:
    """A scheme that begins cold, with random plants from `first` to `last`, in all cases or in one each, in turn."""
    found, cases = [], list(CASES)
    for k, plant in enumerate(plants(last, JUDGED)[first:], start=first):
        for case in cases if all_cases else [cases[k % len(cases)]]:
            found.append(_row(test(_made(name, delay=delay), Setting(case, seed=k), plant)[0]))
    return found


def banded() -> Instance:
    """A virtual banded damper, all of its forces scaled down; the mass that moves with it is the rig's."""
    part = SIZE / 23e3
    scaled = {"kd": 102e3, "kp": 7.21e6, "kn": 7.87e6, "c": 5e3, "fg": 289.0, "off": 349.0}
    quiet = {"noise_f": 0.0, "noise_d": 0.0, "noise_t": 0.0, "m": 0.0}
    rest: dict[str, Any] = {key: part * value for key, value in scaled.items()} | quiet
    return draw_brfd(np.random.default_rng(0), level=SIZE, **rest)


SPECIMENS = {
    "LuGre specimen": lambda: lugre_exact(**lugre_level(SIZE)),
    "MR specimen": lambda: mr_damper(i=0.3),
    "banded specimen": banded,
}
VARIANTS: dict[str, dict] = {
    "as it is": {},
    "no noise": {"noise": 0.0},
    "1024 Hz": {"rate": 1024},
    "a tenth lost": {"dropout": 0.1},
    "cold, 10 ms": {"delay": 0.01},
    "cold, 20 ms": {"delay": 0.02},
    "cold, 40 ms": {"delay": 0.04},
    **{name: {"specimen": name} for name in SPECIMENS},
}


def variant(name: str, harder: str, cases: tuple[int, ...]) -> list[list[float]]:
    """A scheme in a harder variant of the benchmark, with the nominal plant; a row for each case."""
    what = dict(VARIANTS[harder])
    specimen, delay = what.pop("specimen", None), what.pop("delay", None)
    device = SPECIMENS[specimen]() if specimen else None
    compensator = _made(name, what.get("rate", 4096), delay)
    return [_row(test(compensator, Setting(case, **what), NOMINAL, device)[0]) for case in cases]
