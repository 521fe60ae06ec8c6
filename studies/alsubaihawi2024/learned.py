"""The hybrid test with learned followers: a network in the place of the filter, judged on records it never saw.

One damper is measured. From it a network, a filter with the settings of the paper or with ours finds what eleven
others do. After the test the specimen is moved as each of them was (`hybrid`); errors are root mean squares over the
range of the force.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from hyloop.buildings.tower import Tower
from hyloop.devices import nonlinear_maxwell
from hyloop.loop import Loop
from hyloop.metrics import nrmse

from .hybrid import MEASURED, REST
from .specimens import DT, SPECIMENS, START
from .tower_loop import FILTERS, SUBSTEPS, ground, laid, one_measured, tower_loop

NETWORKS = Path(__file__).parent / "networks"
SEEDS = 3  # networks trained alike
WAYS = (*FILTERS, *(f"parameters-{seed}" for seed in range(SEEDS)))


@cache
def ready(how: str, at: str = MEASURED["earthquake"], layout: Tower | None = None) -> Loop:
    """The loop with one measured damper and one way of following it, made once in a process."""
    chosen = how if how in FILTERS else NETWORKS / f"{how}.safetensors"
    return tower_loop(one_measured(at, laid(layout or Tower()).along), chosen, layout)


def judged(
    record: str,
    how: str,
    names: Sequence[str] = tuple(SPECIMENS),
    seed: int = 1,
    seconds: float = 0.0,
    layout: Tower | None = None,
    at: str = MEASURED["earthquake"],
) -> dict[str, dict[str, float]]:
    """Errors in % of the eleven followers, by specimen, in the earthquake test with one record.

    Parameters
    ----------
    how : str
        One of `WAYS`.
    seed : int
        Of the noise of the instruments, in the test and after it.
    seconds : float
        Stop the record there; 0 for all of it and the rest after it. A quick run takes ten.

    Returns
    -------
    dict
        For each specimen: mean, least and largest error, ``noisy`` against a repetition with the noise of the load
        cell or ``free`` of it, of these models and of ``constant`` ones moved alike; largest deformation in m.
    """
    loop, rows = ready(how, at, layout), ground(record, REST)
    if seconds:
        rows = rows[: round(seconds / loop.dt)]
    return {name: _one(loop, rows, name, at, seed) for name in names}


def _one(loop: Loop, rows: np.ndarray, name: str, at: str, seed: int) -> dict[str, float]:
    specimen, places = SPECIMENS[name], [site.name for site in loop.sites]
    changes = {f"{at}.{key}": value for key, value in specimen.parameters((len(rows) - 1) * SUBSTEPS * DT).items()}
    changes |= {f"{at}.sensor.noise_f": specimen.noise, f"{at}.sensor.seed": float(seed)}
    found = loop.copy(changes).run(rows, record=[f"{place}.{key}" for place in places for key in "df"], every="tick")
    rng = np.random.default_rng([seed, *name.encode()])
    errors: dict[str, list[float]] = {key: [] for key in ("free", "noisy", "constant free", "constant noisy")}
    for place in places:
        if place == at:
            continue
        d = found[f"{place}.d"]
        true, guess = specimen.force(d), nonlinear_maxwell(**START).drive(DT, d=d)["f"]
        repeated = true + rng.normal(0.0, specimen.noise, len(true))
        for key, truth in (("free", true), ("noisy", repeated)):
            errors[key].append(100 * nrmse(truth, found[f"{place}.f"]))
            errors[f"constant {key}"].append(100 * nrmse(truth, guess))
    scores = {f"{what} {key}": float(do(each)) for key, each in errors.items() for what, do in _KINDS.items()}
    return scores | {"stroke": max(float(np.abs(found[f"{place}.d"]).max()) for place in places)}


_KINDS = {"mean": np.mean, "least": np.min, "largest": np.max}
