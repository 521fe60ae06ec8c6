"""Tests to identify a law from: recordings, CSV files, and published data sets by name."""

import csv
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hyloop.core import Block
from hyloop.data import SOURCES, Columns, source_tests
from hyloop.errors import BadInput, UnknownName
from hyloop.files.units import parse_unit
from hyloop.identification import MeasuredTest
from hyloop.record import Recording

__all__ = ["Channels", "Columns", "read_columns", "read_tests"]

_UNITS = {"d": "m", "v": "m/s", "a": "m/s2", "f": "N"}
_USUAL = {"d": "mm", "v": "mm/s", "a": "m/s2", "f": "kN"}  # examples in messages
_TIMES = ("t", "time")
_HEADING = re.compile(r"\s*(?P<name>[^\[\(]*?)\s*(?:\[(?P<square>[^\]]*)\]|\((?P<round>.*)\))?\s*")
_JITTER = 1e-3  # of the step: times printed with few digits


class Channels(NamedTuple):
    """Where to find deformation, velocity, acceleration and force: a site, or channels by name."""

    site: str | None = None
    d: str | None = None
    v: str | None = None
    a: str | None = None
    f: str | None = None


def read_columns(source: str) -> dict[str, Columns]:
    """The tests of one source with all their columns, by name; sources are those of `read_tests`."""
    if (found := source_tests(source)) is not None:
        return found
    time, table = _columns(Path(source), {})
    name = Path(source).stem
    return {name: Columns(_step(source, time), table, name)}


def read_tests(
    source: str,
    law: Block,
    channels: Channels | None = None,
    *,
    start: str | None = None,
    every: int = 1,
    units: Mapping[str, str] | None = None,
) -> tuple[list[MeasuredTest], list[str]]:
    """Tests from one source, and remarks on how they were read.

    Parameters
    ----------
    source : str
        A recording (``.h5``), a CSV file with a header (``t,d [mm],f [kN]``), or a test of a published data set
        (`hyloop.data.SOURCES`), such as ``brfd:ID``, in which ``*`` stands for any letters.
    law : Block
        Decides which signals are needed. A velocity or an acceleration that is missing is the derivative of the signal
        before it, by central differences.
    channels : Channels
        Names of the channels; by default d, v, a and f of the site, or of the only site there is.
    start : str, optional
        State to be solved for from the first measured force, see `MeasuredTest`.
    every : int
        Take every n-th sample only.
    units : mapping of column to unit, optional
        Units of columns of a CSV file whose header does not state them. Times without a unit are in s, as in files of
        ground motions; any other column without one is refused.
    """
    if every < 1:
        raise BadInput(f"every = {every} must be 1 or more.")
    if units and Path(source).suffix.lower() != ".csv":
        raise BadInput(f"{source}: --units is for CSV files, this has its units already. Leave it out.")
    channels = channels or Channels()
    if (published := source_tests(source)) is not None:
        own = channels._replace(site=None)  # a published test is of one device
        found = {name: (c.dt, _pick(source, c.signals, own)) for name, c in published.items()}
    else:
        time, table = _columns(Path(source), units or {})
        found = {Path(source).stem: (_step(source, time), _pick(source, table, channels))}
    tests, notes = [], []
    for name, (dt, signals) in found.items():
        notes += [note for note in _complete(name, signals, dt, law) if note not in notes]
        short = {key: signal[::every] for key, signal in signals.items()}
        tests.append(
            MeasuredTest(dt * every, {k: s for k, s in short.items() if k != "f"}, short["f"], start, name=name)
        )
    return tests, notes


def _columns(path: Path, stated: Mapping[str, str]) -> tuple[np.ndarray, dict[str, tuple[np.ndarray, str]]]:
    """Times and every column with its unit."""
    if path.suffix.lower() == ".csv":
        return _csv(path, stated)
    recording = Recording.load(path)
    units = dict(zip(recording.names, recording.units, strict=True))
    return recording.time, {name: (recording[name], unit) for name, unit in units.items()}


def _csv(path: Path, stated: Mapping[str, str]) -> tuple[np.ndarray, dict[str, tuple[np.ndarray, str]]]:
    if not path.is_file():
        sources = ", ".join(f"{name}:TEST" for name in SOURCES)
        raise BadInput(f"{path}: no such file. Give a recording (.h5), a CSV file, or a published test ({sources}).")
    with open(path, newline="", encoding="utf-8-sig") as stream:
        rows = [row for row in csv.reader(stream) if row and not row[0].lstrip().startswith("#")]
    if len(rows) < 2:
        raise BadInput(f"{path}: there is no header with rows of numbers below it.")
    headings = [_HEADING.fullmatch(cell) for cell in rows[0]]
    names = [found["name"] if found else cell for found, cell in zip(headings, rows[0], strict=True)]
    units = [(found["square"] or found["round"] or "").strip() if found else "" for found in headings]
    units = _with_stated(path, dict(zip(names, units, strict=True)), stated)
    for k, row in enumerate(rows[1:], start=2):
        if len(row) != len(names):
            raise BadInput(f"{path}, row {k}: {len(row)} cells where the header has {len(names)}.")
    try:
        table = np.array(rows[1:], dtype=float)
    except ValueError as error:
        raise BadInput(f"{path}: below the header there must be numbers only ({error}).") from error
    places = [i for i, name in enumerate(names) if name in _TIMES]
    if len(places) != 1:
        raise BadInput(
            f"{path}: the header must have one column of times, called t or time; it has {', '.join(names)}."
        )
    clock = names[places[0]]
    time = table[:, places[0]] * _size(path, clock, units[clock] or "s", "s")
    return time, {name: (table[:, i], units[name]) for i, name in enumerate(names)}


