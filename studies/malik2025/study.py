"""OCP-NN: validation, delay of the link, what hearing is worth, and the hybrid test in the loop."""

import numpy as np

from hyloop.metrics import compare_bands
from hyloop.neural import load_network
from hyloop.report.page import Table
from hyloop.study.seeds import Seeds

from . import bands, baselines
from .data import SEEDS, motions
from .frame import LEVELS, deformations
from .looped import hybrid_test
from .networks import LISTENING
from .scores import MEASURES, TICKS, listening, table
from .specimens import measure
from .stages import KINDS

SPECIMENS = ("chatter", "wide")
LOOP_LEVEL, LOOP_DEVICES = 18e3, 3  # N, and devices drawn for each test event
# device draws of the band: the weight is chosen on the first two of the calibration, q found from the others
CALIBRATION_DRAWS, CHOOSING, TEST_DRAWS = (501, 502, 503, 504, 505), 2, (601, 602, 603, 604, 605)
JITTERING = (12, 8)  # ticks: least delay, and how much more
LABELS = {
    "data-driven OCP-NN": "listening",
    "physics-based OCP-NN": "physics",
    "offline": "offline",
    "offline + level": "level",
}
QUICK_NOTE = "The quick run validates one network at one capacity and runs nothing in the loop."


def run(job):
    """Values of the claims about every specimen of which networks are kept here."""
    values = {}
    specimens = [kind for kind in SPECIMENS if networks(job, kind)]
    if job.quick:
        job.notes.append(QUICK_NOTE)
        specimens = specimens[:1]
    sides = {side: motions(side) for side in ("validation", "test")}
    moved = {}
    for side, shakes in sides.items():
        for level in LEVELS[1:2] if job.quick else LEVELS:
            moved[side, level] = deformations(shakes, level)
            job.progress("deformations of the frame", len(moved) / (2 * len(LEVELS)))
    for kind in specimens:
        runs = {side: _runs(kind, sides[side], moved, side) for side in sides}
        values |= _validated(job, kind, runs)
        if not job.quick:
            values |= _delayed(job, kind, runs["validation"])
            values |= _banded(job, kind, sides, moved)
            values |= _looped(job, kind, sides["test"])
    for claim in _claims(job):
        if claim not in values:
            job.not_comparable[claim] = "the quick run does not get there" if job.quick else "no network of it is kept"
    return values


def networks(job, kind, network="listening"):
    """Paths of the kept networks of a kind, one for each seed."""
    return sorted((job.folder / "networks").glob(f"{kind}-{network}-[0-9]*.safetensors"))


def _claims(job):
    from hyloop.study.claims import load_claims

    return [claim.claim for claim in load_claims(job.folder / "claims.toml")]


def _runs(kind, shakes, moved, side, seed=None):
    """Measured runs of a side at all capacities that were simulated; the same draws as the stage `measure` makes."""
    named = [(m.name, m.event) for m in shakes]
    levels = [level for s, level in moved if s == side]
    return [run for level in levels for run in measure(kind, named, moved[side, level], level, seed or SEEDS[side])]


def _models(job, kind, runs):
    """Scores (seeds, runs, 4) of every model."""
    found = {}
    for label, network in LABELS.items():
        named = KINDS[network]
        paths = networks(job, kind, network)[: 1 if job.quick else None]
        if paths:
            found[label] = np.array([table(listening(load_network(p), named), runs) for p in paths])
            job.progress(f"{kind}: {label}", 1.0)
            if named in LISTENING:
                other = f"{label}, hears an unrelated motion"
                found[other] = np.array(
                    [table(listening(load_network(p), named, hears="another"), runs) for p in paths]
                )
    found["CUKF"] = table(lambda run: baselines.followed(kind, run), runs)[None]
    found["CUKF, settings of the paper"] = table(
        lambda run: baselines.followed(kind, run, baselines.PAPER_PROCESS), runs
    )[None]
    found["LuGre, fixed"] = table(lambda run: baselines.fixed(kind, run), runs)[None]
    return found


