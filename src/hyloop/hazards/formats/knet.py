"""Records of K-NET and KiK-net (NIED, Japan): 17 lines of header, then counts, eight to a line.

Acceleration in gal is a count times the scale factor of line 14. Counts have an offset that the file does not state.
NIED's own maximum, in line 15, is taken after the mean of the whole record has been subtracted, so this reader
subtracts the same mean, and says so in the motion's `meta`.

https://www.kyoshin.bosai.go.jp/kyoshin/man/knetform_en.html
"""

import re
from pathlib import Path

import numpy as np

from hyloop.errors import BadInput
from hyloop.hazards.checks import positive
from hyloop.hazards.formats.text import NUMBER, Found, Line, check_count, numbers

__all__ = ["is_knet", "read_knet"]

_FIRST = ("Origin Time", "Station Code", "Sampling Freq(Hz)", "Scale Factor")
_SCALE = re.compile(rf"{NUMBER}\s*\(gal\)\s*/\s*{NUMBER}", re.IGNORECASE)
_KEYS = 18  # characters of a line of the header before its value
_HEADER_LINES = 17
_PEAK = ("Max. Acc. (gal)", "Max Acc. (gal)")  # both spellings occur


def is_knet(lines: list[Line]) -> bool:
    """Whether the header has the lines of NIED."""
    return all(any(line.startswith(key) for _, line in lines[:_HEADER_LINES]) for key in _FIRST)


def read_knet(path: Path, lines: list[Line]) -> Found:
    """Acceleration, step and unit of one component, without its offset."""
    header = {line[:_KEYS].strip(): (k, line[_KEYS:].strip()) for k, line in lines[:_HEADER_LINES]}
    k, text = header["Sampling Freq(Hz)"]
    rate = positive(f"{path}, line {k}", "Sampling Freq(Hz)", re.sub(r"\s*hz$", "", text, flags=re.IGNORECASE))
    k, text = header["Scale Factor"]
    scale = _SCALE.fullmatch(text)
    if scale is None:
        raise BadInput(f"{path}, line {k}: the scale factor '{text}' is not of the form 3920(gal)/6182761.")
    scaled = positive(f"{path}, line {k}", "Scale Factor", scale[1]) / positive(f"{path}, line {k}", "counts", scale[2])
    counts = numbers(path, lines[_HEADER_LINES:])
    k, text = header.get("Duration Time(s)", (0, ""))
    if not k:
        raise BadInput(f"{path}: the header has no Duration Time(s). Fetch the file again from NIED.")
    seconds = positive(f"{path}, line {k}", "Duration Time(s)", text)
    check_count(path, k, round(seconds * rate), counts.size, "Duration Time(s)")
    offset = float(np.mean(counts))
    a = (counts - offset) * scaled
    about = {
        "station": header["Station Code"][1],
        "component": header.get("Dir.", (0, ""))[1],
        "offset": f"mean of the record removed, {offset * scaled:.4g} gal",
    }
    if peak := next((header[key][1] for key in _PEAK if header.get(key, (0, ""))[1]), None):
        about["peak stated"] = f"{peak} gal"
    return Found(a, 1.0 / rate, "gal", "K-NET", about)
