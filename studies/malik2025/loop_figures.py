"""Figures 13 to 15 of the paper, drawn anew: one earthquake in the loop, with each model in the second story."""

from collections.abc import Mapping

import numpy as np

from hyloop.report.charts import Chart
from hyloop.report.display import Panel
from hyloop.report.page import Section

from .figures import histories, line, loops
from .looped import Test

PLACES = {"column base": "Foot of a first-story column", "beam end": "End of a first-floor beam"}
AROUND = 4.0  # s before and after the largest displacement of the roof, in which the motion is drawn


def figures_13_to_15(event: str, tests: Mapping[str, Test]) -> list[Section]:
    """Motion, loops and sections of tests by model; "specimen" is the run with specimens in both stories."""
    reference = "The specimen is a run with specimens in both stories."
    return [
        _section(
            f"Figure 13: {event} in the loop, motion",
            _motion(tests),
            f"{reference} Four seconds before and after the peak.",
            1,
        ),
        _section(
            f"Figure 14: {event} in the loop, second damper",
            [_against_its_truth(model, test) for model, test in tests.items() if model != "specimen"],
            "After each test its deformation is imposed on the specimen of the second story.",
            2,
        ),
        _section(f"Figure 15: {event} in the loop, moment and curvature", _bent(tests), reference, 2),
    ]


def _section(title: str, panels: list[Panel], caption: str, columns: int) -> Section:
    return Section(title, charts=[Chart(panels, f"{title}.", caption, columns=columns)])


def _motion(tests: Mapping[str, Test]) -> list[Panel]:
    shown = {"u.M2.ux": "Roof displacement", "damper2.d": "Deformation of the second damper"}
    first = next(iter(tests.values())).result
    rows = np.abs(first.time - first.time[np.abs(first["u.M2.ux"]).argmax()]) < AROUND
    t, panels = first.time[rows], []
    for key, title in shown.items():
        values = {model: 1e3 * test.result[key][rows] for model, test in tests.items()}
        panels.append(histories(title, f"{title.split()[0].lower()} [mm]", t, values))
    return panels


def _against_its_truth(model: str, test: Test) -> Panel:
    title = f"{model}: {test.scores[0]:.2f} %"
    return loops(title, test.result["damper2.d"], {"specimen": test.truth, model: test.result["damper2.f"]})


def _bent(tests: Mapping[str, Test]) -> list[Panel]:
    return [
        Panel(
            title,
            "curvature [1/m]",
            "moment [kN m]",
            tuple(_bending(test.sections[place], model) for model, test in tests.items()),
        )
        for place, title in PLACES.items()
    ]


def _bending(values: np.ndarray, model: str):
    return line(values[:, 1], 1e-3 * values[:, 0], model, loop=True)
