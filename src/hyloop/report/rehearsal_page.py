"""The page about the rehearsals of a test: go or no-go, demands against limits, and what the rig does to the answer."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from hyloop.report.charts import Chart
from hyloop.report.display import Line, Panel, readable, rows_to_draw
from hyloop.report.page import Answer, Code, Section, Table, write_page
from hyloop.report.provenance import versions
from hyloop.report.rehearsal_result import Demand, Rehearsed

__all__ = ["write_rehearsal"]

_POINTS = 2000  # of a line
_BAND = (0.05, 0.95)  # quantiles of the runs
_ABOUT = 2.0  # s to either side of the largest answer, in the first picture
_CUT = 3.0  # times the largest answer with an ideal rig: a run that grew is drawn so far
_MOST_USED = 2.0  # times a limit: drawn so far
_EXPLAINED = (
    "Every run counts as failed that stops, or breaks any limit. Limits of actuators, sensors, sites and [limits] count "
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
        Section("The answer with this rig", charts=[_band(found, False)]),
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
    effect = found.demand("effect on the answer")
    if effect is not None:
        numbers.append((effect.shown(effect.worst), f"the most that the rig changes the peak of {found.answer}"))
    numbers += [("–", "")] * 3
    return numbers[:3]


def _picture(found: Rehearsed) -> Chart:
    """The answer about its peak, and how much of each limit the runs use."""
    chart = _band(found, True)
    used = [one for key in dict.fromkeys(d.key for d in found.demands) if (one := found.demand(key)) and one.limit]
    lines = [_used(one, k + 3) for k, one in enumerate(used)]
    limit = Line(np.array([1.0, 1.0]), np.array([0.0, 100.0]), "limit", None)
    panel = Panel("limits used", "of the limit", "runs that stay below [%]", (limit, *lines))
    alt = f"{chart.alt} Beside it the share of the runs that stay below each part of each limit."
    caption = (
        f"Left: {chart.caption} Right: of each demand, how many runs stay below a part of its limit. What reaches "
        "100 % left of the line keeps its limit in every run."
    )
    return Chart([*chart.panels, panel], alt, caption, columns=2, row_height=300)


def _used(one: Demand, series: int) -> Line:
    """Share of the runs that use less than a part of a limit."""
    limit = one.limit or 1.0
    with np.errstate(divide="ignore"):
        parts = limit / one.values if one.least else one.values / limit
    parts = np.sort(np.where(np.isnan(parts), np.inf, parts))
    share = 100.0 * np.arange(1, len(parts) + 1) / len(parts)
    shown = parts <= _MOST_USED
    x, y = parts[shown], share[shown]
    first = 0.0 if len(y) == 0 else y[0] - 100.0 / len(parts)
    start = x[:1] if len(x) else np.array([0.0])
    end = np.array([_MOST_USED])
    last = y[-1:] if len(y) else np.array([0.0])
    stairs_x = np.concatenate([[0.0], start, np.repeat(x, 2)[1:], end]) if len(x) else np.array([0.0, _MOST_USED])
    stairs_y = np.concatenate([[0.0, first], np.repeat(y, 2)[:-1], last]) if len(x) else np.zeros(2)
    rows = np.unique(np.linspace(0, len(stairs_x) - 1, min(len(stairs_x), _POINTS)).astype(int))
    return Line(stairs_x[rows], stairs_y[rows], one.name, series)


def _band(found: Rehearsed, near: bool) -> Chart:
    """The answer over time: with an ideal rig, with that of the file, and the band of all runs."""
    widen, unit = readable(found.answer_unit)
    peak = float(np.abs(found.ideal).max())
    at = found.time[int(np.abs(found.ideal).argmax())]
    shown = np.abs(found.time - at) <= _ABOUT if near else np.ones(len(found.time), bool)
    cut = _CUT * peak
    answers = np.clip(np.where(np.isnan(found.answers), np.inf, found.answers)[:, shown], -cut, cut)
    low, high = np.quantile(answers, _BAND, axis=0, method="inverted_cdf")
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
    caption = f"{found.answer}{' about its peak' if near else ''}; grey: between the lines lie nine of ten runs.{grew}"
    return Chart([Panel(found.answer, "time [s]", f"{found.answer} [{unit}]", lines)], alt, caption, row_height=260)


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
    for key in ("tracking error", "delay left", "effect on the answer"):
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
