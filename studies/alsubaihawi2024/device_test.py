"""One test: a filter on the measured damper, eleven models that follow, and every way the filter can go wrong."""

from functools import cache

import numpy as np

from hyloop.devices import nonlinear_maxwell
from hyloop.metrics import nrmse
from hyloop.updating import unscented

from .dampers import SPECIMENS, START, respond
from .motions import DT, MEASURED, PLACES, earthquake, wind
from .printed import printed_filter

# section 8 of the paper: load-cell noise assumed by the filter, bounds, distance of the sigma points, random walk; the
# start is as uncertain as one tick of the walk
NOISE, LOW, HIGH, ALPHA = 8e3, 0.2, 2.0, 1e-3
WALK = {"earthquake": 0.005, "wind": 0.0001}
FREE = {key: (LOW * value, HIGH * value) for key, value in START.items()}
RULES, REPAIRS = ("clip", "transform", "shrink"), ("none", "nearest", "square-root")
SHOWN = {"earthquake": "Cd drifting 1 to 0.7", "wind": "alpha x 1.14"}  # specimens drawn in the report
DRAWN, EVERY = ("20 NE", "30 SE", "40 NE"), 8  # places, and rows of a history: 128 Hz
FROZEN = 5.0  # s at the end without any change of an estimate


@cache
def deformations(hazard, seed):
    """Deformation of every place."""
    return earthquake()[0] if hazard == "earthquake" else wind(seed)


def one_test(hazard, name, seed, _motion):
    """Errors of the models, rules that froze, times of failures (s; 0: never), estimates inside bounds.

    Last come histories for the report, of one test for each hazard: deformation, measured, updated and constant force
    by place, and the estimates.
    `_motion` says which record was there: what is kept of a test with another one is not this test.
    """
    d = deformations(hazard, seed)
    specimen = SPECIMENS[name]
    rng = np.random.default_rng([seed, *name.encode()])
    at = MEASURED[hazard]
    true = {place: specimen.force(d[place], DT) for place in PLACES}
    measured = {place: true[place] + rng.normal(0.0, specimen.noise, len(true[place])) for place in PLACES}
    others = [place for place in PLACES if place != at]
    guess = {place: nonlinear_maxwell(**START).drive(DT, d=d[place])["f"] for place in PLACES}
    errors = {
        "constant": np.array([nrmse(measured[p], guess[p]) for p in others]),
        "constant, noise-free": np.array([nrmse(true[p], guess[p]) for p in others]),
    }
    frozen, inside, histories = {}, False, ()
    for rule in RULES:
        found = filtered(hazard, d[at], measured[at], bounds=rule)
        followed = {p: respond(d[p], found["K"], found["C"], found["alpha"], DT) for p in others}
        free = np.array([nrmse(true[p], followed[p]) for p in others])
        errors[rule] = free
        frozen[rule] = not any(np.ptp(found[key][-round(FROZEN / DT) :]) for key in START)
        if rule == "clip":
            errors["updated"] = np.array([nrmse(measured[p], followed[p]) for p in others])
            errors["updated, noise-free"] = free
            inside = all(low <= found[k].min() and found[k].max() <= high for k, (low, high) in FREE.items())
            if (name, seed) == (SHOWN[hazard], 0):
                forces = [{p: f[p][::EVERY] for p in DRAWN if p in followed} for f in (d, measured, followed, guess)]
                histories = (*forces, {key: found[key][::EVERY] for key in START})
    failed = {repair: failure(filtered(hazard, d[at], measured[at], repair=repair)["K"]) for repair in REPAIRS}
    for kind, precision in (("printed", np.float64), ("single", np.float32)):
        start = np.array([START["K"] / 1e3, START["C"] / 1e3, START["alpha"]], precision)
        _, ticks = printed_filter(start, d[at], measured[at] / 1e3, DT, NOISE / 1e3, WALK[hazard])
        failed[kind] = 0.0 if ticks == len(d[at]) else (ticks + 1) * DT
    return errors, frozen, failed, inside, histories


def filtered(hazard, d, f, **options):
    """Estimates of the filter with the settings of the paper, or others."""
    settings = {"noise": NOISE, "process": WALK[hazard], "initial_std": WALK[hazard], "alpha": ALPHA, **options}
    return unscented(nonlinear_maxwell(**START), FREE, **settings).drive(DT, d=d, f_m=f)


def failure(estimate):
    """Time of the first estimate that is not a number, 0 if there is none."""
    lost = np.flatnonzero(np.isnan(estimate))
    return (lost[0] + 1) * DT if len(lost) else 0.0
