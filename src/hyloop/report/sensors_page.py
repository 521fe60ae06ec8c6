"""What a recorded test tells of its sensors, in sentences, as a table and as a page."""

from pathlib import Path
from typing import Any

import numpy as np

from hyloop.files.measurements import Measured
from hyloop.identification.sensors import LIMITS, SensorCheck, Told
from hyloop.report.charts import Chart
from hyloop.report.display import Line, Panel, readable, rows_to_draw
from hyloop.report.page import Answer, Section, Table, write_page

__all__ = ["IN_PRINCIPLE", "findings", "told_rows", "write_sensor_check"]

IN_PRINCIPLE = (
    "A gain of the force cannot be told from a stronger device: compare with a calibration.",
    "An offset cannot be told from a preload of the device: unload it and look again.",
    "A delay cannot be told from the viscous or inertial force of a device that is elastic otherwise: a force of "
    "velocity comes early, one of mass late. Test at two speeds: a delay stays the same in ms.",
    "An offset of the deformation cannot be told from a device that pushes otherwise than it pulls, or that begins to "
    "move elsewhere: only what is shown at rest says something of it.",
)
_POINTS = 4000
_POOR = 0.02  # of the range of the force: more left unexplained, and a device is not of the kind that can be checked


def findings(check: SensorCheck) -> list[str]:
    """A sentence for every fault, one where there is none, and what limits them."""
    said = []
    peak = max(float(np.abs(check.corrected).max()), np.finfo(float).tiny)
    if check.offset.fault:
        said.append(f"The force has an offset of {_text(check.offset)}, {_share(check.offset, peak)} of its peak.")
    if check.drift.fault:
        said.append(f"The force drifts by {_text(check.drift)} in the record, {_share(check.drift, peak)} of its peak.")
    if check.delay.fault:
        ticks = f"{abs(check.delay.value) / check.dt:.1f} samples"
        what = "The force comes" if check.delay.value > 0.0 else "The deformation comes"
        said.append(f"{what} {_text(check.delay, absolute=True)} late, {ticks}.")
    if check.offset_d.fault:
        said.append(
            f"The deformation shown at rest is {_text(check.offset_d)}, more than {100 * LIMITS['offset_d']:g} % of "
            "its largest change: set the sensor to zero, unless the device stands there."
        )
    if not said:
        said.append("No fault of the sensors shows." if check.delay.known else "Neither an offset nor a drift shows.")
    if not check.delay.known:
        said.append(
            "A delay of the force cannot be told from this record: it is short, or its motion passes every place of "
            "its path at one speed, and another device would show the same. Move longer, and at several speeds."
        )
    if not check.rest:
        said.append(
            "The record does not begin at rest, so the offset is that of a device that pushes as it pulls. Record a "
            "second without motion first."
        )
    if check.error > _POOR:
        said.append(
            f"{100 * check.error:.1f} % of the range of the force is not explained by any rate-independent device: "
            "read drift and delay with care."
        )
    return said


def _share(told: Told, peak: float) -> str:
    return f"{100 * abs(told.value) / peak:.2g} %"


def _scaled(told: Told) -> tuple[float, str]:
    factor, unit = {"s": (1e3, "ms"), "m": (1e3, "mm")}.get(told.unit, readable(told.unit))
    return factor, unit


def _text(told: Told, absolute: bool = False) -> str:
    """Value and interval with as many digits as the interval has to say."""
    factor, unit = _scaled(told)
    value, spread = factor * (abs(told.value) if absolute else told.value), factor * told.spread
    digits = int(np.clip(1 - np.floor(np.log10(spread)), 0, 9)) if 0.0 < spread < np.inf else 3
    return f"{value:.{digits}f} ± {spread:.{digits}f} {unit}"


def told_rows(check: SensorCheck) -> list[tuple[str, Told]]:
    """Everything that is told, with words for it."""
    return [
        ("offset of the force", check.offset),
        ("drift of the force in the record", check.drift),
        ("delay of the force", check.delay),
        ("noise of the force", check.noise_f),
        ("deformation shown at rest", check.offset_d),
        ("noise of the deformation", check.noise_d),
    ]


def write_sensor_check(path: Path, measured: Measured, check: SensorCheck) -> Path:
    """Write one HTML page about the sensors of a recorded test; it loads nothing."""
    said = findings(check)
    delay = "not told by this record"
    if check.delay.known:
        delay = f"{1e3 * check.delay.value:.2f} ms ({check.delay.value / check.dt:.2f} samples)"
    answer = Answer(
        said[0],
        [(_text(check.offset), "offset"), (_text(check.drift), "drift in the record"), (delay, "delay of the force")],
        _picture(check, measured),
    )
    rows: list[list[Any]] = []
    for name, told in told_rows(check):
        factor, unit = _scaled(told)
        known = [factor * number for number in (told.value, told.low, told.high)] if told.known else [None] * 3
        rows.append([name, *known, unit, "fault" if told.fault else "" if told.known else "not told by this record"])
    table = Table("Sensors", ["", "value", "95 % from", "to", "unit", ""], rows)
    notes = [f"Sampling: {measured.sampling.text}.", f"At rest at the beginning: {check.rest * check.dt:.3g} s."]
    sections = [
        Section("What was found", said, tables=[table]),
        Section("What no record can tell", IN_PRINCIPLE),
        Section("How it was read", [*notes, *measured.notes]),
    ]
    return write_page(path, f"Sensors of {measured.name}", answer, sections)


def _picture(check: SensorCheck, measured: Measured) -> Chart:
    """The loop as measured and as it is without the faults, and what is not explained over time."""
    d, f = measured.signals["d"], measured.signals["f"]
    (wide, length), (factor, unit) = readable("m"), readable("N")
    lines = []
    for series, (name, force) in enumerate((("measured", f), ("without offset, drift and delay", check.corrected))):
        rows = rows_to_draw(_POINTS, d, force)
        lines.append(Line(wide * d[rows], factor * force[rows], name, series))
    left = factor * (f - check.explained)
    rows = rows_to_draw(_POINTS, left)
    panels = [
        Panel("loop", f"deformation [{length}]", f"force [{unit}]", tuple(lines)),
        Panel(
            "not explained",
            "time [s]",
            f"force [{unit}]",
            (Line(check.dt * rows, left[rows], "measured - explained", 0),),
        ),
    ]
    alt = "Loop as measured and without the faults of the sensors, and the force that is not explained over time."
    return Chart(panels, alt, "What is not explained shall be noise without a pattern.", columns=2, row_height=320)
