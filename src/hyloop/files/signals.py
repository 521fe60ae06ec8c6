"""Which columns of a file are time, deformation, velocity, acceleration and force, and what they are in SI units."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hyloop.errors import BadInput, UnknownName
from hyloop.files.tables import Column, LabTable, is_time, suggested
from hyloop.files.tables.options import factor_place, option, unit_option
from hyloop.files.units import parse_unit

if TYPE_CHECKING:
    from hyloop.files.measurements import Channels

__all__ = ["KINDS", "Signal", "check_stated", "pick_signals", "pick_time", "stated_unit", "unit_size"]

KINDS = {"d": "m", "v": "m/s", "a": "m/s2", "f": "N"}
_USUAL = {"t": "ms", "d": "mm", "v": "mm/s", "a": "m/s2", "f": "kN"}  # examples in messages


class Signal(NamedTuple):
    """A signal in SI units, the unit it has in the file, and its column."""

    values: np.ndarray
    unit: str
    column: Column


def pick_time(
    table: LabTable, given: str | None, rate: float | None, units: Mapping[str, str]
) -> tuple[Column | None, np.ndarray | None]:
    """The column of times and the times in s; None where the file has none and its step is known otherwise."""
    if given is not None:
        clock = table.find(given, option("t"))
    else:
        found = [column for column in table.columns if is_time(column.name)]
        if len(found) > 1:
            raise BadInput(
                f"{table.path}: {' and '.join(c.name for c in found)} may both be the time; name it with {option('t')}."
            )
        if not found:
            if rate is None and table.step is None:
                _no_time(table)
            return None, None
        clock = found[0]
    unit = stated_unit(table, clock, "t", units) or "s"
    return clock, clock.values * unit_size(table, clock.name, unit, "s", "t")


def _no_time(table: LabTable) -> None:
    near = suggested(table.columns, "t")
    hint = f" Did you mean {option('t', near[0])}?" if near else ""
    raise BadInput(
        f"{table.path}: there is no column of times called t or time among {', '.join(table.names[:40])}.{hint} Name "
        f"it with {option('t')}, or say the sampling rate with {option('rate')}, as in {option('rate', '1024 Hz')}."
    )


def pick_signals(
    table: LabTable, channels: "Channels", clock: Column | None, units: Mapping[str, str]
) -> dict[str, Signal]:
    """The signals of one device in SI units: d, v and a as far as they are there, and the force."""
    columns = _columns(table, channels)
    check_stated(table, {**columns, **({"t": clock} if clock else {})}, units)
    found = {}
    for key, column in columns.items():
        unit = stated_unit(table, column, key, units)
        size = unit_size(table, column.name, unit, KINDS[key], key) * channels.factors.get(key, 1.0)
        found[key] = Signal(column.values * size, unit, column)
    return found


def _columns(table: LabTable, channels: "Channels") -> dict[str, Column]:
    """Column of every signal that is there; the force must be."""
    given = {key: name for key in KINDS if (name := getattr(channels, key)) is not None}
    named = {key: table.find(name, option(key)) for key, name in given.items()}
    names = table.names
    sites = [name[: -len(".f")] for name in names if name.endswith(".f") and f"{name[: -len('.f')]}.d" in names]
    site = channels.site
    if site is None and "f" not in given and "f" not in names:
        if len(sites) != 1:
            _which(table, sites)
        site = sites[0]
    if site is not None and f"{site}.f" not in names:
        raise UnknownName("site", site, sites, where=str(table.path))
    prefix = f"{site}." if site is not None else ""
    found = {key: table.find(f"{prefix}{key}") for key in KINDS if f"{prefix}{key}" in names} | named
    if "f" not in found:
        raise BadInput(f"{table.path}: there is no measured force; name its column with --f.")
    return {key: found[key] for key in KINDS if key in found}


def _which(table: LabTable, sites: list[str]) -> None:
    if sites:
        raise BadInput(
            f"{table.path}: which device? Name a site of {', '.join(sites)} with --site, or columns with --d, --v, --f."
        )
    hints = {key: near[0] for key in KINDS if (near := suggested(table.columns, key))}
    did = f" Did you mean {' '.join(option(key, name) for key, name in hints.items())}?" if hints else ""
    raise BadInput(
        f"{table.path}: which device? There is neither a column f nor a site among {', '.join(table.names[:40])}. "
        f"Name those of deformation and force with --d and --f, or a site with --site.{did}"
    )


def check_stated(table: LabTable, columns: Mapping[str, Column], units: Mapping[str, str]) -> None:
    for name in units:
        if name not in columns:
            try:
                table.find(name)
            except UnknownName:
                raise UnknownName("column", name, table.names, where=f"{table.path}: {option('units')}") from None


def stated_unit(table: LabTable, column: Column, key: str, units: Mapping[str, str]) -> str:
    """Unit of a column: of the file, else the one stated beside it, by the name of the column or of the signal."""
    both = {unit for name, unit in units.items() if name == key or name.casefold() == column.name.casefold()}
    if len(both) > 1:
        raise BadInput(f"{table.path}: '{column.name}' is given two units, {' and '.join(sorted(both))}. State one.")
    told = next(iter(both), "")
    if not told or not column.unit or column.unit == told:
        return told or column.unit
    try:
        parse_unit(column.unit)
    except BadInput:
        return told  # the file states a unit that nobody knows
    raise BadInput(
        f"{table.path}: '{column.name}' is in {column.unit} by its header, in {told} by {option('units')}. Leave it "
        "out there, or correct the header."
    )


def unit_size(table: LabTable, name: str, unit: str, wanted: str, key: str) -> float:
    """Factor from the unit of a column to SI; without a unit it is refused, never guessed."""
    if unit == wanted:
        return 1.0
    if not unit:
        usual = _USUAL[key]
        raise BadInput(
            f"{table.path}: column '{name}' has no unit. Write it into the header, as in '{name} [{usual}]', or "
            f"state it with {unit_option(name, usual)}."
        )
    try:
        have = parse_unit(unit)
    except BadInput as error:
        stop = "" if str(error).endswith("?") else "."
        raise BadInput(
            f"{table.path}: the unit of '{name}': {error}{stop} Correct it, or state it with {option('units')}; a unit "
            f"that is not known here is a known one times a factor: {factor_place()}."
        ) from error
    if have.dimension != parse_unit(wanted).dimension:
        raise BadInput(f"{table.path}: '{name}' is in {unit}, wanted a unit of the kind {wanted}.")
    return have.size
