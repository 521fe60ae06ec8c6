"""Columns of text: acceleration alone, or time and acceleration, with or without a heading."""

import re
from pathlib import Path
from typing import Any

import numpy as np

from hyloop.errors import BadInput
from hyloop.hazards.formats.text import Found, Line, finite
from hyloop.hazards.units import unit_in_heading

__all__ = ["read_columns"]

_JITTER = 0.05  # of a step: times printed with few digits are that uneven, a lost sample is twenty times more


def read_columns(path: Path, lines: list[Line], dt: float | None) -> Found:
    """Acceleration, step and unit of a file of one or two columns."""
    lines = [(k, line.strip()) for k, line in lines]
    rows = [(k, line) for k, line in lines if line[0] not in "#%"]
    comments = [line.lstrip("#% ") for _, line in lines if line[0] in "#%"]
    split = re.compile(r"\s*[,;\t]\s*" if any(mark in rows[0][1] for mark in ",;\t") else r"\s+") if rows else None
    heading: list[str] | None = None
    if split and not any(finite(word) or word.lower() == "nan" for word in split.split(rows[0][1])):
        heading = split.split(rows[0][1])
        rows = rows[1:]
    elif split and comments:
        heading = split.split(comments[-1])  # as numpy.savetxt writes one
    if not rows or split is None:
        raise BadInput(f"{path}: there are no numbers in the file.")
    cells = [(k, split.split(line.rstrip(" ,;\t"))) for k, line in rows]
    width = len(cells[0][1])
    if width > 2:
        raise BadInput(
            f"{path}, line {cells[0][0]}: {width} columns; keep one (acceleration) or two (time, acceleration)."
        )
    for k, words in cells:
        if len(words) != width:
            raise BadInput(f"{path}, line {k}: {len(words)} value(s) where the lines above have {width}.")
        for word in words:
            if not finite(word):
                raise BadInput(f"{path}, line {k}: '{word}' is not a finite number. Repair or remove it.")
    table = np.array([words for _, words in cells], np.float64)
    unit = unit_in_heading(heading[-1]) if heading else None
    if width == 1:
        if dt is None:
            raise BadInput(f"{path}: there is one column and no time. Give dt, the step in s.")
        return Found(table[:, 0], dt, unit, "columns")
    if heading and re.search(r"(ms|msec|milliseconds?)[)\]]?$", heading[0].strip(), re.IGNORECASE):
        raise BadInput(f"{path}: '{heading[0]}' is in milliseconds; give times in seconds.")
    step = _uniform_step(path, [k for k, _ in cells], table[:, 0])
    return Found(table[:, 1], step, unit, "columns")


def _uniform_step(path: Path, numbers: list[int], time: Any) -> float:
    """The step of a time column, or a refusal naming the line where it changes."""
    if time.size < 2:
        raise BadInput(f"{path}, line {numbers[0]}: one sample has no step; a record needs at least two.")
    steps = np.diff(time)
    usual = float(np.median(steps))
    uneven = np.flatnonzero(np.abs(steps - usual) > _JITTER * abs(usual))
    if usual <= 0.0 or uneven.size:
        k = int(uneven[0]) if uneven.size else 0
        raise BadInput(
            f"{path}, line {numbers[k + 1]}: time goes from {time[k]:g} to {time[k + 1]:g} s where the usual step is "
            f"{usual:g} s. Times must increase evenly; resample the record first."
        )
    return float((time[-1] - time[0]) / (time.size - 1))
