"""The public tests of the banded rotary friction damper at 36 lb pretension."""

import json
from dataclasses import dataclass

import numpy as np
from oracles.data import data_path

RATE = 1024.0  # Hz
EARTHQUAKES = ("DuzceDBE", "DuzceMCE", "ImperialValleyDBE", "ImperialValleyMCE", "KocaeliDBE", "KocaeliMCE")
# the stretches of the earthquakes that the paper evaluates, in samples
_SEGMENTS = {"Duzce": slice(4608, 12288), "Imper": slice(3072, 7680), "Kocae": slice(6144, 14336)}


@dataclass(frozen=True)
class Test:
    """Deformation, zero-phase velocity, its derivative and the force of one test; `judged` is the stretch evaluated."""

    __test__ = False  # not a class of test cases

    d: np.ndarray
    v: np.ndarray
    a: np.ndarray
    F: np.ndarray
    judged: slice

    def rmse(self, f: np.ndarray) -> float:
        return float(np.sqrt(np.mean((f - self.F)[self.judged] ** 2)))

    def nrmse(self, f: np.ndarray) -> float:
        """RMSE in percent of the range of the measured force, both over the stretch judged."""
        return 100.0 * self.rmse(f) / float(np.ptp(self.F[self.judged]))


def _load(name: str, judged: slice) -> Test:
    with np.load(data_path("brfd", "brfd_dataset2.npz")) as file:
        d, v, F = (file[f"{name}/{column}"].astype(float) for column in ("x", "v", "F"))
    return Test(d, v, np.gradient(v) * RATE, F, judged)


def earthquakes() -> dict[str, Test]:
    return {name: _load(f"d2_eq36lb_{name}", _SEGMENTS[name[:5]]) for name in EARTHQUAKES}


def harmonics() -> dict[str, Test]:
    """The 13 harmonic tests by name, judged whole."""
    index = json.loads(data_path("brfd", "index.json").read_text(encoding="utf-8"))
    return {name: _load(name, slice(None)) for name in index if name.startswith("d2_h36lb")}