def _validated(job, kind, runs):
    """Table 3 for one kind of specimen, and the same on the test events."""
    found = {side: _models(job, kind, some) for side, some in runs.items()}
    head = [
        "model",
        "seeds",
        *[f"{m} {side}" for side in runs for m in (MEASURES if side == "validation" else ("NRMSE",))],
    ]
    rows = []
    for model, scores in found["validation"].items():
        cells = [_cell(scores[..., k]) for k in range(len(MEASURES))]
        rows.append([model, str(len(scores)), *cells, _cell(found["test"][model][..., 0])])
    job.tables.append(Table(f"Specimen '{kind}': mean ± spread over runs (NRMSE %, MAE kN)", head, rows))
    each = {side: found[side]["data-driven OCP-NN"][..., 0].mean(axis=1) for side in runs}
    mine = {side: _seeds(values) for side, values in each.items()}
    claim = f"{kind}, data-driven, validation: NRMSE"
    ratio = _seeds(each["test"] / each["validation"])
    job.numbers.append((f"{each['validation'].mean():.2f} %", f"error of the network that listens, specimen '{kind}'"))
    filtered = float(found["validation"]["CUKF"][..., 0].mean())
    job.numbers.append((f"{filtered:.2f} %", f"of the filter, specimen '{kind}'"))
    if job.quick:
        return {}
    physics = found["validation"].get("physics-based OCP-NN")
    guided = (
        {} if physics is None else {f"{kind}, physics-based, validation: NRMSE": _seeds(physics[..., 0].mean(axis=1))}
    )
    return guided | {
        claim: mine["validation"],
        f"{claim}, goal of the paper's size": mine["validation"],
        f"{kind}, CUKF, validation: NRMSE": filtered,
        f"{kind}, test events over validation: NRMSE": ratio,
    }


def _delayed(job, kind, runs):
    """Table 4: NRMSE and MAE against the delay of the link."""
    paths, rows, found = networks(job, kind), [], {}
    cases = {f"{ms} ms": (ticks, 0) for ms, ticks in TICKS.items()} | {"12 to 20 ms": JITTERING}
    for name, (delay, jitter) in cases.items():
        scores = np.array([table(listening(load_network(p), delay=delay, jitter=jitter), runs) for p in paths])
        found[name] = _seeds(scores[..., 0].mean(axis=1))
        rows.append([name, _cell(scores[..., 0]), _cell(scores[..., 1])])
        job.progress(f"{kind}: delays", len(rows) / len(cases))
    job.tables.append(Table(f"Specimen '{kind}': delay of the link", ["delay", "NRMSE %", "MAE kN"], rows))
    late = f"{kind}, data-driven, 20 ms late: NRMSE"
    return {
        late: found["20 ms"],
        f"{late}, goal": found["20 ms"],
        f"{kind}, data-driven, late by 12 to 20 ms at random: NRMSE": found["12 to 20 ms"],
    }


