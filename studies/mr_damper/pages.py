"""Tables and pictures of the study, and the law it found as a file."""

import tomllib

import numpy as np

from hyloop.devices import mr_eyring
from hyloop.report.charts import Chart
from hyloop.report.display import Line, Panel
from hyloop.report.page import Table

from . import authors
from .averages import readings
from .calibration import errors
from .records import CURRENTS, MOTIONS, quakes, sines

LAW = "law.toml"
SECOND = "second.toml"
DRAWN = slice(12000, 27000)  # of the earthquake: its largest cycles
EVERY = 10  # samples of a drawn line


def save_law(folder, params, name=LAW) -> None:
    """Write the parameters of the law."""
    lines = [f"{key} = {value!r}" for key, value in params.items()]
    (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def read_law(folder, name=LAW) -> dict[str, float]:
    """The parameters that a full run has written."""
    return tomllib.loads((folder / name).read_text(encoding="utf-8"))


def against_readings(seen, f) -> float:
    """Error in % of the force before any average, against the readings that the published averages give back."""
    measured = readings(seen.f, seen.window, from_rest=True)
    return 100.0 * float(np.sqrt(np.mean((f - measured) ** 2)) / np.ptp(measured))


def chosen(job, laws, networks) -> None:
    """How everything stands on the sines: fitted to all, and with a motion or a current left out."""
    from . import fits, models  # here: JAX takes seconds to import

    seed = next(key for key in networks if isinstance(key, int))

    def law(key):
        return models.frozen(models.law_layer(laws[key]))

    def network(key, arrays):
        return models.frozen(fits.restored(laws[key], seed, arrays))

    _sines_table(job, "law alone, fitted to all", errors(law("all"), sines()))
    title = f"law and network, seed {seed}, fitted to all"
    _sines_table(job, title, errors(network("all", networks[seed]), sines()))
    left = {"law alone": [], "law and network": []}
    for motion in MOTIONS:
        own = [seen for seen in sines() if seen.motion == motion]
        left["law alone"].append(errors(law(motion), own))
        left["law and network"].append(errors(network(motion, networks[motion]), own))
    for name, each in left.items():
        _sines_table(job, f"{name}, each motion predicted from the other five", np.concatenate(each))
    table = np.empty((len(MOTIONS), len(CURRENTS)))
    for k, current in enumerate(CURRENTS):
        own = [seen for seen in sines() if seen.current == current]
        table[:, k] = errors(law(current), own)
    _sines_table(job, "law alone, each current predicted from the other four", table.ravel())
    _parameters(job, laws)


def _sines_table(job, title, found) -> None:
    table = np.reshape(found, (len(MOTIONS), len(CURRENTS)))
    rows = [[m, *(f"{x:.2f}" for x in row), f"{np.mean(row):.2f}"] for m, row in zip(MOTIONS, table, strict=True)]
    rows.append(["mean", *(f"{x:.2f}" for x in table.mean(axis=0)), f"{table.mean():.2f}"])
    head = ["motion", *(f"{c:g} A" for c in CURRENTS), "mean"]
    job.tables.append(Table(f"NRMSE in % of the sine tests: {title}", head, rows))


def _parameters(job, laws) -> None:
    """The law with intervals from the six fits that leave a motion out: a jackknife, so that whatever differs from test
    to test is in them, which residuals of one fit, being coloured, would not show."""
    rows, n = [], len(MOTIONS)
    for key, value in laws["all"].items():
        each = np.array([laws[motion][key] for motion in MOTIONS])
        if np.ptp(each) == 0.0:
            continue
        deviation = np.sqrt((n - 1) / n * np.sum((each - each.mean()) ** 2))
        spec = mr_eyring.params[key]
        rows.append([key, f"{value:.4g}", spec.unit, f"{2.57 * deviation:.2g}", spec.about])  # Student's t, 5 degrees
    head = ["parameter", "value", "unit", "± (95 %, jackknife over motions)", "meaning"]
    job.tables.append(Table("The law from the sines", head, rows))


def answer(job, theirs, tested, frozen) -> None:
    """Errors of the earthquake tests by model and current, factors, and loops."""
    found = quakes()
    rows = [[f"authors' law, {v} velocity", *_cells([each], found), "-"] for v, each in theirs.items()]
    for name, some in tested.items():
        rows.append([f"{name}, from the sines alone", *_cells([one["before"] for one in some], found), "-"])
    for name, some in tested.items():
        means = {key: np.mean([one["factors"][key] for one in some]) for key in some[0]["factors"]}
        words = "; ".join(f"{key} {value:.3f}" for key, value in means.items())
        rows.append([f"{name}, after 10 s at one current", *_cells([one["after"] for one in some], found), words])
    head = ["model", *(f"{i:g} A" for i in found), "mean", "factors"]
    job.tables.insert(0, Table("NRMSE in % of the range of the published force, earthquake", head, rows))
    rows = [
        [name, *_cells([one["readings"] for one in some], found)] for name, some in tested.items() if "not" not in name
    ]
    title = "NRMSE in % before averaging: force of the model against the readings that the averages give back"
    job.tables.insert(1, Table(title, head[:-1], rows))
    best = next(reversed(frozen))
    for name in dict.fromkeys(("law alone", best)):
        mean = np.mean([list(one["before"].values()) for one in tested[name]])
        after = np.mean([list(one["after"].values()) for one in tested[name]])
        job.numbers.append((f"{mean:.2f} %", f"error of {name} under the earthquake; authors' law 6.15 %"))
        job.numbers.append((f"{after:.2f} %", f"{name} after 10 s at one current"))
    _draw(job, tested, best)


def second_look(job, after, law) -> None:
    """Errors of the law that flows behind its gap, and its numbers."""
    found = quakes()
    rows = [["law that flows behind its gap, after 10 s at 1 A", *_cells([after], found)]]
    title = "Second look: NRMSE in % of the range, at 1 A without the 10 s that were heard"
    job.tables.insert(1, Table(title, ["model", *(f"{i:g} A" for i in found), "mean"], rows))
    rows = [[key, f"{value:.4g}"] for key, value in law.items()]
    job.tables.append(Table("Second look: the law, in SI units", ["parameter", "value"], rows))
    job.numbers.append((f"{np.mean(list(after.values())):.2f} %", "law that flows behind its gap, after 10 s at 1 A"))


def _cells(some, found):
    """Errors by current and their mean; over seeds with their standard deviation."""
    table = np.array([[each[i] for i in found] for each in some])
    table = np.column_stack([table, table.mean(axis=1)])
    if len(table) == 1:
        return [f"{x:.2f}" for x in table[0]]
    return [f"{m:.2f} ± {s:.2f}" for m, s in zip(table.mean(axis=0), table.std(axis=0, ddof=1), strict=True)]


def _draw(job, tested, best) -> None:
    """Force against velocity and deformation as published, in the largest cycles."""
    from hyloop.data.mr_damper import tests

    panels = []
    for test in sorted(tests("earthquake_*").values(), key=lambda t: t.current):
        seen = quakes()[test.current]
        shown = {
            "measured": test.f,
            "authors' law": authors.force(test, "causal"),
            best: seen.shown(tested[best][0]["force"][test.current]),
        }
        v = np.gradient(test.d, test.dt)
        rows = slice(DRAWN.start, DRAWN.stop, EVERY)
        for x, label in ((1e3 * v, "averaged velocity [mm/s]"), (1e3 * test.d, "averaged deformation [mm]")):
            lines = tuple(Line(x[rows], 1e-3 * f[rows], name, k) for k, (name, f) in enumerate(shown.items()))
            panels.append(Panel(f"{test.current:g} A", label, "force [kN]", lines))
    alt = "Loops of the earthquake tests: measured, by the authors' law, and by the law of this study."
    caption = "12 to 27 s of the earthquake, as published (averages over 0.3 s)."
    job.picture = Chart(panels, alt, caption, columns=2, row_height=260)
