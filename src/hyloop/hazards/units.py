"""Units of acceleration, as files and people spell them."""

import re

from hyloop.errors import BadInput
from hyloop.hazards.checks import G

__all__ = ["acceleration_unit", "unit_in_heading"]

_FACTORS = {"g": G, "m/s2": 1.0, "cm/s2": 0.01, "mm/s2": 0.001, "gal": 0.01, "in/s2": 0.0254, "ft/s2": 0.3048}
_SPELLINGS = {
    "m/s/s": "m/s2",
    "cm/s/s": "cm/s2",
    "mm/s/s": "mm/s2",
    "cm/sec2": "cm/s2",
    "m/sec2": "m/s2",
    "cm/sec/sec": "cm/s2",
    "m/sec/sec": "m/s2",
    "gals": "gal",
}
# a_g and u_g are symbols of ground acceleration, not a name followed by a unit
_SYMBOLS = {"a_g", "u_g", "ag", "ug"}


def _normal(text: str) -> str:
    """One spelling for m/s^2, m/s**2, m/s², M_S2 and the like."""
    plain = text.strip().strip(".,;").lower().replace("²", "2").replace("**", "").replace("^", "").replace(" ", "")
    plain = plain.replace("_", "/")
    return _SPELLINGS.get(plain, plain)


def acceleration_unit(text: str, where: str) -> tuple[str, float]:
    """Name of a unit and its size in m/s2."""
    name = _normal(text)
    if name not in _FACTORS:
        raise BadInput(f"{where}: '{text}' is not a unit of acceleration. Allowed: {', '.join(_FACTORS)}.")
    return name, _FACTORS[name]


def unit_in_heading(heading: str) -> str | None:
    """The unit in the heading of a column, such as ``acc (g)``, ``ag [m/s^2]``, ``ag_m_s2``; None where it has none."""
    bracket = re.search(r"[(\[]([^)\]]+)[)\]]", heading)
    if bracket:
        return bracket[1]
    word = heading.strip().lower()
    if word in _SYMBOLS:
        return None
    parts = re.split(r"[_\s]", word)
    suffixes = ["_".join(parts[k:]) for k in range(1, len(parts))]
    return next((s for s in suffixes if _normal(s) in _FACTORS), None)
