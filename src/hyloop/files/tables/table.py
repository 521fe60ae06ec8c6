"""What every reader returns: columns with name, unit, values and the place they were found."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from hyloop.errors import BadInput, UnknownName
from hyloop.files.units import parse_unit

__all__ = ["Column", "LabTable", "is_time", "suggested"]

# how laboratories call their signals; used to suggest an option, never to choose a column
_USUAL = {
    "t": ("time", "zeit", "temps", "tiempo", "tempo", "sekunden"),
    "d": ("disp", "weg", "verschieb", "verform", "deform", "déplac", "desplaz", "stroke", "lvdt", "position"),
    "v": ("veloc", "geschwind", "vitesse", "velocidad", "speed"),
    "a": ("accel", "beschleun", "acc"),
    "f": ("force", "kraft", "load", "last", "fuerza", "effort", "forza"),
}
_COLUMN_OF = re.compile(r"(?P<name>.+?)(?:\.|\()(?P<number>\d+)\)?")  # X.2 and X(2) are X(:,2)
_KINDS = {"t": "s", "d": "m", "v": "m/s", "a": "m/s2", "f": "N"}


@dataclass(frozen=True, eq=False)
class Column:
    """One column of a file.

    Attributes
    ----------
    name : str
        Its heading without the unit; its number where it has none.
    unit : str
        As the file states it; empty where it does not.
    values : ndarray
    where : str
        Place in the file, such as ``column 2`` or ``variable X(:,2)``.
    spacing : float
        Distance of neighbouring numbers as they are printed, such as 0.001 for three decimals; 0 where all digits are
        there.
    """

    name: str
    unit: str
    values: np.ndarray
    where: str
    spacing: float = 0.0


def _row(k: int) -> str:
    return f"row {k + 1}"


@dataclass(frozen=True, eq=False)
class LabTable:
    """A file as it was found.

    Attributes
    ----------
    path : Path
    kind : str
        What kind of file it is, in words.
    columns : tuple of Column
        All of one length but for files of variables (MATLAB, TDMS), where lengths may differ.
    notes : tuple of str
        What was left out or decided while reading.
    words : tuple of str
        Columns that were left out because not all they hold are numbers.
    step : float, optional
        Sampling interval in s where the file states it beside the columns.
    place : callable
        From the number of a row (the first is 0) to where it stands, such as ``line 17``.
    """

    path: Path
    kind: str
    columns: tuple[Column, ...]
    notes: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    step: float | None = None
    place: Callable[[int], str] = field(default=_row, repr=False)

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    def find(self, given: str, option: str = "") -> Column:
        """The column of a name, in any case where that is clear, or of a number; the first is 1."""
        where = f"{self.path}{f': {option}' if option else ''}"
        for same in (lambda name: name == given, lambda name: name.casefold() == given.strip().casefold()):
            found = [k for k, column in enumerate(self.columns) if same(column.name)]
            if len(found) > 1:
                numbers = " and ".join(str(k + 1) for k in found)
                raise BadInput(f"{where}: columns {numbers} are called '{given}'. Give the number of the one you mean.")
            if found:
                return self.columns[found[0]]
        if given.isdigit():
            if not 1 <= int(given) <= len(self.columns):
                raise BadInput(
                    f"{where}: there is no column {given}; columns have numbers from 1 to {len(self.columns)}."
                )
            return self.columns[int(given) - 1]
        if part := _COLUMN_OF.fullmatch(given):
            matrix = f"{part['name']}(:,{part['number']})"
            found = [column for column in self.columns if column.name == matrix]
            if found:
                return found[0]
        if given in self.words:
            raise BadInput(f"{where}: the column '{given}' holds other things than numbers. Repair it in the file.")
        raise UnknownName("channel", given, self.names, where=where)


def is_time(name: str) -> bool:
    """Whether a column of this name is taken for the time without being told."""
    return name == "t" or name.casefold() == "time"


def suggested(columns: Sequence[Column], key: str) -> list[str]:
    """Columns that may be the signal `key` (t, d, v, a or f), by heading and unit; most likely first."""
    wanted = parse_unit(_KINDS[key]).dimension
    found = []
    for column in columns:
        name = column.name.casefold()
        named = name == key or any(word in name for word in _USUAL[key])
        try:
            fits = bool(column.unit) and parse_unit(column.unit).dimension == wanted
            other = bool(column.unit) and not fits
        except BadInput:
            fits, other = False, True
        if not other and (named or fits):
            found.append((-(2 * named + fits), column.name))
    return [name for _, name in sorted(found, key=lambda pair: pair[0])]
