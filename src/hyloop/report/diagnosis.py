"""What an updater found behind a force it did not expect: its cause in words and over time, and what ails the sensor.

Only updaters that look for a cause give a channel of that name; it counts in
`hyloop.updating.networks.diagnosis.CAUSES`, whatever stands there.
"""

from html import escape

import numpy as np

from hyloop.record import Recording
from hyloop.report.charts import COLORS, Drawing
from hyloop.report.display import readable, short
from hyloop.report.page import Table
from hyloop.updating.networks.diagnosis import CAUSES

__all__ = ["cause_sentence", "cause_strip", "cause_tables"]

# what a cause means for the reader; one that is not here is told by its name
_MEANING = {
    "none": "nothing: the measured force is as the network expects it",
    "offset": "an offset of the load cell",
    "drift": "a drift of the load cell",
    "delay": "a measured force that comes late",
    "other device": "a device other than that of the training, which the models now follow",
    "beyond the training": "a motion beyond that of the training, which says nothing of the device",
    "shift": "an offset of the displacement transducer",
}
_SENSOR = (
    ("offset", "offset of the force"),
    ("drift", "drift of the force since the start"),
    ("delay", "delay of the force"),
    ("shift", "offset of the deformation"),
    ("noise_f", "noise of the force"),
    ("updated", "part of the update that the models get"),
)
_BINS = 800  # of the time axis: about the pixels of a strip
_ROW, _TOP, _BOTTOM = 24, 32, 46  # px
_LETTER, _LEAST = 6.6, 62  # px: of the names on the axis, and their margin


def _causes(recording: Recording, site: str) -> tuple[np.ndarray, np.ndarray] | None:
    """Time and cause of every tick; None where no cause was recorded or found."""
    channel = f"{site}.model.cause"
    if channel not in recording.names:
        return None
    time, cause = recording.time[1:], recording[channel][1:]  # the first row is before the first tick
    rows = np.isfinite(cause) & (cause >= 0.0)
    return (time[rows], np.rint(cause[rows]).astype(int)) if rows.any() else None


def _name(cause: int) -> str:
    return CAUSES[cause] if cause < len(CAUSES) else f"cause {cause}"


def cause_sentence(recording: Recording, site: str) -> str:
    """What explains the measured force at the end, and since when; empty where no cause was recorded."""
    found = _causes(recording, site)
    if found is None:
        return ""
    time, cause = found
    other, name = np.flatnonzero(cause != cause[-1]), _name(cause[-1])
    if not other.size:
        return f"From the first tick to the last, the updater of {site} finds {_MEANING.get(name, name)}."
    names, counts = np.unique(cause[: other[-1] + 1], return_counts=True)
    before = _name(names[np.argmax(counts)])
    mostly = "nothing" if before == "none" else f"'{before}'"
    since = short(float(time[other[-1] + 1]))
    return f"Since {since} s, the updater of {site} finds {_MEANING.get(name, name)}; before, mostly {mostly}."


def cause_tables(recording: Recording, site: str) -> list[Table]:
    """Estimates of the sensor at the end, and how long each cause was named."""
    found = _causes(recording, site)
    if found is None:
        return []
    rows = []
    for key, words in _SENSOR:
        channel = f"{site}.model.{key}"
        if channel in recording.names:
            unit = str(recording.units[list(recording.names).index(channel)])
            factor, shown = (1e3, "ms") if unit == "s" else readable(unit)
            values = factor * recording[channel][1:]
            values = values[np.isfinite(values)] if np.isfinite(values).any() else np.full(1, np.nan)
            name = f"{words} [{shown}]" if shown else words
            rows.append([name, float(values[-1]), float(values.min()), float(values.max())])
    time, cause = found
    step = float(np.median(np.diff(recording.time)))
    times = [
        [_name(k), float(here.sum()) * step, 100.0 * float(here.mean()), float(time[here][0]), float(time[here][-1])]
        for k in np.unique(cause)
        for here in [cause == k]
    ]
    named = Table(f"Causes named at {site}", ["cause", "named for [s]", "[%]", "first at [s]", "last at [s]"], times)
    return [Table(f"Sensor of {site}", ["", "end", "least", "greatest"], rows), named] if rows else [named]


def cause_strip(recording: Recording, site: str) -> Drawing | None:
    """The cause over time, a row with its name for each that can be named."""
    found = _causes(recording, site)
    if found is None:
        return None
    time, cause = found
    names = [_name(k) for k in range(max(len(CAUSES), int(cause.max()) + 1))]
    x, y = _segments(time, cause)
    trace = {
        "type": "scatter",
        "mode": "lines",
        "x": x,
        "y": y,
        "line": {"width": 9, "color": COLORS[0]},
        "hovertemplate": "%{x:.2f} s: %{text}<extra></extra>",
        "text": ["" if k is None else escape(names[k]) for k in y],
        "showlegend": False,
    }
    inner = _ROW * len(names)
    layout = {
        "height": inner + _TOP + _BOTTOM,
        "margin": {"l": max(_LEAST, round(10 + _LETTER * max(map(len, names)))), "r": 12, "t": _TOP, "b": _BOTTOM},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"size": 12, "color": "#444"},
        "hovermode": "closest",
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": "#999", "activecolor": "#666"},
        "xaxis": {
            "range": [float(time[0]), float(time[-1])],
            "nticks": 6,
            "zeroline": False,
            "title": {"text": "time [s]", "standoff": 8, "font": {"size": 11}},
        },
        "yaxis": {
            "range": [len(names) - 0.5, -0.5],  # none on top
            "tickvals": list(range(len(names))),
            "ticktext": [escape(name) for name in names],
            "zeroline": False,
            "fixedrange": True,
        },
    }
    alt = f"Cause that the updater of {site} names, over time: {', '.join(_name(k) for k in np.unique(cause))}."
    return Drawing([trace], layout, alt, f"What explains the force measured at {site}, as the updater names it.")


def _segments(time: np.ndarray, cause: np.ndarray) -> tuple[list[float | None], list[int | None]]:
    """Ends of stretches with one cause, a gap behind each; no naming is lost, however short, but it is drawn wider."""
    count = min(len(time), _BINS)
    edges = np.linspace(0, len(time), count + 1).astype(int)
    at = np.searchsorted(edges, np.arange(len(time)), side="right") - 1
    ends = np.append(time[edges[:-1]], time[-1])
    x: list[float | None] = []
    y: list[int | None] = []
    for k in np.unique(cause):
        here = np.zeros(count + 2, dtype=int)
        here[1 + np.unique(at[cause == k])] = 1
        begin, end = (np.flatnonzero(np.diff(here) == sign) for sign in (1, -1))
        for a, b in zip(begin, end, strict=True):
            x += [float(ends[a]), float(ends[b]), None]
            y += [int(k), int(k), None]
    return x, y
