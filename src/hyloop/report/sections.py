"""Moment over curvature of the sections that an experiment has named (``attributes["sections"]``)."""

import numpy as np

from hyloop.report.charts import Chart
from hyloop.report.display import Line, Panel, Recordings, rows_to_draw
from hyloop.report.page import Section, Table

__all__ = ["section_sections"]

_POINTS = 3000  # of one loop


def section_sections(recordings: Recordings) -> list[Section]:
    """A section of the page with one loop for each named section of a member, where a recording has some."""
    named = {name: dict(recording.attributes.get("sections", {})) for name, recording in recordings.items()}
    panels, rows = [], []
    for place in dict.fromkeys(place for found in named.values() for place in found):
        lines = []
        for series, (name, recording) in enumerate(recordings.items()):
            if f"{place}.moment" in recording.names:
                curvature, moment = recording[f"{place}.curvature"], 1e-3 * recording[f"{place}.moment"]
                drawn = rows_to_draw(_POINTS, curvature, moment)
                lines.append(Line(curvature[drawn], moment[drawn], name, series))
                peaks = [float(np.abs(a).max(initial=0.0)) for a in (curvature, moment)]
                rows.append([place, name, named[name][place], *peaks])
        panels.append(Panel(place, "curvature [1/m]", "moment [kN m]", tuple(lines)))
    if not rows:
        return []
    columns = ["section", "recording", "member", "largest curvature [1/m]", "largest moment [kN m]"]
    shown = ", ".join(panel.title for panel in panels)
    chart = Chart(panels, f"Moment over curvature: {shown}.", columns=2, row_height=300)
    return [Section("Moment and curvature", charts=[chart], tables=[Table("Sections", columns, rows)])]
