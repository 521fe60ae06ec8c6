"""Files with several sections, as COSMOS and CSMIP have them: acceleration, velocity and displacement of channels."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hyloop.errors import BadInput
from hyloop.hazards.formats.text import Found, Line, check_count, choose, fixed_width

__all__ = ["Section", "body", "fixed_format", "read_section"]

_FORMAT = re.compile(r"\(\s*\d*\s*[FEGIfegi](?P<width>\d+)(?:\.\d+)?\s*\)")
_WORD = re.compile(r"(?!nan|inf)[a-z]{3}|^\s*[/|]", re.IGNORECASE)  # a line with words ends the numbers


@dataclass(frozen=True)
class Section:
    """One quantity of one channel.

    Attributes
    ----------
    line : int
        Number of the line that announces it.
    quantity : str
        "acceleration", "velocity" or "displacement".
    count : int
    dt : float
    unit : str or None
    width : int
        Characters of a number.
    names : tuple of str
        What the channel answers to: its number, its direction.
    rows : list of Line
        Its numbers, as text.
    """

    line: int
    quantity: str
    count: int
    dt: float
    unit: str | None
    width: int
    names: tuple[str, ...]
    rows: list[Line]


def fixed_format(text: str, usual: int) -> int:
    """Width of a number from a Fortran format such as (8F10.3) somewhere in the text, or the usual one."""
    found = _FORMAT.search(text)
    return int(found["width"]) if found else usual


def body(lines: Sequence[Line]) -> list[Line]:
    """The lines up to the first one with words."""
    end = next((i for i, (_, line) in enumerate(lines) if _WORD.search(line)), len(lines))
    return list(lines[:end])


def read_section(path: Path, sections: Sequence[Section], component: str | None, form: str) -> Found:
    """The acceleration of the channel that is meant."""
    wanted = [section for section in sections if section.quantity == "acceleration"]
    if not wanted:
        others = ", ".join(dict.fromkeys(section.quantity for section in sections)) or "nothing that can be read"
        raise BadInput(f"{path}: holds {others}, not acceleration. Give the file with the corrected acceleration (V2).")
    section = wanted[choose(path, [section.names for section in wanted], component)]
    a = fixed_width(path, section.rows, section.width)
    check_count(path, section.line, section.count, a.size, "the count")
    return Found(a, section.dt, section.unit, form, {"component": " = ".join(dict.fromkeys(section.names))})
