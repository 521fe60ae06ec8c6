"""OCP-NN: validation, delay of the link, what hearing is worth, and the hybrid test in the loop."""

import numpy as np

from hyloop.neural import load_network
from hyloop.report.page import Table
from hyloop.study.seeds import Seeds

from . import banded, baselines, beyond, in_the_loop
from .data import SEEDS, motions
from .figures import MODELS, figure_9, figures_10_to_12
from .frame import LEVELS, deformations
from .loop_figures import figures_13_to_15
from .networks import LISTENING, PHYSICS
from .scores import MEASURES, TICKS, listening, table
from .specimens import measure
from .stages import KINDS

SPECIMENS = ("chatter", "wide", "narrow")
WHOLE = ("chatter", "wide")  # of which delays, band and hybrid tests are shown too
FIXED = 3  # networks that had been seen when the schedule was fixed; the others were run once
JITTERING = (12, 8)  # ticks: least delay, and how much more
LABELS = {
    "data-driven OCP-NN": "listening",
    "physics-based OCP-NN": "physics",
    in_the_loop.HOLDING: "holding",
    "offline": "offline",
    "offline + level": "level",
    "data-driven, 42 runs": "listening-few",
    "physics-based, 42 runs": "physics-few",
}
CLAIMED = {  # models whose error on validation is a claim as it is
    "physics-based OCP-NN": "physics-based",
    in_the_loop.HOLDING: in_the_loop.HOLDING,
    "data-driven, 42 runs": "data-driven, 42 runs",
    "physics-based, 42 runs": "physics-based, 42 runs",
}
TOGETHER = "data-driven OCP-NN, mean of three networks"
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
    whole = [] if job.quick else [kind for kind in specimens if kind in WHOLE]
    bands = banded.run(job, {kind: networks(job, kind) for kind in whole})
    for kind in specimens:
        runs = {side: _runs(kind, sides[side], moved, side) for side in sides}
        values |= _validated(job, kind, runs)
        if kind in whole:
            values |= _delayed(job, kind, runs["validation"])
            found, tables = bands[kind]
            values |= found
            job.tables += tables
            if kind == SPECIMENS[0]:
                job.sections += _drawn(job, kind, runs["validation"])
            kept = {key: [path.name for path in networks(job, kind, key)] for key in ("listening", *PHYSICS)}
            found, shown = in_the_loop.run(job, kind, sides["test"], kept)
            values |= found
            if kind == SPECIMENS[0]:
                drawn = {model: test for model, test in shown.items() if model in MODELS}
                job.sections += figures_13_to_15(sides["test"][0].event, drawn)
                kept = {key: networks(job, kind, key)[:1] for key in KINDS}
                values |= beyond.run(job, kind, {key: path[0] for key, path in kept.items() if path}, sides, moved)
    claims = _claims(job)
    values = {claim: value for claim, value in values.items() if claim in claims}
    for claim in claims:
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
        named = KINDS[network.removesuffix("-few")]
        trained = [load_network(path) for path in networks(job, kind, network)[: 1 if job.quick else None]]
        if trained:
            found[label] = np.array([table(listening(one, named), runs) for one in trained])
            job.progress(f"{kind}: {label}", 1.0)
        if trained and named in LISTENING and network == named:
            other = [table(listening(one, named, hears="another"), runs) for one in trained]
            found[f"{label}, hears an unrelated motion"] = np.array(other)
        if network == "listening" and len(trained) >= FIXED:
            three = [listening(one, named) for one in trained[:FIXED]]
            found[TOGETHER] = table(lambda run, three=three: np.mean([model(run) for model in three], axis=0), runs)[
                None
            ]
    found["CUKF"] = table(lambda run: baselines.followed(kind, run), runs)[None]
    found["CUKF, settings of the paper"] = table(lambda run: baselines.followed(kind, run, baselines.PAPER), runs)[None]
    found["LuGre, fixed"] = table(lambda run: baselines.fixed(kind, run), runs)[None]
    return found


