"""Constant LuGre and gap-slip fitted to tests of the banded damper, judged on earthquakes they have not seen."""

import numpy as np

from hyloop.record import Recording
from hyloop.report.page import Table
from hyloop.study.tasks import Task

from .laws import EVERY, FITTED, QUAKES, RATE, START, WEIGHTINGS, error, force, load, to_harmonics

FILES = ("laws.py",)
CLAIMED = (
    ("refit LuGre", "LuGre, leave one out"),
    ("gap-slip, harmonics only", "gap-slip, harmonics"),
    ("gap-slip, leave one out", "gap-slip, leave one out"),
)


def run(job):
    """Values of all claims: RMSE in N over the paper's segments; of a quick run what is fitted to harmonics alone."""
    fits, chosen = _fits(job)
    judged = {"supplied v": load()[1], "causal v": load("causal")[1]}
    errors = {
        (case, v): [error(fits[case, name], name, tests[name]) for name in QUAKES]
        for v, tests in judged.items()
        for case in dict.fromkeys(case for case, _ in fits)
    }
    values = {}
    for claim, case in CLAIMED:
        if (case, "supplied v") not in errors:
            continue
        supplied, causal = errors[case, "supplied v"], errors[case, "causal v"]
        values |= {f"{claim}, {name}": e for name, e in zip(QUAKES, supplied, strict=True)}
        values |= {f"{claim}, mean": np.mean(supplied), f"{claim}, mean with causal velocity": np.mean(causal)}
    for law in START:
        values[f"{law}, mean NRMSE of the harmonic tests"] = 100 * np.mean(fits[f"{law}, harmonics", QUAKES[0]].nrmse)
    _show(job, fits, errors, judged["supplied v"], chosen)
    return values


def _fits(job):
    """Fits by case and by the earthquake they are judged on; and the weighting of each leave-one-out fit."""
    fits, chosen = {}, {}
    if job.quick:  # nothing in the harmonic tests can tell which weighting is the better one: plain is the default
        for k, law in enumerate(START):
            plain = to_harmonics(law, WEIGHTINGS[0])
            fits |= {(f"{law}, harmonics", name): plain for name in QUAKES}
            job.progress("fitting", (k + 1) / len(START))
        return fits, chosen
    tasks = [Task(f"without {name}", "laws:left_out", ((name,),), FILES) for name in QUAKES]
    tasks += [Task(f"{law}, {w}", "laws:to_harmonics", (law, w), FILES) for law in START for w in WEIGHTINGS]
    found = job.work("fitting", tasks)
    for law in START:
        for w in WEIGHTINGS:
            case = f"{law}, harmonics" + (", normalised" if w == "normalised" else "")
            fits |= {(case, name): found[f"{law}, {w}"] for name in QUAKES}
    for name in QUAKES:
        chosen[name], fits["LuGre, leave one out", name], fits["gap-slip, leave one out", name] = found[
            f"without {name}"
        ]
    return fits, chosen


def _show(job, fits, errors, quakes, chosen):
    rows = [[case, v, *(f"{e:.0f}" for e in row), f"{np.mean(row):.0f}"] for (case, v), row in errors.items()]
    columns = ["fitted to", "velocity", *QUAKES, "mean"]
    job.tables.append(Table("RMSE in N over the paper's segments", columns, rows))
    plain = [fits[f"{law}, harmonics", QUAKES[0]] for law in START]
    rows = [[name, *(f"{100 * found.nrmse[k]:.1f}" for found in plain)] for k, name in enumerate(plain[0].names)]
    job.tables.append(Table("NRMSE in % of the harmonic tests, fitted to them", ["test", *START], rows))
    for law, found in zip(START, plain, strict=True):
        columns = ["parameter", "value", "unit", "95 % from", "to", "remark"]
        job.tables.append(Table(f"{law} from the harmonic tests", columns, found.estimates))
    if chosen:
        job.notes.append(
            "Weighting of the leave-one-out fits: " + ", ".join(f"{q} {w}" for q, w in chosen.items()) + "."
        )
    rows = slice(0, FITTED, EVERY)
    time = np.arange(FITTED)[rows] / RATE
    for case in ("measured", *(f"{law}, {'leave one out' if chosen else 'harmonics'}" for law in START)):
        histories = {}
        for name, test in quakes.items():
            f = test["f"] if case == "measured" else force(fits[case, name], name, test)
            histories |= {f"{name}.d": test["d"][rows], f"{name}.f": f[rows]}
        units = ["m", "N"] * len(quakes)
        job.recordings[case] = Recording(
            time, np.column_stack(list(histories.values())), tuple(histories), tuple(units)
        )
