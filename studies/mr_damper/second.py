"""The second look at the calibration: the law that flows behind its gap, from the sines and 10 s at 1 A together.

The sines are the prior: they stay in the cost, so that what 10 s at one current cannot say is left to them.
"""

import tomllib
from pathlib import Path

import numpy as np
from scipy.optimize import least_squares

from . import flowing
from .records import QUAKE_CURRENTS, quakes, sines

CURRENT = 1.0  # A
HEARD = slice(44000, 54000)  # averages of 1 ms; where the speed varies most, see README.md
WEIGHT = 30.0  # of the 10 s, in sine tests (there are 30); chosen inside the 10 s
RESIDUALS = 300  # of a sine, evenly spread
EVERY = 10  # averages of the 10 s
EVALUATIONS = 25  # as in the choice of structure and weight
LOOSE = 1e-3  # precision around the start: keeps numbers that nothing decides where they are
LAW = tomllib.loads((Path(__file__).parent / "law.toml").read_text(encoding="utf-8"))  # from the sines alone
START = LAW | {"F_1": 350.0, "v_e": 1.5e-3, "k_y": 3e6, "Y_1": 800.0, "gap": 0.35e-3, "v_y": 1e-3, "y": 0.5, "n": 0.5}
SHIFT = 10.0  # N


def _numbers(law):
    return np.array([*np.log([law[key] for key in flowing.FREE]), law["n"], law["f_0"] / SHIFT])


def _law(numbers):
    positive = dict(zip(flowing.FREE, np.exp(np.clip(numbers[:-2], -30.0, 30.0)).tolist(), strict=True))
    return positive | {"n": float(numbers[-2]), "f_0": SHIFT * float(numbers[-1])}


def calibrated(tests, seen, heard: slice = HEARD, start=START, evaluations=EVALUATIONS) -> dict[str, float]:
    """All numbers of the law by least squares over sine tests and a part of one other test.

    Of the other test nothing but the force in `heard` is used, and its motion up to there.
    """
    stop = seen.stride * (heard.stop + seen.window - 2) + 1
    rows = [np.linspace(test.skip, len(test.f) - 1, RESIDUALS).astype(int) for test in tests]
    force_heard = seen.f[heard][::EVERY]
    scale = np.sqrt(WEIGHT / len(force_heard)) / np.ptp(seen.f[heard])
    origin = _numbers(start)

    def residuals(numbers):
        law = _law(numbers)
        of_sines = [
            (test.shown(flowing.force(law, test))[at] - test.f[at]) / (test.range * np.sqrt(RESIDUALS))
            for test, at in zip(tests, rows, strict=True)
        ]
        shown = seen.shown(flowing.force(law, seen, stop))[heard][::EVERY]
        return np.concatenate([*of_sines, LOOSE * (numbers - origin), scale * (shown - force_heard)])

    found = least_squares(residuals, origin, diff_step=1e-4, x_scale=0.1, max_nfev=evaluations)
    return _law(found.x)


def law() -> dict[str, float]:
    """The law of the second look."""
    return calibrated(sines(), quakes()[CURRENT])


def errors(law) -> dict[float, float]:
    """NRMSE in % by current of the earthquake tests; at 1 A without the averages in which a heard reading is."""
    found = {}
    for i in QUAKE_CURRENTS:
        seen = quakes()[i]
        deviation = seen.shown(flowing.force(law, seen)) - seen.f
        if i == CURRENT:
            deviation = np.delete(deviation, slice(HEARD.start - seen.window, HEARD.stop + seen.window))
        found[i] = 100.0 * float(np.sqrt(np.mean(deviation**2))) / seen.range
    return found
