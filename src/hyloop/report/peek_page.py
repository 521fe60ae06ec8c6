"""The page of a first look at a file: its loop or first history, then the history of every column."""

from pathlib import Path
from typing import Any

import numpy as np

from hyloop.files.looking import Look
from hyloop.files.tables import Column
from hyloop.report.charts import Chart
from hyloop.report.display import Line, Panel, rows_to_draw
from hyloop.report.page import Answer, Code, Section, Table, write_page

__all__ = ["write_peek"]

_POINTS = 60_000  # on a page, as many as keep it under 6 MB with plotly.js inside
_MOST = 40  # columns that are drawn; more cannot be read


def write_peek(path: Path, look: Look) -> Path:
    """Write one HTML page about a file; it loads nothing."""
    table = look.table
    drawn = [column for column in table.columns if column is not look.recognised.get("t")][:_MOST]
    points = int(np.clip(_POINTS // max(len(drawn), 1), 64, 4000))
    panels = [_history(column, look.time, points) for column in drawn]
    rows = max(len(column.values) for column in table.columns)
    loop = _loop(look, points)
    stated = sum(bool(column.unit) for column in table.columns)
    numbers = [
        (str(len(table.columns)), f"columns of numbers, {stated} with a unit"),
        (str(rows), "rows"),
        (_rate(look), "sampling rate" if look.time is not None else "sampling: see below"),
    ]
    sentence = f"{Path(look.source).name} is a {table.kind}: {', '.join(c.name for c in table.columns[:6])}"
    sentence += ", ..." if len(table.columns) > 6 else ""
    picture = loop or Chart(panels[:1], f"History of {drawn[0].name}." if drawn else "Nothing to draw.", row_height=320)
    sections = [
        Section("Next", ["This line fits laws to it."], code=[Code(look.command)]) if look.command else Section("Next"),
        Section("Columns", [f"Sampling: {look.sampling}.", *table.notes], tables=[_columns(look)]),
        Section("Histories", charts=[Chart(panels, "History of every column.", row_height=130)] if panels else ()),
    ]
    return write_page(path, f"A look at {Path(look.source).name}", Answer(f"{sentence}.", numbers, picture), sections)


def _rate(look: Look) -> str:
    if look.time is None or len(look.time) < 2:
        return "not known"
    return f"{(len(look.time) - 1) / float(look.time[-1] - look.time[0]):.6g} Hz"


def _label(column: Column) -> str:
    return f"{column.name} [{column.unit or '?'}]"


def _history(column: Column, time: np.ndarray | None, points: int) -> Panel:
    known = time is not None and len(time) == len(column.values)
    across = time if known and time is not None else np.arange(len(column.values), dtype=float)
    rows = rows_to_draw(points, column.values)
    line = Line(across[rows], column.values[rows], column.name, 0)
    return Panel(_label(column), "time [s]" if known else "row", column.unit or "?", (line,))


def _loop(look: Look, points: int) -> Chart | None:
    """Force over deformation, where both were recognised."""
    d, f = (look.recognised.get(key) for key in ("d", "f"))
    if d is None or f is None or len(d.values) != len(f.values):
        return None
    rows = rows_to_draw(points, d.values, f.values)
    panel = Panel("", _label(d), _label(f), (Line(d.values[rows], f.values[rows], "recorded", 0),))
    return Chart([panel], f"{f.name} over {d.name}.", f"{f.name} over {d.name}, as recorded.", row_height=320)


def _columns(look: Look) -> Table:
    roles = {id(column): key for key, column in look.recognised.items()}
    rows: list[list[Any]] = []
    for k, column in enumerate(look.table.columns):
        finite = column.values[np.isfinite(column.values)]
        ends = [float(finite.min()), float(finite.max())] if finite.size else [None, None]
        rows.append([k + 1, column.name, column.unit or "?", *ends, roles.get(id(column), ""), column.where])
    return Table("Columns", ["number", "name", "unit", "min", "max", "may be", "found at"], rows)
