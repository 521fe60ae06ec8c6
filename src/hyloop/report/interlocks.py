"""Interlocks that have tripped: what it was, with numbers, and how the rig came to its safe state."""

from dataclasses import replace
from typing import Any

import numpy as np

from hyloop.record import Recording
from hyloop.report.charts import Chart
from hyloop.report.display import Line, Panel, Recordings, rows_to_draw
from hyloop.report.page import Section, Table

__all__ = ["interlock_sections", "tripped", "until_trip"]

_POINTS = 1500  # of one line
_BEFORE, _AFTER = 0.5, 0.2  # s that are drawn before the trip, and behind the last arrival
_MOST = 6  # sites that are drawn
_SERIES = ("wanted by the structure", "measured", "command", "force of the device")


def tripped(recording: Recording) -> list[dict[str, Any]]:
    """What the recording says of interlocks that have tripped, the first one first."""
    return list(recording.attributes.get("interlocks", ()))


def until_trip(recording: Recording) -> Recording:
    """The recording without what follows the first trip, where the structure no longer leads."""
    log = tripped(recording)
    return _between(recording, -np.inf, log[0]["time"]) if log else recording


def interlock_sections(recordings: Recordings) -> list[Section]:
    """A section for every recording in which an interlock has tripped: a table, and the way to the safe state."""
    found = []
    for name, recording in recordings.items():
        log = tripped(recording)
        if not log:
            continue
        columns = ["site", "why", "at [s]", "tick", "value", "limit", "unit", "safe state", "reached after [s]"]
        rows = [
            [
                one["site"],
                one["text"],
                one["time"],
                one["tick"],
                one["value"],
                one["limit"],
                one["unit"],
                one["safe_state"],
                one["seconds"] if one["reached"] else "not reached",
            ]
            for one in log
        ]
        title = "Interlocks" if len(recordings) == 1 else f"Interlocks: {name}"
        table = Table("What has tripped, the first one first", columns, rows)
        said = [] if len(recordings) == 1 else [recording.fault]  # one alone has it in its head
        found.append(Section(title, said, charts=_ways(recording, log), tables=[table]))
    return found


def _ways(recording: Recording, log: list[dict[str, Any]]) -> list[Chart]:
    """Command, measured deformation and force round the trip, as far as they are recorded."""
    begin = log[0]["time"] - _BEFORE
    end = max(one["time"] + one["seconds"] for one in log) + _AFTER
    shown = _between(recording, begin, end)
    if len(shown) < 2:
        return []
    panels = []
    for one in log[:_MOST]:
        site = one["site"]
        measured = recording.attributes.get("transfer", {}).get(site, {}).get("measured", f"{site}.sensor.d")
        lines = [(f"{site}.d", _SERIES[0]), (measured, _SERIES[1]), (f"{site}.interlock.d", _SERIES[2])]
        panels += _panel(shown, f"{site}: deformation", "mm", 1e3, lines, one["time"])
        panels += _panel(shown, f"{site}: force", "kN", 1e-3, [(f"{site}.f", _SERIES[3])], one["time"])
    if not panels:
        return []
    alt = f"Command, measured deformation and force of {', '.join(one['site'] for one in log[:_MOST])} round the trip."
    caption = "From the trip on (upright line) the structure stands still, and the command goes to the safe state."
    return [Chart(panels, alt, caption, columns=2, row_height=260)]


def _panel(
    shown: Recording, title: str, unit: str, scale: float, lines: list[tuple[str, str]], trip: float
) -> list[Panel]:
    """Those of the lines that are recorded, with an upright one at the trip."""
    drawn, low, high = [], np.inf, -np.inf
    for name, label in lines:
        if name in shown.names:
            values = scale * shown[name]
            rows = rows_to_draw(_POINTS, values)
            drawn.append(Line(shown.time[rows], values[rows], label, _SERIES.index(label)))
            low, high = values[rows].min(initial=low), values[rows].max(initial=high)
    if not drawn or not low <= high:
        return []
    return [Panel(title, "time [s]", unit, (Line(np.full(2, trip), np.array([low, high]), "trip", None), *drawn))]


def _between(recording: Recording, begin: float, end: float) -> Recording:
    """The rows of a stretch of time."""
    rows = (recording.time >= begin) & (recording.time <= end)
    return replace(recording, time=recording.time[rows], data=recording.data[rows])
