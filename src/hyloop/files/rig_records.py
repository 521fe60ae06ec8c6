"""Records to identify a rig from: its command and its measured displacement in a file of a laboratory."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from hyloop.errors import BadInput, UnknownName
from hyloop.files.measurements import Channels, in_seconds
from hyloop.files.signals import check_stated, pick_time, stated_unit, unit_size
from hyloop.files.tables import Column, LabTable, Sampling, read_table, sampling

__all__ = ["RigRecord", "read_rig_record"]

# how laboratories call them; used to suggest an option, never to choose a column
_USUAL = {
    "command": ("command", "cmd", "soll", "target", "desired", "wanted", "setpoint", "consigne", "drive", "input"),
    "measured": ("measured", "achieved", "actual", "ist", "feedback", "response", "lvdt", "stroke", "output", "mesur"),
}


@dataclass(frozen=True, eq=False)
class RigRecord:
    """Command and measured displacement as they were recorded.

    Attributes
    ----------
    name, source : str
        Name of the test, and its file.
    sampling : Sampling
    command, measured : ndarray
        In m.
    units, columns : dict of str to str
        Unit in the file, and column, of command and measured.
    notes : tuple of str
        What the reader decided.
    """

    name: str
    source: str
    sampling: Sampling
    command: np.ndarray
    measured: np.ndarray
    units: dict[str, str]
    columns: dict[str, str]
    notes: tuple[str, ...] = field(default=())


def read_rig_record(
    source: str,
    command: str | None = None,
    measured: str | None = None,
    channels: Channels | None = None,
    units: Mapping[str, str] | None = None,
) -> RigRecord:
    """Read a test of a rig.

    Parameters
    ----------
    source : str
        A file of measurements; `hyloop.files.tables.read_table` says which kinds.
    command, measured : str, optional
        Columns by heading or number. If not given: those called so; of a recording those of the site that has an
        actuator, or of ``channels.site``.
    channels : Channels
        Of which the site, the column of the time, the rate and the decimal sign count.
    units : mapping of column to unit, optional
        Of columns for which the file states none.
    """
    channels, units = channels or Channels(), dict(units or {})
    table = read_table(source, channels.decimal)
    clock, time = pick_time(table, channels.t, channels.rate, units)
    step = None if time is None else sampling(table, time, in_seconds(clock, time), channels.rate, len(time))
    found = _columns(table, {"command": command, "measured": measured}, channels.site)
    check_stated(table, {**found, **({"t": clock} if clock else {})}, units)
    lengths = {key: len(column.values) for key, column in found.items()}
    if time is not None:
        lengths["time"] = len(time)
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{key} {length}" for key, length in lengths.items())
        raise BadInput(
            f"{source}: samples differ in number ({said}), so that these columns were not sampled together. Record "
            "command and measured displacement with one clock, or bring both to the same times first."
        )
    step = step or sampling(table, None, 0.0, channels.rate, lengths["command"])
    signals, shown = {}, {}
    for key, column in found.items():
        shown[key] = stated_unit(table, column, key, units)
        signals[key] = column.values * unit_size(table, column.name, shown[key], "m", "d")
        _check(table, key, column)
    names = {key: column.name for key, column in found.items()}
    return RigRecord(
        Path(source).stem, source, step, signals["command"], signals["measured"], shown, names, table.notes
    )


def _columns(table: LabTable, given: Mapping[str, str | None], site: str | None) -> dict[str, Column]:
    named = {key: table.find(name, f"--{key}") for key, name in given.items() if name is not None}
    guessed: dict[str, str] = {}
    if len(named) < 2:
        guessed = _of_site(table, site) or {
            key: name for key in given for name in table.names if name.strip().casefold() == key
        }
    found = {key: named.get(key) or (table.find(guessed[key]) if key in guessed else None) for key in given}
    missing = [key for key, column in found.items() if column is None]
    if missing:
        _which(table, missing)
    if found["command"] is found["measured"]:
        raise BadInput(f"{table.path}: command and measured are the same column. Name two.")
    return {key: column for key, column in found.items() if column is not None}


def _of_site(table: LabTable, site: str | None) -> dict[str, str]:
    """Channels of a recording: what goes into the actuator of a site, and what shows its motion."""
    ending = ".actuator.d"
    sites = [name.removesuffix(ending) for name in table.names if name.endswith(ending)]
    if site is None and len(sites) != 1:
        return {}
    chosen = sites[0] if site is None else site
    if chosen not in sites:
        raise UnknownName("site with an actuator", chosen, sites, where=str(table.path))
    into = [f"{chosen}.compensator.d", f"{chosen}.d"]
    shows = [f"{chosen}.sensor.d", f"{chosen}{ending}"]
    picked = {
        key: next((name for name in names if name in table.names), "")
        for key, names in (("command", into), ("measured", shows))
    }
    return {key: name for key, name in picked.items() if name}


def _which(table: LabTable, missing: list[str]) -> None:
    hints = {}
    for key in missing:
        near = [name for name in table.names if any(word in name.casefold() for word in _USUAL[key])]
        if near:
            hints[key] = near[0] if near[0].isidentifier() else f'"{near[0]}"'
    did = f" Did you mean {' '.join(f'--{key} {name}' for key, name in hints.items())}?" if hints else ""
    raise BadInput(
        f"{table.path}: which column is the {' and which the '.join(missing)} displacement? There are "
        f"{', '.join(table.names[:40])}. Name them with {' and '.join(f'--{key}' for key in missing)}.{did}"
    )


def _check(table: LabTable, key: str, column: Column) -> None:
    bad = np.flatnonzero(~np.isfinite(column.values))
    if bad.size:
        raise BadInput(
            f"{table.path}, {table.place(int(bad[0]))}: '{column.name}' is not finite ({bad.size} such sample(s)). Cut "
            "the record there or repair it."
        )
    if np.ptp(column.values) == 0.0:
        raise BadInput(
            f"{table.path}: '{column.name}' is {column.values[0]:g} throughout, so it tells nothing of a rig. Name "
            f"another column with --{key}."
        )
