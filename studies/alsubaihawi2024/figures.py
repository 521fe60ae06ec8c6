"""Figures 12, 14 to 20, 22 and 23 of the paper, drawn anew from one earthquake and one wind test."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hyloop.report.charts import Chart
from hyloop.report.display import Line, Panel, rows_to_draw
from hyloop.report.page import Section

from .response import BASEMENTS, FRAMES, LEVELS, LOOPS, SHOWN
from .specimens import START

POINTS = 1500  # of a line
NAMES = {"ux": "N-S", "uz": "E-W", "ry": "twist"}
G = 9.81e-3  # m/s2 in a milli-g
STORIES = np.arange(1, LEVELS + 1) - BASEMENTS  # ground floor is 0


def figures(earthquake: Mapping[str, Any], wind: Mapping[str, Any]) -> list[Section]:
    """All of them; arguments as `response` returns them, with dampers."""
    tests = {"earthquake": earthquake, "wind": wind}
    return [
        _section("Figure 12: displacement of the roof", [p for h, r in tests.items() for p in _roof(h, r)], 2),
        _section("Figure 14: orbits of the roof", [_orbit(h, r) for h, r in tests.items()], 2),
        _section("Figure 15: peaks over the height", [p for h, r in tests.items() for p in _peaks(h, r)], 2),
        _section(f"Figure 16: braces of story {SHOWN} in the earthquake", [_brace(earthquake, f) for f in LOOPS], 2),
        _section("Figure 17: ductility of braces over the height", _ductility(earthquake), 2),
        _section("Figure 18: accelerations in the wind", _accelerations(wind), 2),
        _section("Figures 19 and 20: the measured damper", [p for h, r in tests.items() for p in _damper(h, r)], 2),
        _section("Figure 22: tracking and the compensator", [p for h, r in tests.items() for p in _tracking(h, r)], 2),
        _section("Figure 23: parameters that the filter finds", [p for h, r in tests.items() for p in _found(h, r)], 3),
    ]


def _section(title: str, panels: Sequence[Panel], columns: int) -> Section:
    return Section(title, charts=[Chart(list(panels), f"{title}.", "", columns=columns)])


def _history(title: str, label: str, t: np.ndarray, values: Mapping[str, np.ndarray]) -> Panel:
    rows = rows_to_draw(POINTS, *values.values())
    return Panel(
        title, "time [s]", label, tuple(Line(t[rows], y[rows], key, k) for k, (key, y) in enumerate(values.items()))
    )


def _loop(title: str, x_label: str, y_label: str, x: np.ndarray, y: np.ndarray, name: str) -> Panel:
    rows = rows_to_draw(4 * POINTS, x, y)
    return Panel(title, x_label, y_label, (Line(x[rows], y[rows], name, 0),))


def _over_height(title: str, label: str, values: Mapping[str, np.ndarray], stories: np.ndarray = STORIES) -> Panel:
    lines = tuple(Line(x, stories, name, k) for k, (name, x) in enumerate(values.items()))
    return Panel(f"{title}: {label}", label, "story", lines)


def _roof(hazard: str, r: Mapping[str, Any]) -> list[Panel]:
    moved = {NAMES[dof]: 1e3 * r[f"roof {dof}"] for dof in ("ux", "uz")}
    return [
        _history(f"{hazard}: roof", "displacement [mm]", r["t"], moved),
        _history(f"{hazard}: roof", "twist [mrad]", r["t"], {"twist": 1e3 * r["roof ry"]}),
    ]


def _orbit(hazard: str, r: Mapping[str, Any]) -> Panel:
    return _loop(hazard, "E-W [mm]", "N-S [mm]", 1e3 * r["roof uz"], 1e3 * r["roof ux"], "roof")


def _peaks(hazard: str, r: Mapping[str, Any]) -> list[Panel]:
    return [
        _over_height(hazard, "peak displacement [mm]", {NAMES[dof]: 1e3 * r[f"peak {dof}"] for dof in ("ux", "uz")}),
        _over_height(hazard, "peak twist [mrad]", {"twist": 1e3 * r["peak ry"]}),
    ]


def _brace(r: Mapping[str, Any], frame: str) -> Panel:
    loop = r[f"loop {frame}"]
    return _loop(frame, "elongation [mm]", "force [kN]", 1e3 * loop[:, 0], 1e-3 * loop[:, 1], "brace")


def _ductility(r: Mapping[str, Any]) -> list[Panel]:
    frames = list(FRAMES)
    return [
        _over_height(title, "peak ductility", {frame: r[f"ductility {frame}"] for frame in pair})
        for title, pair in (("N-S", frames[:2]), ("E-W", frames[2:]))
    ]


def _accelerations(r: Mapping[str, Any]) -> list[Panel]:
    above = STORIES[BASEMENTS:]
    each = {NAMES[dof]: r[f"acceleration {dof}"] / G for dof in ("ux", "uz")}
    both = {"centre": r["centre"] / G, "corner": r["corner"] / G}
    more = 100 * (r["corner"] / r["centre"] - 1.0)
    high = above > 10  # near the ground the centre hardly moves
    return [
        _over_height("centre", "peak acceleration [milli-g]", each),
        _over_height("centre", "peak angular acceleration [mrad/s²]", {"twist": 1e3 * r["acceleration ry"]}),
        _over_height("resultant", "peak acceleration [milli-g]", both, above),
        _over_height("corner over centre", "increase [%]", {"increase": more[high]}, above[high]),
    ]


def _damper(hazard: str, r: Mapping[str, Any]) -> list[Panel]:
    d, f = r["actuator.d"], r["sensor.f"]
    v = np.gradient(d, r["time"])
    return [
        _loop(hazard, "deformation [mm]", "force [kN]", 1e3 * d, 1e-3 * f, "measured"),
        _loop(hazard, "velocity [mm/s]", "force [kN]", 1e3 * v, 1e-3 * f, "measured"),
    ]


def _tracking(hazard: str, r: Mapping[str, Any]) -> list[Panel]:
    coefficients = {"a0": r["a0"], "a1 [10 ms]": 100 * r["a1"], "a2 [(10 ms)²]": 1e4 * r["a2"]}
    wanted, reached = 1e3 * r["d"], 1e3 * r["actuator.d"]
    return [
        _loop(hazard, "wanted [mm]", "reached [mm]", wanted, reached, "actuator"),
        _history(hazard, "coefficients of ATS", r["time"], coefficients),
    ]


def _found(hazard: str, r: Mapping[str, Any]) -> list[Panel]:
    return [_history(f"{hazard}: {key}", f"{key} / start", r["time"], {key: r[key]}) for key in START]
