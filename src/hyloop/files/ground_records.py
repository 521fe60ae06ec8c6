"""Ground motions of experiment files: formats of agencies by their headers, other tables as files of laboratories."""

from pathlib import Path

from hyloop.errors import BadInput
from hyloop.files.measurements import check_signal, in_seconds
from hyloop.files.signals import pick_time
from hyloop.files.tables import Column, LabTable, is_time, read_table, sampling, suggested
from hyloop.files.tables.options import keys_of, option
from hyloop.hazards import GroundMotion, read_record, record_format, record_name
from hyloop.hazards.units import acceleration_unit, unit_in_heading

__all__ = ["read_ground_record"]

_KEYS = {"rate": ("dt", "0.005 s"), "units": ("unit", "")}  # what the table of an excitation calls them


def read_ground_record(
    path: Path,
    *,
    unit: str | None = None,
    dt: float | None = None,
    component: str | None = None,
    t: str | None = None,
    decimal: str | None = None,
) -> GroundMotion:
    """Read a ground acceleration; see `hyloop.hazards.read_record` for the formats with a header.

    Any other file is a table (`hyloop.files.tables.read_table`): acceleration alone, with `dt`; time and acceleration;
    or several columns, of which `t` is the time and `component` the acceleration. `unit` goes before what the
    file says.
    """
    if record_format(path):
        if t is not None or decimal is not None:
            key = "t" if t is not None else "decimal"
            raise BadInput(f"excitation.{key}: {path} is a {record_format(path)} record, which says it; leave it out.")
        return read_record(path, unit=unit, dt=dt, component=component)
    with keys_of("excitation", _KEYS):
        table = read_table(path, decimal)
        clock, time = pick_time(table, _clock(table, t, component), None if dt is None else 1.0 / dt, {})
        column = _acceleration(table, clock, component)
        step = sampling(table, time, in_seconds(clock, time), None if dt is None else 1.0 / dt, len(column.values))
        if time is not None and len(time) != len(column.values):
            raise BadInput(
                f"{path}: '{column.name}' has {len(column.values)} samples, the time {len(time)}. Name columns that "
                f"belong together with {option('t')} and {option('component')}."
            )
        check_signal(table, "a", column, column.values)
        given = unit or column.unit or unit_in_heading(column.name)
        if not given:
            raise BadInput(
                f"{path}: the unit of '{column.name}' is not in the file. Write it into the heading, as in "
                f"'{column.name} [m/s2]', or give {option('unit', 'm/s2')}."
            )
    name, factor = acceleration_unit(given, f"{path}, '{column.name}'")
    # that columns without headings go by their numbers is news only where there is one to choose
    notes = [note for note in table.notes if len(table.columns) > 2 or not note.startswith("there are no headings")]
    meta = {"file": path.name, "unit": name, "format": "columns", "column": column.name, "notes": notes}
    return GroundMotion(column.values * factor, step.dt, record_name(path), meta)


def _clock(table: LabTable, given: str | None, component: str | None) -> str | None:
    """The column of times: the one given; of two columns the first, whatever it is called."""
    if given is not None or len(table.columns) != 2 or any(is_time(name) for name in table.names):
        return given
    return "1" if component is None or table.find(component, option("component")) is table.columns[1] else None


def _acceleration(table: LabTable, clock: Column | None, component: str | None) -> Column:
    if component is not None:
        return table.find(component, option("component"))
    others = [column for column in table.columns if column is not clock]
    if len(others) == 1:
        return others[0]
    near = suggested(others, "a") or [column.name for column in others]
    raise BadInput(
        f"{table.path}: which column is the acceleration? There are {', '.join(c.name for c in others[:40])}. Name "
        f"one, as in {option('component', near[0])}."
    )
