"""Table 5: the hybrid test with every model in the second story; tests run in several processes."""

from pathlib import Path

import numpy as np

from hyloop.report.page import Table
from hyloop.study.seeds import Seeds
from hyloop.study.tasks import Task

from .looped import hybrid_test
from .motions import Motion

LEVEL, DEVICES = 18e3, 3  # N, and devices drawn for each test event
NETWORKS = Path(__file__).parent / "networks"
OURS, THEIRS, HOLDING = "data-driven OCP-NN", "CUKF", "physics-based, learned hold"
LEARNED = {OURS: "listening", "physics-based OCP-NN": "physics", HOLDING: "holding"}
CLAIMED = {OURS: "", "physics-based OCP-NN": "physics-based, ", HOLDING: f"{HOLDING}, "}
OTHERS = {THEIRS: ["cukf"], "LuGre, fixed": ["fixed"]}
SOURCES = ("in_the_loop.py", "looped.py", "baselines.py", "frame.py", "motions.py", "scores.py", "specimens.py")


def run(job, kind, shakes, networks):
    """Errors and peaks of all models, the table, the claims, and the tests that are drawn, by model.

    `networks` are names of files by the kind of network. Peaks are compared with a run with specimens in both stories.
    """
    models = {model: networks[key] for model, key in LEARNED.items() if networks.get(key)} | OTHERS
    cases = {"specimen": ["specimen"]} | models
    shown, done = _drawn(job, kind, shakes, cases)
    tasks = {
        (motion.event, number, model, which): _task(kind, motion, name, number)
        for motion in shakes
        for number in range(DEVICES)
        for model, names in cases.items()
        for which, name in enumerate(names)
        if (motion.event, number, model, which) not in done
    }
    found = job.work(f"{kind}: in the loop", list(tasks.values()))
    done |= {key: found[task.name] for key, task in tasks.items()}
    peaks = {key: _off(of[4:], done[*key[:2], "specimen", 0][4:]) for key, of in done.items()}
    errors = {key: of[:4] for key, of in done.items()}
    sizes = {model: len(names) for model, names in models.items()}
    events = [motion.event for motion in shakes]
    job.tables.append(_table(kind, events, sizes, errors, peaks))
    return _claims(kind, events, sizes, errors, peaks), shown


def tested(kind, name, event, a, model, number):
    """Four scores and two peaks of one test; `model` is a file of networks or a model without one."""
    path = NETWORKS / model
    test = hybrid_test(kind, LEVEL, Motion(name, event, a), path if path.is_file() else model, number)
    return np.concatenate([test.scores, test.peaks()])


def _task(kind, motion, model, number):
    file = (f"networks/{model}",) if (NETWORKS / model).is_file() else ()
    title = f"{kind}, {motion.event}, device {number}, {Path(model).stem}"
    given = (kind, motion.name, motion.event, motion.a, model, number)
    return Task(title, "in_the_loop:tested", given, (*SOURCES, *file))


def _drawn(job, kind, shakes, cases):
    """The first device and the first network of each kind, whose histories are on the page too."""
    shown, done = {}, {}
    for motion in shakes:
        for model, names in cases.items():
            path = NETWORKS / names[0]
            test = hybrid_test(kind, LEVEL, motion, path if path.is_file() else names[0])
            done[motion.event, 0, model, 0] = np.concatenate([test.scores, test.peaks()])
            shown.setdefault(model, test)
            if model != "specimen":
                job.recordings[f"{kind}, {motion.event}, {model}"] = test.result
    return shown, done


def _off(peaks, reference):
    """How far peaks are from those of the reference run, in shares of them."""
    return np.abs(peaks / reference - 1.0)


def _by_network(values, event, model, size, k):
    """Mean of one number over the devices, for every network."""
    return np.array([np.mean([values[event, n, model, w][k] for n in range(DEVICES)]) for w in range(size)])


def _table(kind, events, sizes, errors, peaks):
    rows = []
    for event in events:
        for model, size in sizes.items():
            means = [_by_network(errors, event, model, size, k).mean() for k in range(4)]
            off = [100 * _by_network(peaks, event, model, size, k).mean() for k in range(2)]
            spread = _by_network(errors, event, model, size, 0)
            of_seeds = f"{spread.std(ddof=1):.2f}" if size > 1 else "-"
            numbers = [f"{means[0]:.2f}", of_seeds, *(f"{x:.2f}" for x in means[1:]), *(f"{x:.1f}" for x in off)]
            rows.append([event, model, str(size), *numbers])
    head = ["event", "model", "seeds", "NRMSE %", "spread of seeds", "MAE kN", "R2", "TRAC"]
    title = f"Specimen '{kind}': in the loop, mean of {DEVICES} devices; peaks against specimens in both stories"
    return Table(title, [*head, "peak roof, off by %", "peak damper 2, off by %"], rows)


def _claims(kind, events, sizes, errors, peaks):
    first = f"{kind}, in the loop"
    found = {}
    for model, name in CLAIMED.items():
        for event in events if model in sizes else ():
            each = _by_network(errors, event, model, sizes[model], 0)
            found[f"{first}, {name}{event}: NRMSE"] = Seeds.of(each) if len(each) > 1 else float(each[0])
    worse = [
        _by_network(errors, event, THEIRS, 1, 0).mean() / _by_network(errors, event, OURS, sizes[OURS], 0).mean()
        for event in events
    ]
    found[f"{first}, CUKF over data-driven: NRMSE, worse event"] = float(np.min(worse))
    for k, what in enumerate(("peak roof displacement", "peak deformation of damper 2")):
        mean = {m: np.mean([_by_network(peaks, event, m, sizes[m], k) for event in events]) for m in (OURS, THEIRS)}
        found[f"{first}, error of the {what} over that of the CUKF"] = float(mean[OURS] / mean[THEIRS])
    return found
