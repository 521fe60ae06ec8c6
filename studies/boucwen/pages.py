"""Tables, claims and picture of the study."""

from typing import NamedTuple

import numpy as np

from hyloop.report.charts import Chart, Line, Panel
from hyloop.report.page import Table
from hyloop.study.seeds import Seeds

from . import records

MULTISINE = "test_multisine"
PUBLISHED = {
    "m": records.MASS,
    "c": records.DAMPING,
    "k": records.STIFFNESS,
    "alpha": records.ALPHA,
    "beta_gamma": records.BETA_GAMMA,
    "beta_delta": records.BETA_DELTA,
    "nu": records.NU,
}
FROM = {"own": "own records", "estimation": "estimation record alone"}
PRINTED = (
    ("linear, order 3", 1.67e-4),
    ("state-space network (Suykens)", 2.65e-5),
    ("Koopman, input affine", 1.43e-5),
    ("polynomial nonlinear state space, best order", 1.21e-5),
    ("state-space network, improved initialisation", 8.91e-6),
    ("best black box found in print", 7.53e-6),
)
DRAWN = slice(3000, 3150)  # samples of the picture


class Row(NamedTuple):
    """One model, or several seeds of one."""

    kind: str
    source: str
    seeds: object
    validation: Seeds
    tests: dict[str, Seeds]
    y: np.ndarray  # of the first seed, on the multisine test
    step: float  # µs a tick
    ticks: int  # in a sample


def engine(test) -> float:
    """RMSE in m of the engine with the published parameters on the multisine test."""
    u, before = records.ticks(test, records.FINE)
    y = records.simulated(u)[before * records.FINE :: records.FINE]
    return float(np.sqrt(np.mean((y - test.y) ** 2)))


def network_values(kind, source, rows) -> dict:
    """Claims of all seeds."""
    found, name = Seeds.of(x for row in rows for x in row.tests[MULTISINE].values), f"{kind}, {FROM[source]}"
    if source == "estimation":
        return {name: found}
    values = {name: found, f"{name}, further goal": found}
    return values | ({f"{name}, against the best in print": found} if kind == "black box" else {})


def white_values(source, found, row) -> dict:
    """Error, time and largest deviation of a parameter."""
    name = f"white box, {FROM[source]}"
    away = max(abs(found["parameters"][key] / value - 1.0) for key, value in PUBLISHED.items())
    return {
        name: row.tests[MULTISINE].mean,
        f"{name}, time of one core": found["seconds"],
        f"{name}, largest error of a parameter": 100.0 * away,
    }


def white_table(job, whites) -> None:
    """Parameters with their errors."""
    rows = []
    for key, value in PUBLISHED.items():
        cells = [key, f"{value:g}"]
        for found in whites.values():
            p, error = found["parameters"][key], found["errors"][key]
            cells += [f"{p:.6g} ± {error:.2g}", f"{100.0 * (p / value - 1.0):+.3f}"]
        rows.append(cells)
    head = ["parameter (SI)", "published"]
    for source in whites:
        head += [f"{FROM[source]} (± standard error)", "off by %"]
    job.tables.append(Table("White box: parameters", head, rows))


def answer(job, rows, tests) -> None:
    """The table of all models, numbers for the top of the page, and the picture."""
    head = ["model", "estimated from", "seeds", "validation (with noise)", *(t.name for t in tests)]
    head += ["µs a tick", "ticks a sample"]
    cells = [
        [
            row.kind,
            FROM[row.source],
            row.seeds if isinstance(row.seeds, str) else ", ".join(map(str, row.seeds)),
            shown(row.validation),
            *(shown(row.tests[t.name]) for t in tests),
            f"{row.step:.2f}",
            row.ticks,
        ]
        for row in rows
    ]
    printed = [
        [f"{name} (printed)", "-", "-", "-", f"{x:.3g}", *["-"] * (len(tests) - 1), "-", "-"] for name, x in PRINTED
    ]
    job.tables.insert(
        0, Table("RMSE in m, free-running, and time of a step as a block of the loop", head, cells + printed)
    )
    if len(tests) == 1:
        job.notes.append("The sine sweep is not in the data folder (boucwen/test_sinesweep.npz): it was not run.")
    best = {row.kind: row for row in rows if row.source == "own" or job.quick}
    for kind, row in best.items():
        if kind != "law alone":
            job.numbers.append(
                (f"{row.tests[MULTISINE].mean:.2g} m", f"{kind}, multisine test, from {FROM[row.source]}")
            )
    _draw(job, tests[0], best)


def shown(found) -> str:
    """A mean with its standard deviation over seeds."""
    return f"{found.mean:.3g}" + (f" ± {found.spread:.2g}" if len(found.values) > 1 else "")


def _draw(job, test, best) -> None:
    t = np.arange(len(test.y))[DRAWN] / records.RATE
    lines = [Line(t, 1e3 * test.y[DRAWN], "benchmark", 0)]
    errors = []
    for k, (kind, row) in enumerate(best.items(), start=1):
        lines.append(Line(t, 1e3 * row.y[DRAWN], kind, k))
        if kind != "law alone":
            errors.append(Line(t, 1e6 * (row.y - test.y)[DRAWN], kind, k))
    panels = (
        Panel("Multisine test", "time [s]", "displacement [mm]", tuple(lines)),
        Panel("Error", "time [s]", "error [µm]", tuple(errors)),
    )
    alt = "Displacement of the multisine test as published and by every model, and the errors of the models."
    job.picture = Chart(panels, alt, "A fifth of a second of the multisine test.", common_x=True, row_height=220)
