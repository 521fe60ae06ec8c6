"""Files of load histories: tables of laboratories, and arrays of NumPy (.npz) and HDF5 files."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from hyloop.errors import BadInput
from hyloop.files.measurements import check_signal, in_seconds
from hyloop.files.signals import pick_time, stated_unit
from hyloop.files.tables import Column, LabTable, read_table, sampling
from hyloop.files.tables.options import keys_of, option
from hyloop.files.units import parse_unit
from hyloop.hazards import LoadHistory

__all__ = ["read_loads"]

_KEYS = {"rate": ("dt", "0.01 s"), "units": ("unit", "kN")}  # what the table of the loads calls them


def read_loads(
    path: Path,
    at: Mapping[str, str],
    wanted: Mapping[str, tuple[str, str | None]],
    *,
    dt: float | None = None,
    t: str | None = None,
    decimal: str | None = None,
) -> LoadHistory:
    """Read a load history.

    Parameters
    ----------
    at : mapping of str to str
        Column by degree of freedom.
    wanted : mapping of str to (str, str)
        For each degree of freedom the unit of the kind wanted, and the unit of its column where one is told.
    dt, t, decimal
        As in the table of an excitation: step, column of the times, decimal sign.
    """
    with keys_of("loads", _KEYS):
        if not path.is_file():
            raise BadInput(f"loads.file: {path} is missing. Check the path.")
        table = _arrays(path) or read_table(path, decimal)
        clock, time = pick_time(table, t, None if dt is None else 1.0 / dt, {})
        columns = {name: table.find(given, option("at")) for name, given in at.items()}
        lengths = {column.name: len(column.values) for column in columns.values()}
        if time is not None:
            lengths["the time"] = len(time)
        if len(set(lengths.values())) > 1:
            said = ", ".join(f"{name} {length}" for name, length in lengths.items())
            raise BadInput(f"{path}: columns have different lengths ({said}). Name columns that belong together.")
        rows = next(iter(lengths.values()))
        step = sampling(table, time, in_seconds(clock, time), None if dt is None else 1.0 / dt, rows)
        values = np.empty((rows, len(columns)))
        for k, (name, column) in enumerate(columns.items()):
            check_signal(table, "load", column, column.values)
            values[:, k] = column.values * _size(table, column, *wanted[name])
    meta = {"file": path.name, "columns": {name: column.name for name, column in columns.items()}, "notes": table.notes}
    return LoadHistory(values, step.dt, tuple(at), path.stem, meta)


def _size(table: LabTable, column: Column, kind: str, told: str | None) -> float:
    """Factor from the unit of a column to N or N m; without a unit it is refused, never guessed."""
    key, usual = ("unit", "kN") if kind == "N" else ("moment_unit", "kN m")
    unit = stated_unit(table, column, column.name, {column.name: told} if told else {})
    if not unit:
        raise BadInput(
            f"{table.path}: column '{column.name}' has no unit. Write it into the header, as in "
            f"'{column.name} [{usual}]', or give loads.{key} = \"{usual}\"."
        )
    try:
        have = parse_unit(unit)
    except BadInput as error:
        raise BadInput(
            f"{table.path}: the unit of '{column.name}': {error} Correct it, or give loads.{key}."
        ) from error
    if have.dimension != parse_unit(kind).dimension:
        raise BadInput(f"{table.path}: '{column.name}' is in {unit}, wanted a unit of the kind {kind}.")
    return have.size


def _arrays(path: Path) -> LabTable | None:
    """Vectors of a NumPy or HDF5 file as columns, those of matrices as X.1, X.2, ...; None for any other file.

    A number called dt is the step. Recordings of hyloop, which are HDF5 too, have a reader of their own.
    """
    if path.suffix.lower() == ".npz":
        try:
            with np.load(path, allow_pickle=False) as stored:
                found: dict[str, Any] = {name: stored[name] for name in stored.files}
        except (OSError, ValueError) as error:
            raise BadInput(f"{path}: cannot be read as arrays of NumPy ({error}).") from None
        return _table(path, "NumPy arrays", found)
    with path.open("rb") as stream:
        if stream.read(8) != b"\x89HDF\r\n\x1a\n":
            return None
    import h5py

    try:
        with h5py.File(path, "r") as file:
            own = {name: part for name, part in file.items() if isinstance(part, h5py.Dataset)}
            if {"data", "time", "names", "units"} <= own.keys():  # a recording
                return None
            found = {name: part[()] for name, part in own.items()}
    except OSError as error:
        raise BadInput(f"{path}: cannot be read as HDF5 ({error}).") from None
    return _table(path, "HDF5 file", found)


def _table(path: Path, kind: str, found: Mapping[str, Any]) -> LabTable:
    columns, step = [], None
    for name, given in found.items():
        array = np.asarray(given)
        if array.dtype.kind not in "fiu":
            continue
        if array.ndim == 0 and name == "dt":
            step = float(array)
        elif array.ndim == 1:
            columns.append(Column(name, "", array.astype(float), f"array {name}"))
        elif array.ndim == 2:
            parts = array.astype(float).T
            columns += [Column(f"{name}.{k + 1}", "", part, f"{name}[:, {k}]") for k, part in enumerate(parts)]
    if not columns:
        raise BadInput(f"{path}: has no array of numbers.")
    return LabTable(path, kind, tuple(columns), step=step)
