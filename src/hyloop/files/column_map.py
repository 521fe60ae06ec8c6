"""A mapping table: which columns of a laboratory's files are which signals, once for all of its files."""

from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import ValidationError, model_validator

from hyloop.errors import BadInput
from hyloop.files.fields import Quantity, Table
from hyloop.files.measurements import Channels
from hyloop.files.messages import explain
from hyloop.files.toml import read_toml

__all__ = ["Mapped", "read_column_map"]

_SIGNALS = ("t", "d", "v", "a", "f")


class ColumnSpec(Table):
    """One signal: its column, its unit where the file states none, and a factor such as -1."""

    column: str | int
    """Heading of the column, or its number; the first is 1."""
    unit: str = ""
    """Unit, where the file does not state it."""
    factor: Annotated[float, Quantity("-")] = 1.0
    """Factor on the values, for instance -1 where tension and compression are swapped."""

    @model_validator(mode="before")
    @classmethod
    def _name_alone(cls, given: Any) -> Any:
        return {"column": given} if isinstance(given, (str, int)) and not isinstance(given, bool) else given


class ColumnMap(Table):
    """Signals of a file: ``t = "Zeit"``, ``d = { column = "Weg", unit = "mm", factor = -1 }``."""

    t: ColumnSpec | None = None
    d: ColumnSpec | None = None
    v: ColumnSpec | None = None
    a: ColumnSpec | None = None
    f: ColumnSpec | None = None
    rate: Annotated[float, Quantity("Hz", above=0.0)] | None = None
    """Sampling rate of files without times."""
    decimal: Literal["comma", "point"] | None = None
    """Decimal sign of texts that do not tell."""


class Mapped(NamedTuple):
    """What a mapping table says, as `read_measured` wants it."""

    channels: Channels
    units: dict[str, str]


def read_column_map(path: Path) -> Mapped:
    """Read a mapping table (TOML)."""
    data = read_toml(path, " given by --columns")
    try:
        spec = ColumnMap.model_validate(data)
    except ValidationError as error:
        raise BadInput(f"{path}: " + "\n".join(explain(error, data))) from None
    given = {key: column for key in _SIGNALS if (column := getattr(spec, key)) is not None}
    channels = Channels(
        **{key: str(column.column) for key, column in given.items()},
        factors={key: column.factor for key, column in given.items() if column.factor != 1.0},
        rate=spec.rate,
        decimal=spec.decimal,
    )
    return Mapped(channels, {key: column.unit for key, column in given.items() if column.unit})
