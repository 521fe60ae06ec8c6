"""Charts of the page about an identification: loops, residuals, profiles, in the units of the laboratory."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from hyloop.identification import Candidate, Fit, MeasuredTest, Profile
from hyloop.report.charts import Chart
from hyloop.report.display import Line, Panel, rows_to_draw

__all__ = ["compared_loops", "loops", "profile_chart", "ranked_loops", "residuals"]

Shown = Callable[[str], tuple[float, str]]
Pairs = Sequence[tuple[MeasuredTest, np.ndarray]]


def loops(pairs: Pairs, points: int, shown: Shown, name: str) -> Chart:
    """Measured force and force of the law against the deformation."""
    panels = [_loop(test, [("measured", test.f), (name, force)], points, shown) for test, force in pairs]
    alt = f"Measured force and force of {name} against deformation in {len(panels)} test(s)."
    return Chart(panels, alt, "Measured and fitted force.", columns=min(3, len(panels)), row_height=320)


def compared_loops(
    tests: Sequence[MeasuredTest], forces: Mapping[str, Sequence[np.ndarray]], points: int, shown: Shown
) -> Chart:
    """Measured force and that of several laws, test by test, against the deformation."""
    panels = [
        _loop(test, [("measured", test.f), *((name, each[k]) for name, each in forces.items())], points, shown)
        for k, test in enumerate(tests)
    ]
    alt = f"Measured force and force {' and '.join(forces)} against deformation in {len(panels)} test(s)."
    caption = f"Force as measured, {' and '.join(forces)}."
    return Chart(panels, alt, caption, columns=min(3, len(panels)), row_height=320)


def ranked_loops(candidates: Sequence[Candidate], points: int, shown: Shown) -> Chart:
    """The best laws on top of the measured loop, each with its own panel, of the test with the largest force."""
    tests = candidates[0].fit.tests
    k = int(np.argmax([np.abs(test.f).max() for test in tests]))
    panels = [
        _loop(c.fit.tests[k], [("measured", c.fit.tests[k].f), ("law", c.fit.forces[k])], points, shown, c.name)
        for c in candidates
    ]
    alt = f"Measured loop and the loops of {', '.join(c.name for c in candidates)} in the test {tests[k].name}."
    caption = f"The first {len(panels)} laws on the measured loop of {tests[k].name}."
    return Chart(panels, alt, caption, columns=min(3, len(panels)))


def _loop(
    test: MeasuredTest, forces: Sequence[tuple[str, np.ndarray]], points: int, shown: Shown, title: str = ""
) -> Panel:
    across, label = _deformation(test, shown)
    factor, unit = shown("N")
    lines = []
    for series, (name, f) in enumerate(forces):
        rows = rows_to_draw(points, across, f)
        lines.append(Line(across[rows], factor * f[rows], name, series))
    return Panel(title or test.name, label, f"force [{unit}]", tuple(lines))


def _deformation(test: MeasuredTest, shown: Shown) -> tuple[np.ndarray, str]:
    factor, unit = shown("m")
    if "d" in test.inputs:
        return factor * test.inputs["d"], f"deformation [{unit}]"
    if "v" in test.inputs:
        return factor * test.dt * np.cumsum(test.inputs["v"]), f"deformation, integrated from v [{unit}]"
    return np.arange(test.f.size) * test.dt, "time [s]"


def residuals(pairs: Pairs, points: int, shown: Shown) -> Chart:
    """Error over time, and beside it against the deformation."""
    factor, unit = shown("N")
    panels = []
    for test, force in pairs:
        time, error = test.dt * np.arange(test.f.size), factor * (force - test.f)
        across, label = _deformation(test, shown)
        rows, both = rows_to_draw(points, error), rows_to_draw(points, across, error)
        name = "model - measured"
        panels.append(Panel(test.name, "time [s]", f"error [{unit}]", (Line(time[rows], error[rows], name, 0),)))
        panels.append(
            Panel(
                f"{test.name}, over deformation", label, f"error [{unit}]", (Line(across[both], error[both], name, 0),)
            )
        )
    alt = f"Force of the fitted law less measured force over time and over deformation in {len(pairs)} test(s)."
    caption = "Force of the law less measured force. A good law leaves noise without a pattern."
    return Chart(panels, alt, caption, columns=2, row_height=150)


def profile_chart(fitted: Fit, profiles: Sequence[Profile], shown: Shown) -> Chart:
    """Profile likelihood of every parameter."""
    panels = []
    for p in profiles:
        factor, unit = shown(fitted.estimates[p.name].unit)
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
