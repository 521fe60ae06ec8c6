"""Headings and rows of units: what a column is called and what it is measured in."""

import re

from hyloop.errors import BadInput
from hyloop.files.units import parse_unit

__all__ = ["read_heading", "spelled", "units_of_row"]

_BRACKETS = re.compile(r"\s*(?P<name>[^\[\(]*?)\s*(?:\[(?P<square>[^\]]*)\]|\((?P<round>.*)\))?\s*")
_IN_WORDS = re.compile(r"(?P<name>.*\S)(?:\s+in\s+|\s+/\s+)(?P<unit>\S+)")  # Weg in mm, F / kN
# names end in _m (measured), _in, _s or _t for other reasons than units; nothing but a unit ends in these
_ENDS = re.compile(r"(?P<name>.*\w)[_ ](?P<unit>mm|cm|µm|um|kN|MN|ms|mm/s|m/s2|lbf|kip)")
_SPELLINGS = {
    "sec": "s",
    "sec.": "s",
    "second": "s",
    "seconds": "s",
    "sek": "s",
    "sek.": "s",
    "sekunden": "s",
    "msec": "ms",
    "inch": "in",
    "inches": "in",
    "kips": "kip",
    "m/s/s": "m/s2",
    "mm/sec": "mm/s",
    "m/sec": "m/s",
    "m/sec2": "m/s2",
}
# units of other sensors: known to be units, though nothing here is computed in them
_OTHER_SENSORS = frozenset({"A", "mA", "V", "mV", "mV/V", "K", "°C", "degC", "°", "bar", "mbar", "µm/m", "um/m", "rpm"})


def spelled(unit: str) -> str:
    """A unit in the spelling of hyloop, where another is usual."""
    plain = unit.strip().strip("[]").strip()
    return _SPELLINGS.get(plain.casefold(), plain)


def _is_unit(text: str) -> bool:
    if spelled(text) in _OTHER_SENSORS or spelled(text) == "-":
        return True
    try:
        parse_unit(spelled(text))
    except BadInput:
        return False
    return True


def read_heading(cell: str) -> tuple[str, str, bool]:
    """Name and unit of a heading, and whether the unit stands there without brackets, so that it ought to be said.

    ``Weg [mm]``, ``Force (kN)``, ``Weg in mm``, ``F / kN`` and ``Disp_mm`` have a unit; ``d_m`` and ``Weg (Zylinder)``
    have none.
    """
    cell = cell.strip()
    found = _BRACKETS.fullmatch(cell)
    if found is not None and found["square"] is not None:
        return found["name"], spelled(found["square"]), False
    if found is not None and found["round"] is not None and _is_unit(found["round"]):
        return found["name"], spelled(found["round"]), False
    for form in (_IN_WORDS, _ENDS):
        found = form.fullmatch(cell)
        if found is not None and _is_unit(found["unit"]):
            return found["name"], spelled(found["unit"]), True
    return cell, "", False


def units_of_row(cells: list[str]) -> list[str] | None:
    """Units of a row below the headings, such as ``s;mm;kN``; None for a row of anything else.

    At least two cells (or all there are) must be units and no fewer than half: ``t`` is a ton, but ``t;d;f`` is a row
    of headings.
    """
    filled = [cell for cell in cells if cell.strip()]
    units = sum(_is_unit(cell.strip().strip("()")) for cell in filled)
    short = all(len(cell.strip()) <= 8 for cell in filled)
    if not filled or not short or 2 * units < len(filled) or units < min(2, len(filled)):
        return None
    return [spelled(cell.strip().strip("()")) for cell in cells]
