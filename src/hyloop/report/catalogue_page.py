"""The page about a folder of recordings: what they amount to, each in a row with its history, links to their pages."""

import math
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from hyloop.report.catalogue import WITHOUT, Entry, Pairs, find_recordings, pairs, read_entry
from hyloop.report.cells import Link, Spark
from hyloop.report.charts import COLORS, NEUTRAL, Drawing
from hyloop.report.display import short
from hyloop.report.page import Answer, Section, Table, write_page

__all__ = ["write_catalogue"]

_G = 9.80665  # m/s2
_HEIGHT = 400  # px
_LETTERS = 20  # of a name on a narrow screen
_SAME = 1e-9  # ratios that differ by less are the same
_ROWS = 15  # pairs that fit on the first screen
_COMPARED = {
    "story drift": "Compared is the largest drift of all stories, in mm, whichever story has it.",
    "displacement": "Compared is the largest displacement, in mm, wherever it is.",
}
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "star", "x")


def write_catalogue(
    path: Path, folder: Path, title: str, progress: Callable[[str, float], None] = lambda what, part: None
) -> Path:
    """Write one HTML page about all recordings below a folder; it loads nothing."""
    found = find_recordings(folder)
    entries = []
    for k, file in enumerate(found):
        progress("reading recordings", k / len(found))
        entries.append(read_entry(file, folder))
    progress("reading recordings", 1.0)
    read, broken = [e for e in entries if not e.problem], [e for e in entries if e.problem]
    paired = pairs(read)
    sections = [
        Section("Recordings", tables=[_table(read, folder, path.parent), _origins(read, folder)] if read else [])
    ]
    if paired is not None:
        sections.insert(0, Section("Pairs", tables=[_pairs_table(paired)]))
    if broken:
        rows = [[e.path.relative_to(folder).as_posix(), e.problem] for e in broken]
        sections.append(Section("Files that cannot be read", tables=[Table("Not read", ["file", "why"], rows)]))
    answer = Answer(
        _sentence(read, broken, paired), _numbers(read, broken, paired, folder), _picture(read, paired, folder)
    )
    return write_page(path, title, answer, sections)


def _what(read: Sequence[Entry]) -> str:
    return "story drift" if any(e.drift is not None for e in read) else "displacement"


def _sentence(read: Sequence[Entry], broken: Sequence[Entry], paired: Pairs | None) -> str:
    trouble = f" {len(broken)} {'file' if len(broken) == 1 else 'files'} cannot be read." if broken else ""
    stopped = sum(e.state != "complete" for e in read)
    trouble = (f" {stopped} stopped early." if stopped else "") + trouble
    what = _what(read)
    if paired is not None:
        number = len(paired.sizes)
        counted = "1 pair" if number == 1 else f"mean and spread of {number} pairs"
        spread = "" if math.isnan(paired.spread) else f" ± {paired.spread:.2g}"
        if paired.alike == number and np.ptp(list(paired.ratios.values())) < _SAME:
            counted, spread = f"in each of {number} pairs", ""  # one motion many times has no spread to tell
        alike = f" {paired.alike} of the pairs have the same ground motion as another." if paired.alike else ""
        if paired.alike and len(set(paired.motions.values())) == 1:
            alike = f" {number} of the pairs have the same ground motion: they count as one."
        return (
            f"The peak {what} {_in(paired.second)} is {short(paired.mean)}{spread} times that {_in(paired.first)}, "
            f"{counted}.{alike}{trouble}"
        )
    sizes = [e.size for e in read if e.size is not None]
    count = f"{len(read)} recording{'' if len(read) == 1 else 's'}"
    if not sizes:
        return f"{count}, none with displacements.{trouble}"
    return f"{count}, with peak {what}s from {short(1e3 * min(sizes))} to {short(1e3 * max(sizes))} mm.{trouble}"


def _in(group: str) -> str:
    """A group in a sentence."""
    return group if group == WITHOUT else "with devices" if not group else f"in {group}"


def _numbers(
    read: Sequence[Entry], broken: Sequence[Entry], paired: Pairs | None, folder: Path
) -> list[tuple[str, str]]:
    sized = [e for e in read if e.size is not None]
    most = max(sized, key=lambda e: e.size or 0.0, default=None)
    first = (str(len(read)), "recordings read")
    if paired is not None:
        ratios = paired.ratios
        best, worst = (pick(ratios, key=lambda key: ratios[key]) for pick in (min, max))
        ratio = f"{short(ratios[best])} to {short(ratios[worst])}"
        first = (ratio, f"times as large, from {best} to {worst}")
    largest = ("–", "no displacements")
    if most is not None:
        where = most.path.relative_to(folder).with_suffix("").as_posix()
        largest = (f"{short(1e3 * (most.size or 0.0))} mm", f"largest peak {_what(read)}, in {where}")
    stopped = sum(e.state != "complete" for e in read)
    return [first, largest, (str(stopped + len(broken)), "stopped early or cannot be read")]


def _table(read: Sequence[Entry], folder: Path, beside: Path) -> Table:
    rows = []
    for e in read:
        name, page = e.path.relative_to(folder).with_suffix("").as_posix(), e.path.with_suffix(".html")
        linked = page.is_file() and page.resolve().is_relative_to(beside.resolve())
        first = Link(name, page.resolve().relative_to(beside.resolve()).as_posix()) if linked else name
        ratio = None if e.drift_ratio is None else 100.0 * e.drift_ratio
        history = None if e.history is None else Spark(e.history, f"{e.channel} over time")
        peaks = _scaled(e.drift, 1e3), ratio, _scaled(e.displacement, 1e3), _scaled(e.force, 1e-3)
        rows.append([first, history, _scaled(e.ground, 1.0 / _G), *peaks, e.state])
    columns = [
        "recording",
        "last displacement",
        "peak ground acceleration [g]",
        "peak drift [mm]",
        "drift ratio [%]",
        "peak displacement [mm]",
        "peak device force [kN]",
        "state",
    ]
    kept = [j for j in range(len(columns)) if any(row[j] is not None for row in rows)]
    return Table("Peaks", [columns[j] for j in kept], [[row[j] for j in kept] for row in rows])


