"""Records of the Engineering Strong-Motion database and of ITACA (DYNA header): ``KEY: VALUE`` lines, then one value
to a line, usually in cm/s2."""

import re
from pathlib import Path

from hyloop.errors import BadInput
from hyloop.hazards.checks import positive
from hyloop.hazards.formats.text import Found, Line, check_count, numbers

__all__ = ["is_esm", "read_esm"]

_ENTRY = re.compile(r"(?P<key>[A-Z][A-Z0-9_/^]*):(?P<value>.*)")
_NEEDED = ("SAMPLING_INTERVAL_S", "NDATA", "DATA_TYPE", "UNITS")


def is_esm(lines: list[Line]) -> bool:
    """Whether the file begins with ``KEY: VALUE`` lines that have a sampling interval and a count."""
    header = _header(lines)
    return "SAMPLING_INTERVAL_S" in header and "NDATA" in header


def read_esm(path: Path, lines: list[Line]) -> Found:
    """Acceleration, step and unit of one component."""
    header = _header(lines)
    for key in _NEEDED:
        if not header.get(key, (0, ""))[1]:
            raise BadInput(f"{path}: the header has no {key}. Fetch the file again from the database.")
    kind = header["DATA_TYPE"][1]
    if kind.upper() != "ACCELERATION":
        raise BadInput(f"{path}: holds {kind.lower()}, not acceleration. Give the file with ACC in its name.")
    k, text = header["SAMPLING_INTERVAL_S"]
    step = positive(f"{path}, line {k}", "SAMPLING_INTERVAL_S", text)
    k, text = header["NDATA"]
    if not text.isdigit():
        raise BadInput(f"{path}, line {k}: NDATA = {text} is not a count.")
    a = numbers(path, lines[len(header) :])
    check_count(path, k, int(text), a.size, "NDATA")
    about = {
        name: header[key][1]
        for name, key in (("station", "STATION_CODE"), ("component", "STREAM"), ("baseline", "BASELINE_CORRECTION"))
        if header.get(key, (0, ""))[1]
    }
    return Found(a, step, header["UNITS"][1], "ESM", about)


def _header(lines: list[Line]) -> dict[str, tuple[int, str]]:
    """Entries of the header, by key, with the numbers of their lines; 64 of them in version 1.2, more in others."""
    header: dict[str, tuple[int, str]] = {}
    for k, line in lines:
        found = _ENTRY.fullmatch(line.strip())
        if found is None or found["key"] in header:
            break
        header[found["key"]] = (k, found["value"].strip())
    return header
