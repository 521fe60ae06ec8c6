"""The tower as a loop in Python: which dampers are measured, and what the others make of it.

An experiment file (`earthquake.toml`) has one measured damper; here any number of them, each behind an actuator of its
own, and followers that take what a filter or a network finds from the one they follow.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hyloop.buildings.tower import Tower, tower
from hyloop.core.block import inplace_block
from hyloop.devices import linearised, nonlinear_maxwell, viscous_specimen
from hyloop.errors import BadInput
from hyloop.hazards import asce7_spectrum, find_record, read_record, synthetic_motion
from hyloop.integrators import mkr_alpha
from hyloop.loop import FreeBlock, Loop, Site
from hyloop.structure import Structure, modal_and_stiffness
from hyloop.transfer import sensor, zeros_poles
from hyloop.transfer.compensators import ats
from hyloop.updating import unscented

from .ears import ears
from .events import ONE, SHORT, factor
from .specimens import DT, START

SUBSTEPS = 4  # ticks in a step of the structure, as in earthquake.toml
COUNT = 5  # equal dampers at a place
RHO, RATIO, MODES = 0.5, 0.02, 30  # of the method; of the critical damping, and over how many modes (at most half)
WORKING, FIRST = 0.075, 0.149  # m and Hz: at which the method takes a damper for a spring and a dashpot
NOISE_D = 2e-6  # m, of the measured deformation, as in earthquake.toml
POLES = (complex(-80.42, 60.32), complex(-80.42, -60.32), complex(-377.0))  # of the actuator, rad/s
FREE = {key: (0.2 * value, 2.0 * value) for key, value in START.items()}
SEAL = 5e3  # N, friction with which a filter begins that looks for it
# noise of the load cell in N, random walk in a tick and uncertainty of the start, both of the starting value
FILTERS = {
    "printed": {"noise": 8e3, "process": 0.005, "initial_std": 0.005},  # section 8 of the paper
    "ours": {"noise": 20e3, "process": 1e-4, "initial_std": 0.1},  # chosen on the choosing records
    # as ours, for a law that has friction of the seal; not chosen on anything
    "seal": {
        "noise": 20e3,
        "process": dict.fromkeys(START, 1e-4) | {"friction": 1e-3},
        "initial_std": dict.fromkeys(START, 0.1) | {"friction": 1.0},
    },
}
SPREAD = 1e-3  # of the sigma points
REAL = "real"  # every place has its own specimen, without an actuator: the reference
TRUE = "true"  # followers have the law of the specimen, and what it has, if somebody writes it there


class Laid(NamedTuple):
    """The condensed structure, and the direction of the dampers at each place."""

    structure: Structure
    along: dict[str, np.ndarray]


@cache
def laid(layout: Tower) -> Laid:
    """A tower, condensed; places are named by story and corner, such as d30NW."""
    model = tower(layout)
    made = model.structure(
        lambda s: modal_and_stiffness(s, RATIO, min(MODES, 3 * layout.levels // 2)),
        ground=("ux", "uz"),
        condense=layout.retained,
    )
    along = {}
    for column, tip in layout.dampers:
        corner, level = column.split("-")
        along[f"d{int(level) - layout.basements}{corner}"] = model.direction(made, column, tip, "uy")
    return Laid(made, along)


def rig(noise: float, seed: int) -> dict:
    """Compensator (Table 1 of the paper), actuator (late by 19 ms) and instruments of a measured damper."""
    limits, rates = [(0.8, 1.2), (0.0, 0.03), (0.0, 2e-4)], [2.048, 0.0512, 1.024e-3]
    return {
        "compensator": ats([0.984, 0.017, 1e-4], dt=DT, limits=limits, rates=rates, threshold=1e-3, substeps=SUBSTEPS),
        "actuator": zeros_poles([], list(POLES)),
        "sensor": sensor(noise_f=noise, noise_d=NOISE_D, seed=seed),
    }


def updater(how: str):
    """A filter with one of the settings, for the law without or with friction of the seal."""
    settings = FILTERS[how] | {"alpha": SPREAD}
    if how != "seal":
        return unscented(nonlinear_maxwell(**START), FREE, **settings)
    return unscented(viscous_specimen(**START, friction=SEAL), FREE | {"friction": (0.0, 100e3)}, **settings)


def _mean(x, u, dt, p, y):
    """Mean of what several filters have found."""
    count = len(u) // len(y)
    for i in range(len(y)):
        y[i] = 0.0
        for n in range(count):
            y[i] += u[n * len(y) + i] / count


def mean_of(leaders: Sequence[str], target: Mapping[str, str]) -> FreeBlock:
    """A block that gives the first follower the mean of the parameters found from several measured dampers."""
    units = {key: nonlinear_maxwell.params[key].unit for key in START}
    inputs = {f"{key}_{n}": unit for n in range(len(leaders)) for key, unit in units.items()}
    made = inplace_block(inputs=inputs, outputs=units, params={}, reference="mean")(_mean)
    wires = {f"{key}_{n}": f"{leader}.model.{key}" for n, leader in enumerate(leaders) for key in units}
    return FreeBlock("mean", made(), wires, target)


def tower_loop(
    follows: Mapping[str, str], how: str | Path = "ours", layout: Tower | None = None, *, together: bool = False
) -> Loop:
    """The loop of a hybrid test.

    Parameters
    ----------
    follows : mapping of place to measured place
        Whom each model follows. Places that are followed are measured; all others keep the parameters of Table 2.
    how : str or Path
        What is made of a measured damper: one of `FILTERS`, or the file of a network that gives the parameters of the
        law (`ears`). ``"real"`` puts a specimen at every place, without any actuator, and nothing is followed;
        ``"true"`` gives followers the law of the specimen and updates nothing.
    together : bool
        All followers take the mean of what the filters have found, not each what was found from the one it follows.
    """
    found = laid(layout or Tower())
    linear = linearised(nonlinear_maxwell(), WORKING, FIRST)
    measured = list(dict.fromkeys(follows.values()))
    for place in (*follows, *measured):
        if place not in found.along:
            raise BadInput(f"tower_loop: there is no damper at {place}; there are {', '.join(found.along)}.")
    if together and how not in ("printed", "ours"):
        raise BadInput(f"tower_loop: together is for filters of the law without friction, not for {how}.")
    if how == REAL and follows:
        raise BadInput("tower_loop: with a specimen at every place nothing is followed; give no followers.")
    seal = isinstance(how, Path) or how in ("seal", TRUE)
    sites, blocks, first = [], [], {}
    for k, (place, along) in enumerate(found.along.items()):
        shared = {"count": COUNT, "linear": linear}
        if place in measured or how == REAL:
            transfer = {} if how == REAL else rig(8e3, k)
            device = viscous_specimen(**START)
            sites.append(Site(place, along, device, physical=how != REAL, transfer=transfer, **shared))
            continue
        leader = follows.get(place) and (measured[0] if together else follows[place])
        start = {"friction": SEAL} if how == "seal" else {}
        law = viscous_specimen(**START, **start) if seal and leader else nonlinear_maxwell(**START)
        sites.append(Site(place, along, law, shares=first.get(leader), **shared))
        first.setdefault(leader, place)
    for leader in measured if how != TRUE else ():
        shown = next(site for site in sites if site.name == leader).measured
        to = first[measured[0] if together else leader]
        target = {key: f"{to}.{key}" for key in (*START, *(["friction"] if seal else []))}
        if isinstance(how, Path):
            blocks += ears(how, leader, shown, target)
        else:
            inputs = {"d": shown["d"], "f_m": shown["f"]}
            blocks.append(FreeBlock(f"{leader}.model", updater(how), inputs, {} if together else target))
            if together and leader == measured[-1]:
                blocks.append(mean_of(measured, target))
    return Loop(found.structure, sites, method=mkr_alpha(RHO), dt=SUBSTEPS * DT, substeps=SUBSTEPS, blocks=blocks)


def one_measured(at: str, places) -> dict[str, str]:
    """All others follow one."""
    return {place: at for place in places if place != at}


def ground(name: str, rest: float, *, turned: bool = False, scale: float = 1.0) -> np.ndarray:
    """Both components of a record as the study scales it, or of ``synthetic-3``, m/s2; `turned` by ninety degrees."""
    dt = SUBSTEPS * DT
    if name.startswith("synthetic-"):
        periods, seed = np.geomspace(0.1, 8.0, 60), int(name.removeprefix("synthetic-"))
        target = asce7_spectrum(periods, SHORT, ONE, 8.0)
        pair = [synthetic_motion(periods, target, 40.0, 0.01, 2 * seed + k).resampled(dt).a for k in (0, 1)]
    else:
        pair = [factor(name) * read_record(find_record(f"{name}_{k}")).resampled(dt).a for k in (1, 2)]
    size = min(map(len, pair))
    rows = scale * np.column_stack([a[:size] for a in (pair[::-1] if turned else pair)])
    return np.vstack([rows, np.zeros((round(rest / dt), 2))])
