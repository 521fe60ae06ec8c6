"""Beyond the paper: other rates, several places in other frames, and two devices heard by one place."""

import numpy as np

from hyloop.report.page import Table

from . import rates, taller, two_devices
from .frame import LEVELS

LEVEL, DEVICES = 18e3, 3  # N, and devices drawn for each test event
NAMES = {"listening": "data-driven", "physics": "physics-based"}


def run(job, kind, paths, sides, moved):
    """Values of the claims; `paths` has the first network of each kind that is kept."""
    paths = {key: path for key, path in paths.items() if key in ("listening", "physics", "two")}
    found = _rates(job, kind, {key: paths[key] for key in NAMES if key in paths}, sides, moved)
    found |= _taller(job, kind, {NAMES[key]: paths[key] for key in NAMES if key in paths}, sides["test"])
    if "two" in paths:
        found |= _two(job, kind, paths, sides, moved)
    return found


def _rates(job, kind, paths, sides, moved):
    """Networks in controllers of other rates, on validation histories and in the loop."""
    errors, rows = {}, []
    for rate in rates.RATES:
        some = [rates.measured(kind, sides["validation"], moved["validation", v], v, rate) for v in LEVELS]
        runs = [run for each in some for run in each]
        for key, path in paths.items():
            alone = rates.validated(path, key, runs, rate).mean()
            loop = [rates.looped(kind, LEVEL, motion, path, 0, rate) for motion in sides["test"]]
            errors[key, rate] = np.array([alone, np.mean(loop)])
            rows.append([NAMES[key], str(rate), f"{alone:.2f}", *(f"{x:.2f}" for x in loop)])
            job.progress(f"{kind}: other rates", len(rows) / (len(rates.RATES) * len(paths)))
    events = [f"in the loop, {motion.event}" for motion in sides["test"]]
    title = f"Specimen '{kind}': controllers of other rates, no training anew (NRMSE %, link of 10 ms)"
    job.tables.append(Table(title, ["network", "controller Hz", "validation", *events], sorted(rows)))
    found = {}
    for key, name in NAMES.items():
        for rate in (512, 2048):
            if (key, rate) in errors:
                ratio = errors[key, rate] / errors[key, 1024]
                claim = f"{kind}, {name}, controller of {rate} Hz over 1024 Hz: NRMSE"
                found |= {claim: float(ratio[0]), f"{claim} in the loop": float(ratio[1])}
    return found


def _taller(job, kind, networks, shakes):
    """One network at three places of a four-story frame, stiff and soft."""
    models = networks | {"CUKF": "cukf", "LuGre, fixed": "fixed"}
    found, rows = {}, []
    for frame in taller.STORIES:
        errors, roofs = {model: [] for model in models}, {model: [] for model in models}
        for motion, number in ((motion, n) for motion in shakes for n in range(DEVICES)):
            reference = taller.tall_test(kind, LEVEL, motion, "specimen", number, frame)
            for model, given in models.items():
                test = taller.tall_test(kind, LEVEL, motion, given, number, frame)
                errors[model].append(test.errors())
                roofs[model].append(abs(test.roof() / reference.roof() - 1.0))
        for model in models:
            places = np.mean(errors[model], axis=0)
            off = 100 * np.mean(roofs[model])
            rows.append([frame, model, *(f"{x:.2f}" for x in places), f"{places.mean():.2f}", f"{off:.1f}"])
        job.progress(f"{kind}: another frame", (len(rows) // len(models)) / len(taller.STORIES))
        first = f"{kind}, four stories, {frame} frame"
        for name in networks:
            found[f"{first}, {name} over CUKF: NRMSE of three places"] = _ratio(errors, name)
        found[f"{first}, data-driven over CUKF: error of the peak roof displacement"] = _ratio(roofs, "data-driven")
    periods = "; ".join(f"{frame}: T1 = {taller.periods(frame)[0]:.2f} s" for frame in taller.STORIES)
    title = f"Specimen '{kind}': four stories, one device heard at three places (NRMSE %), {DEVICES} devices. {periods}"
    head = ["frame", "model", *(f"story {s}" for s in taller.PLACES), "mean", "peak roof, off by %"]
    job.tables.append(Table(title, head, rows))
    return found


def _two(job, kind, paths, sides, moved):
    """A network that hears two devices beside one that hears one of them."""
    runs = [
        run
        for level in LEVELS
        for run in rates.measured(kind, sides["validation"], moved["validation", level], level, 1024)
    ]
    alone = two_devices.validated(paths, runs)
    rows = [[model, *(f"{alone[model, which]:.2f}" for which in two_devices.ORDERS)] for model in ("one", "two")]
    job.progress(f"{kind}: two devices", 1.0)
    head = ["hears", *two_devices.ORDERS]
    job.tables.append(Table(f"Specimen '{kind}': one or two devices heard (NRMSE %)", head, rows))
    rows = []
    for motion in sides["test"]:
        for model, key, both in (("one", "listening", False), ("two", "two", True)):
            tests = [two_devices.looped(kind, LEVEL, motion, paths[key], n, both=both) for n in range(DEVICES)]
            rows.append([motion.event, model, *(f"{x:.2f}" for x in np.mean(tests, axis=0))])
    head = ["event", "hears", *(f"story {s}" for s in two_devices.PLACES)]
    title = f"Specimen '{kind}': two devices in laboratories, stiff four-story frame (NRMSE %), {DEVICES} devices"
    job.tables.append(Table(title, head, rows))
    related, unrelated = two_devices.ORDERS
    return {
        f"{kind}, two devices heard over one: NRMSE": alone["two", related] / alone["one", related],
        f"{kind}, two devices heard over one, the first moves otherwise: NRMSE": alone["two", unrelated]
        / alone["one", unrelated],
    }


def _ratio(values, model):
    return float(np.mean(values[model]) / np.mean(values["CUKF"]))
