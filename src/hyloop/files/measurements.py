"""Tests to identify a law from: files of laboratories, recordings, and published data sets by name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hyloop.core import Block
from hyloop.data import Columns, source_tests
from hyloop.errors import BadInput
from hyloop.files.signals import check_stated, pick_signals, pick_time, stated_unit
from hyloop.files.tables import Column, LabTable, Sampling, read_table, sampling
from hyloop.identification import MeasuredTest

__all__ = [
    "Channels",
    "Columns",
    "Measured",
    "as_tests",
    "check_signal",
    "in_seconds",
    "read_columns",
    "read_measured",
    "read_tests",
]


class Channels(NamedTuple):
    """Where to find time, deformation, velocity, acceleration and force, and how to read them.

    A site, or columns by name or number; factors on the signals, for instance -1 for the other sign; the sampling rate
    in Hz of a file without times; "comma" or "point" where a text does not tell its decimal sign.
    """

    site: str | None = None
    d: str | None = None
    v: str | None = None
    a: str | None = None
    f: str | None = None
    t: str | None = None
    factors: Mapping[str, float] = {}
    rate: float | None = None
    decimal: str | None = None


@dataclass(frozen=True, eq=False)
class Measured:
    """One test as it was recorded.

    Attributes
    ----------
    name : str
    source : str
        The file, or the name of the published test.
    sampling : Sampling
    signals : dict of str to ndarray
        d, v, a and f, as far as they are there, in SI units.
    units : dict of str to str
        The unit each has in the file.
    columns : dict of str to str
        The column each was read from.
    factors : dict of str to float
        What they were multiplied by, where that is not 1.
    notes : tuple of str
        What the reader decided.
    """

    name: str
    source: str
    sampling: Sampling
    signals: dict[str, np.ndarray]
    units: dict[str, str]
    columns: dict[str, str]
    factors: dict[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = field(default=())

    def test(
        self, law: Block, start: str | None = None, every: int = 1, noise: Mapping[str, float] | None = None
    ) -> tuple[MeasuredTest, list[str]]:
        """The test as a law needs it, every n-th sample, and what had to be differentiated."""
        signals = dict(self.signals)
        notes = _complete(self.name, signals, self.sampling.dt, law)
        short = {key: signal[::every] for key, signal in signals.items()}
        inputs = {key: signal for key, signal in short.items() if key != "f"}
        dt = self.sampling.dt * every
        return MeasuredTest(dt, inputs, short["f"], start, name=self.name, noise=noise or {}), notes


def read_columns(
    source: str, channels: Channels | None = None, units: Mapping[str, str] | None = None
) -> dict[str, Columns]:
    """The tests of one source with all their columns, by name; sources are those of `read_tests`.

    Of `channels` the time, the rate and the decimal sign count; `units` are those of columns, by their names.
    """
    channels, units = channels or Channels(), units or {}
    if (found := source_tests(source)) is not None:
        return found
    table = read_table(source, channels.decimal)
    clock, time = pick_time(table, channels.t, channels.rate, units)
    rows = len(time) if time is not None else max(len(column.values) for column in table.columns)
    step = sampling(table, time, in_seconds(clock, time), channels.rate, rows)
    check_stated(table, {"t": clock} if clock else {}, units)
    name = Path(source).stem
    signals = {
        column.name: (column.values, stated_unit(table, column, "", units))
        for column in table.columns
        if len(column.values) == rows
    }
    return {name: Columns(step.dt, signals, name)}


def read_measured(
    source: str, channels: Channels | None = None, units: Mapping[str, str] | None = None
) -> list[Measured]:
    """Tests of one source as they were recorded; see `read_tests`."""
    channels = channels or Channels()
    if (published := source_tests(source)) is not None:
        own = channels._replace(site=None)  # a published test is of one device
        return [_published(source, name, columns, own, units or {}) for name, columns in published.items()]
    table = read_table(source, channels.decimal)
    return [_measured(table, Path(source).stem, source, channels, units or {})]


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
        A file of measurements (`hyloop.files.tables.read_table` says which kinds), or a test of a published data set
        (`hyloop.data.SOURCES`), such as ``brfd:ID``, in which ``*`` stands for any letters.
    law : Block
        Decides which signals are needed. A velocity or an acceleration that is missing is the derivative of the signal
        before it, by central differences.
    channels : Channels
        Names of the columns; by default d, v, a and f, or those of the site, or of the only site there is.
    start : str, optional
        State to be solved for from the first measured force, see `MeasuredTest`.
    every : int
        Take every n-th sample only.
    units : mapping of column to unit, optional
        Units of columns for which the file states none. Times without a unit are in s, as in files of ground motions;
        any other column without one is refused.
    """
    return as_tests(read_measured(source, channels, units), law, start=start, every=every)


