"""Files of columns: .csv, .txt, .tsv, .dat, .asc, .lvm and the like, as measuring programs write them."""

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from hyloop.errors import BadInput
from hyloop.files.tables.layout import BLANKS, Layout, content, find_layout, split
from hyloop.files.tables.table import Column, LabTable

__all__ = ["read_text"]

_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_LOOK = 4096  # bytes and rows that are looked at to tell what the others are like


def read_text(path: Path, decimal: str | None = None) -> LabTable:
    """Read a file of columns; its layout is found, not given.

    Parameters
    ----------
    path : Path
    decimal : {"comma", "point"}, optional
        Decimal sign of a file that does not tell.

    Raises
    ------
    BadInput
        With the line: for a row with missing cells or words among numbers, headings that do not match, and numbers that
        can be read in two ways.
    """
    text, encoding = _decode(path)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    layout = find_layout(path, lines, decimal)
    rows = content(lines, layout.first)
    rows, dropped = _whole(lines, rows, layout)
    table = _numbers(path, lines, rows, layout)
    if len(table) < 2:
        raise BadInput(f"{path}: there is one row of numbers; a test has more.")
    spacing = [_spacing(lines, rows, j, layout) for j in layout.numeric]
    columns = tuple(
        Column(name, unit, np.ascontiguousarray(table[:, i]), f"column {layout.numeric[i] + 1}", spacing[i])
        for i, (name, unit) in enumerate(zip(layout.names, layout.units, strict=True))
    )
    said = [f"read as {encoding}, as it is not UTF-8"] if encoding in ("cp1252", "latin-1") else []
    return LabTable(
        path,
        layout.about,
        columns,
        (*said, *layout.notes, *dropped),
        layout.words,
        place=lambda k: f"line {rows[k] + 1}" if k < len(rows) else f"row {k + 1}",
    )


def _decode(path: Path) -> tuple[str, str]:
    """Text and encoding: by the mark at its beginning, else UTF-8, else as Windows wrote it."""
    data = path.read_bytes()
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _strict(path, data, encoding), encoding
    head = data[:_LOOK]
    if b"\0" in head:
        even, odd = head[0::2].count(0), head[1::2].count(0)
        if 4 * max(even, odd) < len(head):
            raise BadInput(f"{path}: is not a file of text, and of no other kind that is known. Export it as CSV.")
        encoding = "utf-16-le" if odd > even else "utf-16-be"
        return _strict(path, data, encoding), encoding
    for encoding in ("utf-8", "cp1252"):
        try:
            return data.decode(encoding), encoding
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1"), "latin-1"


def _strict(path: Path, data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: begins as {encoding} and is not ({error}). Export it again.") from None


def _whole(lines: Sequence[str], rows: list[int], layout: Layout) -> tuple[list[int], list[str]]:
    """The rows without a last one that was cut off."""
    last = lines[rows[-1]]
    if len(rows) > 2 and _problem(last, layout):
        said = f"line {rows[-1] + 1}, the last, is no whole row and was left out: '{last.strip()[:40]}'"
        return rows[:-1], [said]
    return rows, []


def _numbers(path: Path, lines: Sequence[str], rows: Sequence[int], layout: Layout) -> np.ndarray:
    block = [lines[k] for k in rows] if len(rows) != len(lines) - layout.first else list(lines[layout.first :])
    if layout.quoted:
        return _quoted(path, lines, rows, layout)
    wide = layout.separator != BLANKS
    if wide and sum(line.count(layout.separator) for line in block) != len(block) * (layout.cells - 1):
        _blame(path, lines, rows, layout)
    if not wide and any(len(line.split()) != layout.cells for line in block):
        _blame(path, lines, rows, layout)
    if layout.decimal == "," or layout.thousands:
        block = _plain("\n".join(block), layout).split("\n")
    try:
        return np.loadtxt(
            block, delimiter=layout.separator if wide else None, usecols=layout.numeric, comments=None, ndmin=2
        )
    except ValueError:
        _blame(path, lines, rows, layout)
        raise  # a row that this reader takes for numbers and numpy does not


def _plain(text: str, layout: Layout) -> str:
    """Numbers as Python writes them."""
    return text.replace(layout.thousands, "").replace(",", ".") if layout.thousands else text.replace(",", ".")


def _quoted(path: Path, lines: Sequence[str], rows: Sequence[int], layout: Layout) -> np.ndarray:
    cells = list(csv.reader([lines[k] for k in rows], delimiter=layout.separator, skipinitialspace=True))
    try:
        return np.array(
            [
                [
                    float(_plain(row[j], layout) if layout.decimal == "," or layout.thousands else row[j])
                    for j in layout.numeric
                ]
                for row in cells
            ]
        )
    except (ValueError, IndexError):
        _blame(path, lines, rows, layout)
        raise


def _problem(line: str, layout: Layout) -> str:
    """What is wrong with a row; empty if nothing is."""
    cells = split(line, layout.separator)
    if len(cells) != layout.cells:
        return f"{len(cells)} cells where the others have {layout.cells}"
    for j, name in zip(layout.numeric, layout.names, strict=True):
        try:
            float(_plain(cells[j], layout) if layout.decimal == "," or layout.thousands else cells[j])
        except ValueError:
            return f"column '{name}' is empty" if not cells[j] else f"'{cells[j][:40]}' in column '{name}' is no number"
    return ""


def _blame(path: Path, lines: Sequence[str], rows: Sequence[int], layout: Layout) -> None:
    """Refuse the first row that is wrong, by its line."""
    for k in rows:
        if problem := _problem(lines[k], layout):
            raise BadInput(
                f"{path}, line {k + 1}: {problem}. Below the headings there must be numbers only, in whole rows; "
                "repair or cut the file there."
            )


def _spacing(lines: Sequence[str], rows: Sequence[int], column: int, layout: Layout) -> float:
    """Distance of neighbouring printed numbers of a column, from rows all over the file."""
    decimals = 0
    for k in rows[:: max(len(rows) // _LOOK, 1)]:
        cell = split(lines[k], layout.separator)[column]
        if "e" in cell.casefold() or "n" in cell.casefold():
            return 0.0
        decimals = max(decimals, len(cell.partition(layout.decimal)[2]))
    return 10.0**-decimals
