"""One hybrid test of the tower, and the tests after it in which the damper is moved as its models were.

A test is an experiment file of this folder with another record or wind, specimen and seed. Errors of the models are
those of the paper: root mean square of the difference from a repetition, over the range of the force there, with the
noise of the load cell in the repetition; without that noise beside it.
"""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from hyloop.devices import nonlinear_maxwell
from hyloop.files.load import load_experiment
from hyloop.loop import Loop
from hyloop.metrics import nrmse
from hyloop.record import Recording
from hyloop.study.build import Built, build

from .specimens import DT, SPECIMENS, START

HERE = Path(__file__).parent
MEASURED = {"earthquake": "d30NW", "wind": "d30NE"}  # section 6 of the paper
PLACES = tuple(f"d{story}{corner}" for story in (20, 30, 40) for corner in ("NW", "NE", "SW", "SE"))
# section 8 of the paper: noise of the load cell in N and random walk in a tick; the start is as uncertain as one tick
PRINTED = {
    hazard: (f"noise={8e3}", f"process={walk}", f"initial_std={walk}")
    for hazard, walk in (("earthquake", 0.005), ("wind", 0.0001))
}
REST = 30.0  # s after the end of a record
CALM = 60.0  # s after the end of a wind, in which the sway dies down


@cache
def built(hazard: str, words: tuple[str, ...], printed: bool) -> Built:
    """The experiment made ready; kept, since a process runs many specimens in it."""
    settings = PRINTED[hazard] if printed else ()
    place = f"sites.{MEASURED[hazard]}.model"
    return build(load_experiment(HERE / f"{hazard}.toml", [*words, *(f"{place}.{word}" for word in settings)]))


def with_specimen(loop: Loop, hazard: str, name: str, seed: int, duration: float) -> Loop:
    """The loop with another damper in the laboratory."""
    at, specimen = MEASURED[hazard], SPECIMENS[name]
    changes = {f"{at}.{key}": value for key, value in specimen.parameters(duration).items()}
    changes |= {f"{at}.sensor.noise_f": specimen.noise, f"{at}.sensor.seed": float(seed)}
    return loop.copy(changes)


def excitation(ready: Built, hazard: str) -> np.ndarray:
    """Its rows, followed by rest, in which a residual shows."""
    rows, rest = ready.excitation, REST if hazard == "earthquake" else CALM
    return np.vstack([rows, np.zeros((round(rest / ready.loop.dt), rows.shape[1]))])


def run(ready: Built, hazard: str, name: str, seed: int, more: tuple[str, ...] = ()) -> Recording:
    """The hybrid test, at every tick: motions and forces of all dampers, tracking, estimates."""
    rows = excitation(ready, hazard)
    loop = with_specimen(ready.loop, hazard, name, seed, len(rows) * ready.loop.dt)
    at = MEASURED[hazard]
    channels = [f"{place}.{key}" for place in PLACES for key in "df"]
    channels += [f"{at}.actuator.d", f"{at}.sensor.d", f"{at}.sensor.f", f"{at}.compensator.a*"]
    channels += [f"{first_follower(hazard)}.{key}" for key in START]
    return loop.run(rows, record=[*channels, *more], every="tick")


def first_follower(hazard: str) -> str:
    """The site whose parameters the filter writes."""
    return next(place for place in PLACES if place != MEASURED[hazard])


def post_test(found: Recording, hazard: str, name: str, seed: int) -> dict[str, Any]:
    """Errors in % of the range, place by place, and what is said of the actuator and of the filter."""
    specimen, at = SPECIMENS[name], MEASURED[hazard]
    rng = np.random.default_rng([seed, *name.encode()])
    errors: dict[str, list[float]] = {key: [] for key in ("updated", "constant", "updated free", "constant free")}
    for place in (place for place in PLACES if place != at):
        d, f = found[f"{place}.d"], found[f"{place}.f"]
        true = specimen.force(d)
        repeated = true + rng.normal(0.0, specimen.noise, len(true))
        guess = nonlinear_maxwell(**START).drive(DT, d=d)["f"]
        for key, truth, model in (
            ("updated", repeated, f),
            ("constant", repeated, guess),
            ("updated free", true, f),
            ("constant free", true, guess),
        ):
            errors[key].append(100 * nrmse(truth, model))
    first = first_follower(hazard)
    end = {key: found[f"{first}.{key}"][-round(5.0 / DT) :] for key in START}  # the last five seconds
    return {key: np.array(values) for key, values in errors.items()} | {
        "tracking": 100 * nrmse(found[f"{at}.d"], found[f"{at}.actuator.d"]),
        "frozen": not any(np.ptp(values) for values in end.values()),
        "stroke": max(float(np.abs(found[f"{place}.d"]).max()) for place in PLACES),
    }
