"""The command `peek`: a file as it was found, as tables and a page."""

from pathlib import Path
from typing import Any

import numpy as np

from hyloop.cli.console import console, print_json, print_table
from hyloop.cli.reading import page_name
from hyloop.files.looking import Look, look_at
from hyloop.report.page import check_page
from hyloop.report.peek_page import write_peek

__all__ = ["run_peek"]

_ROWS = 5  # shown of the beginning


def run_peek(source: str, decimal: str | None, out: Path | None, report: bool, json: bool) -> None:
    """Look, print, write a page."""
    target = out or page_name(source, "peek")
    if report:
        check_page(target)
    look = look_at(source, decimal)
    page = write_peek(target, look) if report else None
    if json:
        print_json(_as_dict(look, page))
        return
    rows = max(len(column.values) for column in look.table.columns)
    print_table(
        f"{source}: {look.table.kind}, {rows} rows", _COLUMNS, _cells(look), right=_COLUMNS[0:1] + _COLUMNS[3:5]
    )
    console.print(f"sampling: {look.sampling}", markup=False, highlight=False)
    for note in look.table.notes:
        console.print(f"note: {note}", markup=False, highlight=False)
    few = [column for column in look.table.columns if len(column.values) >= _ROWS][:8]
    first = [[f"{column.values[k]:.6g}" for column in few] for k in range(_ROWS)] if few else []
    print_table("First rows", [column.name for column in few], first, right=[column.name for column in few])
    if page:
        console.print(f"report: {page}", markup=False)
    if look.command:
        console.print("next:", highlight=False)
        console.print(look.command, markup=False, highlight=False, soft_wrap=True)
    if "?" in look.command:
        console.print("(put in what stands there as a question mark: the file does not say it)", highlight=False)


_COLUMNS = ["", "column", "unit", "min", "max", "may be", "found at"]


def _cells(look: Look) -> list[list[str]]:
    roles = {id(column): key for key, column in look.recognised.items()}
    cells = []
    for k, column in enumerate(look.table.columns):
        low, high = _ends(column.values)
        ends = ["-" if end is None else f"{end:.4g}" for end in (low, high)]
        cells.append([str(k + 1), column.name, column.unit or "?", *ends, roles.get(id(column), ""), column.where])
    return cells


def _ends(values: np.ndarray) -> tuple[float | None, float | None]:
    finite = values[np.isfinite(values)]
    return (float(finite.min()), float(finite.max())) if finite.size else (None, None)


def _as_dict(look: Look, page: Path | None) -> dict[str, Any]:
    roles = {id(column): key for key, column in look.recognised.items()}
    columns = []
    for k, column in enumerate(look.table.columns):
        low, high = _ends(column.values)
        about = {"number": k + 1, "name": column.name, "unit": column.unit or None, "rows": len(column.values)}
        columns.append(about | {"min": low, "max": high, "signal": roles.get(id(column)), "where": column.where})
    return {
        "file": look.source,
        "kind": look.table.kind,
        "sampling": look.sampling,
        "columns": columns,
        "notes": list(look.table.notes),
        "command": look.command or None,
        "report": str(page) if page else None,
    }
