"""What all readers share: lines with their numbers, numbers with refusals that name the line, and what is read."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from hyloop.core.jit import Floats
from hyloop.errors import BadInput, UnknownName

__all__ = ["NUMBER", "Found", "Line", "check_count", "choose", "finite", "fixed_width", "numbers"]

NUMBER = r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"

Line = tuple[int, str]
"""Number of a line in its file, from 1, and its text."""


@dataclass(frozen=True)
class Found:
    """What a reader finds in a file.

    Attributes
    ----------
    a : array
        Acceleration in the unit of the file.
    dt : float
        Step in s.
    unit : str or None
        Unit as the file spells it; None where it has none.
    format : str
        Name of the format.
    about : dict
        What a user of the motion should know, such as the station or an offset removed.
    """

    a: Floats
    dt: float
    unit: str | None
    format: str
    about: dict[str, Any] = field(default_factory=dict)


def finite(word: str) -> bool:
    """Whether a word is a finite number."""
    try:
        return bool(np.isfinite(float(word)))
    except ValueError:
        return False


def numbers(path: Path, lines: Iterable[Line]) -> Floats:
    """Every number on the lines, in order."""
    lines = list(lines)
    try:
        values = np.array(" ".join(line for _, line in lines).split(), np.float64)
    except ValueError:
        values = np.array([np.nan])
    if not np.isfinite(values).all():
        for k, line in lines:
            for word in line.split():
                if not finite(word):
                    raise BadInput(f"{path}, line {k}: '{word}' is not a finite number. Repair or remove it.")
    return values


def fixed_width(path: Path, lines: Iterable[Line], width: int) -> Floats:
    """Numbers in columns of a fixed width, which may touch each other."""
    cut = [
        (k, " ".join(line[i : i + width] for i in range(0, len(line.rstrip()), width)))
        for k, line in lines
        if line.strip()
    ]
    return numbers(path, cut)


def check_count(path: Path, line: int, promised: int, found: int, correct: str) -> None:
    """Refuse a record that is shorter or longer than its header says."""
    if promised != found or not promised:
        raise BadInput(
            f"{path}, line {line}: the header promises {promised} points and the file holds {found}. Fetch the file "
            f"again, or correct {correct} if the rest is known to be good."
        )


def choose(path: Path, names: Sequence[tuple[str, ...]], component: str | None) -> int:
    """Which of several records is meant; `names` has, for each, the names it answers to, the first for messages.

    Raises
    ------
    BadInput
        If there are several and none is named, or several answer to the name.
    UnknownName
        If none does.
    """
    shown = ", ".join(" = ".join(dict.fromkeys(words)) for words in names)
    if component is None:
        if len(names) > 1:
            raise BadInput(f"{path}: holds {len(names)} records ({shown}). Name one with component=.")
        return 0
    found = [i for i, words in enumerate(names) if _plain(component) in map(_plain, words)]
    if not found:
        raise UnknownName("component", component, [word for words in names for word in words], where=str(path))
    if len(found) > 1:
        raise BadInput(f"{path}: '{component}' is the name of {len(found)} records ({shown}). Name one by its channel.")
    return found[0]


def _plain(word: str) -> str:
    return re.sub(r"\s+", " ", word.strip().lower())