def _validated(job, kind, runs):
    """Table 3 for one kind of specimen, and the same on the test events."""
    found = {side: _models(job, kind, some) for side, some in runs.items()}
    sides = [f"{m} {side}" for side in runs for m in (MEASURES if side == "validation" else ("NRMSE",))]
    rows = []
    for model, scores in found["validation"].items():
        for label, some in _fixed_and_fresh(model, len(scores)):
            cells = [_cell(scores[some, :, k]) for k in range(len(MEASURES))]
            rows.append([label, str(len(scores[some])), *cells, _cell(found["test"][model][some, :, 0])])
    title = f"Specimen '{kind}': mean ± spread over runs (NRMSE %, MAE kN)"
    job.tables.append(Table(title, ["model", "seeds", *sides], rows))
    mean = {model: scores[..., 0].mean(axis=1) for model, scores in found["validation"].items()}
    listens, filtered = mean["data-driven OCP-NN"], float(mean["CUKF"][0])
    job.numbers.append((f"{listens.mean():.2f} %", f"error of the network that listens, specimen '{kind}'"))
    job.numbers.append((f"{filtered:.2f} %", f"of the filter, specimen '{kind}'"))
    if job.quick:
        return {}
    claim = f"{kind}, data-driven, validation: NRMSE"
    values = {
        claim: _seeds(listens),
        f"{claim}, goal of the paper's size": _seeds(listens),
        f"{kind}, CUKF, validation: NRMSE": filtered,
        f"{kind}, test events over validation: NRMSE": _seeds(
            found["test"]["data-driven OCP-NN"][..., 0].mean(axis=1) / listens
        ),
    }
    if len(listens) > FIXED:
        values[f"{kind}, data-driven, fresh seeds, validation: NRMSE"] = _seeds(listens[FIXED:])
    for model, name in CLAIMED.items():
        if model in mean:
            values[f"{kind}, {name}, validation: NRMSE"] = _seeds(mean[model])
    if TOGETHER in mean:
        values[f"{kind}, mean of three data-driven, validation: NRMSE"] = float(mean[TOGETHER][0])
    for deaf in ("offline", "offline + level"):
        if deaf in mean:
            values[f"{kind}, {deaf} over data-driven, validation: NRMSE"] = _ratio(mean[deaf], listens)
    if "offline" in mean:
        strange = mean["data-driven OCP-NN, hears an unrelated motion"]
        values[f"{kind}, hears an unrelated motion over deaf, validation: NRMSE"] = _ratio(strange, mean["offline"])
    return values


def _fixed_and_fresh(model, count):
    """Rows of a model: all networks, and where there are more than the first three, these and the fresh ones too."""
    if count <= FIXED:
        return [(model, slice(None))]
    parts = [(f"{model}, seeds 0 to {FIXED - 1}", slice(0, FIXED)), (f"{model}, fresh seeds", slice(FIXED, None))]
    return [(model, slice(None)), *parts]


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


def _drawn(job, kind, runs):
    """Figures 9 to 12, with the first network of each kind."""
    first = {key: networks(job, kind, key)[:1] for key in ("listening", "physics", "offline")}
    loaded = {key: load_network(path[0]) for key, path in first.items() if path}
    kobe = next(run for run in runs if run.level == in_the_loop.LEVEL)
    harmonic = [figure_9(kind, in_the_loop.LEVEL, loaded["physics"])] if "physics" in loaded else []
    return [*harmonic, *figures_10_to_12(kind, kobe, loaded)]


def _ratio(above, below):
    """Network by network as many as there are of both, each over the mean of the other kind."""
    return _seeds(above / below.mean())


def _seeds(values):
    """What every seed gave; of a single one its value, which has no spread."""
    return Seeds.of(values) if len(values) > 1 else float(values[0])


def _cell(values):
    """Mean over all, and the spread over runs of the mean of seeds."""
    by_run = values.mean(axis=0)
    return f"{values.mean():.2f} ± {by_run.std(ddof=1):.2f}" if len(by_run) > 1 else f"{values.mean():.2f}"
