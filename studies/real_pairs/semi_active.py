"""Tests in which the electric actuators move: friction that follows them beside friction that does not.

Positions are commands: a model may have them before the device moves. Forces of the slack ends are measured on the
device: a model that hears them needs the device, and is shown for comparison.
"""

import numpy as np

from hyloop.identification import fit, predict
from hyloop.report.page import Table

from .band import BACKLASH, FACTORS, FRICTION, banded
from .sessions import SEMI_ACTIVE, measured

EVERY = 8  # samples that the fits look at: 128 Hz
TOLERANCE, STEPS = 1e-5, 30
MM, FORCE, MOST = 1e-3, 100.0, 400.0  # m and N: units of the signals; N beyond which an end is not the slack one
GAIN = 5.0  # bound of a change of ln(friction) for a signal of 1
SHIFT = 5e-3  # m, the same of the backlash
FACTOR = (0.02, 5.0)
WITHOUT = "friction constant"
CASES = {
    WITHOUT: (None, FACTORS),
    "friction follows positions": ("positions", FACTORS + FRICTION),
    "friction and backlash follow positions": ("positions", FACTORS + FRICTION + BACKLASH),
    "friction follows the slack end": ("forces", (*FACTORS, "a1_pos", "a2_neg")),
}


def controls(test, which):
    """The two signals: positions from the start in mm, or forces of the ends in 100 N about the middle of the reach."""
    if which is None:
        return None
    if which == "positions":
        return [(p - p[0]) / MM for p in (test.p1, test.p2)]
    return [(np.clip(t, 0.0, MOST) - 0.5 * MOST) / FORCE for t in (test.t1, test.t2)]


def bounds(names, off):
    """Bounds of what is free."""
    limits = dict.fromkeys(FACTORS, FACTOR) | dict.fromkeys(FRICTION, (-GAIN, GAIN))
    limits |= dict.fromkeys(BACKLASH, (-SHIFT, SHIFT))
    return {name: limits[name] for name in names} | {"off": (off - 3e3, off + 3e3)}


def study(job, tests, law):
    """Every test predicted by laws fitted to the others."""
    found, start = {}, banded(law)
    for k, (name, test) in enumerate(tests.items()):
        for case, (which, names) in CASES.items():
            others = [measured("band", t, EVERY, controls(t, which)) for n, t in tests.items() if n != name]
            free = bounds(names, start.params["off"])
            law_ = fit(start, others, free, starts=1, tolerance=TOLERANCE, most=STEPS, noisy_inputs=False).law
            own = measured("band", test, 1, controls(test, which))
            found.setdefault(case, {})[name] = own.nrmse(predict(law_, own))
        job.progress("semi-active", (k + 1) / len(tests))
    rows = [[name, *(f"{100 * found[case][name]:.2f}" for case in CASES)] for name in tests]
    medians = {case: np.median([*each.values()]) for case, each in found.items()}
    rows.append(["median", *(f"{100 * medians[case]:.2f}" for case in CASES)])
    title = f"{SEMI_ACTIVE}: NRMSE in % of a test left out, laws fitted to the nine others"
    job.tables.append(Table(title, ["test", *CASES], rows))
    return {
        f"{SEMI_ACTIVE}, {case} over constant": medians[case] / medians[WITHOUT] for case in CASES if case != WITHOUT
    }
