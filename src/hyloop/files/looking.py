"""A first look at a file: what it holds, how it was sampled, and which options `hyloop identify` would need."""

import shlex
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hyloop.data import source_tests
from hyloop.errors import BadInput
from hyloop.files.signals import pick_time
from hyloop.files.tables import Column, LabTable, is_time, read_table, sampling, suggested
from hyloop.hazards import read_record, record_components

__all__ = ["Look", "look_at"]


@dataclass(frozen=True, eq=False)
class Look:
    """What `hyloop peek` shows.

    Attributes
    ----------
    source : str
    table : LabTable
    time : ndarray or None
        Times in s, where they or the step are known.
    sampling : str
        Rate and evenness, or why it cannot be used as it is.
    recognised : dict of str to Column
        Columns that are t, d, v, a or f by their names, or are likely to be.
    command : str
        The `hyloop identify` line to begin with; empty for a ground motion and where there is no force.
    """

    source: str
    table: LabTable
    time: np.ndarray | None
    sampling: str
    recognised: dict[str, Column]
    command: str


def look_at(source: str, decimal: str | None = None) -> Look:
    """Look at a file of measurements, a recording, a published test or a ground motion."""
    table, motion = _table(source, decimal)
    recognised = {} if motion else _recognised(table)
    time, said = _time(table, recognised.get("t"))
    return Look(source, table, time, said, recognised, "" if motion else _command(source, table, recognised, decimal))


def _table(source: str, decimal: str | None) -> tuple[LabTable, bool]:
    """The table, and whether it is a ground motion in a format of its own."""
    if (published := source_tests(source)) is not None:
        name, test = next(iter(published.items()))
        columns = tuple(Column(key, unit, values, "data set") for key, (values, unit) in test.signals.items())
        more = (f"the first of {len(published)} tests, {name}",) if len(published) > 1 else ()
        return LabTable(Path(source), "published test", columns, more, step=test.dt), False
    if (motion := _motion(Path(source))) is not None:
        return motion, True
    return read_table(source, decimal), False


def _motion(path: Path) -> LabTable | None:
    """A ground motion whose header says what it is; None for anything else."""
    try:
        channels = record_components(path) or [None]
        motions = {channel or "a": read_record(path, component=channel) for channel in channels}
    except (BadInput, OSError, ValueError):
        return None
    first = next(iter(motions.values()))
    if first.meta["format"] == "columns":
        return None
    columns = tuple(Column(name, "m/s2", m.a, f"acceleration, peak {m.pga:.4g} m/s2") for name, m in motions.items())
    return LabTable(path, f"ground motion, {first.meta['format']}", columns, step=first.dt)


def _recognised(table: LabTable) -> dict[str, Column]:
    """Columns by signal: those of the exact names, of the only site, else the likeliest by heading and unit."""
    names = table.names
    sites = [name[: -len(".f")] for name in names if name.endswith(".f") and f"{name[: -len('.f')]}.d" in names]
    prefix = f"{sites[0]}." if len(sites) == 1 and "f" not in names else ""
    found: dict[str, Column] = {}
    clocks = [column for column in table.columns if is_time(column.name)]
    clocks = clocks or [_first(table, [name]) for name in suggested(table.columns, "t")]
    if clocks:
        found["t"] = clocks[0]
    for key in ("d", "v", "a", "f"):
        if f"{prefix}{key}" in names:
            found[key] = _first(table, [f"{prefix}{key}"])
        elif not sites and (near := suggested(table.columns, key)):
            found[key] = _first(table, near)
    return found


def _first(table: LabTable, names: list[str]) -> Column:
    return next(column for column in table.columns if column.name == names[0])


def _time(table: LabTable, clock: Column | None) -> tuple[np.ndarray | None, str]:
    rows = max(len(column.values) for column in table.columns)
    try:
        if clock is None and table.step is None:
            return None, 'no times were recognised; say the rate with --rate, as in --rate "1024 Hz"'
        if clock is None:
            return table.step * np.arange(rows), sampling(table, None, 0.0, None, rows).text  # pyright: ignore
        _, time = pick_time(table, clock.name, None, {})
        if time is None:
            return None, "no times were recognised"
        span = float(clock.values[-1] - clock.values[0])
        spacing = clock.spacing * abs(float(time[-1] - time[0]) / span) if span else 0.0
        return time, sampling(table, time, spacing, None, len(time)).text
    except BadInput as error:
        return None, f"cannot be used as it is: {error}"


def _command(source: str, table: LabTable, found: dict[str, Column], decimal: str | None) -> str:
    """The line to begin with; what only a person knows stands there as a question mark."""
    if "f" not in found or not ("d" in found or "v" in found):
        return ""
    words = ["hyloop", "identify", "--laws", "all", shlex.quote(source)]
    site = found["f"].name.removesuffix(".f")
    if found["f"].name == f"{site}.f" and "f" not in table.names:
        pass  # the only site of a recording is found by itself
    else:
        for key, column in found.items():
            if column.name != key and not (key == "t" and is_time(column.name)):
                words += [f"--{key}", shlex.quote(_unique(table, column))]
    bare = [key for key in ("d", "v", "a", "f") if key in found and not found[key].unit]
    words += ["--units", shlex.quote(",".join(f"{key}=?" for key in bare))] if bare else []
    words += ["--rate", '"? Hz"'] if "t" not in found and table.step is None else []
    words += ["--decimal", decimal] if decimal else []
    return " ".join([*words, "--save", "law.toml"])


def _unique(table: LabTable, column: Column) -> str:
    """The name of a column, or its number where others have the same name."""
    return column.name if table.names.count(column.name) == 1 else str(table.columns.index(column) + 1)
