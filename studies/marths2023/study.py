"""The multi-axial benchmark: is it the published one, what its criteria can tell, and who holds on the hard set."""

import time
from typing import Any

import numpy as np

from hyloop.report.charts import Chart
from hyloop.report.display import Line, Panel
from hyloop.report.page import Table
from hyloop.study.tasks import Task

from .blocks import TAPS, stored_start
from .cases import HARD, PARTS, SCHEMES, VARIANTS, Variant, nominal_score, perfect, plants, run_one
from .frame import DT, RECORDS, data, ideal_portal, numerical, read, specimen, whole_frame
from .open_loop import EXTRA
from .plant import continuous, discrete
from .printed import NAMES, PERFECT, PORT, port
from .scoring import VOLTS

FILES = (
    *("blocks.py", "cases.py", "frame.py", "loop.py", "open_loop.py"),
    *("plant.py", "predictive.py", "references.py", "scoring.py"),
)
SECONDS = 41.0  # of El Centro in the loop of hyloop
FITTED = 2023  # seed of the plants behind the start values
QUICK = 6  # plants of the hard set
BOTH = {"J2": "actuator_nrms", "J5": "node_nrms", "true": "true_nrms"}
OF = {"mean": lambda x: x.mean(0), "p95": lambda x: np.quantile(x, 0.95, axis=0), "worst": lambda x: x.max(0)}
LOOPS = "published RLS", "ours"  # that also run in the loop of hyloop


def run(job):
    """Values of all claims; a quick run has six plants of the hard set, which decide nothing."""
    values = _same_matrices() | _start_values(job) | _distributed(job)
    hard = HARD._replace(plants=QUICK) if job.quick else HARD
    variants = (hard,) if job.quick else VARIANTS
    schemes = {v: SCHEMES + (PARTS if v is hard and not job.quick else ()) for v in variants}
    tasks = {
        (scheme, v): Task(f"{v.name}, {scheme}", "cases:run_variant", (scheme, v), FILES)
        for v in variants
        for scheme in schemes[v]
    }
    done = job.work("variants", list(tasks.values()))
    found = {key: done[task.name] for key, task in tasks.items()}
    job.tables += [_table(v, {s: found[s, v] for s in schemes[v]}) for v in reversed(variants)]
    _picture(job, found, hard)
    return values | ({} if job.quick else _hard_values(found, hard) | _same_loop(job))


def _same_loop(job):
    """The hard set's nominal plant in hyloop's own loop."""
    tasks = {
        s: Task(f"hyloop, {s}", "in_hyloop:largest_difference", (s, HARD, SECONDS), (*FILES, "in_hyloop.py"))
        for s in LOOPS
    }
    found = job.work("loop of hyloop", list(tasks.values()))
    return {f"hyloop's own loop against the compiled steps, {s}": found[task.name] for s, task in tasks.items()}


def _same_matrices():
    """How far matrices are from those of the first port, and the plant from the file of the package."""
    stored = np.load(data("derived.npz"))
    parts = {"": whole_frame(), "N": numerical(), "p": ideal_portal(), "5": specimen()}
    pairs = [(getattr(part, key), stored[key + end]) for end, part in parts.items() for key in "MCK"]
    pairs.append((specimen().T, stored["T"]))
    worst = max(np.abs(ours - theirs).max() / np.abs(theirs).max() for ours, theirs in pairs)
    A, B, C = (read(f"plant_{name}.csv") for name in "ABC")
    s = 2j * np.pi * np.geomspace(0.01, 100.0, 81)
    ours, theirs = (
        np.array([c @ np.linalg.solve(one * np.eye(8) - a, b) for one in s]) for a, b, c in (continuous(), (A, B, C))
    )
    return {
        "matrices against those of the first port": float(worst),
        "frequency response of the plant against its file": float(np.abs(ours / theirs - 1.0).max()),
    }


