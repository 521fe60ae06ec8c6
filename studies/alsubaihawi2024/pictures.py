"""What the dampers do for the building, story by story: with and without them, over all tests of a hazard."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from hyloop.report.charts import Chart
from hyloop.report.display import Line, Panel
from hyloop.report.page import Section

from .figures import NAMES, STORIES, G

SHOWN = {"drift": ("peak drift [%]", 100.0), "acceleration": ("peak acceleration [milli-g]", 1.0 / G)}
SHOWN |= {"residual drift": ("residual drift [%]", 100.0)}


def profile_section(buildings: Mapping[tuple, Mapping[str, Any]]) -> Section:
    """Means over the tests in bands from the least to the greatest; keys are (hazard, event, damped)."""
    charts = []
    for hazard in dict.fromkeys(key[0] for key in buildings):
        panels = [
            Panel(f"{NAMES[dof]}: {label}", label, "story", tuple(_lines(buildings, hazard, f"{kind} {dof}", factor)))
            for kind, (label, factor) in SHOWN.items()
            for dof in ("ux", "uz")
        ]
        count = sum(key[0] == hazard for key in buildings) // 2
        charts.append(
            Chart(
                panels,
                f"{hazard}: drift, acceleration and residual drift over the height, with and without dampers.",
                f"{hazard.capitalize()}: mean of {count} tests, and a band from the least to the greatest.",
                columns=2,
            )
        )
    return Section("What the dampers do, story by story", charts=charts)


def _lines(buildings: Mapping[tuple, Mapping[str, Any]], hazard: str, key: str, factor: float) -> list[Line]:
    lines = []
    for series, (damped, label) in enumerate(((True, "with dampers"), (False, "without"))):
        values = factor * np.array([r[key] for k, r in buildings.items() if k[0] == hazard and k[2] is damped])
        low, high = values.min(axis=0), values.max(axis=0)
        outline = np.concatenate([low, high[::-1]]), np.concatenate([STORIES, STORIES[::-1]])
        if len(values) > 1:
            lines.append(Line(*outline, f"{label}, range", series, filled=True))
        lines.append(Line(values.mean(axis=0), STORIES, label, series))
    return lines
