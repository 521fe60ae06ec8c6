"""COSMOS strong-motion files, version 1.20: for each channel a header of text, integers and reals, and its sections.

A section begins with ``42000 acceleration pts, approx  210 secs, units=cm/sec2(04),Format=(1E15.6)``. The step is real
number 62 of the header, in ms, or number 34, that of the raw record, in s; the one that agrees with the duration on
that line is taken.
"""

import re
from pathlib import Path

from hyloop.core.jit import Floats
from hyloop.errors import BadInput
from hyloop.hazards.formats.sections import Section, body, fixed_format, read_section
from hyloop.hazards.formats.text import NUMBER, Found, Line, fixed_width

__all__ = ["cosmos_sections", "is_cosmos", "read_cosmos"]

_TITLE = re.compile(r"\(Format v\s*0?1\.\d+ with\s+\d+ text lines\)", re.IGNORECASE)
_REALS = re.compile(r"^\s*(?P<count>\d+)\s+Real-header values follow on\s+(?P<lines>\d+)\s+lines", re.IGNORECASE)
_SECTION = re.compile(
    rf"^\s*(?P<count>\d+)\s+(?P<what>[a-z. ]+?)\s+pts\s*,\s*approx\s+{NUMBER}\s*secs?\s*,"
    r"\s*units\s*=\s*(?P<unit>[^,(]+)",
    re.IGNORECASE,
)
_CHANNEL = re.compile(r"^Sta Chan\s+(?P<number>\S+?)\s*:\s*(?P<direction>\w+)(?P<degrees>\s+deg)?", re.IGNORECASE)
_CODE = re.compile(r"<SCNL>\s*[^.\s]+\.(?P<code>[^.\s]+)\.", re.IGNORECASE)
_KINDS = {"accel": "acceleration", "veloc": "velocity", "displ": "displacement"}
_STEPS = ((61, 1e-3), (33, 1.0))  # place among the reals, from 0, and its unit in s
_WIDTH = 15  # characters of a number, where the line above does not say it
_APPROXIMATE = 0.02, 1.0  # relative, and s: how well the duration is rounded


def is_cosmos(lines: list[Line]) -> bool:
    """Whether the first line names the format."""
    return bool(_TITLE.search(lines[0][1]))


def cosmos_sections(path: Path, lines: list[Line]) -> list[Section]:
    """Every section of the file."""
    sections: list[Section] = []
    names: tuple[str, ...] = ("1",)
    reals: Floats | None = None
    for i, (k, line) in enumerate(lines):
        if _TITLE.search(line):
            reals = None
        elif channel := _CHANNEL.search(line):
            names = (channel["number"], channel["direction"])
            names += (f"{channel['direction']} deg",) if channel["degrees"] else ()
        elif code := _CODE.search(line):
            names += (code["code"],)
        elif header := _REALS.search(line):
            rows = lines[i + 1 : i + 1 + int(header["lines"])]
            reals = fixed_width(path, rows, fixed_format(line, _WIDTH))
        elif found := _SECTION.search(line):
            word = found["what"].lower().removeprefix("raw ").removeprefix("uncorrected ").strip()
            count, seconds = int(found["count"]), float(found[3])
            sections.append(
                Section(
                    k,
                    _KINDS.get(word[:5], word),
                    count,
                    _step(path, k, reals, count, seconds),
                    found["unit"].strip(),
                    fixed_format(line, _WIDTH),
                    names,
                    body(lines[i + 1 :]),
                )
            )
    return sections


def _step(path: Path, line: int, reals: Floats | None, count: int, seconds: float) -> float:
    """The step that agrees with the duration."""
    relative, rounding = _APPROXIMATE
    for place, unit in _STEPS:
        step = reals[place] * unit if reals is not None and reals.size > place else 0.0
        if step > 0.0 and abs(step * count - seconds) <= max(relative * seconds, rounding):
            return float(step)
    raise BadInput(
        f"{path}, line {line}: neither real number 62 nor 34 of the header is the step of {count} points in about "
        f"{seconds:g} s. Repair the header."
    )


def read_cosmos(path: Path, lines: list[Line], component: str | None) -> Found:
    """Acceleration, step and unit of one channel."""
    sections = cosmos_sections(path, lines)
    counts = [section for section in sections if (section.unit or "").lower() == "counts"]
    if counts:
        raise BadInput(
            f"{path}, line {counts[0].line}: holds raw counts, not acceleration. Give the corrected record (V2)."
        )
    return read_section(path, sections, component, "COSMOS V1.20")
