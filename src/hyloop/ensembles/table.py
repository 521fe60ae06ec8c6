"""All runs as one Parquet table: a column for each key that is changed, how it ended, and the measures."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hyloop.core.writing import replacing
from hyloop.ensembles.outcome import Row
from hyloop.errors import BadInput

__all__ = ["TABLE", "check_table", "read_table", "write_table"]

TABLE = "runs.parquet"
_WHOLE = 2**63


def write_table(
    path: Path, rows: Sequence[Row], keys: Sequence[Mapping[str, Any]], units: Mapping[str, str], about: str = ""
) -> None:
    """Write the table in one go; equal rows give equal bytes.

    Parameters
    ----------
    keys : sequence of mapping
        For each row what is changed in it: numbers in SI units, or texts.
    units : mapping
        Of measures and keys; they stand in the metadata of the columns.
    about : str
        JSON for the metadata of the table. No times of day: they would make equal sweeps differ.
    """
    arrow, parquet = _pyarrow()
    columns: dict[str, Any] = {"run": arrow.array([row.identity for row in rows])}
    for key in dict.fromkeys(name for one in keys for name in one):
        columns[key] = _column(arrow, [one.get(key) for one in keys])
    columns["outcome"] = arrow.array([row.outcome for row in rows])
    columns["reason"] = arrow.array([row.reason for row in rows])
    for name in dict.fromkeys(name for row in rows for name in row.values):
        columns[name] = arrow.array([row.values.get(name) for row in rows], arrow.float64())
    fields = [
        arrow.field(name, column.type, metadata={"unit": units[name]} if name in units else None)
        for name, column in columns.items()
    ]
    table = arrow.Table.from_arrays(list(columns.values()), schema=arrow.schema(fields, metadata={"about": about}))
    with replacing(path) as part:
        parquet.write_table(table, part)


def check_table() -> None:
    """Refuse where no table could be written in the end."""
    _pyarrow()


def read_table(path: Path) -> dict[str, list[Any]]:
    """Columns of a table by name."""
    _, parquet = _pyarrow()
    return parquet.read_table(path).to_pydict()


def _column(arrow: Any, values: list[Any]) -> Any:
    """Whole numbers, numbers, or texts, whichever all of them are."""
    if all(value is None or (isinstance(value, int) and abs(value) < _WHOLE) for value in values):
        return arrow.array(values, arrow.int64())
    if all(value is None or (isinstance(value, int | float) and math.isfinite(value)) for value in values):
        return arrow.array(values, arrow.float64())
    return arrow.array([None if value is None else str(value) for value in values], arrow.string())


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise BadInput("a table of runs is a Parquet file, which needs pyarrow: pip install 'hyloop[sweep]'.") from None
    return pyarrow, pyarrow.parquet
