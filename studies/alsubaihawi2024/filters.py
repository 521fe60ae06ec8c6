"""How the filter can go wrong, on what was measured in a hybrid test: bounds, and a covariance that is lost."""

from typing import Any

import numpy as np

from hyloop.core.jit import jit
from hyloop.devices import nonlinear_maxwell
from hyloop.metrics import nrmse
from hyloop.record import Recording
from hyloop.updating import unscented

from .hybrid import MEASURED, PLACES
from .printed import printed_filter
from .specimens import DT, SPECIMENS, START

# section 8 of the paper: load-cell noise assumed by the filter, bounds, distance of the sigma points, random walk; the
# start is as uncertain as one tick of the walk
NOISE, LOW, HIGH, ALPHA = 8e3, 0.2, 2.0, 1e-3
WALK = {"earthquake": 0.005, "wind": 0.0001}
FREE = {key: (LOW * value, HIGH * value) for key, value in START.items()}
RULES, REPAIRS = ("clip", "transform", "shrink"), ("none", "nearest", "square-root")
FROZEN = 5.0  # s at the end without any change of an estimate

_law = nonlinear_maxwell.compiled


@jit
def respond(d, K, C, alpha, dt):
    """Force of the nonlinear Maxwell damper, its three parameters given at every tick."""
    f, x, u, p = np.empty(d.size), np.zeros(2), np.empty(1), np.empty(3)
    for k in range(d.size):
        u[0], p[0], p[1], p[2] = d[k], K[k], C[k], alpha[k]
        outputs, new = _law(x, u, dt, p)
        f[k], x[0], x[1] = outputs[0], new[0], new[1]
    return f


def filtered(hazard, d, f, **options):
    """Estimates of the filter with the settings of the paper, or others."""
    settings = {"noise": NOISE, "process": WALK[hazard], "initial_std": WALK[hazard], "alpha": ALPHA, **options}
    return unscented(nonlinear_maxwell(**START), FREE, **settings).drive(DT, d=d, f_m=f)


def failure(estimate):
    """Time of the first estimate that is not a number, 0 if there is none."""
    lost = np.flatnonzero(np.isnan(estimate))
    return (lost[0] + 1) * DT if len(lost) else 0.0


def gone_wrong(found: Recording, hazard: str, name: str) -> dict[str, Any]:
    """Of each rule for bounds the mean error in % without noise and whether it froze; of each repair the time in s of
    its failure (0: never); and whether all estimates stay inside."""
    at, specimen = MEASURED[hazard], SPECIMENS[name]
    d, f = found[f"{at}.sensor.d"], found[f"{at}.sensor.f"]
    others = {place: found[f"{place}.d"] for place in PLACES if place != at}
    true = {place: specimen.force(moved) for place, moved in others.items()}
    result: dict[str, Any] = {}
    for rule in RULES:
        guess = filtered(hazard, d, f, bounds=rule)
        errors = [
            nrmse(true[place], respond(moved, *(guess[key] for key in START), DT)) for place, moved in others.items()
        ]
        result[rule] = 100 * float(np.mean(errors))
        result[f"{rule} froze"] = not any(np.ptp(guess[key][-round(FROZEN / DT) :]) for key in START)
        if rule == "clip":
            result["inside"] = all(low <= guess[k].min() and guess[k].max() <= high for k, (low, high) in FREE.items())
    for repair in REPAIRS:
        result[f"repair {repair}"] = failure(filtered(hazard, d, f, repair=repair)["K"])
    for kind, precision in (("printed", np.float64), ("single", np.float32)):
        start = np.array([START["K"] / 1e3, START["C"] / 1e3, START["alpha"]], precision)
        _, ticks = printed_filter(start, d, f / 1e3, DT, NOISE / 1e3, WALK[hazard])
        result[f"repair {kind}"] = 0.0 if ticks == len(d) else (ticks + 1) * DT
    return result
