"""Models that follow a measured device: their force before and after updating, and the parameters with their bounds."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hyloop.devices import LAWS
from hyloop.metrics import nrmse
from hyloop.record import Recording
from hyloop.report.charts import Chart, Drawing
from hyloop.report.diagnosis import cause_sentence, cause_strip, cause_tables
from hyloop.report.display import Line, Panel, Recordings, parameter_panels, readable, rows_to_draw
from hyloop.report.page import Answer, Section, Table

__all__ = ["Followed", "followed", "following_answer", "following_sections"]

_POINTS = 3000  # of one line
_COUNTS = {0: "No", 1: "One", 2: "Two", 3: "Three", 4: "Four", 5: "Five", 6: "Six"}
_EDGE = 1e-6  # of the range between the bounds: an estimate this near to one is at it


@dataclass(frozen=True, eq=False)
class Followed:
    """A measured device and its model.

    Attributes
    ----------
    site : str
        Where the device is measured.
    followers : list of str
        Sites whose model has the same parameters.
    d, f : ndarray
        Measured deformation in m and force in N, from the first tick on.
    updated : ndarray, optional
        Force of the updated model in N.
    constant : ndarray, optional
        Force in N of the model as it began, driven by the measured motion.
    ahead : bool
        Whether `updated` is predicted from what was known a tick before.
    """

    site: str
    followers: list[str]
    d: np.ndarray
    f: np.ndarray
    updated: np.ndarray | None
    constant: np.ndarray | None
    ahead: bool

    def error(self, force: np.ndarray | None) -> float | None:
        """Root mean square error over the range of the measured force."""
        if force is None or not np.isfinite(force).all() or np.ptp(self.f) == 0.0:
            return None
        return nrmse(self.f, force)


def followed(recording: Recording) -> list[Followed]:
    """Every measured device of a recording whose model is described in ``attributes["models"]``."""
    found = []
    for site, model in recording.attributes.get("models", {}).items():
        names = set(recording.names)
        d, f = (_channel(recording, model["inputs"], key, site) for key in ("d", "f"))
        if d is None or f is None or len(recording.time) < 3:
            continue
        ahead = f"{site}.model.innovation" in names
        updated = None
        if ahead:
            updated = f - recording[f"{site}.model.innovation"][1:]
        elif f"{site}.model.f" in names:
            updated = recording[f"{site}.model.f"][1:]
        found.append(Followed(site, list(model["followers"]), d, f, updated, _constant(recording, site, model), ahead))
    return found


def _channel(recording: Recording, inputs: Mapping[str, str], key: str, site: str) -> np.ndarray | None:
    """What was measured, without the row before the first tick; else what truly was."""
    for name in (inputs.get(key), f"{site}.{key}"):
        if name in recording.names:
            return recording[name][1:]
    return None


def _constant(recording: Recording, site: str, model: Mapping[str, Any]) -> np.ndarray | None:
    """Force of the model as it began; None where the recording lacks a signal, or has not every controller tick."""
    law = LAWS.get(model.get("law", ""))
    tick = recording.attributes.get("dt", 0.0) / recording.attributes.get("substeps", 1)
    if law is None or not np.isclose(np.median(np.diff(recording.time)), tick, rtol=1e-6):
        return None
    signals = {key: _channel(recording, model["inputs"], key, site) for key in law.inputs}
    if any(signal is None for signal in signals.values()):
        return None
    return law(**model["parameters"]).drive(tick, **signals)["f"]


def following_answer(recording: Recording) -> Answer | None:
    """The head of a page about a run in which models follow; None where none does, or nothing can be said of it."""
    models = followed(recording)
    if not models or models[0].updated is None:
        return None
    one = models[0]
    panels = _loops(one)
    drawn = _most_changed(recording)
    for panel in parameter_panels({"estimate": recording}, drawn, _POINTS):
        own = [replace(line, series=None if line.series is None else 2) for line in panel.lines]
        panels.append(replace(panel, lines=tuple(own)))
    alt = f"Loops of {one.site}, measured and modelled" + (f", and {drawn[0]} over time." if drawn else ".")
    picture = Chart(panels, alt, _how(one), columns=len(panels), row_height=300)
    said = f"{_sentence(one)} {cause_sentence(recording, one.site)}".strip()
    return Answer(said, _numbers(one, recording), picture)


def _most_changed(recording: Recording) -> list[str]:
    """The estimate that moves furthest, as a part of the way between its bounds; none where none is recorded."""
    bounds = {key: pair for key, pair in recording.attributes.get("estimates", {}).items() if key in recording.names}
    way = {key: np.ptp(recording[key]) / (high - low) for key, (low, high) in bounds.items() if high > low}
    return [max(way, key=lambda key: way[key])] if way else []


def following_sections(recordings: Recordings) -> list[Section]:
    """What to show of models that follow, a section for each measured device of each recording."""
    sections = []
    for name, recording in recordings.items():
        for one in followed(recording):
            of = f", {name}" if len(recordings) > 1 else ""
            names = [key for key in recording.attributes.get("estimates", {}) if key in recording.names]
            alt = f"Loops of {one.site}, measured and modelled."
            charts: list[Chart | Drawing] = [Chart(_loops(one), alt, _how(one), columns=2)]
            if strip := cause_strip(recording, one.site):
                charts.append(strip)
            if panels := parameter_panels({"estimate": recording}, names, _POINTS):
                alt = f"Estimates of {', '.join(names)} over time with their bounds."
                charts.append(Chart(panels, alt, "Grey: bounds of an estimate.", columns=2, row_height=180))
            tables = [*cause_tables(recording, one.site), *([_estimates(recording, names)] if names else [])]
            found = cause_sentence(recording, one.site)
            text = [_sentence(one), found, f"Following: {', '.join(one.followers) or 'none'}."]
            sections.append(Section(f"Models that follow {one.site}{of}", text, charts, tables))
    return sections


def _sentence(one: Followed) -> str:
    count = len(one.followers)
    models = "model follows" if count == 1 else "models follow"
    who = f"{_COUNTS.get(count, str(count))} {models} {one.site}"
    before, after = one.error(one.constant), one.error(one.updated)
    if before is None or after is None:
        return who + ("." if after is None else f", with an error of {_percent(after)} of its force range.")
    change = "lowers" if after < before else "raises"
    factor = max(before, after) / max(min(before, after), 1e-300)
    return (
        f"{who}: updating {change} the error from {_percent(before)} to {_percent(after)} of the force range, "
        f"by a factor of {factor:.2g}."
    )


def _percent(part: float) -> str:
    return f"{100 * part:.3g} %"


def _numbers(one: Followed, recording: Recording) -> list[tuple[str, str]]:
    before, after = one.error(one.constant), one.error(one.updated)
    # no delay is the lower bound, and where a good sensor rests
    bounded = [key for key in recording.attributes.get("estimates", {}) if not key.endswith(".sensor_delay")]
    rows = [_at_bounds(recording, key) for key in bounded if key in recording.names]
    longest = max(rows, default=None)
    when = "one tick ahead" if one.ahead else "with the force of the same tick"
    return [
        ("–" if before is None else _percent(before), "error of the model as it began, never updated"),
        ("–" if after is None else _percent(after), f"error of the updated model, {when}"),
        ("–" if longest is None else f"{longest:.3g} s", "longest that an estimate is at a bound"),
    ]


def _how(one: Followed) -> str:
    when = (
        "The updated model predicts each sample from what was measured before it."
        if one.ahead
        else "The updated model has seen the force of the same tick."
    )
    return f"{when} Errors are root mean squares over the range of the measured force."


def _loops(one: Followed) -> list[Panel]:
    """Measured and modelled loops on top of each other: without updating, and with it."""
    (widen, length), (factor, unit) = readable("m"), readable("N")
    panels = []
    for title, force in (("never updated", one.constant), ("updated", one.updated)):
        error = one.error(force)
        if force is None or error is None:
            continue
        lines = []
        for series, (name, values) in enumerate((("measured", one.f), ("model", force))):
            rows = rows_to_draw(_POINTS, one.d, values)
            lines.append(Line(widen * one.d[rows], factor * values[rows], name, series))
        head = f"{one.site}, {title}: error {_percent(error)}"
        panels.append(Panel(head, f"deformation [{length}]", f"force [{unit}]", tuple(lines)))
    return panels


def _at_bounds(recording: Recording, key: str) -> float:
    """Time in s that an estimate is at one of its bounds."""
    low, high = recording.attributes["estimates"][key]
    room = _EDGE * (high - low)
    there = (recording[key] <= low + room) | (recording[key] >= high - room)
    step = float(np.median(np.diff(recording.time))) if len(recording.time) > 1 else 0.0
    return float(there[1:].sum()) * step


def _estimates(recording: Recording, names: list[str]) -> Table:
    rows = []
    span = float(recording.time[-1] - recording.time[0])
    for key in names:
        factor, unit = readable(str(recording.units[list(recording.names).index(key)]))
        values, (low, high) = factor * recording[key], recording.attributes["estimates"][key]
        there = _at_bounds(recording, key)
        numbers = [values[0], values.min(), values.max(), values[-1], factor * low, factor * high]
        rows.append([f"{key} [{unit}]", *map(float, numbers), there, 100.0 * there / span if span else None])
    columns = ["estimate", "begin", "least", "greatest", "end", "lower bound", "upper bound", "at a bound [s]", "[%]"]
    return Table("Estimates", columns, rows)
