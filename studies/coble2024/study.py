"""Coble et al. (2024): the numerical case, the printed LuGre row, and learned models of the real damper."""

import hashlib
from functools import partial

import equinox as eqx
import jax
import numpy as np

from hyloop.devices import lugre_exact
from hyloop.record import Recording
from hyloop.study.report import Table

from . import learned, numerical
from .pictures import stiffness_along, stiffness_map
from .printed import METRICS, PRINTED, TABLE_4, UNITS, printed_row, rim_velocity
from .tests36 import PRINTED_LUGRE, PRINTED_PHYSICS_ML, QUAKES, RATE, improvement, load

SEEDS = (0, 1, 2)
VELOCITIES = ("causal", "zero-phase")
QUICK = "quick run: one short fit to one harmonic test"


def run(job):
    """Values of all claims."""
    jax.config.update("jax_enable_x64", True)
    harmonics, quakes = load()
    values = _printed(job, quakes)
    numeric = _numerical(job, quakes)
    real = _real(job, harmonics, quakes)
    if job.quick:
        job.not_comparable |= dict.fromkeys(numeric | real, QUICK)
    return values | numeric | real


def _printed(job, quakes):
    found = printed_row(quakes)
    rows = [[name, metric, f"{PRINTED[name][k]:.4g}", f"{found[metric, name]:.4g}"]
            for name in QUAKES for k, metric in enumerate(METRICS)]  # fmt: skip
    columns = ["earthquake", "metric", "paper", "ours"]
    job.tables.append(Table("LuGre by the paper's protocol, Tables 8, 9, 11-15", columns, rows))
    deviation = max(abs(found["RMSE", name] / PRINTED[name][2] - 1.0) for name in QUAKES)
    values = {f"LuGre, {metric}, {name}": found[metric, name] for name in QUAKES for metric in METRICS}
    return values | {"LuGre row of Table 9, largest deviation": 100.0 * deviation}


def _numerical(job, quakes):
    """Tables 6 and 7: trained on harmonic motions, judged on them and on scaled earthquakes."""
    motions = {"harmonic": numerical.harmonics(job.quick), "earthquake": numerical.scaled_quakes(quakes, job.quick)}
    printed = {"harmonic": numerical.HARMONIC, "earthquake": numerical.QUAKE}
    iterations = 2 if job.quick else numerical.ITERATIONS
    plain = numerical.fitted(numerical.plain(), motions["harmonic"], iterations)
    layers = []
    for k, seed in enumerate(SEEDS[:1] if job.quick else SEEDS):
        layers.append(numerical.fitted(numerical.learned(seed), motions["harmonic"], iterations))
        job.progress("numerical case", (k + 1) / len(SEEDS))
    values, rows = {}, []
    for kind, set_ in motions.items():
        constant, learnt = numerical.scores(plain, set_), [numerical.scores(layer, set_) for layer in layers]
        for k, metric in enumerate(METRICS):
            each = [score[metric] for score in learnt]
            values |= {f"{kind}, LuGre, {metric}": constant[metric], f"{kind}, physics-ML, {metric}": np.mean(each)}
            rows.append([kind, f"{metric} ({UNITS[metric]})", *(f"{row[k]:.4g}" for row in printed[kind]),
                         f"{constant[metric]:.4g}", *(f"{value:.4g}" for value in each)])  # fmt: skip
    columns = [
        "motions",
        "metric",
        "paper LuGre",
        "paper physics-ML",
        "LuGre",
        *(f"seed {s}" for s in SEEDS[: len(layers)]),
    ]
    job.tables.append(Table("Numerical case, Tables 6 and 7", columns, rows))
    job.tables.append(stiffness_map("Fig. 11: stiffness in kN/m learned for the numerical case (seed 0)", layers[0],
                                    forces=np.linspace(-1000, 1000, 9), velocities=np.linspace(-1, 1, 9)))  # fmt: skip
    job.recordings["Fig. 9: stiffness through one reversal, numerical"] = stiffness_along(
        layers[0], next(iter(motions["harmonic"].values())).v, "numerical"
    )
    return values


