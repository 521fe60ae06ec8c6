"""The page about a half-power test: damping, resonance curve, and the points it was found from."""

from pathlib import Path
from typing import Any

import numpy as np

from hyloop.report.charts import COLORS, NEUTRAL, Drawing
from hyloop.report.display import short
from hyloop.report.half_power_result import HalfPowerTest
from hyloop.report.page import Answer, Code, Section, Table, write_page
from hyloop.report.provenance import versions

__all__ = ["write_half_power"]

_FINE = 400  # points of a curve
_HEIGHT = 430  # px
_EXPLAINED = (
    "The bandwidth formula (fb - fa)/(2 f) is the first term of a series: of 5 % it makes 5.03 %, of 10 % 10.2 %, of "
    "20 % 21.8 %, and other modes bend its curve, too. The fit of one mode, and a constant for the others, to the "
    "complex amplitudes has no such error; take its damping above 5 %. Where the damping depends on amplitude both "
    "judge a curve that is none of a linear mode, as the error of the fit tells: of a damper whose force grows with "
    "v^0.4 the bandwidth tells 0.7 and the fit 0.8. Then take the damping at the amplitude of the peak, from the phase "
    "between load and displacement."
)


def write_half_power(path: Path, found: HalfPowerTest, command: str) -> Path:
    """Write one HTML page about a half-power test; it loads nothing. `command` is what was typed."""
    sections = [
        Section("Notes", found.notes),
        Section("How to read it", [_EXPLAINED], tables=[_numbers(found)]),
        Section("Points", tables=[_points(found)]),
        Section(
            "Provenance",
            code=[Code(command)],
            tables=[Table("Versions", ["", "version"], [list(row) for row in versions().items()])],
            folded=True,
        ),
    ]
    title = f"Half-power test: {found.title or Path(found.source).stem}"
    return write_page(path, title, Answer(found.sentence(), _three(found), _picture(found)), sections)


def _three(found: HalfPowerTest) -> list[tuple[str, str]]:
    band = "–" if np.isnan(found.band.damping) else f"{100 * found.band.damping:.3g} %"
    return [
        (f"{100 * found.fit.damping:.3g} %", "damping, by the fit of the resonance curve"),
        (band, "damping, by the bandwidth at half power"),
        (f"{short(found.fit.frequency, 4)} Hz", "frequency of the mode"),
    ]


def _picture(found: HalfPowerTest) -> Drawing:
    factor, unit = found.shown
    f = np.linspace(found.frequency[0], found.frequency[-1], _FINE)
    points = {
        "type": "scatter",
        "mode": "markers",
        "name": "steady amplitude",
        "x": found.frequency.tolist(),
        "y": (factor * np.abs(found.amplitude)).tolist(),
        "marker": {"size": 8, "color": COLORS[0]},
    }
    line = {
        "type": "scatter",
        "mode": "lines",
        "name": "fit of one mode",
        "x": f.tolist(),
        "y": (factor * found.fitted(f)).tolist(),
        "line": {"width": 2, "color": COLORS[1]},
    }
    traces: list[dict[str, Any]] = [line, points]
    band = found.band
    if np.isfinite(band.damping):
        level = factor * band.peak / np.sqrt(2.0)
        traces.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": "bandwidth at half power",
                "x": [band.low, band.high],
                "y": [level, level],
                "line": {"width": 2, "color": NEUTRAL, "dash": "dot"},
                "marker": {"size": 7, "color": NEUTRAL},
            }
        )
    layout = {
        "height": _HEIGHT,
        "margin": {"l": 70, "r": 16, "t": 46, "b": 50},
        "xaxis": {"title": {"text": "frequency [Hz]", "standoff": 8}, "zeroline": False},
        "yaxis": {"title": {"text": f"amplitude of {found.channel} [{unit}]"}, "rangemode": "tozero"},
        "showlegend": True,
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        "font": {"size": 12, "color": "#444"},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "hovermode": "closest",
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": "#999", "activecolor": "#666"},
    }
    return Drawing(traces, layout, f"Steady amplitude of {found.channel} over frequency, with the fit of one mode.")


def _numbers(found: HalfPowerTest) -> Table:
    rows: list[list[Any]] = [
        [f"load at {name}", f"{short(value, 4)} {_unit(name)}"] for name, value in found.at.items()
    ]
    rows += [
        ["frequency of the mode, by the fit", f"{found.fit.frequency:.5g} Hz"],
        ["damping, by the fit", f"{100 * found.fit.damping:.4g} %"],
        ["what the fit leaves, of the largest amplitude", f"{100 * found.fit.error:.2g} %"],
        ["damping at the amplitude of the peak, from the phase", f"{100 * found.at_peak:.4g} %"],
        ["frequency of the peak", f"{found.band.frequency:.5g} Hz"],
        ["bandwidth at half power", f"{found.band.low:.5g} to {found.band.high:.5g} Hz"],
        ["damping, by the bandwidth", f"{100 * found.band.damping:.4g} %"],
        ["frequency with the initial stiffness of the devices", f"{found.expected:.5g} Hz"],
    ]
    if found.peak is not None:
        name, wanted, reached = found.peak
        rows.append([f"peak of {name}, wanted and found", f"{wanted:.4g} and {reached:.4g}"])
    return Table("Numbers", ["", "value"], rows)


def _unit(dof: str) -> str:
    return "N m" if dof.rpartition(".")[2] in ("rx", "ry", "rz") else "N"


def _points(found: HalfPowerTest) -> Table:
    factor, unit = found.shown
    rows = [
        [f"{f:.5g}", factor * abs(z), factor * float(fit), f"{np.degrees(np.angle(z)):.1f}", f"{zeta:.2%}", int(n)]
        for f, z, fit, zeta, n in zip(
            found.frequency, found.amplitude, found.fitted(found.frequency), found.by_phase, found.cycles, strict=True
        )
    ]
    columns = ["Hz", f"amplitude [{unit}]", f"fit [{unit}]", "phase [°]", "damping by phase", "cycles held"]
    return Table(f"{len(rows)} frequencies", columns, rows)
