"""How many dampers must be measured? Dampers of one building are never equal.

Every place has a damper of its own: by how much the make differs from Table 2 is common to all, and each has an
individual part besides. In the reference all of them are what they are. In the tests none is measured and all are
models with the parameters of Table 2, or one is (story 30, north-west), one a level, or two a level, each behind an
actuator of its own and with a filter of its own. Followers take what was found from the one they follow, or all of them
together the mean.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np

from hyloop.buildings.tower import Tower
from hyloop.devices import viscous_specimen
from hyloop.errors import BadInput
from hyloop.loop import Loop
from hyloop.metrics import nrmse
from hyloop.record import Recording

from .events import JUDGING
from .specimens import COMPARED, DT, SPECIMENS, START
from .tower_loop import REAL, ground, laid, tower_loop

WAYS = ("0", "1", "3", "6", "3 together", "6 together")  # how many, and whether all take the mean of what was found
SPREADS = (0.0, 0.05, 0.10)  # standard deviation of the individual part of C and alpha
RECORDS = JUDGING[:3]
REST = 5.0  # s
SCORES = ("followers", "roof", "drift", "force")


def follows(count: int, places: Sequence[str]) -> dict[str, str]:
    """Whom each model follows when so many dampers are measured: the nearest, by level and then by side.

    One is that of the middle level, north-west. With two a level, north-west and south-east, each is followed by its
    neighbour on the same frame line, north-east and south-west.
    """
    levels = sorted({place[:-2] for place in places}, key=lambda level: int(level[1:]))
    middle = levels[len(levels) // 2]
    if count == 0:
        return {}
    if count == 1:
        leaders = dict.fromkeys(places, f"{middle}NW")
    elif count == len(levels):
        leaders = {place: f"{place[:-2]}NW" for place in places}
    elif count == 2 * len(levels):
        leaders = {place: place[:-2] + ("NW" if place[-2] == "N" else "SE") for place in places}
    else:
        raise BadInput(f"measured: {count} dampers; there are ways for 0, 1, {len(levels)} and {2 * len(levels)}.")
    return {place: leader for place, leader in leaders.items() if place != leader}


def drawn(places: Sequence[str], spread: float, seed: int) -> dict[str, dict[str, float]]:
    """C and alpha of the damper at every place: the make of the specimen that resembles the paper, and its own part."""
    rng, make = np.random.default_rng([seed, 17]), SPECIMENS[COMPARED].factors
    own = 1.0 + spread * rng.normal(size=(len(places), 2))
    return {
        place: {key: START[key] * make.get(key, 1.0) * own[k, i] for i, key in enumerate(("C", "alpha"))}
        for k, place in enumerate(places)
    }


@cache
def ready(way: str, layout: Tower | None = None) -> Loop:
    """The loop of one of `WAYS`, or of the reference, made once in a process."""
    if way == REAL:
        return tower_loop({}, REAL, layout)
    who = follows(int(way.split()[0]), tuple(laid(layout or Tower()).along))
    return tower_loop(who, "ours", layout, together=way.endswith("together"))


def compared(
    record: str, spread: float, seed: int, ways: Sequence[str] = WAYS, seconds: float = 0.0, layout: Tower | None = None
) -> dict[str, dict[str, float]]:
    """Scores in % by what is measured, under one record, for one draw of dampers.

    Parameters
    ----------
    spread : float
        Standard deviation of the individual part of C and alpha, as a fraction.
    seed : int
        Of the draw, and of the noise of the instruments.
    seconds : float
        Stop the record there; 0 for all of it.

    Returns
    -------
    dict
        ``followers``: mean error of the force of the models, over the range of what the damper of that place gives when
        moved alike. ``roof``, ``drift``, ``force``: difference of the largest roof displacement, story drift and damper
        force from the reference, with its sign.
    """
    places = list(laid(layout or Tower()).along)
    dampers = drawn(places, spread, seed)
    rows = ground(record, REST)
    if seconds:
        rows = rows[: round(seconds / ready(REAL, layout).dt)]
    reference = peaks(_run(ready(REAL, layout), rows, dampers, seed), places)
    scores = {}
    for way in ways:
        loop = ready(way, layout)
        found = _run(loop, rows, dampers, seed)
        models = [site.name for site in loop.sites if not site.physical]
        errors = [nrmse(_force(dampers[place], found[f"{place}.d"]), found[f"{place}.f"]) for place in models]
        off = {key: 100 * (value / reference[key] - 1.0) for key, value in peaks(found, places).items()}
        scores[way] = {"followers": 100 * float(np.mean(errors))} | off
    return scores


def peaks(found: Recording, places: Sequence[str]) -> dict[str, float]:
    """Largest roof displacement (m, of both directions together), story drift (m) and force of a damper (N)."""
    floors = sorted({int(name.split(".")[1].removeprefix("floor")) for name in found.names if "floor" in name})
    u = {key: np.column_stack([found[f"u.floor{floor}.{key}"] for floor in floors]) for key in ("ux", "uz")}
    drift = max(float(np.abs(np.diff(each, axis=1, prepend=0.0)).max()) for each in u.values())
    roof = float(np.hypot(u["ux"][:, -1], u["uz"][:, -1]).max())
    return {"roof": roof, "drift": drift, "force": max(float(np.abs(found[f"{p}.f"]).max()) for p in places)}


def _run(loop: Loop, rows: np.ndarray, dampers: dict[str, dict[str, float]], seed: int) -> Recording:
    """The test with these dampers wherever there is a specimen."""
    changes = {}
    for k, site in enumerate(loop.sites):
        if site.device.block is not viscous_specimen:
            continue
        changes |= {f"{site.name}.{key}": value for key, value in dampers[site.name].items()}
        if site.physical:
            changes[f"{site.name}.sensor.noise_f"] = SPECIMENS[COMPARED].noise
            changes[f"{site.name}.sensor.seed"] = float(100 * seed + k)
    channels = [f"{site.name}.{key}" for site in loop.sites for key in "df"]
    return loop.copy(changes).run(rows, record=[*channels, "u.floor*.u?"], every="tick")


def _force(params: dict[str, float], d: np.ndarray) -> np.ndarray:
    return viscous_specimen(**(START | params)).drive(DT, d=d)["f"]
