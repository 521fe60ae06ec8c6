"""Commanded devices: their command over time, how long it is on, and their loops with the command in colour."""

from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np

from hyloop.record import Recording
from hyloop.report.charts import COLORS, NEUTRAL, Chart, Drawing
from hyloop.report.display import Line, Panel, Recordings, readable, rows_to_draw
from hyloop.report.page import Section, Table

__all__ = ["control_sections", "on"]

_POINTS = 3000  # of one line, or dots of one loop
_HALF = 0.5  # of the largest command: above it a command counts as on
_COLUMNS = [
    "site",
    "recording",
    "controller",
    "unit",
    "mean command",
    "largest allowed",
    "on [% of the time]",
    "switched on [1/s]",
]


def on(command: np.ndarray, most: float) -> np.ndarray:
    """Where a command is on: above half of the largest."""
    return command > _HALF * most


def control_sections(recordings: Recordings) -> list[Section]:
    """A section about commands, where a recording has a controller that commands a recorded channel."""
    commanded = _commanded(recordings)
    if not commanded:
        return []
    rows, panels, loops = [], [], []
    for site, channel in commanded.items():
        lines = []
        for series, (name, recording) in enumerate(recordings.items()):
            if channel not in recording.names:
                continue
            command, found = recording[channel], _controller(recording, site)
            drawn = rows_to_draw(_POINTS, command)
            factor, unit = readable(_unit(recording, channel))
            lines.append(Line(recording.time[drawn], factor * command[drawn], name, series))
            rows.append([site, name, *_row(recording, command, found, factor, unit)])
            if found is not None and {f"{site}.d", f"{site}.f"} <= set(recording.names):
                of = f", {name}" if len(recordings) > 1 else ""
                loops.append(_loop(recording, site, command, found["most"], of))
        unit = readable(_unit(next(r for r in recordings.values() if channel in r.names), channel))[1]
        panels.append(Panel(channel, "time [s]", f"command [{unit}]", tuple(lines)))
    shown = ", ".join(commanded.values())
    chart = Chart(panels, f"Commands {shown} over time.", "What the controllers asked for.", row_height=150)
    return [Section("Control", charts=[chart, *loops], tables=[Table("Commands", _COLUMNS, rows)])]


def _commanded(recordings: Recordings) -> dict[str, str]:
    """Sites that some recording has a controller for, and the channel of their command."""
    found = {}
    for recording in recordings.values():
        for controller in recording.attributes.get("controllers", {}).values():
            for site, about in controller["sites"].items():
                if about["command"] in recording.names:
                    found[site] = about["command"]
    return found


def _controller(recording: Recording, site: str) -> Mapping[str, Any] | None:
    """Kind of the controller of a site and its largest command; None where the command is a parameter."""
    for controller in recording.attributes.get("controllers", {}).values():
        if site in controller["sites"]:
            return {"kind": controller["kind"], "most": controller["sites"][site]["most"]}
    return None


def _row(
    recording: Recording, command: np.ndarray, found: Mapping[str, Any] | None, factor: float, unit: str
) -> list[Any]:
    mean = float(np.mean(command))
    if found is None:
        return ["none, a constant", unit, factor * mean, None, None, None]
    is_on = on(command[1:], found["most"])  # the first row is before the first tick
    span = float(recording.time[-1] - recording.time[0])
    begun = int(np.count_nonzero(is_on[1:] & ~is_on[:-1]))
    share = 100.0 * float(np.mean(is_on)) if len(is_on) else None
    return [found["kind"], unit, factor * mean, factor * found["most"], share, begun / span if span else None]


def _loop(recording: Recording, site: str, command: np.ndarray, most: float, of: str) -> Drawing:
    """Force against deformation, dots in one colour where the command is on and in another where it is off."""
    (widen, length), (raise_, unit) = readable("m"), readable("N")
    d, f = recording[f"{site}.d"], recording[f"{site}.f"]
    kept = rows_to_draw(_POINTS, d, f)
    is_on = on(command, most)[kept]
    traces = []
    for name, color, here in (("command off", NEUTRAL, ~is_on), ("command on", COLORS[1], is_on)):
        x, y = widen * d[kept][here], raise_ * f[kept][here]
        dots = {"size": 3, "color": color}
        traces.append(
            {"type": "scatter", "mode": "markers", "name": name, "marker": dots, "x": x.tolist(), "y": y.tolist()}
        )
    layout = {
        "height": 380,
        "margin": {"l": 62, "r": 12, "t": 46, "b": 46},
        "font": {"size": 12, "color": "#444"},
        "xaxis": {"title": {"text": escape(f"deformation of {site}{of} [{length}]")}},
        "yaxis": {"title": {"text": f"force [{unit}]"}},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom"},
    }
    alt = f"Loop of {site}{of}: force against deformation, in colour where the command is on."
    return Drawing(traces, layout, alt, f"Force against deformation of {site}{of}; the colour is the command.")


def _unit(recording: Recording, channel: str) -> str:
    return str(recording.units[list(recording.names).index(channel)])
