"""How a file of columns is laid out: separator, decimal sign, where the numbers begin, what stands above them."""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hyloop.errors import BadInput
from hyloop.files.tables.decimals import decimal_sign
from hyloop.files.tables.headings import read_heading, units_of_row
from hyloop.files.tables.options import option

__all__ = ["BLANKS", "COMMENTS", "Layout", "content", "find_layout", "split"]

BLANKS = " "  # any number of blanks
COMMENTS = ("#", "%", "//", "!")
_SEPARATORS = (";", "\t", ",", BLANKS)  # the first of those that do equally well
_SHOWN = {";": "semicolons", "\t": "tabs", ",": "commas", BLANKS: "blanks"}
_LOOK = 4096  # rows all over a file that show what a column without numbers holds
_TAIL = 40  # lines at the end that show how rows look
_NUMBER = re.compile(r"[+-]?(?:\d[\d.,]*|[.,]\d+)(?:[eE][+-]?\d+)?|[+-]?(?:nan|inf)", re.IGNORECASE)
_WORD = re.compile(r"[^\s\[(]+(?:\s*(?:\[[^\]]*\]|\([^)]*\)))?")  # a heading between blanks, with its unit
_RULE = re.compile(r"[-=_+|*\s]+")


@dataclass(frozen=True)
class Layout:
    """Where what stands in a file of columns.

    `cells` is the number of cells of a row, `numeric` those that hold numbers, `first` the first line of numbers,
    counted from 0; `names` and `units` belong to the numeric cells, `words` are those of the others. `quoted`: cells
    stand in quotation marks.
    """

    separator: str
    decimal: str
    thousands: str
    cells: int
    numeric: tuple[int, ...]
    first: int
    names: tuple[str, ...]
    units: tuple[str, ...]
    words: tuple[str, ...]
    quoted: bool
    notes: tuple[str, ...]

    @property
    def about(self) -> str:
        return f"text, columns separated by {_SHOWN[self.separator]}, decimal {_sign(self.decimal)}"


def _sign(decimal: str) -> str:
    return "commas" if decimal == "," else "points"


def content(lines: Sequence[str], first: int = 0) -> list[int]:
    """Lines from `first` on that are neither empty nor comments."""
    return [k for k, line in enumerate(lines[first:], first) if line.strip() and not _is_comment(line)]


def split(line: str, separator: str) -> list[str]:
    """Cells of a line, without the blanks round them."""
    if separator == BLANKS:
        return line.split()
    if '"' in line:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=separator, skipinitialspace=True))]
    return [cell.strip() for cell in line.split(separator)]


