"""Tables 8 to 15 and Figs. 13 and 15: the paper's own model on the real damper, one earthquake left out."""

from functools import partial

import numpy as np

from hyloop.metrics import rmse, snr
from hyloop.report.page import Table

from . import augmented
from .fits import AUGMENTED, kept
from .pictures import save_stiffness_along, save_stiffness_map, stiffness_along, stiffness_map
from .printed import METRICS, PRINTED_ML, UNITS, scores
from .tests36 import PRINTED_LUGRE, QUAKES, improvement, segment

PAPER = "told, Table 4"  # the case that is the paper's
SHOWN = "d2_h36lb_0.5Hz_1in"  # harmonic test of Fig. 13
REVERSALS = slice(2048, 6144)  # 2 to 6 s: two cycles
MAP_FORCES = np.linspace(-20e3, 16e3, 10)  # N
MAP_VELOCITIES = np.array([-0.3, -0.2, -0.1, -0.05, -0.01, 0.01, 0.05, 0.1, 0.2, 0.3])  # m/s
QUICK_TEST = "d2_h36lb_2Hz_0.5in"


def left_one_out(job, harmonics, quakes, seeds):
    """Models by (case, seed, earthquake left out)."""
    models = {}
    for case in augmented.CASES:
        for seed in seeds:
            for name in quakes:
                untrained = augmented.layer(case, seed)
                training = [*harmonics.values(), *(test for other, test in quakes.items() if other != name)]
                fit = partial(augmented.fitted, case, seed, training)
                if job.quick:  # one short fit: every compilation costs seconds
                    first = case == PAPER and name == QUAKES[0]
                    fit = partial(augmented.fitted, case, seed, [harmonics[QUICK_TEST]], iterations=1)
                    models[case, seed, name] = fit() if first else untrained
                else:
                    models[case, seed, name] = kept(job, AUGMENTED, f"{name} {case}, seed {seed}", untrained, fit)
            job.progress(f"physics-ML, {case}, seed {seed}", len(models) / (len(augmented.CASES) * len(seeds) * 6))
    return models


def velocity(case) -> str:
    """Velocity estimate of a case."""
    return augmented.CASES[case][1]


def forces(models, quakes):
    """Force over the segment of the earthquake that was left out, by (case, seed, earthquake)."""
    return {key: augmented.force(key[0], model, key[2], quakes[key[2]]) for key, model in models.items()}


def judged(found, quakes, seeds):
    """RMSE over the segments by (case, what), and values of the claims about them."""
    errors, values = {}, {}
    for case in augmented.CASES:
        for seed in seeds:
            errors[case, f"seed {seed}"] = [_rmse(found[case, seed, name], name, quakes) for name in quakes]
        means = {name: np.mean([found[case, seed, name] for seed in seeds], axis=0) for name in quakes}
        errors[case, "mean force"] = [_rmse(f, name, quakes) for name, f in means.items()]
        gains = [improvement(errors[case, f"seed {seed}"]) for seed in seeds]
        of = {
            "mean of seeds": np.mean(gains),
            "least of seeds": min(gains),
            "mean force of seeds": improvement(errors[case, "mean force"]),
        }
        values |= {f"pooled improvement, physics-ML ({case}), {key}": value for key, value in of.items()}
        worse = [int(np.sum(np.array(errors[case, f"seed {seed}"]) > PRINTED_LUGRE)) for seed in seeds]
        values[f"earthquakes worse than LuGre, physics-ML ({case}), most of seeds"] = max(worse)
    return errors, values


def _rmse(f, name, quakes):
    return rmse(quakes[name].f[segment(name)], f)


def printed_tables(job, models, found, quakes, seeds):
    """Tables 8 and 11-15 by the paper's protocol, and Tables 9 and 10 with every earthquake; values of the claims."""
    values, rows = {}, []
    for name, test in quakes.items():
        each = [scores(test.f[segment(name)], found[PAPER, seed, name]) for seed in seeds]
        for k, metric in enumerate(METRICS):
            ours = [score[metric] for score in each]
            values[f"physics-ML, {metric}, {name}"] = np.mean(ours)
            rows.append(
                [name, f"{metric} ({UNITS[metric]})", f"{PRINTED_ML[name][k]:.4g}", *(f"{value:.4g}" for value in ours)]
            )
    columns = ["earthquake", "metric", "paper", *(f"seed {seed}" for seed in seeds)]
    job.tables.append(Table("Physics-ML by the paper's protocol, Tables 8, 11-15", columns, rows))
    for number, metric, measure in ((9, "RMSE in N", rmse), (10, "SNR in dB", snr)):
        rows = [
            [left_out, *(f"{_mean(measure, models, left_out, name, test, seeds):.4g}" for name, test in quakes.items())]
            for left_out in quakes
        ]
        title = f"Table {number}: {metric} of physics-ML by the paper's protocol, mean of seeds; the diagonal is blind"
        job.tables.append(Table(title, ["left out", *quakes], rows))
    return values


def _mean(measure, models, left_out, name, test, seeds):
    predicted = [augmented.force(PAPER, models[PAPER, seed, left_out], name, test) for seed in seeds]
    return np.mean([measure(test.f[segment(name)], f) for f in predicted])


def pictures(job, models, harmonics, quakes):
    """Figs. 13 and 15: what stiffness the model without Duzce DBE has learned."""
    model, test = models[PAPER, 0, "DuzceDBE"], harmonics[SHOWN]
    seen = augmented.history(PAPER, test, seconds=REVERSALS.stop / augmented.RATE)
    along = stiffness_along(model, seen.u, "damper", seen.start)
    job.recordings["Fig. 13: stiffness through reversals, damper"] = along
    title = "Fig. 15: stiffness in kN/m learned for the damper (without Duzce DBE, seed 0)"
    job.tables.append(stiffness_map(title, model, forces=MAP_FORCES, velocities=MAP_VELOCITIES))
    training = [test, *(other for other in [*harmonics.values(), *quakes.values()] if other is not quakes["DuzceDBE"])]
    seen = [augmented.history(PAPER, test) for test in (training[:1] if job.quick else training)]
    visited = [stiffness_along(model, h.u, "damper", h.start) for h in seen]
    save_stiffness_along(job.out / "figure-13.png", along, REVERSALS)
    save_stiffness_map(job.out / "figure-15.png", model, visited)
    job.notes.append("Figs. 13 and 15 are drawn in figure-13.png and figure-15.png beside this page.")
