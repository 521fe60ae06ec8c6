"""Reading records: PEER AT2, CSV and columns of text."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from hyloop.core.jit import Floats
from hyloop.errors import BadInput
from hyloop.hazards.checks import positive
from hyloop.hazards.motion import GroundMotion
from hyloop.hazards.units import acceleration_unit, unit_in_heading

__all__ = ["read_record"]

_NUMBER = r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
_NEW_HEADER = re.compile(rf"NPTS\s*=\s*(\d+)\s*,?\s*DT\s*=\s*{_NUMBER}", re.IGNORECASE)
_OLD_HEADER = re.compile(rf"^\s*(\d+)\s*,?\s+{_NUMBER}\s*,?\s*NPTS\s*,\s*DT", re.IGNORECASE)
_HEADER_LINES = 12  # of a PEER file within which the count and the step must appear
_JITTER = 0.05  # of a step: times printed with few digits are that uneven, a lost sample is twenty times more

Line = tuple[int, str]


def read_record(path: str | Path, unit: str | None = None, dt: float | None = None) -> GroundMotion:
    """Read a ground acceleration from a file.

    ======================  =======================================================================================
    PEER AT2 (``.at2``)     old header ``4000  0.0100  NPTS, DT`` or new ``NPTS= 4000, DT= .0100 SEC``; in g unless it
                            says otherwise
    any other text          one column (acceleration, `dt` needed) or two (time in s, acceleration), separated by
                            comma, semicolon, tab or blanks; a heading and lines starting with # or % may stand above
    ======================  =======================================================================================

    Parameters
    ----------
    path : path
        The file.
    unit : str, optional
        Unit of the acceleration: g, m/s2, cm/s2, mm/s2, gal, in/s2 or ft/s2. It wins over what the file says, and it is
        needed where the file says nothing.
    dt : float, optional
        Step in s, where the file has none. Where it has one, both must agree.

    Raises
    ------
    BadInput
        Missing or empty file, no unit or step, a value that is not a finite number, a count that differs from the
        header, uneven times; the message names the file and the line.
    """
    path = Path(path)
    if not path.is_file():
        raise BadInput(f"{path}: there is no such file; give the path of a record (.AT2, .csv, .txt).")
    if dt is not None:
        dt = positive(str(path), "dt", dt)
    text = path.read_text("utf-8-sig", errors="replace")
    lines = [(k, line.strip()) for k, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not lines:
        raise BadInput(f"{path}: the file is empty.")
    read = _peer if path.suffix.lower() == ".at2" else _columns
    a, step, stated = read(path, lines, dt)
    given = unit or stated
    if given is None:
        raise BadInput(f"{path}: the unit of acceleration is not in the file. Give unit='g', 'm/s2', 'cm/s2', ...")
    name, factor = acceleration_unit(given, str(path))
    if dt is not None and not np.isclose(dt, step, rtol=1e-3):
        raise BadInput(
            f"{path}: dt = {dt:g} s was given but the file says {step:g} s. Leave dt out; to compress time for a model "
            "use GroundMotion.in_model_time."
        )
    return GroundMotion(a * factor, step, path.stem, {"file": path.name, "unit": name})


def _numbers(path: Path, lines: Iterable[Line]) -> Floats:
    """Every number on the lines, in order."""
    lines = list(lines)
    try:
        values = np.array(" ".join(line for _, line in lines).split(), np.float64)
    except ValueError:
        values = np.array([np.nan])
    if not np.isfinite(values).all():
        for k, line in lines:
            for word in line.split():
                if not _finite(word):
                    raise BadInput(f"{path}, line {k}: '{word}' is not a finite number. Repair or remove it.")
    return values


def _finite(word: str) -> bool:
    try:
        return bool(np.isfinite(float(word)))
    except ValueError:
        return False


def _peer(path: Path, lines: list[Line], dt: float | None) -> tuple[Floats, float, str | None]:
    """Acceleration, step and unit of a PEER file."""
    headers = [_NEW_HEADER.search(line) or _OLD_HEADER.search(line) for _, line in lines[:_HEADER_LINES]]
    row = next((row for row, found in enumerate(headers) if found), -1)
    found = headers[row]
    if found is None:
        raise BadInput(
            f"{path}: none of the first {_HEADER_LINES} lines has the count and the step. A PEER file has "
            "'NPTS= 4000, DT= .0100 SEC' or '4000  0.0100  NPTS, DT'; rename the file to .txt to read bare columns."
        )
    k, count = lines[row][0], int(found[1])
    step = positive(f"{path}, line {k}", "DT", found[2])
    header = " ".join(line for _, line in lines[:row])
    for other in ("VELOCITY", "DISPLACEMENT"):
        if re.search(rf"{other}\s+TIME", header, re.IGNORECASE):
            raise BadInput(f"{path}: holds {other.lower()}, not acceleration. Give the .AT2 file of the record.")
    stated = re.search(r"UNITS?\s+OF\s+(\S+)", header, re.IGNORECASE)
    a = _numbers(path, lines[row + 1 :])
    if a.size != count or not count:
        raise BadInput(
            f"{path}, line {k}: the header promises {count} points and the file holds {a.size}. Fetch the file again, "
            "or correct NPTS if the rest is known to be good."
        )
    return a, step, stated[1] if stated else "g"


def _columns(path: Path, lines: list[Line], dt: float | None) -> tuple[Floats, float, str | None]:
    """Acceleration, step and unit of a file of one or two columns."""
    rows = [(k, line) for k, line in lines if line[0] not in "#%"]
    comments = [line.lstrip("#% ") for _, line in lines if line[0] in "#%"]
    split = re.compile(r"\s*[,;\t]\s*" if any(mark in rows[0][1] for mark in ",;\t") else r"\s+") if rows else None
    heading: list[str] | None = None
    if split and not any(_finite(word) or word.lower() == "nan" for word in split.split(rows[0][1])):
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
            if not _finite(word):
                raise BadInput(f"{path}, line {k}: '{word}' is not a finite number. Repair or remove it.")
    table = np.array([words for _, words in cells], np.float64)
    unit = unit_in_heading(heading[-1]) if heading else None
    if width == 1:
        if dt is None:
            raise BadInput(f"{path}: there is one column and no time. Give dt, the step in s.")
        return table[:, 0], dt, unit
    if heading and re.search(r"(ms|msec|milliseconds?)[)\]]?$", heading[0].strip(), re.IGNORECASE):
        raise BadInput(f"{path}: '{heading[0]}' is in milliseconds; give times in seconds.")
    return table[:, 1], _uniform_step(path, [k for k, _ in cells], table[:, 0]), unit


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