def _with_stated(path: Path, units: dict[str, str], stated: Mapping[str, str]) -> dict[str, str]:
    """Units of the header, and for columns without one those stated beside the file."""
    for name, unit in stated.items():
        if name not in units:
            raise UnknownName("column", name, units, where=f"{path}: --units")
        if units[name] not in ("", unit):
            raise BadInput(
                f"{path}: '{name}' is in {units[name]} by its header, in {unit} by --units. Leave it out "
                "there, or correct the header."
            )
    return units | dict(stated)


def _size(path: str | Path, name: str, unit: str, wanted: str) -> float:
    """Factor from the unit of a column to SI; without a unit it is refused, never guessed."""
    if unit == wanted:
        return 1.0
    if not unit:
        usual = _USUAL[next(key for key, si in _UNITS.items() if si == wanted)]
        raise BadInput(
            f"{path}: column '{name}' has no unit. Write it into the header, as in '{name} [{usual}]', or "
            f"state it with --units {name}={usual}."
        )
    try:
        have = parse_unit(unit)
    except BadInput as error:
        raise BadInput(f"{path}: the unit of '{name}': {error}.") from error
    if have.dimension != parse_unit(wanted).dimension:
        raise BadInput(f"{path}: '{name}' is in {unit}, wanted a unit of the kind {wanted}.")
    return have.size


def _pick(source: str, table: dict[str, tuple[np.ndarray, str]], channels: Channels) -> dict[str, np.ndarray]:
    """The signals of one site in SI units."""
    signals = {}
    for key, name in _names(source, table, channels).items():
        values, unit = table[name]
        signals[key] = values * _size(source, name, unit, _UNITS[key])
    return signals


def _step(source: str, time: np.ndarray) -> float:
    """Sampling interval of times that must rise evenly."""
    steps = np.diff(time)
    if steps.size < 1 or not np.isfinite(steps).all():
        raise BadInput(f"{source}: needs at least two samples, at times that are numbers.")
    dt = float(np.median(steps))
    uneven = np.flatnonzero(~(np.abs(steps - dt) <= _JITTER * dt))
    if uneven.size or dt <= 0.0:
        at = float(time[uneven[0]]) if uneven.size else float(time[0])
        raise BadInput(f"{source}: times must rise evenly by {dt:g} s, and do not after {at:g} s. Resample first.")
    return (float(time[-1]) - float(time[0])) / (len(time) - 1)


def _names(source: str, table: Mapping[str, object], channels: Channels) -> dict[str, str]:
    """Channel of every signal that is there; the force must be."""
    given = {key: name for key, name in channels._asdict().items() if key != "site" and name is not None}
    for name in given.values():
        if name not in table:
            raise UnknownName("channel", name, table, where=source)
    sites = [name[: -len(".f")] for name in table if name.endswith(".f") and f"{name[: -len('.f')]}.d" in table]
    site = channels.site
    if site is None and "f" not in given and "f" not in table:
        if len(sites) != 1:
            raise BadInput(
                f"{source}: which device? Name a site of {', '.join(sites) or '(none found)'} with --site, "
                "or channels with --d, --v and --f."
            )
        site = sites[0]
    if site is not None and f"{site}.f" not in table:
        raise UnknownName("site", site, sites, where=source)
    prefix = f"{site}." if site is not None else ""
    found = {key: f"{prefix}{key}" for key in _UNITS if f"{prefix}{key}" in table} | given
    if "f" not in found:
        raise BadInput(f"{source}: there is no measured force; name its channel with --f.")
    return found


def _complete(name: str, signals: dict[str, np.ndarray], dt: float, law: Block) -> list[str]:
    """Differentiate what the law needs and the test lacks."""
    notes = []
    for key, source, what in (("v", "d", "velocity"), ("a", "v", "acceleration")):
        needed = key in law.inputs or (key == "v" and "a" in law.inputs)
        if needed and key not in signals and source in signals:
            if len(signals[source]) < 2:
                raise BadInput(f"{name}: {len(signals[source])} sample(s) have no derivative. Give a longer record.")
            signals[key] = np.gradient(signals[source], dt)
            notes.append(f"The {what} was not recorded; it is the central difference of {source}.")
    return notes
