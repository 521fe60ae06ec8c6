"""Corrected records (V2) of CSMIP and, in the same form, of the USGS: three sections for each channel.

A section begins with ``12000 points of accel data equally spaced at  .005 sec, in cm/sec2. (8f10.6)``; the channel is
the last ``Chan  1: 360 Deg`` above it.
"""

import re
from pathlib import Path

from hyloop.errors import BadInput
from hyloop.hazards.checks import positive
from hyloop.hazards.formats.sections import Section, body, fixed_format, read_section
from hyloop.hazards.formats.text import NUMBER, Found, Line

__all__ = ["csmip_sections", "is_csmip", "read_csmip"]

_SECTION = re.compile(
    rf"^\s*(?P<count>\d+)\s+points of (?P<kind>accel|veloc|displ)\w* data equally spaced at\s+{NUMBER}\s*sec",
    re.IGNORECASE,
)
_UNIT = re.compile(r"(?:\bin|\bunits?\s*[:=])\s*(?P<unit>[a-z]+/[\w/^*]+)", re.IGNORECASE)
_CHANNEL = re.compile(r"\bChan(?:nel)?\s*(?P<number>\d+)\s*:\s*(?P<direction>\w+)(?P<degrees>\s+Deg)?", re.IGNORECASE)
_TITLE = re.compile(r"^\s*(?:un)?corrected accelerogram", re.IGNORECASE)
_KINDS = {"accel": "acceleration", "veloc": "velocity", "displ": "displacement"}
_WIDTH = 10  # characters of a number, eight to a line, where the section does not say it
_HEADER_LINES = 60  # of a channel, before its acceleration


def is_csmip(lines: list[Line]) -> bool:
    """Whether a section is announced in the first header, or the title is that of such a file."""
    return bool(_TITLE.search(lines[0][1])) or any(_SECTION.search(line) for _, line in lines[:_HEADER_LINES])


def csmip_sections(path: Path, lines: list[Line]) -> list[Section]:
    """Every section of the file."""
    sections, names = [], ("1",)
    for i, (k, line) in enumerate(lines):
        if channel := _CHANNEL.search(line):
            names = (channel["number"], channel["direction"])
            names += (f"{channel['direction']} deg",) if channel["degrees"] else ()
        if found := _SECTION.search(line):
            step = positive(f"{path}, line {k}", "the step", found[3])
            unit = _UNIT.search(line)
            sections.append(
                Section(
                    k,
                    _KINDS[found["kind"].lower()],
                    int(found["count"]),
                    step,
                    unit["unit"] if unit else None,
                    fixed_format(line, _WIDTH),
                    names,
                    body(lines[i + 1 :]),
                )
            )
    return sections


def read_csmip(path: Path, lines: list[Line], component: str | None) -> Found:
    """Acceleration, step and unit of one channel."""
    sections = csmip_sections(path, lines)
    if not sections:
        raise BadInput(
            f"{path}: no line says 'points of accel data equally spaced at ...'. An uncorrected record (V1) is not "
            "read; give the corrected one (V2)."
        )
    return read_section(path, sections, component, "CSMIP V2")