def find_layout(path: Path, lines: Sequence[str], decimal: str | None) -> Layout:
    """Look at the end of a file, where the numbers are, and then for the headings above the first of them.

    `decimal` is "comma", "point" or None: to be found out.
    """
    full = content(lines)
    tail = [lines[k] for k in (full[-_TAIL - 1 : -1] if len(full) > 3 else full)]  # the last line may be cut off
    separator, cells, numeric = _rows(tail, decimal)
    if not numeric:
        shown = f" The end reads '{tail[-1].strip()[:60]}'." if tail else ""
        raise BadInput(f"{path}: there is no header with rows of numbers below it.{shown}")
    first = next(k for k in full if _is_row(lines[k], separator, cells, numeric))
    names, units, notes = _headings(path, lines, first, separator, cells, numeric)
    quoted = any('"' in line for line in tail)
    if separator == ",":
        _check_commas(path, tail, names, cells, lines[first])
    sign, thousands, said = decimal_sign(path, lines, first, separator, decimal, quoted)
    left = [j for j in range(cells) if j not in numeric]
    below = [k for k in full if k >= first]
    seen = [split(lines[k], separator) for k in below[:: max(len(below) // _LOOK, 1)]] if left else []
    words = [names[j] or f"column {j + 1}" for j in left if any(row[j : j + 1] not in ([""], []) for row in seen)]
    notes += [f"without numbers, left out: {', '.join(words)}"] if words else []
    empty = [names[j] for j in left if names[j] and names[j] not in words]  # one without a heading ends every row
    notes += [f"empty, left out: {', '.join(empty)}"] if empty else []
    return Layout(
        separator,
        sign,
        thousands,
        cells,
        numeric,
        first,
        tuple(names[j] or str(j + 1) for j in numeric),
        tuple(units[j] for j in numeric),
        tuple(words),
        quoted,
        (*notes, *said),
    )


def _rows(tail: Sequence[str], decimal: str | None) -> tuple[str, int, tuple[int, ...]]:
    """Separator, number of cells and cells with numbers that most lines agree on."""
    best, found = 0.0, (BLANKS, 1, ())
    for separator in _SEPARATORS:
        if separator == "," and decimal == "comma" and not any('"' in line for line in tail):
            continue
        rows = [split(line, separator) for line in tail]
        counts = [len(row) for row in rows]
        cells = max(set(counts), key=counts.count, default=1)
        same = [row for row in rows if len(row) == cells and any(_NUMBER.fullmatch(cell) for cell in row)]
        # a column of numbers may have a word here and there, which is refused later with its line
        full = [[bool(_NUMBER.fullmatch(row[j])) for row in same if row[j]] for j in range(cells)]
        numeric = tuple(j for j in range(cells) if full[j] and 2 * sum(full[j]) >= len(full[j]))
        filled = sum(any(row[j] for row in same) for j in range(cells))
        score = len(same) * len(numeric) / max(filled, 1) * (1.0 if cells > 1 else 0.5)
        if numeric and score > best + 1e-9:
            best, found = score, (separator, cells, numeric)
    return found


def _is_row(line: str, separator: str, cells: int, numeric: Sequence[int]) -> bool:
    row = split(line, separator)
    return len(row) == cells and all(_NUMBER.fullmatch(row[j]) for j in numeric)


def _headings(
    path: Path, lines: Sequence[str], first: int, separator: str, cells: int, numeric: Sequence[int]
) -> tuple[list[str], list[str], list[str]]:
    """Names and units of all cells, and what is to be said about them."""
    above = [k for k in range(first) if lines[k].strip() and not _RULE.fullmatch(lines[k])]
    while above and _is_comment(lines[above[-1]]) and not _heading_row(lines[above[-1]], separator, cells, numeric):
        above.pop()
    rows = [_heading_row(lines[k], separator, cells, numeric) for k in above[-2:]]
    if not rows or rows[-1] is None:
        wide = len(split(lines[above[-1]], separator)) if above and separator != BLANKS else 1
        if wide > 1:
            raise BadInput(
                f"{path}, line {above[-1] + 1}: {wide} headings where the rows below have {cells} cells. Give every "
                "column one heading, or remove the line; columns without headings go by their numbers."
            )
        return [""] * cells, [""] * cells, ["there are no headings; columns go by their numbers, the first is 1"]
    headings = rows[-1]
    if 2 * sum(bool(_NUMBER.fullmatch(cell)) for cell in headings) >= len(headings):
        raise BadInput(
            f"{path}, line {above[-1] + 1}: '{lines[above[-1]].strip()[:60]}' is neither a row of headings nor one of "
            "numbers. Below the headings there must be numbers only; repair the line."
        )
    units = units_of_row(headings) if len(rows) == 2 else None
    if units is not None and rows[0] is not None:
        read = [read_heading(cell) for cell in rows[0]]
        if not any(unit for _, unit, _ in read):
            return [name for name, _, _ in read], units, []
    read = [read_heading(cell) for cell in headings]
    said = [
        f"'{cell}' is taken for {name} in {unit}" for cell, (name, unit, say) in zip(headings, read, strict=True) if say
    ]
    return [name for name, _, _ in read], [unit for _, unit, _ in read], said


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith(COMMENTS)


def _heading_row(line: str, separator: str, cells: int, numeric: Sequence[int]) -> list[str] | None:
    """A line as so many headings; None if it is not."""
    text = line.strip("\n\r ")
    for mark in COMMENTS:
        text = text.removeprefix(mark)
    kinds = [separator, *(other for other in _SEPARATORS if other != separator)]
    for row in [split(text, kind) for kind in kinds] + [[word.group() for word in _WORD.finditer(text)]]:
        if len(row) == cells + 1 and row[-1].casefold() in ("", "comment"):  # LabVIEW: a comment that no row has
            row = row[:-1]
        if len(row) == cells - 1 and cells - 1 not in numeric:  # rows, and not the headings, end in a separator
            row = [*row, ""]
        if len(row) == cells and any(row) and not all(_NUMBER.fullmatch(cell) for cell in row):
            return row
    return None


def _check_commas(path: Path, tail: Sequence[str], names: Sequence[str], cells: int, row: str) -> None:
    """Refuse ``0,5,1,25``: four whole numbers, or two with decimal commas?"""
    whole = all(cell.lstrip("+-").isdigit() for line in tail for cell in split(line, ",") if cell)
    if whole and not any(names):
        raise BadInput(
            f"{path}: '{row.strip()[:40]}' may be {cells} whole numbers or numbers with decimal commas. Write headings "
            f"above them, or say {option('decimal', 'comma')} or {option('decimal', 'point')}; with decimal commas "
            "separate columns by semicolons."
        )
