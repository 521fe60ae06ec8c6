"""Directions of ground motions in files: an axis, an angle in plan, or a vector."""

import math
import re
from typing import Annotated, Any

import numpy as np
from pydantic import BeforeValidator

from hyloop.errors import BadInput
from hyloop.files.units import quantity

__all__ = ["AXES", "Direction", "cosines", "in_words"]

AXES = ("x", "y", "z")
_UNIT = 1e-3  # of the length of a vector: three digits, as cosines are written
_NOTHING = 1e-12  # cosine of a right angle, in round-off
_ADVICE = 'give "x", "y" or "z" (with a sign if it shall be: "-z"), an angle in plan such as "30 deg", or [cx, cy, cz]'


def cosines(given: Any) -> np.ndarray:
    """Parts of a direction along x, y and z.

    y points up. An angle lies in plan and runs from x towards z: 90 deg is z. A vector must have the length 1, to three
    digits, and is then normalised: whether [1, 0, 1] stands for a motion that is 1.4 times as strong nobody can tell.

    Raises
    ------
    BadInput
        If it is none of these.
    """
    if isinstance(given, str):
        if found := re.fullmatch(r"([+-]?)([xyz])", given.strip()):
            return (-1.0 if found[1] == "-" else 1.0) * np.array([float(axis == found[2]) for axis in AXES])
        if re.fullmatch(r"\s*[+-]?[\d./eE+-]+\s*(deg|rad)\s*", given):
            angle = quantity(given, "rad")
            return _clean(np.array([math.cos(angle), 0.0, math.sin(angle)]))
        raise BadInput(f"got {given!r}; {_ADVICE}.")
    if not isinstance(given, (list, tuple)) or len(given) != 3 or not all(map(_is_number, given)):
        raise BadInput(f"got {given!r}; {_ADVICE}.")
    vector = np.array(given, dtype=float)
    length = float(np.linalg.norm(vector))
    if not abs(length - 1.0) <= _UNIT:
        fit = f"; [{', '.join(f'{part:.4g}' for part in vector / length)}] has this direction" if length > 0.0 else ""
        raise BadInput(f"got {list(given)} of length {length:.4g}; a vector must have the length 1{fit}.")
    return _clean(vector / length)


def in_words(given: Any) -> str:
    """A direction for a sentence: "along x", "at 30 deg from x towards z", "along [0.6, 0, 0.8]"."""
    if isinstance(given, str):
        return f"along {given}" if given[-1] in AXES else f"at {given} from x towards z"
    return f"along [{', '.join(f'{part:g}' for part in given)}]"


def _clean(vector: np.ndarray) -> np.ndarray:
    return np.where(np.abs(vector) < _NOTHING, 0.0, vector)


def _is_number(part: Any) -> bool:
    return isinstance(part, (int, float)) and not isinstance(part, bool) and math.isfinite(part)


def _checked(given: Any) -> Any:
    cosines(given)
    return given.strip() if isinstance(given, str) else tuple(float(part) for part in given)


Direction = Annotated[str | tuple[float, float, float], BeforeValidator(_checked)]
