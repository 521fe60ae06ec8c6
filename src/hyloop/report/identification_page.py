"""The page about an identification: parameters, fitted loops, residuals, profiles."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hyloop.identification import Fit, MeasuredTest, Profile
from hyloop.report.charts import Chart
from hyloop.report.display import Line, Panel, readable, rows_to_draw
from hyloop.report.page import Answer, Section, Table, write_page
from hyloop.report.provenance import versions

__all__ = ["remark", "write_identification"]

_POINTS = 60_000  # on a page, as many as keep it under 6 MB with plotly.js inside
_MOST_TESTS = 20  # that are drawn; more cannot be read
_ROUND_OFF = 1e-12  # error over range of a law fitted to its own force


def write_identification(path: Path, fitted: Fit, profiles: Sequence[Profile] = (), notes: Sequence[str] = ()) -> Path:
    """Write one HTML page about a fit: parameters, fitted loops, residuals, profiles; it loads nothing.

    Parameters
    ----------
    path : Path
        File to write; its folder is made.
    fitted : Fit
    profiles : sequence of Profile
        Of some or all of its parameters.
    notes : sequence of str
        Paragraphs at the top.
    """
    block = fitted.law.block
    drawn = list(zip(fitted.tests, fitted.forces, strict=True))[:_MOST_TESTS]
    points = int(np.clip(_POINTS // (5 * len(drawn)), 64, 4000))
    sections = [
        Section("Parameters", [*notes, *_remarks(fitted)], tables=[_parameters(fitted, profiles), _tests(fitted)]),
        Section("Residuals", charts=[_residuals(drawn, points)]),
    ]
    if profiles:
        sections.append(Section("Profiles", charts=[_profiles(fitted, profiles)]))
    sections.append(Section("Provenance", tables=_provenance(fitted), folded=True))
    count = f"{len(fitted.tests)} test{'s' if len(fitted.tests) > 1 else ''}"
    worst = 100.0 * float(np.max(fitted.nrmse))
    first = next(iter(fitted.estimates.values()))
    numbers = [
        (f"{worst:.3g} %", "error over range of force, largest of the tests"),
        (f"{first.value:.4g} {first.unit}", f"{first.name}, first of {len(fitted.estimates)} parameters found"),
        (count, f"fitted by {fitted.method}"),
    ]
    sentence = f"{block.name} gives the measured force with an error of {worst:.2g} % of its range or less."
    answer = Answer(sentence, numbers, _loops(drawn, points))
    return write_page(path, f"Identification of {block.name}", answer, sections)


def _remarks(fitted: Fit) -> list[str]:
    count = sum(int(test.counted.sum()) for test in fitted.tests)
    lines = [
        f"Intervals hold with a probability of {100 * fitted.level:g} % and allow for residuals that resemble their "
        f"neighbours: the samples are worth {fitted.confidence.samples:.0f} independent ones of {count}. "
        "They tell how far chance could have moved the estimate, not whether the law is right."
    ]
    if fitted.unobservable:
        lines.append(f"Without an interval: {', '.join(fitted.unobservable)}. The remarks say why.")
        if any("bound" in fitted.estimates[name].remark for name in fitted.unobservable):
            lines.append("Intervals of the others suppose that what lies on a bound stays there; profiles do not.")
    if not fitted.converged:
        lines.append("The last descent was cut off before it had converged.")
    return lines


def _parameters(fitted: Fit, profiles: Sequence[Profile]) -> Table:
    level = f"{100 * fitted.level:g} %"
    columns = ["parameter", "value", "unit", "standard deviation", f"{level} from", "to"]
    ends = {p.name: (p.low, p.high) for p in profiles}
    rows = []
    for e in fitted.estimates.values():
        row: list[Any] = [e.name, e.value, e.unit, e.std, e.low, e.high]
        row += list(ends.get(e.name, (None, None))) if profiles else []
        rows.append([*row, remark(fitted, profiles, e.name)])
    columns += ["profile from", "to"] if profiles else []
    return Table("Parameters in SI units", [*columns, "remark"], rows)


def remark(fitted: Fit, profiles: Sequence[Profile], name: str) -> str:
    """What to know about a parameter: why it has no interval, or that its profile tells another story."""
    estimate = fitted.estimates[name]
    shape = next((p for p in profiles if p.name == name), None)
    if estimate.remark or shape is None:
        return estimate.remark
    if max(fitted.nrmse) < _ROUND_OFF:
        return "fits to round-off, so the interval says nothing: the test has no noise"
    low, high = estimate.bounds
    # an interval that ends at a bound of the search promises nothing beyond it
    open_ends = {
        "below": estimate.low > low and np.isnan(shape.low),
        "above": estimate.high < high and np.isnan(shape.high),
    }
    sides = [side for side, is_open in open_ends.items() if is_open]
    return f"interval too narrow: the profile is open {' and '.join(sides)}" if sides else ""


def _tests(fitted: Fit) -> Table:
    rows = [
        [t.name, int(t.counted.sum()), 1e3 * t.dt, float(np.abs(t.f).max()) / 1e3, rmse / 1e3, 100.0 * nrmse]
        for t, rmse, nrmse in zip(fitted.tests, fitted.rmse, fitted.nrmse, strict=True)
    ]
    columns = ["test", "samples", "step [ms]", "peak force [kN]", "RMSE [kN]", "RMSE over range of force [%]"]
    return Table("Tests", columns, rows)


def _deformation(test: MeasuredTest) -> tuple[np.ndarray, str]:
    if "d" in test.inputs:
        return 1e3 * test.inputs["d"], "deformation [mm]"
    if "v" in test.inputs:
        return 1e3 * test.dt * np.cumsum(test.inputs["v"]), "deformation, integrated from v [mm]"
    return np.arange(test.f.size) * test.dt, "time [s]"


def _loops(drawn: Sequence[tuple[MeasuredTest, np.ndarray]], points: int) -> Chart:
    panels = []
    for test, force in drawn:
        across, label = _deformation(test)
        lines = []
        for series, (name, f) in enumerate((("measured", test.f), ("model", force))):
            rows = rows_to_draw(points, across, f)
            lines.append(Line(across[rows], 1e-3 * f[rows], name, series))
        panels.append(Panel(test.name, label, "force [kN]", tuple(lines)))
    alt = f"Measured force and force of the fitted law against deformation in {len(panels)} tests."
    return Chart(panels, alt, "Measured and fitted force, each test on its own scale.", columns=min(3, len(panels)))


def _residuals(drawn: Sequence[tuple[MeasuredTest, np.ndarray]], points: int) -> Chart:
    panels = []
    for test, force in drawn:
        time, error = test.dt * np.arange(test.f.size), 1e-3 * (force - test.f)
        rows = rows_to_draw(points, error)
        panels.append(
            Panel(test.name, "time [s]", "error [kN]", (Line(time[rows], error[rows], "model - measured", 0),))
        )
    alt = f"Force of the fitted law less measured force over time in {len(panels)} tests."
    caption = "Force of the law less measured force. A good law leaves noise without a pattern."
    return Chart(panels, alt, caption, columns=min(2, len(panels)), row_height=130)


def _profiles(fitted: Fit, profiles: Sequence[Profile]) -> Chart:
    panels = []
    for p in profiles:
        factor, unit = readable(fitted.estimates[p.name].unit)
        x = factor * p.values
        limits = [Line(x[[0, -1]], np.full(2, way * p.limit), "limit of the interval", None) for way in (-1.0, 1.0)]
        label = f"{p.name} [{unit}]" if unit else p.name
        panels.append(Panel(label, "", "distance", (*limits, Line(x, p.distance, "profile", 0))))
    alt = f"Profile likelihood of {', '.join(p.name for p in profiles)}."
    caption = (
        "Signed distance, in standard deviations, of the best fit with the parameter held there: a steep straight line "
        "is a parameter that is known well, a flat one is not known. The interval ends where it crosses a grey line."
    )
    return Chart(panels, alt, caption, columns=min(3, len(panels)), row_height=170)


def _provenance(fitted: Fit) -> list[Table]:
    free = fitted.estimates
    fixed = [
        [name, value, fitted.law.block.params[name].unit]
        for name, value in fitted.law.params.items()
        if name not in free
    ]
    rows: list[list[Any]] = [
        ["method", fitted.method],
        ["simulations of all tests", fitted.evaluations],
        ["lowest sums of squares reached", ", ".join(f"{2 * c:.6g}" for c in sorted(fitted.costs)[:8])],
        ["reference of the law", fitted.law.block.reference],
        *([f"version of {k}", v] for k, v in versions().items()),
    ]
    searched = [[e.name, e.start, *e.bounds, e.unit] for e in free.values()]
    tables = [
        Table("Fit", ["", "value"], rows),
        Table("Search", ["parameter", "start", "lower bound", "upper bound", "unit"], searched),
    ]
    return [*tables, Table("Fixed parameters", ["parameter", "value", "unit"], fixed)] if fixed else tables
