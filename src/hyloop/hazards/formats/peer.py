"""PEER records (AT2): four lines of header, the count and the step on the last of them, then numbers in g."""

import re
from pathlib import Path

from hyloop.errors import BadInput
from hyloop.hazards.checks import positive
from hyloop.hazards.formats.text import NUMBER, Found, Line, check_count, numbers

__all__ = ["is_peer", "read_peer"]

_NEW_HEADER = re.compile(rf"NPTS\s*=\s*(\d+)\s*,?\s*DT\s*=\s*{NUMBER}", re.IGNORECASE)
_OLD_HEADER = re.compile(rf"^\s*(\d+)\s*,?\s+{NUMBER}\s*,?\s*NPTS\s*,\s*DT", re.IGNORECASE)
_HEADER_LINES = 12  # within which the count and the step must appear


def is_peer(lines: list[Line]) -> bool:
    """Whether count and step stand in the header as PEER writes them."""
    return any(_NEW_HEADER.search(line) or _OLD_HEADER.search(line) for _, line in lines[:_HEADER_LINES])


def read_peer(path: Path, lines: list[Line]) -> Found:
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
    a = numbers(path, lines[row + 1 :])
    check_count(path, k, count, a.size, "NPTS")
    return Found(a, step, stated[1] if stated else "g", "PEER")