def _origins(read: Sequence[Entry], folder: Path) -> Table:
    rows = [[e.path.relative_to(folder).as_posix(), e.title, e.excitation, e.created] for e in read]
    return Table("Where they come from", ["file", "title", "excitation", "recorded (UTC)"], rows, folded=True)


def _scaled(value: float | None, factor: float) -> float | None:
    return None if value is None else factor * value


def _pairs_table(paired: Pairs) -> Table:
    rows: list[list[Any]] = [
        [name, *(1e3 * size for size in sizes), paired.ratios[name]] for name, sizes in paired.sizes.items()
    ]
    rows.append(["mean", None, None, paired.mean])
    rows.append(["spread (n - 1)", None, None, None if math.isnan(paired.spread) else paired.spread])
    columns = [f"{_in(group)} [mm]" for group in (paired.first, paired.second)]
    return Table("Peaks of the pairs", ["recording", *columns, "ratio"], rows)


def _picture(read: Sequence[Entry], paired: Pairs | None, folder: Path) -> Drawing | None:
    if not any(e.size is not None for e in read):
        return None
    if paired is not None and len(paired.sizes) <= _ROWS:
        return _dumbbells(paired, _what(read))
    return _scatter(read, folder)


def _dumbbells(paired: Pairs, what: str) -> Drawing:
    """A row for each pair: a dot for either group, joined; the largest on top."""
    names = sorted(paired.sizes, key=lambda name: paired.sizes[name][0])
    rows = [escape(name, quote=False) for name in names]
    joined: dict[str, Any] = {
        "type": "scatter",
        "mode": "lines",
        "x": [x for name in names for x in (*(1e3 * size for size in paired.sizes[name]), None)],
        "y": [y for row in rows for y in (row, row, None)],
        "line": {"color": NEUTRAL, "width": 1.5},
        "hoverinfo": "skip",
        "showlegend": False,
    }
    traces = [joined]
    for k, group in enumerate((paired.first, paired.second)):
        sizes = [1e3 * paired.sizes[name][k] for name in names]
        traces.append(
            _dots(group, sizes, rows, [f"{row}: {short(size)} mm" for row, size in zip(rows, sizes, strict=True)], k)
        )
    longest = max(len(row) for row in rows)
    layout = _layout(f"peak {what} [mm]", "", legend=True)
    layout["height"] = 26 * len(rows) + 100
    layout["margin"]["l"] = min(30 + 7 * longest, 320)
    layout["yaxis"] = {"type": "category", "automargin": False}
    clipped = [row if len(row) <= _LETTERS else f"{row[: _LETTERS - 1]}…" for row in rows]
    narrow = {
        **layout,
        "margin": {**layout["margin"], "l": min(20 + 7 * longest, 150)},
        "yaxis": {**layout["yaxis"], "tickvals": rows, "ticktext": clipped},
    }
    alt = f"Peak {what} of {len(rows)} pairs, {paired.first} and {paired.second}."
    return Drawing(traces, layout, alt, f"A row for each pair of recordings. {_COMPARED[what]}", narrow=narrow)


def _scatter(read: Sequence[Entry], folder: Path) -> Drawing:
    """Size against ground acceleration; against the order of the files where the ground is not recorded."""
    sized = [e for e in read if e.size is not None]
    shaken = all(e.ground is not None for e in sized)
    groups = list(dict.fromkeys(e.group for e in sized))
    traces = []
    for k, group in enumerate(groups):
        of = [e for e in sized if e.group == group]
        x = [(e.ground or 0.0) / _G if shaken else 1.0 + sized.index(e) for e in of]
        y = [1e3 * (e.size or 0.0) for e in of]
        text = [escape(e.path.relative_to(folder).with_suffix("").as_posix(), quote=False) for e in of]
        traces.append(_dots(group, x, y, [f"{name}: {short(size)} mm" for name, size in zip(text, y, strict=True)], k))
    across = "peak ground acceleration [g]" if shaken else "recording"
    alt = f"Peak {_what(read)} of {len(sized)} recordings against {across}."
    layout = _layout(across, f"peak {_what(read)} [mm]", legend=len(groups) > 1)
    return Drawing(traces, layout, alt, f"A dot for each recording. {_COMPARED[_what(read)]}")


def _dots(group: str, x: Sequence[Any], y: Sequence[Any], text: Sequence[str], k: int) -> dict[str, Any]:
    look = {"size": 10, "color": COLORS[k % len(COLORS)], "symbol": _SYMBOLS[k % len(_SYMBOLS)], "opacity": 0.9}
    name = escape(group or "with devices", quote=False)
    shown = {"text": list(text), "hovertemplate": "%{text}<extra></extra>", "marker": look}
    return {"type": "scatter", "mode": "markers", "name": name, "x": list(x), "y": list(y), **shown}


def _layout(across: str, up: str, *, legend: bool) -> dict[str, Any]:
    return {
        "height": _HEIGHT,
        "margin": {"l": 62, "r": 12, "t": 40, "b": 46},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"size": 12, "color": "#444"},
        "showlegend": legend,
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": "#999", "activecolor": "#666"},
        "xaxis": {"title": {"text": across, "standoff": 8}, "rangemode": "tozero"},
        "yaxis": {"title": {"text": up, "standoff": 8}, "rangemode": "tozero"},
    }
