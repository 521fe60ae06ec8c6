"""How what a reader must be told is written: as options of a command, or as keys of the table that names the file."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

__all__ = ["factor_place", "keys_of", "option", "unit_option"]


class _Keys(NamedTuple):
    """A table, and what it calls options that have another name there: key and an example."""

    table: str
    others: Mapping[str, tuple[str, str]]


_keys: ContextVar[_Keys | None] = ContextVar("keys", default=None)


@contextmanager
def keys_of(table: str, others: Mapping[str, tuple[str, str]] | None = None) -> Iterator[None]:
    """Within this, messages of the readers name keys of a table, such as ``data.t``, instead of ``--t``."""
    before = _keys.set(_Keys(table, others or {}))
    try:
        yield
    finally:
        _keys.reset(before)


def option(name: str, value: str = "") -> str:
    """``--t Zeit``, or ``data.t = "Zeit"`` where a table names the file; without the value only what it is called."""
    keys = _keys.get()
    if keys is None:
        return f"--{name} {_word(value)}" if value else f"--{name}"
    key, example = keys.others.get(name, (name, value))
    written = f'{keys.table}.{key} = "{example or value}"'
    return written if value else f"{keys.table}.{key}"


def unit_option(column: str, unit: str) -> str:
    """The same for the unit of a column: ``--units Weg=mm``, or ``data.units = { Weg = "mm" }``."""
    keys = _keys.get()
    if keys is None:
        return f"--units {_word(column)}={unit}"
    if "units" in keys.others:
        return option("units", unit)
    bare = column.replace("_", "").replace("-", "").isalnum() and column.isascii()
    key = column if bare else f'"{column}"'
    return f'{keys.table}.units = {{ {key} = "{unit}" }}'


def factor_place() -> str:
    """Where a factor on a column stands."""
    return (
        "unit and factor in a --columns file" if _keys.get() is None else f"{option('units')} and {option('factors')}"
    )


def _word(value: str) -> str:
    """A value as it is typed in a shell."""
    return value if value.replace("_", "").replace(".", "").isalnum() else f'"{value}"'
