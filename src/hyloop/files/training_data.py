"""Histories for a training file: channels by name, in SI units, one event for each test."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from hyloop.errors import BadInput, UnknownName
from hyloop.files.measurements import Channels, Columns, read_columns
from hyloop.files.tables import is_recording
from hyloop.files.tables.options import keys_of, unit_option
from hyloop.files.training import DataSpec, TestSpec
from hyloop.files.units import parse_unit
from hyloop.neural.frozen import SI_UNITS
from hyloop.neural.histories import History

__all__ = ["TrainingData", "read_histories"]

_READING = ("t", "rate", "decimal")


class TrainingData(NamedTuple):
    """Histories, and name and unit of their columns."""

    histories: list[History]
    inputs: dict[str, str]
    outputs: dict[str, str]
    notes: list[str]


def read_histories(data: DataSpec) -> TrainingData:
    """Read every test a training file names.

    Raises
    ------
    BadInput
        For a file that is missing or broken, a channel that does not exist, values that are not finite, units that
        differ from test to test, and tests of one name.
    """
    histories, units, notes = [], {}, []
    for test in data.tests:
        with keys_of("data"):
            found = _columns(data, test)
        factors = {**data.factors, **test.factors}
        for name, columns in found.items():
            inputs, target = (
                np.column_stack(
                    [
                        factors.get(signal, 1.0)
                        * _values(test.source, name, columns, signal, channel, units)[:: data.every]
                        for signal, channel in wanted.items()
                    ]
                )
                for wanted in (data.inputs, data.outputs)
            )
            histories.append(History(name, test.event or columns.event, columns.dt * data.every, inputs, target))
            used = {*data.inputs.values(), *data.outputs.values()}
            remarks = (why for channel, why in columns.not_causal.items() if channel in used)
            notes += [why for why in remarks if why not in notes]
    return TrainingData(
        histories, {key: units[key] for key in data.inputs}, {key: units[key] for key in data.outputs}, notes
    )


def _columns(data: DataSpec, test: TestSpec) -> dict[str, Columns]:
    """The tests of a source: what [data] says of all files counts for those that do not tell by themselves."""
    told = {} if _tells(test.source) else {key: getattr(data, key) for key in _READING}
    said = {**told, **{key: value for key in _READING if (value := getattr(test, key)) is not None}}
    units = {**({} if _tells(test.source) else data.units), **test.units}
    column = {**data.inputs, **data.outputs}
    return read_columns(test.source, Channels(**said), {column.get(key, key): unit for key, unit in units.items()})


def _tells(source: str) -> bool:
    """Whether a source has times and units of its own: a published test, or a recording."""
    return not Path(source).is_file() or is_recording(source)


def _values(source: str, test: str, columns: Columns, signal: str, channel: str, units: dict[str, str]) -> np.ndarray:
    """One signal of one test in the SI unit it has in all tests, which is noted in `units`."""
    where = f"{source}, {signal}"
    if channel not in columns.signals:
        raise UnknownName("channel", channel, columns.signals, where=where)
    values, unit = columns.signals[channel]
    si, size = _si(unit, where, signal)
    if units.setdefault(signal, si) != si:
        raise BadInput(f"{where}: is in {unit} in '{test}', but in {units[signal]} in the tests before.")
    if not np.isfinite(values).all():
        at = int(np.argmin(np.isfinite(values)))
        raise BadInput(f"{where}: is {values[at]} at sample {at} of '{test}'. Repair or cut the record.")
    return values * size


def _si(unit: str, where: str, signal: str) -> tuple[str, float]:
    """The SI unit of the same kind, and how many of it the unit is."""
    if unit in SI_UNITS:  # also those of temperature and electricity
        return unit, 1.0
    if not unit:
        with keys_of("data"):
            raise BadInput(
                f"{where}: the channel has no unit. Write it into the heading, as in 'd [mm]', or state it with "
                f"{unit_option(signal, 'mm')}."
            )
    try:
        found = parse_unit(unit)
    except BadInput as error:
        raise BadInput(f"{where}: {error}.") from error
    if found.dimension not in _BY_DIMENSION:
        raise BadInput(f"{where}: {unit} has no SI unit among {', '.join(sorted(SI_UNITS))}. Convert it first.")
    return _BY_DIMENSION[found.dimension], found.size


_BY_DIMENSION = {
    parse_unit(unit).dimension: unit
    for unit in ("-", "s", "Hz", "m", "m/s", "m/s2", "N", "N/m", "N s/m", "Pa", "J", "W", "kg")
}
