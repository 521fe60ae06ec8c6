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

from .cases import BEFORE, DEVICES, FAULTS, FOLDER, FORMER, NEW, RECORDS, network, stored
from .naming import DRAWN, rightly
from .runs import LEVELS, NOISY, SEEDS

CASES, DRAWS = 200, 2025  # of the naming, and their seed
COUNTED = 40.0  # dB and less: noise in which nothing may get worse
FILES = ("cases.py", "naming.py", "runs.py", "frame.toml", "trained.toml")  # on which results hang


def run(job):
    """Values of all claims; a quick run measures the time of an update."""
    trained = load_network(FOLDER.parent / "wang2020" / "brace.safetensors")
    values = {"processor time of one update": _time(trained)}
    if job.quick:
        return values
    for record in (*NEW, *BEFORE, *RECORDS, *FORMER):  # is it there? before anything is trained
        stored(record)
    jobs = [(device, seed) for device in DEVICES for seed in SEEDS]
    for k, (device, seed) in enumerate(jobs):
        network(job.kept, device, seed, lambda part, k=k: job.progress("networks", (k + part) / len(jobs)))
    new, before, second, first = (
        _ratios(job, name, records, clear)
        for name, records, clear in (
            ("new", NEW, True),
            ("earlier", BEFORE, True),
            ("second", RECORDS, False),
            ("first", FORMER, True),
        )
    )
    naming = Task("causes", "naming:name_causes", (str(job.kept), RECORDS, CASES, DRAWS), FILES)
    table = job.work("naming", [naming])[naming.name]
    beside = [Task(f"retrained, {record}", "runs:retrained", (str(job.kept), record), FILES) for record in RECORDS]
    _show(job, new, second, table, _joined(job.work("retraining", beside).values()))
    rows = [
        [claim, *(f"{value:.4g}" for value in values)]
        for claim, values in (
            (claim, [_at_60(found)[claim] for found in (new, before, second, first)]) for claim in _at_60(new)
        )
    ]
    columns = [
        "claim",
        "new motions, judged",
        "Morgan Hill and five drawn, seen",
        "second components, seen",
        "first components, seen",
    ]
    job.tables.append(Table("Motions seen before beside the new ones", columns, rows))
    noisy = [ratio for (_, _, level), ratio in second.items() if level <= COUNTED]
    values["20 to 40 dB, right and wrong devices: worst story of all runs"] = max(r.max() for r in noisy)
    values["causes named rightly in 200 drawn cases"] = 100.0 * rightly(table)
    return values | _at_60(new)


def _ratios(job, name, records, clear):
    """Ratios of errors by (device, fault, level), (runs, stories)."""
    tasks = [
        Task(f"frame, {record.replace('/', '-')}", "runs:ratios", (str(job.kept), record, clear), FILES)
        for record in records
    ]
    return _joined(job.work(f"{name} motions", tasks).values())


def _joined(results):
    """What the records gave, one below the other."""
    results = list(results)
    return {case: np.concatenate([each[case] for each in results]) for case in results[0]}


def _at_60(found):
    """What is claimed at 60 dB."""
    clean = [found["right", fault, 60.0] for fault in FAULTS if fault != "none"]
    other = np.concatenate([found[device, "none", 60.0] for device in DEVICES if device != "right"])
    return {
        "right device, a fault in the force, 60 dB: worst story of all runs": max(r.max() for r in clean),
        "wrong device, 60 dB: median of all stories and runs": np.median(other),
        "wrong device, 60 dB: worst story of all runs": other.max(),
    }


def _time(trained):
    """Of one update in ms of a processor, whatever else the machine does: median of 50 stretches of 250 ticks."""
    t = trained.dt * np.arange(250)
    d = np.sin(12.0 * t) * np.sin(2.0 * t) / abs(trained.factor[0])
    f, updater, times = trained.drive(d), filtered_network(trained), []
    updater.drive(trained.dt, d=d, f_m=f)  # compiles
    for _ in range(50):
        begin = time.thread_time()
        updater.drive(trained.dt, d=d, f_m=f)
        times.append(1e3 * (time.thread_time() - begin) / len(t))
    return float(np.median(times))


def _rows(found):
    rows = []
    for (device, fault, level), ratio in found.items():
        stories = [f"{m:.2f} ({high:.2f})" for m, high in zip(np.median(ratio, 0), ratio.max(0), strict=True)]
        rows.append(
            [device, fault, f"{level:g}", len(ratio), f"{np.median(ratio):.2f}", f"{ratio.max():.2f}", *stories]
        )
    return rows


def _show(job, new, found, table, beside):
    columns = ["network of", "fault", "dB", "runs", "median", "worst", *(f"story {k}" for k in range(1, 7))]
    what = "Error with updating over that without, median (worst) of motions and networks"
    job.tables.append(Table(f"{what}: new motions", columns, _rows(new)))
    job.tables.append(Table(f"{what}: second components", columns, _rows(found)))
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
