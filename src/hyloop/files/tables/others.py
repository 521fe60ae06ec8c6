"""Files that know what they hold: TDMS of LabVIEW, Parquet, and recordings of hyloop."""

from pathlib import Path

import numpy as np

from hyloop.errors import BadInput
from hyloop.files.tables.headings import read_heading, spelled
from hyloop.files.tables.table import Column, LabTable
from hyloop.record import Recording

__all__ = ["read_parquet", "read_recording", "read_tdms"]


def read_recording(path: Path) -> LabTable:
    """Channels of a recording; whatever it is, the time is a column too."""
    recording = Recording.load(path)
    columns = [Column("time", "s", recording.time, "time")]
    columns += [
        Column(name, unit, recording.data[:, k], f"channel {k + 1}")
        for k, (name, unit) in enumerate(zip(recording.names, recording.units, strict=True))
        if name != "t"  # the clock of the loop, which is the time again
    ]
    notes = () if recording.complete else ("the recording is not finished: the run was cut off, or is still going on",)
    return LabTable(path, "recording of hyloop", tuple(columns), notes)


def read_parquet(path: Path) -> LabTable:
    """Columns of numbers; units are those of the metadata, as hyloop writes them, or of the headings."""
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise BadInput(f"{path}: needs pyarrow, which is not installed: pip install 'hyloop[parquet]'.") from error
    try:
        table = pyarrow.parquet.read_table(path)
    except (OSError, pyarrow.ArrowException) as error:
        raise BadInput(f"{path} cannot be read as a Parquet file: {error}. Export it again.") from None
    columns = []
    for k, entry in enumerate(table.schema):
        if pyarrow.types.is_floating(entry.type) or pyarrow.types.is_integer(entry.type):
            unit = (entry.metadata or {}).get(b"unit", b"").decode()
            name, stated = (entry.name, unit) if unit else read_heading(entry.name)[:2]
            columns.append(Column(name, stated, table.column(k).to_numpy().astype(float), f"column {k + 1}"))
    if not columns:
        raise BadInput(f"{path}: has no column of numbers.")
    return LabTable(path, "Parquet file", tuple(columns))


def read_tdms(path: Path) -> LabTable:
    """Channels of all groups, with the unit LabVIEW gave them; the time is a channel, or the step of the waveforms."""
    try:
        from nptdms import TdmsFile
    except ImportError as error:
        raise BadInput(f"{path}: needs npTDMS, which is not installed: pip install 'hyloop[lab]'.") from error
    try:
        file = TdmsFile.read(path)
        channels = [channel for group in file.groups() for channel in group.channels() if len(channel) > 1]
        columns = [
            _tdms_column(channel[:], channel.name, channel.group_name, channel.properties, channels)
            for channel in channels
        ]
    except (OSError, ValueError, KeyError, EOFError, NotImplementedError) as error:
        raise BadInput(f"{path} cannot be read as a TDMS file: {error}. Copy it again with its index file.") from None
    columns = [column for column in columns if column is not None]
    if not columns:
        raise BadInput(f"{path}: has no channel of numbers.")
    steps = {
        float(c.properties["wf_increment"]) for c in channels if float(c.properties.get("wf_increment", 0.0)) > 0.0
    }
    notes = []
    if len(steps) > 1:
        notes.append(f"channels have different steps: {', '.join(f'{step:g} s' for step in sorted(steps))}")
    return LabTable(path, "TDMS file", tuple(columns), tuple(notes), step=steps.pop() if len(steps) == 1 else None)


def _tdms_column(values, name, group, properties, channels) -> Column | None:
    same = [channel for channel in channels if channel.name == name]
    name, unit, _ = read_heading(name)
    name = f"{group}/{name}" if len(same) > 1 else name
    unit = spelled(str(properties.get("unit_string", ""))) or unit
    values = np.asarray(values)
    if values.dtype.kind == "M":  # times of day, as seconds from the first
        values, unit = (values - values[0]) / np.timedelta64(1, "s"), "s"
    if values.dtype.kind not in "fiub":
        return None
    return Column(name, unit, values.astype(float), f"group {group}")