def _start_values(job):
    """Start values of the published controller against those its authors stored."""
    tasks = [Task(f"start values, {r}", "open_loop:fit_record", (r, FITTED), FILES) for r in RECORDS]
    fits = list(job.work("start values", tasks).values())
    theta = np.concatenate([fit.theta for fit in fits])
    P = np.concatenate([fit.P for fit in fits]).diagonal(axis1=2, axis2=3)
    stored_theta, stored_P = stored_start()
    stored_P = stored_P.diagonal(axis1=1, axis2=2)
    rows = []
    for i in range(2):
        groups = theta[:, i].reshape(-1, EXTRA + 1, TAPS)  # plants of one record and scale
        error = np.sqrt(groups.var(1, ddof=1).mean(0) / len(theta))
        for name, ours, theirs in (("θ", theta, stored_theta), ("P, 1/m²", P, stored_P)):
            mean = ours[:, i].mean(0)
            shown = [" ".join(f"{value:.5g}" for value in numbers) for numbers in (theirs[i], mean)]
            rows.append([f"{name}, actuator {i + 1}", *shown, f"{100 * np.abs(mean / theirs[i] - 1).max():.2f}"])
        rows[-2][2] += " (s.e. " + " ".join(f"{e:.3f}" for e in error) + ")"
    columns = ["", "stored by the authors", f"mean of our {len(theta)} runs", "largest difference, %"]
    job.tables.append(Table("Start values of the published controller, found again in open loop", columns, rows))
    return {
        "start values theta0 against the stored ones, largest difference": 100.0
        * float(np.abs(theta.mean(0) / stored_theta - 1.0).max()),
        "start values P0, diagonal, largest difference": 100.0 * float(np.abs(P.mean(0) / stored_P - 1.0).max()),
    }


def _distributed(job):
    """The nominal plant as distributed: every scheme, and how far from the first port."""
    cases = list(dict.fromkeys([*PORT, *((scheme, record) for record in RECORDS for scheme in SCHEMES)]))
    scores = {case: nominal_score(*case) for case in cases}
    began = time.perf_counter()
    run_one("published RLS", Variant("as distributed"), discrete(), 0)
    once = time.perf_counter() - began
    off = {"nrms": 0.0, "peak": 0.0}
    compared = [(scores[case], port(case)) for case in PORT] + [(perfect("elcentro", distributed=True), PERFECT)]
    for ours, theirs in compared:
        for name, numbers in theirs.items():
            kind = name.rpartition("_")[2]
            off[kind] = max(off[kind], float(np.abs(ours[name] - numbers).max()))
    for record in RECORDS:
        rows: list[list[Any]] = [
            [s, *(_cell(scores[s, record][name]) for name in ("actuator_delay", *NAMES))]
            for s, r in cases
            if r == record
        ]
        best = perfect(record, distributed=True)
        rows.append(["perfect control", None, *(_cell(best[name]) if name in best else None for name in NAMES)])
        columns = ["scheme", "J1, ms", *(f"J{j}, %" for j in (2, 3, 5, 6, 7, 8, 9, 10))]
        job.tables.append(Table(f"As distributed, nominal plant, {record}", columns, rows, folded=record != "elcentro"))
    none, best = scores["none", "elcentro"], perfect("elcentro", distributed=True)
    key = "storey_vs_reference_nrms"
    ours = scores["ours", "elcentro"]["actuator_nrms"]
    return {
        "as distributed, deviations from the first port: NRMS criteria": off["nrms"],
        "as distributed, deviations from the first port: peak criteria": off["peak"],
        "as distributed, storey 2: perfect control over no control": float(best[key][0] / none[key][0]),
        "as distributed, ours: J2 of actuator 1": float(ours[0]),
        "as distributed, ours: J2 of actuator 2": float(ours[1]),
        "time of one run": once,
    }


def _cell(numbers):
    return "/".join(f"{number:.2f}" for number in numbers)


