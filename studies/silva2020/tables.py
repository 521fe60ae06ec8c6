"""What the report shows: tables, a picture, and the numbers at its top."""

import numpy as np

from hyloop.report.charts import Chart
from hyloop.report.display import Line, Panel
from hyloop.report.page import Table

from .campaign import COLUMNS
from .criteria import NUMBERS
from .printed import BASELINE, FLOOR
from .schemes import OURS

HIGHEST = 20.0  # % of the picture; what is higher is drawn there


def column(rows, key):
    """One criterion of all rows."""
    return np.array(rows)[:, COLUMNS.index(key)]


def above_floor(rows):
    """How far the criteria of a scheme lie above the stated floor, at most, in points; below it counts as nothing."""
    return max(
        max(row[COLUMNS.index(key)] - stated, 0.0)
        for case, row in enumerate(rows, start=1)
        for key, stated in FLOOR[case].items()
    )


def _criteria(row):
    return [f"{value:.2f}" for value in row[: len(NUMBERS)]]


HEADS = [f"{code} {key.replace('_', ' ')}" for key, (code, _) in NUMBERS.items()]


def show_baseline(job, sample, perfect):
    """The published table beside ours, and the floor."""
    rows = []
    for case, printed in BASELINE.items():
        rows.append([f"{case}, printed", *(f"{value:.1f}" for value in printed)])
        rows.append([f"{case}, ours", *_criteria(sample[case - 1])])
        rows.append([f"{case}, perfect rig", *_criteria(perfect[case - 1])])
    job.tables.append(Table("Sample controller (ms, then %); J numbers of the code", ["case", *HEADS], rows))
    rows = [[key.replace("_", " "), *numbers] for key, numbers in NUMBERS.items()]
    job.tables.append(Table("Numbers of the criteria", ["criterion", "code and table", "text"], rows, folded=True))
    farthest = max(
        abs(row[k] - value)
        for row, printed in zip(sample, BASELINE.values(), strict=True)
        for k, value in enumerate(printed)
    )
    job.numbers.append((f"{farthest:.2f}", "points: farthest of 36 published entries"))


def show_ranking(job, random, nominal):
    """Schemes by the error of the true displacement, worst case first to last."""
    at = COLUMNS.index("true_tracking")
    ranked = sorted(random, key=lambda name: max(row[at] for row in random[name]))
    rows = [
        [name, case, *_criteria(row), f"{row[at]:.3f}", f"{100 * (1 - row[COLUMNS.index('stable')]):.0f} %"]
        for name in ranked
        for case, row in enumerate(random[name], start=1)
    ]
    heads = ["scheme", "case", *HEADS, "true tracking", "unstable"]
    job.tables.append(
        Table("Mean over 20 random plants; ours begins cold, the others with the nominal plant", heads, rows)
    )
    rows = [
        [name, case, *_criteria(row), f"{row[at]:.3f}", "no" if row[COLUMNS.index("stable")] else "yes"]
        for name, four in nominal.items()
        for case, row in enumerate(four, start=1)
    ]
    job.tables.append(Table("Schemes that do not adapt, nominal plant", heads, rows))


def show_variants(job, found, cases):
    """Tracking and floor 1 of every scheme in every variant."""
    names, harder = list(dict.fromkeys(name for name, _ in found)), list(dict.fromkeys(what for _, what in found))
    for title, key in (("Tracking of the true displacement, %", "true_tracking"), ("True floor 1, %", "true_floor1")):
        at, ok = COLUMNS.index(key), COLUMNS.index("stable")
        rows = [
            [name, *(_cell(found.get((name, what)), k, at, ok) for what in harder)]
            for name in names
            for k in range(len(cases))
        ]
        rows = [[f"{row[0]}, case {cases[k % len(cases)]}", *row[1:]] for k, row in enumerate(rows)]
        job.tables.append(Table(f"Harder variants, nominal plant: {title}", ["scheme", *harder], rows))


def _cell(rows, k, at, ok):
    if rows is None:
        return None
    return f"{rows[k][at]:.2f}" if rows[k][ok] else "unstable"


def show_many(job, found):
    """Quantiles over random plants, and their picture."""
    table, lines = [], []
    for k, (name, rows) in enumerate(found.items()):
        row = [name, len(rows), f"{100 * np.mean(column(rows, 'stable') == 0.0):.1f} %"]
        for key in ("tracking", "true_tracking", "floor1"):
            values = column(rows, key)
            row += [f"{value:.2f}" for value in (np.mean(values), np.quantile(values, 0.99), np.max(values))]
        table.append([*row, f"{np.max(column(rows, 'force')):.2f}", f"{np.max(column(rows, 'stroke')):.2f}"])
        ordered = np.minimum(np.sort(column(rows, "tracking")), HIGHEST)
        lines.append(Line(np.linspace(0.0, 100.0, len(ordered)), ordered, name, k))
    heads = ["scheme", "runs", "unstable"]
    heads += [f"{key} {what}" for key in ("J2", "true tracking", "J4") for what in ("mean", "99 %", "worst")]
    heads += ["force over limit", "stroke over limit"]
    job.tables.append(
        Table("Random plants with cold seeds: ours in all four cases, the others in one each", heads, table)
    )
    panel = Panel("Random plants, cold seeds", "share of the runs [%]", "tracking error J2 [%]", tuple(lines))
    caption = (
        f"Sorted by error; the noise of the sensor alone makes 1.6 to 2.5 %. What is above {HIGHEST:g} % lies there."
    )
    job.picture = Chart([panel], "Tracking error over the share of runs.", caption, row_height=380)
    worst = np.max(column(found[OURS], "tracking"))
    job.numbers.append((f"{worst:.2f} %", "worst tracking of 1000 plants in four cases, cold seeds"))
    job.numbers.append((f"{int(np.sum(column(found[OURS], 'stable') == 0.0))}", "unstable runs of 4000"))