def _banded(job, kind, sides, moved):
    """A conformal band: calibrated on device draws of the validation events, judged on draws of the test events."""
    network = load_network(networks(job, kind)[0])
    found = {}
    for side, seeds in (("validation", CALIBRATION_DRAWS), ("test", TEST_DRAWS)):
        runs = [run for seed in seeds for run in _runs(kind, sides[side], moved, side, seed)]
        found[side] = (*bands.errors_and_residuals(kind, network, runs), runs)
        job.progress(f"{kind}: band", len(found) / 2)
    errors, residuals, _ = found["validation"]
    chosen = bands.calibrated(errors, residuals, len(errors) * CHOOSING // len(CALIBRATION_DRAWS))
    errors, residuals, runs = found["test"]
    scores = [bands.FLOOR + chosen.weight * R for R in residuals]
    judged = compare_bands(chosen.q, errors, scores)
    rows = [
        [run.name, f"{run.level / 1e3:.0f}", f"{100 * share:.1f}"]
        for run, share in zip(runs, judged.by_run, strict=True)
    ]
    title = f"Specimen '{kind}': band of {100 * bands.COVERAGE:.0f} %, q {chosen.q:.3f}, test events"
    job.tables.append(Table(title, ["run", "capacity kN", "samples in the band %"], rows, folded=True))
    inside = float(np.mean((judged.by_run >= 0.8) & (judged.by_run <= 0.97)))
    return {
        f"{kind}, band on test events: pooled coverage": 100 * judged.pooled,
        f"{kind}, band on test events: runs with 80 to 97 %": 100 * inside,
        f"{kind}, band on test events: width over a constant band": judged.narrower,
    }


def _looped(job, kind, shakes):
    """Table 5: the hybrid test, its peaks against a run with specimens in both stories."""
    paths = networks(job, kind)
    physics = networks(job, kind, "physics")
    models = {"data-driven OCP-NN": paths, "physics-based OCP-NN": physics, "CUKF": ["cukf"], "LuGre, fixed": ["fixed"]}
    models = {model: some for model, some in models.items() if some}
    errors, peaks, rows = {}, {}, []
    for motion in shakes:
        for number in range(LOOP_DEVICES):
            reference = hybrid_test(kind, LOOP_LEVEL, motion, "specimen", number)
            for model, some in models.items():
                for which, path in enumerate(some):
                    test = hybrid_test(kind, LOOP_LEVEL, motion, path, number)
                    errors[motion.event, number, model, which] = test.scores
                    peaks[motion.event, number, model, which] = test.peaks() / reference.peaks() - 1.0
                    if number == 0 and which == 0:
                        job.recordings[f"{kind}, {motion.event}, {model}"] = test.result
            job.progress(
                f"{kind}: in the loop", len(errors) / (len(shakes) * LOOP_DEVICES * sum(map(len, models.values())))
            )
    for motion in shakes:
        for model, some in models.items():
            keys = [(motion.event, n, model, w) for n in range(LOOP_DEVICES) for w in range(len(some))]
            mean = np.mean([errors[key] for key in keys], axis=0)
            peak = 100 * np.mean([np.abs(peaks[key]) for key in keys], axis=0)
            cells = [*(f"{x:.2f}" for x in mean), *(f"{x:.1f}" for x in peak)]
            rows.append([motion.event, model, *cells])
    head = ["event", "model", "NRMSE %", "MAE kN", "R2", "TRAC", "peak roof, off by %", "peak damper 2, off by %"]
    title = f"Specimen '{kind}': in the loop, mean of {LOOP_DEVICES} devices; peaks against specimens in both stories"
    job.tables.append(Table(title, head, rows))

    def of(event, model, values, k):
        keys = [key for key in errors if key[0] == event and key[2] == model]
        return np.array([np.abs(values[key][k]) for key in keys])

    ours, theirs = "data-driven OCP-NN", "CUKF"
    events = [motion.event for motion in shakes]
    found = {f"{kind}, in the loop, {event}: NRMSE": float(of(event, ours, errors, 0).mean()) for event in events}
    ratios = [of(event, theirs, errors, 0).mean() / of(event, ours, errors, 0).mean() for event in events]
    if physics:
        for event in events:
            mean = float(of(event, "physics-based OCP-NN", errors, 0).mean())
            found[f"{kind}, in the loop, physics-based, {event}: NRMSE"] = mean
    roof = [np.concatenate([of(event, model, peaks, 0) for event in events]).mean() for model in (ours, theirs)]
    found[f"{kind}, in the loop, CUKF over data-driven: NRMSE, worse event"] = float(min(ratios))
    found[f"{kind}, in the loop, error of the peak roof displacement over that of the CUKF"] = float(roof[0] / roof[1])
    return found


def _seeds(values):
    """What every seed gave; of a single one its value, which has no spread."""
    return Seeds.of(values) if len(values) > 1 else float(values[0])


def _cell(values):
    """Mean over all, and the spread over runs of the mean of seeds."""
    by_run = values.mean(axis=0)
    return f"{values.mean():.2f} ± {by_run.std(ddof=1):.2f}" if len(by_run) > 1 else f"{values.mean():.2f}"
