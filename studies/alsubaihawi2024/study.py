"""Device level of Al-Subaihawi et al. (2024): a filter on one damper, eleven models that follow."""

import numpy as np

from hyloop.devices import nonlinear_maxwell
from hyloop.metrics import nrmse
from hyloop.record import Recorder, Recording
from hyloop.report.page import Table
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
SHOWN = {"earthquake": "Cd drifting 1 to 0.7", "wind": "alpha x 1.14"}  # drawn in the report
COMPARED = "alpha x 1.14"  # the specimen that resembles the paper most, chosen in the parameter file before this study
EXACT = {
    "noise": 1e-7,
    "process": 0.0,
    "initial_std": 0.5,
}  # a load cell without noise and parameters that never change
FROZEN = 5.0  # s at the end without any change of an estimate
QUICK_SEEDS, SEEDS = 2, 5
QUICK_SPECIMENS = ("Cd drifting 1 to 0.7", "alpha x 1.14")
EVERY = 8  # rows of a history in the report: 128 Hz


def run(job):
    """Values of all claims; of a quick run over fewer tests, each as long as in the full one."""
    seeds = range(QUICK_SEEDS if job.quick else SEEDS)
    names = QUICK_SPECIMENS if job.quick else tuple(SPECIMENS)
    shaken, note = earthquake()
    job.notes.append(note)
    histories = {"earthquake": [shaken] * len(seeds), "wind": [wind(seed) for seed in seeds]}
    values, errors, frozen, failed, inside = {}, {}, {}, {}, {}
    for hazard in histories:
        for number, name in enumerate(names):
            job.progress(hazard, number / len(names))
            for seed in seeds:
                key = hazard, name, seed
                errors[key], frozen[key], failed[key], inside[key] = _test(
                    job, hazard, name, histories[hazard][seed], seed
                )
        job.progress(hazard, 1.0)
    job.tables += [_accuracy(errors, hazard, names, seeds) for hazard in histories]
    job.tables += [_bound_rules(errors, frozen, names, seeds), _repairs(failed), _exact_load_cell()]
    for hazard in histories:
        for kind in ("updated", "constant"):
            noisy = np.array([errors[hazard, COMPARED, seed][kind] for seed in seeds])
            values[f"smallest NRMSE, {kind}, {hazard}"] = 100 * noisy.min(axis=1).mean()
            values[f"largest NRMSE, {kind}, {hazard}"] = 100 * noisy.max(axis=1).mean()
        better = [
            errors[hazard, COMPARED, seed]["updated"] < errors[hazard, COMPARED, seed]["constant"] for seed in seeds
        ]
        values[f"dampers improved by updating, {hazard}"] = float(np.mean(better))
    runs = list(failed.values())
    values["runs finished with the nearest definite covariance"] = float(np.mean([not r["nearest"] for r in runs]))
    values["estimates inside their bounds"] = float(np.mean(list(inside.values())))
    values["runs that fail without repair, as printed"] = float(np.mean([r["printed"] > 0 for r in runs]))
    values["runs that fail without repair, single precision"] = float(np.mean([r["single"] > 0 for r in runs]))
    values["runs that fail without repair, our sums"] = float(np.mean([r["none"] > 0 for r in runs]))
    if job.quick:
        job.notes.append(f"Parts of runs are those of {len(runs)} tests; the full run makes 60.")
    job.not_comparable |= dict.fromkeys(values, note) if "missing" in note else {}
    return values


def _test(job, hazard, name, d, seed):
    """One test: errors of the models, rules that froze, times of failures (s; 0: never), estimates inside bounds."""
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
    frozen, inside = {}, False
    for rule in RULES:
        found = _filter(hazard, d[at], measured[at], bounds=rule)
        followed = {p: respond(d[p], found["K"], found["C"], found["alpha"], DT) for p in others}
        free = np.array([nrmse(true[p], followed[p]) for p in others])
        errors[rule] = free
        frozen[rule] = not any(np.ptp(found[key][-round(FROZEN / DT) :]) for key in START)
        if rule == "clip":
            errors["updated"] = np.array([nrmse(measured[p], followed[p]) for p in others])
            errors["updated, noise-free"] = free
            inside = all(low <= found[k].min() and found[k].max() <= high for k, (low, high) in FREE.items())
            if (name, seed) == (SHOWN[hazard], 0):
                _record(job, hazard, d, measured, followed, guess, found)
    failed = {repair: _failure(_filter(hazard, d[at], measured[at], repair=repair)["K"]) for repair in REPAIRS}
    for kind, precision in (("printed", np.float64), ("single", np.float32)):
        start = np.array([START["K"] / 1e3, START["C"] / 1e3, START["alpha"]], precision)
        _, ticks = printed_filter(start, d[at], measured[at] / 1e3, DT, NOISE / 1e3, WALK[hazard])
        failed[kind] = 0.0 if ticks == len(d[at]) else (ticks + 1) * DT
    return errors, frozen, failed, inside


