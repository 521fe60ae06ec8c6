"""Updating of a network behind sensors with faults, in the loop: what it gains and what it must not do."""

import time

import numpy as np

from hyloop.neural import load_network
from hyloop.report.charts import Chart
from hyloop.report.display import Line, Panel
from hyloop.report.page import Table
from hyloop.study.tasks import Task
from hyloop.updating import filtered_network
from hyloop.updating.networks.diagnosis import CAUSES

from .cases import DEVICES, FAULTS, FOLDER, FORMER, RECORDS, built, network
from .naming import DRAWN, rightly
from .runs import LEVELS, NOISY, SEEDS

CASES, DRAWS, FORMER_DRAWS = 200, 2025, 2024  # of the naming, and seeds
COUNTED = 40.0  # dB and less: noise in which nothing may get worse
FILES = ("cases.py", "naming.py", "runs.py", "frame.toml", "trained.toml")  # on which results hang


def run(job):
    """Values of all claims; a quick run measures the time of an update."""
    trained = load_network(FOLDER.parent / "wang2020" / "brace.safetensors")
    values = {"time of one update": _time(trained)}
    if job.quick:
        return values
    for record in (*RECORDS, *FORMER):  # is it there? before anything is trained
        built(record)
    jobs = [(device, seed) for device in DEVICES for seed in SEEDS]
    for k, (device, seed) in enumerate(jobs):
        network(job.kept, device, seed, lambda part, k=k: job.progress("networks", (k + part) / len(jobs)))
    fresh, former = _judged(job, "records", RECORDS, DRAWS), _judged(job, "former records", FORMER, FORMER_DRAWS)
    _show(job, *fresh)
    found = _values(*fresh[:2])
    rows = [[claim, f"{value:.3g}", f"{_values(*former[:2])[claim]:.3g}"] for claim, value in found.items()]
    columns = ["claim", "second components, judged", "first components, judged before"]
    job.tables.append(Table("The records of before beside it", columns, rows))
    return values | found


def _judged(job, name, records, draws):
    """Ratios of errors by (device, fault, level), (runs, stories); the table of causes; retraining beside it."""
    naming = Task(f"causes, {name}", "naming:name_causes", (str(job.kept), records, CASES, draws), FILES)
    tasks = [Task(f"frame, {record}", "runs:ratios", (str(job.kept), record), FILES) for record in records]
    results = job.work(name, [naming, *tasks])
    by_record = [results[task.name] for task in tasks]
    found = {case: np.concatenate([each[0][case] for each in by_record]) for case in by_record[0][0]}
    beside = {fault: np.concatenate([each[1][fault] for each in by_record]) for fault in FAULTS}
    return found, results[naming.name], beside


def _values(found, table):
    """What is claimed."""
    clean = [found["right", fault, 60.0] for fault in FAULTS if fault != "none"]
    other = np.concatenate([found[device, "none", 60.0] for device in DEVICES if device != "right"])
    noisy = [ratio for (_, _, level), ratio in found.items() if level <= COUNTED]
    return {
        "right device, a fault in the force, 60 dB: worst story of all runs": max(r.max() for r in clean),
        "wrong device, 60 dB: median of all stories and runs": np.median(other),
        "wrong device, 60 dB: worst story of all runs": other.max(),
        "20 to 40 dB, right and wrong devices: worst story of all runs": max(r.max() for r in noisy),
        "causes named rightly in 200 drawn cases": 100.0 * rightly(table),
    }


def _time(trained):
    """Of one update in ms: median of five times 2500 ticks."""
    t = trained.dt * np.arange(2500)
    d = np.sin(12.0 * t) * np.sin(0.2 * t) / abs(trained.factor[0])
    f, updater, times = trained.drive(d), filtered_network(trained), []
    for _ in range(6):
        begin = time.perf_counter()
        updater.drive(trained.dt, d=d, f_m=f)
        times.append(1e3 * (time.perf_counter() - begin) / len(t))
    return float(np.median(times[1:]))  # the first one compiles


def _show(job, found, table, beside):
    rows = []
    for (device, fault, level), ratio in found.items():
        stories = [f"{m:.2f} ({high:.2f})" for m, high in zip(np.median(ratio, 0), ratio.max(0), strict=True)]
        rows.append(
            [device, fault, f"{level:g}", len(ratio), f"{np.median(ratio):.2f}", f"{ratio.max():.2f}", *stories]
        )
    columns = ["network of", "fault", "dB", "runs", "median", "worst", *(f"story {k}" for k in range(1, 7))]
    job.tables.append(
        Table("Error with updating over that without: median (worst) of records and networks", columns, rows)
    )
    other = [[fault, f"{np.median(ratio):.2f}", f"{ratio.max():.2f}"] for fault, ratio in beside.items()]
    job.tables.append(
        Table("Beside it: retraining on a window, anchored; right device, 60 dB", ["fault", "median", "worst"], other)
    )
    rows = [[cause, *(int(n) for n in table[k])] for k, cause in enumerate(DRAWN)]
    job.tables.append(Table("Causes drawn (rows) and named (columns)", ["drawn", *CAUSES], rows))
    job.notes.append(
        "A gain of a few per cent cannot be told from a device that is stronger by as much, nor an offset from a "
        "preload. 'Beyond the training' is no fault: the network itself is not known to be right there."
    )
    lines = []
    for k, device in enumerate(NOISY):
        levels = [level for level in LEVELS if (device, "none", level) in found]
        for name, of in (("worst", np.max), ("median", np.median)):
            ratio = np.array([of(found[device, "none", level]) for level in levels])
            lines.append(Line(np.array(levels), ratio, f"{device}, {name}", k))
    panel = Panel("With updating over without", "signal-to-noise ratio [dB]", "ratio of errors [-]", tuple(lines))
    caption = "Below 1 updating helps; 1 is no updating."
    job.picture = Chart([panel], "Ratio of errors over noise.", caption, row_height=380)
