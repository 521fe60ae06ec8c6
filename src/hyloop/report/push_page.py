"""The page about a pushover: capacity, capacity curve, drifts of the stories, and what yields when."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hyloop.report.charts import Chart
from hyloop.report.display import Line, Panel, readable, short
from hyloop.report.page import Answer, Code, Section, Table, write_page
from hyloop.report.provenance import versions
from hyloop.report.push_picture import draw_hinges
from hyloop.report.push_result import Capacity, capacity, envelope
from hyloop.structure import Model, Pushover

__all__ = ["drift_text", "push_sentence", "write_push"]

_MOST = 400  # hinges in the table


def write_push(
    path: Path,
    title: str,
    curve: Pushover,
    weight: float,
    building: Mapping[str, Any],
    model: Model | None,
    pattern: str,
    notes: Sequence[str],
    command: str,
) -> Path:
    """Write one HTML page about a pushover; it loads nothing.

    `building` has floors, heights and sites, `model` nodes and members where there are some; `command` is what was
    typed.
    """
    found = capacity(curve)
    picture = Chart([_curve(curve, found), *_profiles(curve, building)], _alt(curve), columns=2, row_height=330)
    hinges = draw_hinges(curve, building, model)
    sections = [
        Section("Notes", notes),
        Section("What yields", _yield_text(curve), charts=[hinges] if hinges else [], tables=_hinges(curve)),
        Section("Numbers", tables=[_numbers(curve, found, weight, pattern)]),
        Section("Devices", charts=_devices(curve)),
        Section(
            "Provenance",
            code=[Code(command)],
            tables=[Table("Versions", ["", "version"], [list(row) for row in versions().items()])],
            folded=True,
        ),
    ]
    answer = Answer(push_sentence(curve, weight), _three(curve, found, weight), picture)
    return write_page(path, f"Pushover: {title}", answer, sections)


def drift_text(curve: Pushover, displacement: float) -> str:
    """A displacement for a person: as a part of the height where that is known."""
    if np.isnan(displacement):
        return "–"
    if curve.height > 0.0:
        return f"{short(100.0 * displacement / curve.height)} %"
    unit = "mrad" if not curve.base_shear.any() and curve.control.endswith(("rx", "ry", "rz")) else "mm"
    return f"{short(1e3 * displacement)} {unit}"


def push_sentence(curve: Pushover, weight: float) -> str:
    """What came out, in one sentence."""
    found = capacity(curve)
    force = _force_text(curve, found.strength)
    share = f" ({found.strength / weight:.1%} of its weight)" if weight and curve.base_shear.any() else ""
    said = f"It carries at most {force}{share}, at {drift_text(curve, found.at_strength)}"
    if not found.peak_is_inside:
        said = f"It carries {force}{share} at {drift_text(curve, found.at_strength)}, where its strength is not reached"
    if np.isfinite(found.first_yield):
        said += f"; the first of {len(curve.hinges)} parts yields at {drift_text(curve, found.first_yield)}"
    else:
        said += "; nothing yields"
    if np.isfinite(found.ultimate):
        said += f", and 80 % of the strength is left at {drift_text(curve, found.ultimate)}"
    elif found.peak_is_inside:
        said += f", and at {drift_text(curve, found.largest)} it still has {found.left:.0%} of its strength"
    return f"{said}." + (" No equilibrium was found beyond that." if curve.fault else "")


def _three(curve: Pushover, found: Capacity, weight: float) -> list[tuple[str, str]]:
    strength = "strength" if found.peak_is_inside else "largest force found; the strength was not reached"
    if np.isfinite(found.first_yield):
        second = (drift_text(curve, found.first_yield), f"drift of {curve.control} at first yield")
    else:
        factor, unit = readable("N/m")
        second = (f"{short(factor * found.stiffness)} {unit}", "stiffness, and nothing yields")
    if np.isfinite(found.ultimate):
        third = (drift_text(curve, found.ultimate), "drift where 80 % of the strength is left")
    elif np.isfinite(found.overstrength):
        third = (short(found.overstrength), "strength over the force at first yield")
    else:
        third = (drift_text(curve, found.largest), "largest drift")
    return [(_force_text(curve, found.strength), strength), second, third]


def _force_text(curve: Pushover, force: float) -> str:
    return f"{short(1e-3 * force)} kN" if curve.base_shear.any() else f"{short(force)} times its loads"


def _axis(curve: Pushover) -> tuple[float, str]:
    if curve.height > 0.0:
        return 100.0 / curve.height, f"drift of {curve.control} [% of its height]"
    return 1e3, f"{curve.control} [mm]"


def _curve(curve: Pushover, found: Capacity) -> Panel:
    factor, label = _axis(curve)
    sheared = curve.base_shear.any()
    force = 1e-3 * curve.base_shear if sheared else curve.load_factor
    lines = [Line(factor * curve.displacement, force, "curve", 0)]
    d, outer = envelope(curve)
    if len(d) < len(curve.displacement):
        sign = float(np.sign(curve.displacement[np.flatnonzero(curve.displacement)[0]]))
        lines.append(Line(sign * factor * d, sign * (1e-3 if sheared else 1.0) * outer, "envelope", 1))
    elif np.isfinite(found.yield_displacement):
        scale = 1e-3 if sheared else 1.0
        sign = float(np.sign(curve.displacement[-1])) or 1.0
        corner = np.array([0.0, found.yield_displacement, found.largest])
        force = scale * np.array([0.0, found.strength, found.strength])
        lines.append(Line(sign * factor * corner, sign * force, "through 75 % of the strength", None))
    return Panel("Capacity", label, "base shear [kN]" if sheared else "load factor", tuple(lines))


def _profiles(curve: Pushover, building: Mapping[str, Any]) -> list[Panel]:
    """Drift of every story in four states: from first yield to the last."""
    if not curve.drifts.shape[1]:
        return []
    heights = np.asarray(building.get("heights") or ())
    rows = {"first yield": min((h.row for h in curve.hinges), default=-1)}
    largest = {"strength": curve.base_shear, "largest drift": curve.displacement}
    rows |= {name: int(np.argmax(np.abs(values))) for name, values in largest.items()}
    lines, levels = [], np.arange(curve.drifts.shape[1] + 1)
    for series, (name, row) in enumerate(rows.items()):
        if row >= 0:
            drift = 100.0 * curve.drifts[row] / heights if len(heights) else 1e3 * curve.drifts[row]
            lines.append(Line(np.repeat(drift, 2), np.repeat(levels, 2)[1:-1], name, series + 2))
    unit = "%" if len(heights) else "mm"
    return [Panel("Drifts of the stories", f"story drift [{unit}]", "floor", tuple(lines))]


def _yield_text(curve: Pushover) -> list[str]:
    if not curve.hinges:
        return ["Nothing yields up to the largest displacement."]
    return [
        "A section yields when the first of its bars or steel fibres passes its yield strain, a brace or a device when "
        "its tangent falls below half of its stiffness while it is loaded further. Ductility: largest deformation over "
        "that at yield, of a section the strain of its fibre strained most."
    ]


def _hinges(curve: Pushover) -> list[Table]:
    if not curve.hinges:
        return []
    rows = []
    for hinge in curve.hinges[:_MOST]:
        place = "" if np.isnan(hinge.place) else f"{hinge.place:.0%}"
        at, crushed = (drift_text(curve, abs(float(curve.displacement[k]))) for k in (hinge.row, hinge.crushed))
        rows.append([hinge.member, hinge.kind, place, at, hinge.ductility, crushed if hinge.crushed >= 0 else "–"])
    more = f", the first {_MOST}" if len(curve.hinges) > _MOST else ""
    columns = ["member", "", "along it", "yields at", "ductility", "concrete beyond its strength at"]
    return [Table(f"{len(curve.hinges)} in the order in which they yield{more}", columns, rows, folded=len(rows) > 30)]


def _numbers(curve: Pushover, found: Capacity, weight: float, pattern: str) -> Table:
    stiffness, unit = readable("N/m")
    rows: list[list[Any]] = [
        ["load pattern", pattern],
        ["displacement that is led", curve.control],
        ["strength", _force_text(curve, found.strength)],
        ["drift at the strength", drift_text(curve, found.at_strength)],
        ["stiffness of the first step", f"{short(stiffness * found.stiffness)} {unit}"],
        ["yield drift, from the line through 75 % of the strength", drift_text(curve, found.yield_displacement)],
        ["drift at first yield", drift_text(curve, found.first_yield)],
        ["strength over the force at first yield", found.overstrength],
        ["drift where 80 % of the strength is left", drift_text(curve, found.ultimate)],
        ["ductility: that drift, or the largest, over the yield drift", found.ductility],
        ["part of the strength left at the largest drift", f"{found.left:.1%}"],
        ["largest drift", drift_text(curve, found.largest)],
        ["weight of the mass along the push", f"{short(1e-3 * weight)} kN"],
        ["states of equilibrium", len(curve.displacement)],
    ]
    return Table("Capacity", ["", "value"], rows)


def _devices(curve: Pushover) -> list[Chart]:
    panels = [
        Panel(name, "deformation [mm]", "force [kN]", (Line(1e3 * d, 1e-3 * f, name, 0),))
        for name, (d, f) in list(curve.devices.items())[:24]
    ]
    return [Chart(panels, "Force over deformation of the devices.", columns=3, row_height=200)] if panels else []


def _alt(curve: Pushover) -> str:
    return f"Base shear over the displacement of {curve.control}, and the drifts of the stories."
