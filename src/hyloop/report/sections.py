"""Moment over curvature of the sections that an experiment has named (``attributes["sections"]``)."""

import numpy as np

from hyloop.report.charts import Chart
from hyloop.report.display import Line, Panel, Recordings, rows_to_draw
from hyloop.report.page import Section, Table

__all__ = ["section_sections"]

_POINTS = 3000  # of one loop
_AXES = ("", "_z", "_y")  # in the plane there is one, without a name


def section_sections(recordings: Recordings) -> list[Section]:
    """A section of the page with one loop for each named section of a member, where a recording has some."""
    named = {name: dict(recording.attributes.get("sections", {})) for name, recording in recordings.items()}
    panels, rows = [], []
    places = dict.fromkeys(place for found in named.values() for place in found)
    for place, axis in ((place, axis) for place in places for axis in _AXES):
        lines, title = [], f"{place}, about {axis[1:]}" if axis else place
        for series, (name, recording) in enumerate(recordings.items()):
            if f"{place}.moment{axis}" in recording.names:
                curvature, moment = recording[f"{place}.curvature{axis}"], 1e-3 * recording[f"{place}.moment{axis}"]
                drawn = rows_to_draw(_POINTS, curvature, moment)
                lines.append(Line(curvature[drawn], moment[drawn], name, series))
                peaks = [float(np.abs(a).max(initial=0.0)) for a in (curvature, moment)]
                rows.append([title, name, named[name][place], *peaks])
        if lines:
            panels.append(Panel(title, "curvature [1/m]", "moment [kN m]", tuple(lines)))
    if not rows:
        return []
    columns = ["section", "recording", "member", "largest curvature [1/m]", "largest moment [kN m]"]
    shown = ", ".join(panel.title for panel in panels)
    chart = Chart(panels, f"Moment over curvature: {shown}.", columns=2, row_height=300)
    return [Section("Moment and curvature", charts=[chart], tables=[Table("Sections", columns, rows)])]
