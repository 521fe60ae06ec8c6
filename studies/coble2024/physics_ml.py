"""Tables 8 to 15 and Figs. 13 and 15: the paper's own model on the real damper, one earthquake left out."""

import numpy as np

from hyloop.metrics import rmse, snr
from hyloop.report.page import Table
from hyloop.study.seeds import Seeds

from . import augmented
from .fits import SEEDS
from .pictures import save_stiffness_along, save_stiffness_map, stiffness_along, stiffness_map
from .printed import METRICS, PRINTED_ML, UNITS, scores
from .tests36 import segment

PAPER = "told, Table 4"  # the case that is the paper's
SHOWN = "d2_h36lb_0.5Hz_1in"  # harmonic test of Fig. 13
REVERSALS = slice(2048, 6144)  # 2 to 6 s: two cycles
MAP_FORCES = np.linspace(-20e3, 16e3, 10)  # N
MAP_VELOCITIES = np.array([-0.3, -0.2, -0.1, -0.05, -0.01, 0.01, 0.05, 0.1, 0.2, 0.3])  # m/s


def printed_tables(job, models, quakes, seeds):
    """Tables 8 and 11-15 by the paper's protocol, and Tables 9 and 10 with every earthquake; values of the claims."""
    values, rows = {}, []
    # by (earthquake left out, earthquake, seed); a model is asked about all six, and is blind to one
    forces = {
        (fold, name, seed): augmented.force(PAPER, models[PAPER, fold, seed], name, test)
        for fold in quakes
        for name, test in quakes.items()
        for seed in seeds
    }
    for name, test in quakes.items():
        each = [scores(test.f[segment(name)], forces[name, name, seed]) for seed in seeds]
        for k, metric in enumerate(METRICS):
            ours = [score[metric] for score in each]
            values[f"physics-ML, {metric}, {name}"] = Seeds.of(ours)
            rows.append(
                [name, f"{metric} ({UNITS[metric]})", f"{PRINTED_ML[name][k]:.4g}", *(f"{value:.4g}" for value in ours)]
            )
    columns = ["earthquake", "metric", "paper", *(f"seed {seed}" for seed in seeds)]
    job.tables.append(Table("Physics-ML by the paper's protocol, Tables 8, 11-15", columns, rows))
    for number, metric, measure in ((9, "RMSE in N", rmse), (10, "SNR in dB", snr)):
        rows = []
        for fold in quakes:
            means = [
                np.mean([measure(test.f[segment(name)], forces[fold, name, seed]) for seed in seeds])
                for name, test in quakes.items()
            ]
            rows.append([fold, *(f"{mean:.4g}" for mean in means)])
        title = f"Table {number}: {metric} of physics-ML by the paper's protocol, mean of seeds; the diagonal is blind"
        job.tables.append(Table(title, ["left out", *quakes], rows))
    return values


def pictures(job, models, harmonics, quakes):
    """Figs. 13 and 15: what stiffness the model without Duzce DBE has learned."""
    model, test = models[PAPER, "DuzceDBE", SEEDS[0]], harmonics[SHOWN]
    seen = augmented.history(PAPER, test, seconds=REVERSALS.stop / augmented.RATE)
    along = stiffness_along(model, seen.u, "damper", seen.start)
    job.recordings["Fig. 13: stiffness through reversals, damper"] = along
    title = f"Fig. 15: stiffness in kN/m learned for the damper (without Duzce DBE, seed {SEEDS[0]})"
    job.tables.append(stiffness_map(title, model, forces=MAP_FORCES, velocities=MAP_VELOCITIES))
    training = [test, *(other for other in [*harmonics.values(), *quakes.values()] if other is not quakes["DuzceDBE"])]
    seen = [augmented.history(PAPER, test) for test in (training[:1] if job.quick else training)]
    visited = [stiffness_along(model, h.u, "damper", h.start) for h in seen]
    save_stiffness_along(job.out / "figure-13.png", along, REVERSALS)
    save_stiffness_map(job.out / "figure-15.png", model, visited)
    job.notes.append("Figs. 13 and 15 are drawn in figure-13.png and figure-15.png beside this page.")
