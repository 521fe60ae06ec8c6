"""Coble et al. (2024): the numerical case, the printed LuGre row, and learned models of the real damper."""

import jax
import numpy as np

from hyloop.record import Recording
from hyloop.report.page import Table
from hyloop.study.seeds import Seeds

jax.config.update("jax_enable_x64", True)  # before the first array of the modules below

from . import learned, numerical, physics_ml, splits  # noqa: E402
from .fits import SEEDS, all_models, seeds_of  # noqa: E402
from .pictures import stiffness_along, stiffness_map  # noqa: E402
from .printed import METRICS, PRINTED, UNITS, printed_row  # noqa: E402
from .tests36 import QUAKES, RATE, SPLITS, load  # noqa: E402

QUICK = (
    "The quick run judges the paper's LuGre row. What is learned in it is one short fit to one harmonic test: shown, "
    "and not judged."
)


def run(job):
    """Values of all claims; a quick run judges the printed LuGre row alone."""
    harmonics, quakes = load()
    models, seeds = all_models(job), seeds_of(job)
    values, found = _printed(job, quakes), _numerical(job, models, quakes, seeds)
    for split in SPLITS:
        of_split, forces = splits.judged(job, models, quakes, seeds, split)
        found |= of_split
        if split == "record":
            _record(job, quakes, forces)
    found |= physics_ml.printed_tables(job, models, quakes, seeds)
    physics_ml.pictures(job, models, harmonics, quakes)
    if job.quick:
        job.notes.append(QUICK)
        return values
    return values | found


def _printed(job, quakes):
    found = printed_row(quakes)
    rows = [
        [name, metric, f"{PRINTED[name][k]:.4g}", f"{found[metric, name]:.4g}"]
        for name in QUAKES
        for k, metric in enumerate(METRICS)
    ]
    columns = ["earthquake", "metric", "paper", "ours"]
    job.tables.append(Table("LuGre by the paper's protocol, Tables 8, 9, 11-15", columns, rows))
    deviation = max(abs(found["RMSE", name] / PRINTED[name][2] - 1.0) for name in QUAKES)
    values = {f"LuGre, {metric}, {name}": found[metric, name] for name in QUAKES for metric in METRICS}
    return values | {"LuGre row of Table 9, largest deviation": 100.0 * deviation}


def _numerical(job, models, quakes, seeds):
    """Tables 6 and 7: trained on harmonic motions, judged on them and on scaled earthquakes."""
    motions = {"harmonic": numerical.harmonics(job.quick), "earthquake": numerical.scaled_quakes(quakes, job.quick)}
    printed = {"harmonic": numerical.HARMONIC, "earthquake": numerical.QUAKE}
    layers = [models["numerical", seed] for seed in seeds]
    values, rows = {}, []
    for kind, set_ in motions.items():
        constant = numerical.scores(models["LuGre", "numerical"], set_)
        learnt = [numerical.scores(layer, set_) for layer in layers]
        over = Seeds.of(score["RMSE"] / constant["RMSE"] for score in learnt)
        values[f"{kind}, RMSE of physics-ML over that of our LuGre"] = over
        for k, metric in enumerate(METRICS):
            each = Seeds.of(score[metric] for score in learnt)
            values |= {f"{kind}, LuGre, {metric}": constant[metric], f"{kind}, physics-ML, {metric}": each}
            numbers = [*(row[k] for row in printed[kind]), constant[metric], *each.values]
            rows.append([kind, f"{metric} ({UNITS[metric]})", *(f"{number:.4g}" for number in numbers)])
    columns = ["motions", "metric", "paper LuGre", "paper physics-ML", "LuGre", *(f"seed {seed}" for seed in seeds)]
    job.tables.append(Table("Numerical case, Tables 6 and 7", columns, rows))
    job.tables.append(
        stiffness_map(
            f"Fig. 11: stiffness in kN/m learned for the numerical case (seed {SEEDS[0]})",
            layers[0],
            forces=np.linspace(-1000, 1000, 9),
            velocities=np.linspace(-1, 1, 9),
        )
    )
    job.recordings["Fig. 9: stiffness through one reversal, numerical"] = stiffness_along(
        layers[0], next(iter(motions["harmonic"].values())).v[:, None], "numerical"
    )
    return values


def _record(job, quakes, forces):
    """Figs. 14 and 16-20: measured force and that of the models which had not seen the record."""
    drawn = {"measured": None, "band": "band without network", f"seed {SEEDS[0]}": SEEDS[0]}
    for model, key in drawn.items():
        histories, rows = {}, slice(0, round(learned.JUDGED * RATE), learned.EVERY)
        for name, test in quakes.items():
            f = test.f if key is None else forces[name][key]
            histories |= {f"{name}.d": test.d[rows], f"{name}.f": f[rows]}
        time = np.arange(0, round(learned.JUDGED * RATE), learned.EVERY) / RATE
        job.recordings[model] = Recording(
            time, np.column_stack([*histories.values()]), tuple(histories), ("m", "N") * len(quakes)
        )