def _table(variant, found):
    """Mean and worst of all plants, beside perfect control."""
    rows = []
    for scheme, values in found.items():
        lost = np.isnan(values["actuator_nrms"][:, 0])
        row = [scheme, f"{lost.sum()} of {len(lost)}"]
        if lost.all():
            rows.append(row + [None] * (len(BOTH) * len(OF) + 3))
            continue
        for key in BOTH.values():
            stable = values[key][~lost]
            row += [_cell(of(stable)) for of in OF.values()]
        storey = values["storey_vs_reference_nrms"][~lost, 0]
        row += [f"{storey.mean():.2f}", f"{storey.max():.2f}", f"{values['volts'][~lost].max():.2f}"]
        rows.append(row)
    best = perfect("elcentro", variant.factor, variant.scale, distributed=False)
    floor = [cell for key in BOTH.values() for cell in (_cell(best[key]), *[None] * (len(OF) - 1))]
    rows.append(["perfect control", None, *floor, "0.00", "0.00", None])
    columns = ["scheme", "unstable", *(f"{name}, {of}" for name in BOTH for of in OF)]
    columns += ["J8 storey 2, mean", "worst", "V, worst"]
    title = f"{variant.name[0].upper()}{variant.name[1:]}: {variant.plants} plants, own reference, % (of stable runs)"
    return Table(title, columns, rows, folded=variant.name != "hard set")


def _hard_values(found, hard):
    ours, theirs = found["ours", hard], found["published RLS", hard]
    alone = next(v for v in VARIANTS if v.name == "own reference alone")
    storey = {s: found[s, alone]["storey_vs_reference_nrms"][:, 0].mean() for s in ("none", "ours")}
    true = next(v for v in VARIANTS if v.felt)
    felt = {s: found[s, true]["storey_vs_reference_nrms"][:, 0].mean() for s in ("published RLS", "ours")}
    lost = [np.isnan(found["ours", v]["actuator_nrms"][:, 0]).sum() for v in VARIANTS if v is not hard and not v.beyond]
    values = {
        "hard set, ours: unstable runs of 150": float(np.isnan(ours["actuator_nrms"][:, 0]).sum()),
        "hard set, published controller: unstable runs of 150": float(np.isnan(theirs["actuator_nrms"][:, 0]).sum()),
        "own reference, storey 2: no control over ours": float(storey["none"] / storey["ours"]),
        "hard set, ours: largest command": float(ours["volts"].max()),
        "hard set, ours: storey 2 against the own reference, worst plant": float(
            ours["storey_vs_reference_nrms"][:, 0].max()
        ),
        "other variants, ours: unstable runs": float(sum(lost)),
        "hard set, true motion felt, storey 2: ours over the published": float(felt["ours"] / felt["published RLS"]),
    }
    for i in range(2):
        values[f"hard set, ours: mean J2 of actuator {i + 1}"] = float(ours["actuator_nrms"][:, i].mean())
        values[f"hard set, ours: worst J2 of actuator {i + 1}"] = float(ours["actuator_nrms"][:, i].max())
        values[f"hard set, published controller: mean J2 of actuator {i + 1}"] = float(
            theirs["actuator_nrms"][:, i].mean()
        )
        ratio = ours["true_nrms"][:, i].mean() / theirs["true_nrms"][:, i].mean()
        values[f"hard set, true tracking of actuator {i + 1}: ours over the published"] = float(ratio)
    return values


def _picture(job, found, hard):
    """Errors of one run over time, and of all plants."""
    poles, seed = plants(hard)[0]
    shown, lines = ("published RLS", "ours"), []
    rows = slice(int(5.0 / DT), int(20.0 / DT), 4)
    for k, scheme in enumerate(shown):
        one = run_one(scheme, hard, discrete(poles), seed)
        lines.append(Line(np.arange(len(one["true1"]))[rows] * DT, (one["true1"] - one["target1"])[rows], scheme, k))
    over = [
        Line(np.arange(1.0, hard.plants + 1), np.sort(found[scheme, hard]["true_nrms"][:, 0]), scheme, k)
        for k, scheme in enumerate(shown)
    ]
    panels = [
        Panel("Error of actuator 1, first plant", "time [s]", "true less wanted [mm]", tuple(lines)),
        Panel("All plants, sorted", "plant", "true tracking error of actuator 1 [%]", tuple(over)),
    ]
    text = "Hard set: errors of the published controller and of ours."
    job.picture = Chart(panels, text, "Hard set, El Centro. Motions without the noise of the sensors.", columns=2)
    job.notes += [
        "A run is unstable if it diverges, or if the node is further from where it should be than if it stood still.",
        f"Realisable: no command above {VOLTS} V, of either actuator, in any run; the last column has the largest.",
        "J8 against the own reference hears of the motion only what the controller estimates, since the force is made "
        "of the estimate; 'true' is the motion itself, and one variant has the force made of it.",
    ]
