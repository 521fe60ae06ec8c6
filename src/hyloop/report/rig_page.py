"""The page about an identified rig: delay, gain, how far it is known, and what the record says of it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hyloop.files.rig_records import RigRecord
from hyloop.identification.rig import Interval, Rig
from hyloop.report.charts import Chart
from hyloop.report.display import Line, Panel, readable, rows_to_draw
from hyloop.report.page import Answer, Code, Section, Table, write_page
from hyloop.report.provenance import versions

__all__ = ["RigResult", "rig_rows", "rig_sentence", "rig_warnings", "write_rig"]

_POINTS = 3000  # of a history
_CURVE = 300  # of a curve over frequency
_LOST = 0.005  # of a gain
_TOLD = 0.05  # of a gain: points of the response that are known less well are not drawn
_FAR = 0.8  # of the band: a trusted band that ends before is worth a word


@dataclass(frozen=True, eq=False)
class RigResult:
    """An identified rig and the record it comes from."""

    rig: Rig
    record: RigRecord


def _scaled(told: Interval) -> tuple[float, str]:
    return {"s": (1e3, "ms"), "m": (1e6, "µm")}.get(told.unit, (1.0, ""))


def _plus_minus(told: Interval) -> str:
    """Value and half width of the interval, with as many digits as that has to say."""
    factor, unit = _scaled(told)
    value, spread = factor * told.value, 0.5 * factor * (told.high - told.low)
    digits = int(np.clip(1 - np.floor(np.log10(spread)), 0, 9)) if 0.0 < spread < np.inf else 3
    return f"{value:.{digits}f} ± {spread:.{digits}f} {unit}".strip()


def rig_sentence(rig: Rig) -> str:
    """One sentence: delay, gain, band."""
    if rig.trusted[1] == 0.0:
        known = "gain and phase are not known to 1 % and 1° at any frequency"
    else:
        low = f"from {rig.trusted[0]:.2g} " if rig.trusted[0] > 0.0 else "up "
        known = f"gain and phase are known to 1 % and 1° {low}to {rig.trusted[1]:.3g} Hz"
    return f"Slow motions come {1e3 * rig.delay.value:.3g} ms late with a gain of {rig.gain.value:.4g}; {known}."


def rig_warnings(rig: Rig) -> list[str]:
    """What comes before all else."""
    said = []
    if rig.missed:
        said.append(
            f"The transfer function leaves {rig.misfit:.2g} times the power of the noise: the rig is not linear "
            "(friction, backlash, saturation), or has more poles than five. Intervals are wider by that, and still "
            "tell of chance only."
        )
    if rig.trusted[1] < _FAR * rig.band[1]:
        said.append(
            f"The command reaches {rig.band[1]:.3g} Hz, but gain and phase are known to 1 % and 1° only up to "
            f"{rig.trusted[1]:.3g} Hz. A longer record or larger motions help."
        )
    if rig.lost > _LOST:
        said.append(
            f"The command itself has noise, up to {100 * rig.lost:.2g} % of its power: there the gain reads so much "
            "too low. Record the command as the controller has it, not behind a converter."
        )
    if not rig.tried[0].converged:
        said.append("The last descent was cut off before it had converged.")
    return said


def rig_rows(rig: Rig) -> list[tuple[str, Interval]]:
    """Everything that has an interval, with words for it."""
    return [
        ("gain at rest", rig.gain),
        ("delay of slow motions", rig.delay),
        ("of it dead time", rig.dead_time),
        ("noise of the measured displacement", rig.noise),
    ]


def write_rig(path: Path, result: RigResult, lines: str) -> Path:
    """Write one HTML page about a rig; it loads nothing. `lines` put it into an experiment file."""
    rig, record = result.rig, result.record
    sections = [Section("Use it", ["The rig as the actuator of a site of an experiment file."], code=[Code(lines)])]
    if warnings := rig_warnings(rig):
        sections.insert(0, Section("Read this first", warnings))
    sections += [
        Section("What was found", _explained(rig), tables=[_numbers_table(rig), _roots(rig), _structures(rig)]),
        Section("Noise", charts=[_noise(rig)]),
        Section("The record", charts=[_histories(result)]),
        Section("How it was read", [f"Sampling: {record.sampling.text}.", *record.notes]),
        Section("Provenance", tables=_provenance(result), folded=True),
    ]
    end = rig.trusted[1]
    numbers = [
        (_plus_minus(rig.delay), f"delay of slow motions, {100 * rig.level:g} % interval"),
        (_plus_minus(rig.gain), f"gain at rest, {100 * rig.level:g} % interval"),
        (f"{end:.3g} Hz" if end else "–", "highest frequency at which gain and phase are known to 1 % and 1°"),
    ]
    return write_page(path, f"Rig: {record.name}", Answer(rig_sentence(rig), numbers, _bode(rig)), sections)


def _explained(rig: Rig) -> list[str]:
    dead = (
        "Dead time and poles are told apart by the bend of the phase; what matters to a test is their sum, the delay "
        "of slow motions."
        if rig.kind.dead_time
        else "Poles alone explain the delay; a dead time beside them would explain no more than noise does."
    )
    return [
        f"A transfer function with {rig.kind} leaves {100 * rig.error:.2g} % of the measured motion.",
        dead,
        f"Intervals hold with a probability of {100 * rig.level:g} %. They tell how far noise could have moved a "
        f"number, for commands up to {1e3 * rig.largest:.3g} mm and frequencies from {rig.band[0]:.2g} to "
        f"{rig.band[1]:.3g} Hz.",
    ]


def _numbers_table(rig: Rig) -> Table:
    rows: list[list[Any]] = []
    for name, told in rig_rows(rig):
        factor, unit = _scaled(told)
        numbers = [told.value] if told.low == told.high == 0.0 else [told.value, told.low, told.high]
        shown = [f"{factor * number:.6g}" for number in numbers]
        rows.append([name, *shown, *[None] * (3 - len(shown)), unit])
    rows.append(["gain has fallen by 3 dB at", rig.half_power, None, None, "Hz"])
    return Table("Numbers", ["", "value", f"{100 * rig.level:g} % from", "to", "unit"], rows)


def _roots(rig: Rig) -> Table:
    rows: list[list[Any]] = []
    for what, polynomial in (("pole", rig.denominator), ("zero", rig.numerator)):
        for root in np.roots(polynomial[::-1]) if len(polynomial) > 1 else []:
            if root.imag >= -1e-9 * abs(root):
                kind = f"{what} pair" if root.imag > 1e-9 * abs(root) else what
                damping = -root.real / abs(root) if kind != what else None
                rows.append([kind, abs(root) / (2.0 * np.pi), damping, 1e3 / abs(root.real)])
    return Table("Poles and zeros", ["", "frequency [Hz]", "damping ratio", "time constant [ms]"], rows)


def _structures(rig: Rig) -> Table:
    best = rig.tried[0].criterion
    rows = [[str(one.kind), one.kind.size, one.misfit, one.criterion - best] for one in rig.tried]
    columns = ["structure", "free parameters", "left over noise, power", "criterion over the least (BIC)"]
    return Table("Structures fitted to the whole record", columns, rows)


def _bode(rig: Rig) -> Chart:
    """Gain, phase and coherence over frequency, measured and fitted."""
    p = rig.points
    well = np.sqrt(p.variance) < _TOLD * np.abs(p.G)
    p = p.part(well) if well.sum() > 1 else p
    f = np.geomspace(*rig.band, _CURVE)
    G, wide, wide_phase = rig.response(f)
    turns = np.degrees(np.unwrap(np.angle(G)))
    # the phase that was measured, on the same turn as the fit
    own = np.degrees(np.angle(p.G / rig.response(p.f)[0])) + np.interp(p.f, f, turns)
    decibel = 20.0 * np.log10(np.abs(G))
    edges = [
        (20.0 * np.log10(np.maximum(np.abs(G) * (1.0 + sign * wide), 1e-12)), turns + sign * np.degrees(wide_phase))
        for sign in (-1.0, 1.0)
    ]
    gain = (
        *(Line(f, edge[0], "interval", None) for edge in edges),
        Line(p.f, 20.0 * np.log10(np.abs(p.G)), "measured", 0),
        Line(f, decibel, "fitted", 1),
    )
    phase = (
        *(Line(f, edge[1], "interval", None) for edge in edges),
        Line(p.f, own, "measured", 0),
        Line(f, turns, "fitted", 1),
    )
    ends = np.array(rig.band)
    coherence = [Line(ends, np.full(2, level), "interval", None) for level in (0.0, 1.0)]  # the whole scale
    coherence.append(Line(p.f, p.coherence, "measured", 0))
    if 0.0 < rig.trusted[1] < 0.98 * p.f[-1]:
        coherence.append(Line(np.full(2, rig.trusted[1]), np.array([0.0, 1.0]), "end of the trusted band", None))
    panels = [
        Panel("gain", "frequency [Hz]", "gain [dB]", gain),
        Panel("phase", "frequency [Hz]", "phase [°]", phase),
        Panel("coherence", "frequency [Hz]", "coherence", tuple(coherence)),
    ]
    alt = "Gain, phase and coherence of the rig over frequency, measured without a model and fitted."
    caption = "Measured: without a model, where known to 5 %. Coherence: part of the power that the command explains."
    return Chart(panels, alt, caption, columns=3, row_height=270, log_x=True)


def _noise(rig: Rig) -> Chart:
    p = rig.points
    lines = (
        Line(p.f, 1e6 * np.sqrt(p.power), "measured displacement", 0),
        Line(p.f, 1e6 * np.sqrt(p.noise), "its noise", 1),
    )
    # decades as numbers: a page has no logarithmic vertical axis
    logs = tuple(Line(line.x, np.log10(np.maximum(line.y, 1e-9)), line.name, line.series) for line in lines)
    panel = Panel("spectral density", "frequency [Hz]", "log10 of µm/√Hz", logs)
    alt = "Spectral density of the measured displacement and of its noise over frequency."
    caption = "Noise is what neither the command nor a transient explains."
    return Chart([panel], alt, caption, row_height=240, log_x=True)


def _histories(result: RigResult) -> Chart:
    rig, record = result.rig, result.record
    made = rig.motion(record.command, rig.dt)
    time = rig.dt * np.arange(len(made))
    widen, unit = readable("m")
    left = record.measured - made
    left = left - np.mean(left)

    def line(signal: np.ndarray, name: str, series: int) -> Line:
        rows = rows_to_draw(_POINTS, signal)
        return Line(time[rows], widen * signal[rows], name, series)

    panels = [
        Panel(
            "displacement",
            "time [s]",
            f"displacement [{unit}]",
            (line(record.command, "command", 0), line(record.measured, "measured", 1)),
        ),
        Panel("measured less fitted", "time [s]", f"displacement [{unit}]", (line(left, "left", 2),)),
    ]
    alt = "Command and measured displacement over time, and what the transfer function leaves of it."
    caption = "What is left shall be noise without a pattern. Drag across a panel to zoom; double-click to go back."
    return Chart(panels, alt, caption, row_height=170, common_x=True)


def _provenance(result: RigResult) -> list[Table]:
    rig, record = result.rig, result.record
    columns = [[key, record.columns[key], record.units[key]] for key in ("command", "measured")]
    high = max(len(rig.numerator), len(rig.denominator))
    padded = [np.pad(c, (0, high - len(c))) for c in (rig.numerator, rig.denominator)]
    coefficients = [[f"s^{k}", *(float(c[k]) for c in padded)] for k in range(high)]
    rows = [
        ["file", record.source],
        ["length of the record [s]", rig.length],
        ["command held for [s]", rig.hold],
        *([f"version of {k}", v] for k, v in versions().items()),
    ]
    return [
        Table("Columns", ["signal", "column", "unit"], columns),
        Table("Coefficients, in s", ["power", "numerator", "denominator"], coefficients),
        Table("Record", ["", "value"], rows),
    ]