def _real(job, harmonics, quakes):
    """Leave one earthquake out, free-running from the first sample."""
    errors, forces = _left_one_out(job, harmonics, quakes)
    lugre = [learned.error(name, test, _table_4(test)) for name, test in quakes.items()]
    rows = [["paper, LuGre (printed protocol)", "zero-phase", *_row(PRINTED_LUGRE)],
            ["paper, physics-ML (printed protocol)", "zero-phase", *_row(PRINTED_PHYSICS_ML)],
            ["LuGre, Table 4, free-running", "causal", *_row(lugre)]]  # fmt: skip
    rows += [[model, velocity, *_row(each)] for (model, velocity), each in errors.items()]
    columns = ["model", "velocity", *QUAKES, "mean", "pooled improvement, %"]
    title = "RMSE in N over the paper's segments; the earthquake of a column was not fitted"
    job.tables.append(Table(title, columns, rows))
    values, bands = {}, [model for model, velocity in errors if model.startswith("seed") and velocity == "causal"]
    for velocity in VELOCITIES:
        gains = [improvement(errors[model, velocity]) for model in bands]
        of = {"mean of seeds": np.mean(gains), "least of seeds": min(gains),
              "band without network": improvement(errors["band", velocity]),
              "mean force of seeds": improvement(errors["mean force", velocity])}  # fmt: skip
        values |= {f"pooled improvement, {key}, {velocity} velocity": value for key, value in of.items()}
    each = np.array([errors[model, "causal"] for model in bands])
    values |= {f"RMSE, {name}, mean of seeds": e for name, e in zip(QUAKES, each.mean(axis=0), strict=True)}
    values["earthquakes worse than LuGre, most of seeds"] = int(np.max(np.sum(each > np.array(PRINTED_LUGRE), axis=1)))
    _record(job, quakes, forces)
    return values


def _left_one_out(job, harmonics, quakes):
    """RMSE by (model, velocity it is driven with), fitted with the causal velocity; and forces of the causal runs."""
    fitter = learned.Fitter("causal")
    seeds = SEEDS[:1] if job.quick else SEEDS
    models = ["band", *(f"seed {seed}" for seed in seeds), "mean force"]
    errors = {(model, velocity): [] for model in models for velocity in VELOCITIES}
    forces, done, layers = {}, 0, {}
    for name, test in quakes.items():
        if not job.quick or not layers:
            layers = _fold(job, fitter, harmonics, quakes, name, seeds, done)
        done += len(seeds) + 1
        for velocity in VELOCITIES:
            found = {model: learned.force(layer, test, velocity) for model, layer in layers.items()}
            found["mean force"] = np.mean([found[f"seed {seed}"] for seed in seeds], axis=0)
            for model, force in found.items():
                errors[model, velocity].append(learned.error(name, test, force))
            forces[name] = forces.get(name, found)
    return errors, forces


def _fold(job, fitter, harmonics, quakes, name, seeds, done):
    """Models fitted to everything but one earthquake."""
    if job.quick:  # one short fit from round numbers: every compilation costs seconds
        band = learned.band_layer()
        return {"band": band, "seed 0": fitter.network(band, 0, [harmonics["d2_h36lb_2Hz_0.5in"]], iterations=1)}
    training = [*harmonics.values(), *(test for other, test in quakes.items() if other != name)]
    kept = _kept(job, name)
    layers = {"band": kept("band", learned.band_layer(), lambda: fitter.physics(training))}
    for k, seed in enumerate(seeds):
        layers[f"seed {seed}"] = kept(f"seed {seed}", learned.band_layer(seed), partial(
            fitter.network, layers["band"], seed, training))  # fmt: skip
        job.progress(f"without {name}", (done + k + 2) / (len(QUAKES) * (len(seeds) + 1)))
    return layers


def _kept(job, name):
    """Make ``kept(model, like, fit)``: a fit is kept in the folder of results, and read if a run was broken off.

    The digest of the files that define a fit is part of the folder's name, so a fit by other settings is not read.
    """
    code = b"".join((job.folder / file).read_bytes() for file in ("learned.py", "band.py", "tests36.py"))
    folder = job.out / f"models-{hashlib.sha256(code).hexdigest()[:12]}"
    folder.mkdir(parents=True, exist_ok=True)

    def kept(model, like, fit):
        path = folder / f"{name} {model}.eqx"
        if path.is_file():
            job.notes.append(f"{name}, {model}: fitted by an earlier run, read from {folder.name}.")
            return eqx.tree_deserialise_leaves(path, like)
        layer = fit()
        eqx.tree_serialise_leaves(path.with_suffix(".part"), layer)
        path.with_suffix(".part").rename(path)
        return layer

    return kept


def _table_4(test):
    """LuGre with Table 4 as a live test could run it: causal velocity, friction by its sign, from the first force."""
    signals = test.signals("causal")
    law = lugre_exact(**TABLE_4, initial={"y": test.f[0]})
    return law.drive(test.dt, v=rim_velocity(signals["d"], signals["v"]))["f"]


def _row(errors):
    return [*(f"{e:.0f}" for e in errors), f"{np.mean(errors):.0f}", f"{improvement(errors):.1f}"]


def _record(job, quakes, forces):
    """Figs. 14 and 16-20: measured force and that of the models which had not seen the earthquake."""
    for model in ("measured", "band", "seed 0"):
        histories, rows = {}, slice(0, round(learned.JUDGED * RATE), learned.EVERY)
        for name, test in quakes.items():
            f = test.f if model == "measured" else forces[name][model]
            histories |= {f"{name}.d": test.d[rows], f"{name}.f": f[rows]}
        time = np.arange(0, round(learned.JUDGED * RATE), learned.EVERY) / RATE
        job.recordings[model] = Recording(time, np.column_stack([*histories.values()]), tuple(histories),
                                          ("m", "N") * len(quakes))  # fmt: skip