def _filter(hazard, d, f, **options):
    settings = {"noise": NOISE, "process": WALK[hazard], "initial_std": WALK[hazard], "alpha": ALPHA, **options}
    return unscented(nonlinear_maxwell(**START), FREE, **settings).drive(DT, d=d, f_m=f)


def _failure(estimate):
    """Time of the first estimate that is not a number, 0 if there is none."""
    lost = np.flatnonzero(np.isnan(estimate))
    return (lost[0] + 1) * DT if len(lost) else 0.0


def _accuracy(errors, hazard, names, seeds):
    rows = []
    for name in names:
        cells = []
        for kind in ("updated", "constant", "updated, noise-free", "constant, noise-free"):
            each = 100 * np.array([errors[hazard, name, seed][kind] for seed in seeds])
            cells.append(f"{each.min():.2f} to {each.max():.2f}")
            cells.append(f"{each.mean():.2f} ± {each.mean(axis=1).std(ddof=1):.2f}")
        rows.append([name, f"{SPECIMENS[name].noise / 1e3:g}", *cells])
    columns = ["specimen", "load-cell noise, kN"]
    for kind in ("updated", "constant", "updated, noise-free", "constant, noise-free"):
        columns += [f"{kind}: range", f"{kind}: mean ± spread over seeds"]
    return Table(f"NRMSE of the eleven modelled dampers in %, {hazard}, {len(seeds)} seeds", columns, rows)


def _bound_rules(errors, frozen, names, seeds):
    rows = []
    for hazard in MEASURED:
        for name in names:
            cells = []
            for rule in RULES:
                each = 100 * np.array([errors[hazard, name, seed][rule] for seed in seeds])
                stuck = sum(frozen[hazard, name, seed][rule] for seed in seeds)
                cells += [f"{each.mean():.2f} ± {each.mean(axis=1).std(ddof=1):.2f}", f"{stuck} of {len(seeds)}"]
            rows.append([hazard, name, *cells])
    columns = ["hazard", "specimen", *(f"{rule}: {what}" for rule in RULES for what in ("NRMSE", "frozen"))]
    return Table("Bound rules: noise-free NRMSE in %, and runs that end frozen (shrink is the paper's)", columns, rows)


def _repairs(failed):
    labels = {
        "none": "our sums, no repair",
        "nearest": "our sums, nearest definite",
        "square-root": "square-root form",
        "printed": "printed sums, no repair",
        "single": "printed sums, single precision, no repair",
    }
    rows = []
    for kind, label in labels.items():
        times = [run[kind] for run in failed.values()]
        lost = [time for time in times if time]
        rows.append([label, f"{len(lost)} of {len(times)}", f"{min(lost):.3f} to {max(lost):.3f}" if lost else "-"])
    return Table("Covariance over all tests", ["filter", "runs that failed", "first failure, s"], rows)


def _exact_load_cell():
    """Where our own sums lose the covariance without repair: nothing but round-off is left of it."""
    d = 0.01 * np.random.default_rng(0).normal(size=4096)
    f = nonlinear_maxwell(**START).drive(DT, d=d)["f"]
    rows = []
    for repair in REPAIRS:
        found = _filter("earthquake", d, f, repair=repair, **EXACT)
        lost = _failure(found["K"])
        rows.append([repair, f"{lost:.3f}" if lost else "never", *(f"{found[k][-1] / START[k]:.4f}" for k in START)])
    columns = ["repair", "failure, s", "Kd / truth at the end", "Cd / truth", "alpha / truth"]
    title = "White-noise deformation, load cell with 1e-7 N of noise, no random walk, start uncertain by 50 %"
    return Table(title, columns, rows)


def _record(job, hazard, d, measured, followed, guess, found):
    """Three recordings for the report: what the damper would do, what the models did, what they would have done."""
    places = [place for place in ("20 NE", "30 SE", "40 NE") if place in followed]
    cases = {"damper": measured, "updated": followed, "constant": guess}
    for case, force in cases.items():
        columns = {
            f"d{place.replace(' ', '')}.{key}": (unit, signal[place][::EVERY])
            for place in places
            for key, unit, signal in (("d", "m", d), ("f", "N", force))
        }
        attributes = {"title": f"{hazard}: {SHOWN[hazard]}", "parameters": []}
        if case == "updated":
            units = {key: spec.unit for key, spec in nonlinear_maxwell.params.items()}
            columns |= {f"filter.{key}": (units[key], found[key][::EVERY]) for key in START}
            attributes["estimates"] = {f"filter.{key}": list(FREE[key]) for key in START}
        path = job.out / f"{hazard}_{case}.h5"
        with Recorder(
            path, list(columns), [unit for unit, _ in columns.values()], EVERY * DT, attributes, overwrite=True
        ) as recorder:
            recorder.write(np.column_stack([signal for _, signal in columns.values()]))
        job.recordings[f"{hazard}, {case}"] = Recording.load(path)