def as_tests(
    measured: Sequence[Measured],
    law: Block,
    *,
    start: str | None = None,
    every: int = 1,
    noise: Mapping[str, float] | None = None,
) -> tuple[list[MeasuredTest], list[str]]:
    """Recorded tests as a law needs them, with the noise of their signals where it is known; and remarks."""
    if every < 1:
        raise BadInput(f"--every {every}: it must be 1 or more.")
    tests, notes = [], []
    for one in measured:
        test, said = one.test(law, start, every, noise)
        tests.append(test)
        notes += [note for note in (*one.notes, *said) if note not in notes]
    return tests, notes


def _measured(table: LabTable, name: str, source: str, channels: Channels, units: Mapping[str, str]) -> Measured:
    clock, time = pick_time(table, channels.t, channels.rate, units)
    # times first: a file that is not even is of no use, whatever its units
    step = None if time is None else sampling(table, time, in_seconds(clock, time), channels.rate, len(time))
    found = pick_signals(table, channels, clock, units)
    lengths = {key: len(signal.column.values) for key, signal in found.items()}
    if time is not None:
        lengths["t"] = len(time)
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{key} {length}" for key, length in lengths.items())
        raise BadInput(f"{source}: signals have different lengths ({said}). Name columns that belong together.")
    step = step or sampling(table, None, 0.0, channels.rate, lengths["f"])
    for key, signal in found.items():
        check_signal(table, key, signal.column, signal.values)
    return Measured(
        name,
        source,
        step,
        {key: signal.values for key, signal in found.items()},
        {key: signal.unit for key, signal in found.items()},
        {key: signal.column.name for key, signal in found.items()},
        {key: channels.factors[key] for key in found if channels.factors.get(key, 1.0) != 1.0},
        table.notes,
    )


def in_seconds(clock: Column | None, time: np.ndarray | None) -> float:
    """Spacing of the printed times in s."""
    if clock is None or time is None or not clock.spacing:
        return 0.0
    span = float(clock.values[-1] - clock.values[0])
    return clock.spacing * abs(float(time[-1] - time[0]) / span) if span and np.isfinite(span) else clock.spacing


def check_signal(table: LabTable, key: str, column: Column, values: np.ndarray) -> None:
    """Refuse what is no signal: not finite, or constant where something was imposed or measured."""
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise BadInput(
            f"{table.path}, {table.place(int(bad[0]))}: '{column.name}' is not finite ({bad.size} such sample(s)). Cut "
            "the record there or repair it."
        )
    if key in ("d", "f") and np.ptp(values) == 0.0:
        what = "deformation" if key == "d" else "force"
        raise BadInput(
            f"{table.path}: '{column.name}' is {values[0]:g} throughout, so it tells nothing of a device. Name the "
            f"column of the {what} with --{key}."
        )


def _published(source: str, name: str, columns: Columns, channels: Channels, units: Mapping[str, str]) -> Measured:
    if units:
        raise BadInput(f"{source}: --units is for files; a published test has its units already. Leave it out.")
    table = LabTable(
        Path(source),
        "published test",
        tuple(Column(key, unit, values, "data set") for key, (values, unit) in columns.signals.items()),
        step=columns.dt,
    )
    if channels.t is not None or channels.rate is not None:
        raise BadInput(f"{source}: a published test has its rate already; leave --t and --rate out.")
    return _measured(table, name, source, channels, {})


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
