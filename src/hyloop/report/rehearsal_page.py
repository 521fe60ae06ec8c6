"""The page about the rehearsals of a test: go or no-go, demands against limits, and what the rig does to the answer."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hyloop.report.charts import COLORS, NEUTRAL, Chart, Drawing
from hyloop.report.display import Line, Panel, readable, rows_to_draw
from hyloop.report.page import Answer, Code, Section, Table, write_page
from hyloop.report.provenance import versions
from hyloop.report.rehearsal_result import Demand, Rehearsed

__all__ = ["write_rehearsal"]

_POINTS = 2000  # of a line
_BAND = (0.05, 0.95)  # quantiles of the runs
_ABOUT = 2.0  # s to either side of the largest answer, where it is shown from near
_CUT = 3.0  # times the largest answer with an ideal rig: a run that grew is drawn so far
_MOST_USED = 200.0  # % of a limit: drawn so far
_EXPLAINED = (
    "A run fails that stops, or breaks any limit. Limits of actuators, sensors, sites and [limits] count "
    "by themselves; a run in which an actuator stands at its limit has reached it."
)


def write_rehearsal(path: Path, found: Rehearsed, changes: Sequence[str] = ()) -> Path:
    """Write one HTML page about rehearsals; it loads nothing. `changes` are what was changed of the file."""
    title = f"Rehearsal: {found.title or Path(found.source).stem}"
    reasons = [f"{why[0].upper()}{why[1:]}." for why in found.reasons()]
    heading = "Why not" if not found.go else "Runs that fail"
    sections = [
        Section(heading, reasons),
        Section("Demands and limits", [_EXPLAINED], tables=[_demands(found)]),
        Section("Stability", _stability(found), tables=[_critical(found)]),
        Section("The answer with this rig", charts=[_band(found, True), _band(found, False)]),
        Section("How well the rig follows", charts=_spread(found)),
        Section("What is uncertain", _drawn(found), tables=[_uncertain(found)]),
        Section("Provenance", code=[Code(_command(found, changes))], tables=[_provenance(found)], folded=True),
    ]
    return write_page(path, title, Answer(found.sentence(), _numbers(found), _picture(found)), sections)


def _numbers(found: Rehearsed) -> list[tuple[str, str]]:
    numbers = []
    margin = found.demand("margin")
    if margin is None:
        numbers.append((f"{int(found.unstable.sum())}", f"of {found.runs} runs grow by themselves"))
    else:
        numbers.append(
            (
                margin.shown(margin.worst),
                f"critical delay over what is left of the rig's delay; {margin.limit:g} wanted",
            )
        )
    stroke = found.demand("stroke")
    if stroke is not None:
        allowed = "" if stroke.limit is None else f" of {stroke.shown(stroke.limit)}"
        numbers.append((stroke.shown(stroke.worst), f"largest stroke{allowed}"))
    effect = found.demand("effect")
    if effect is not None:
        numbers.append((effect.shown(effect.worst), f"the most that the rig changes the peak of {found.answer}"))
    numbers += [("–", "")] * 3
    return numbers[:3]


def _picture(found: Rehearsed) -> Drawing:
    """How much of each limit the runs use, a row for each demand."""
    rows = [one for one in found.demands if one.limit is not None]
    traces = []
    for broken, colour, name in ((False, COLORS[0], "keeps its limit"), (True, COLORS[1], "breaks its limit")):
        x: list[float | None] = []
        y: list[str | None] = []
        texts, signs, sizes = [], [], []
        for one in rows:
            if bool(one.broken.any()) == broken:
                values = (one.median, one.bad, one.worst)
                x += [*(_used(one, value) for value in values), None]
                y += [one.name] * 3 + [None]
                words = ("median", "one run in twenty is worse", "worst run")
                texts += [f"{word}: {one.shown(v)}" for word, v in zip(words, values, strict=True)] + [""]
                signs, sizes = [*signs, "circle", "line-ns", "diamond", "circle"], [*sizes, 9, 12, 10, 1]
        line = {"width": 2, "color": colour}
        marker = {"symbol": signs, "size": sizes, "color": colour, "line": line}
        trace = {"type": "scatter", "mode": "lines+markers", "x": x, "y": y, "text": texts, "hoverinfo": "text"}
        traces.append({**trace, "name": name, "line": line, "marker": marker})
    caption = (
        "Circle: median of the runs; stroke: one run in twenty is worse; diamond: the worst run. Of a margin, the one "
        f"wanted over the one found. What is beyond {_MOST_USED:.0f} % is drawn there."
    )
    alt = "Part of each limit that the median run, one in twenty and the worst run use."
    left = 24 + 7 * max(len(one.name) for one in rows)
    return Drawing(traces, _layout(rows, left), alt, caption, narrow=_layout(rows, min(6 * left // 7, 150)))


def _used(one: Demand, value: float) -> float | None:
    """Part of the limit in %, within what is drawn."""
    if np.isnan(value) or not one.limit:
        return None
    part = (one.limit / value if value else np.inf) if one.least else value / one.limit
    return float(np.clip(100.0 * part, 0.0, _MOST_USED))


def _layout(rows: Sequence[Demand], left: int) -> dict[str, Any]:
    """One line for each demand, the first on top, and the limit as a line across."""
    limit = {"type": "line", "x0": 100, "x1": 100, "y0": 0, "y1": 1, "yref": "paper"}
    return {
        "height": min(120 + 34 * len(rows), 520),
        "margin": {"l": left, "r": 16, "t": 46, "b": 46},
        "xaxis": {
            "title": {"text": "of the limit [%]", "standoff": 8, "font": {"size": 11}},
            "range": [-3, 1.02 * _MOST_USED],
            "zeroline": False,
        },
        "yaxis": {
            "categoryorder": "array",
            "categoryarray": [one.name for one in reversed(rows)],
            "tickfont": {"size": 12 if left > 150 else 10},
            "range": [-0.6, len(rows) - 0.4],
            "zeroline": False,
        },
        "shapes": [{**limit, "line": {"width": 1.5, "color": NEUTRAL}}],
        "showlegend": True,
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": "#999", "activecolor": "#666"},
        "font": {"size": 12, "color": "#444"},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "hovermode": "closest",
    }


def _band(found: Rehearsed, near: bool) -> Chart:
    """The answer over time: with an ideal rig, with that of the file, and the band of all runs."""
    widen, unit = readable(found.answer_unit)
    peak = float(np.abs(found.ideal).max())
    at = found.time[int(np.abs(found.ideal).argmax())]
    shown = np.abs(found.time - at) <= _ABOUT if near else np.ones(len(found.time), bool)
    cut = _CUT * peak
    # a run that has stopped may be anywhere
    low, high = (
        np.quantile(
            np.clip(np.where(np.isnan(found.answers), end, found.answers)[:, shown], -cut, cut),
            part,
            axis=0,
            method="inverted_cdf",
        )
        for end, part in zip((-cut, cut), _BAND, strict=True)
    )
    nominal = np.clip(found.nominal[shown], -cut, cut)
    time, ideal = found.time[shown], found.ideal[shown]
    rows = rows_to_draw(_POINTS, low, high, ideal)

    def line(values: np.ndarray, name: str, series: int | None) -> Line:
        return Line(time[rows], widen * values[rows], name, series)

    lines = (
        line(low, "nine of ten runs", None),
        line(high, "nine of ten runs", None),
        line(ideal, "ideal rig", 0),
        line(nominal, "rig as in the file", 1),
    )
    alt = f"{found.answer} over time with an ideal rig, with the rig of the file, and the band of nine of ten runs."
    grew = f" Runs that grow are cut off at {_CUT:g} times the largest." if found.unstable.any() else ""
    caption = f"Grey: between the lines lie nine of ten runs.{grew}"
    title = f"{found.answer} about its peak" if near else found.answer
    return Chart([Panel(title, "time [s]", f"{found.answer} [{unit}]", lines)], alt, caption, row_height=260)


def _demands(found: Rehearsed) -> Table:
    rows = []
    for one in found.demands:
        numbers = [one.shown(value) for value in (one.median, one.bad, one.worst)]
        limit = "" if one.limit is None else f"{'at least ' if one.least else ''}{one.shown(one.limit)}"
        rows.append([one.name, *numbers, limit, one.source, int(one.broken.sum()) if one.limit is not None else None])
    columns = ["", "median", "one run in twenty is worse than", "worst run", "limit", "where it stands", "runs beyond"]
    return Table(f"{found.runs} rehearsals", columns, rows)


def _stability(found: Rehearsed) -> list[str]:
    said = [f"{int(found.unstable.sum())} of {found.runs} runs grow by themselves until they are stopped."]
    if found.critical:
        said.append(
            "The critical delay follows from the matrices of the structure, the initial stiffness and damping of the "
            "devices, which is the worst case for devices that yield, and the integration method in its steps. The "
            "margin is the critical delay over the delay that is left behind the compensator, as it was found in each "
            "run at the mean frequency of what the structure wanted there; a rig that is early has any margin."
        )
    return said


def _critical(found: Rehearsed) -> Table:
    rows = []
    for name, (delay, frequency) in found.critical.items():
        none = np.isinf(delay)
        where = name or "all together"
        rows.append([where, "none" if none else f"{1e3 * delay:.4g} ms", None if none else f"{frequency:.3g} Hz"])
    return Table("Critical delay", ["site", "delay from which on it grows", "at the frequency"], rows)


def _spread(found: Rehearsed) -> list[Chart]:
    """Distributions of tracking error, remaining delay and effect over the runs."""
    panels = []
    for key in ("tracking error", "delay left", "effect"):
        lines = []
        for series, one in enumerate(d for d in found.demands if d.key == key):
            known = np.sort(one.values[np.isfinite(one.values)])
            if len(known) > 1:
                share = 100.0 * (np.arange(len(known)) + 0.5) / len(known)
                rows = np.unique(np.linspace(0, len(known) - 1, min(len(known), _POINTS)).astype(int))
                lines.append(Line(one.factor * known[rows], share[rows], one.site or "answer", series))
        if lines:
            unit = "ms" if key == "delay left" else "%"
            panels.append(Panel(key, f"{key} [{unit}]", "runs below [%]", tuple(lines)))
    alt = "Share of the runs below a tracking error, a remaining delay, and an effect on the answer."
    caption = (
        "Tracking error: root mean square over the range of what was wanted. Delay: negative where the rig is early. "
        "Effect: change of the peak against an ideal rig."
    )
    return [Chart(panels, alt, caption, columns=3, row_height=230)] if panels else []


def _drawn(found: Rehearsed) -> list[str]:
    return [
        "Normal about the value of the file with the relative standard deviation given, at most three of them off, or "
        f"evenly in a range. Sensors have other noise in every run. The seed is {found.seed}."
    ]


def _uncertain(found: Rehearsed) -> Table:
    return Table("Drawn in every run", ["parameter", "value of the file, SI", "spread"], list(found.uncertain))


def _command(found: Rehearsed, changes: Sequence[str]) -> str:
    words = "".join(f" --set {change}" for change in changes)
    return f"hyloop rehearse {found.source or 'FILE'}{words} --runs {found.runs} --seed {found.seed}"


def _provenance(found: Rehearsed) -> Table:
    rows = [["file", found.source], *([f"version of {k}", v] for k, v in versions().items())]
    return Table("Provenance", ["", "value"], [*rows, *(["note", note] for note in found.remarks)])
