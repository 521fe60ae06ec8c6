"""Members and supports that were watched: loops of braces, and the largest of everything."""

from collections.abc import Iterable

import numpy as np

from hyloop.record import Recording
from hyloop.report.charts import Chart
from hyloop.report.display import Line, Panel, Recordings, readable, rows_to_draw
from hyloop.report.page import Section, Table

__all__ = ["member_sections"]

_POINTS = 2000  # of one loop
_LOOPS = 6  # braces that are drawn: those that have taken most energy
_ROWS = 200  # of a table; a tower has thousands of members
_LONG = 12  # rows; longer tables are folded
_DEFORMATIONS = ("elongation", "deformation")


def member_sections(recordings: Recordings) -> list[Section]:
    """Sections of the page about members (``attributes["building"]["watched"]``) and supports (``reaction.*``)."""
    found = []
    members, kinds = _table("Members", _members(recordings), recordings), _kinds(recordings)
    loops = [name for name, kind in kinds.items() if kind == "brace" and _deformation(recordings, name)]
    worked = {name: max(_energy(r, name) for r in recordings.values()) for name in loops}
    drawn = sorted(loops, key=lambda name: -worked[name])[:_LOOPS]
    charts = []
    if drawn:
        panels = [_loop(recordings, name) for name in drawn]
        chosen = f" Of {len(loops)}, those that have taken most energy." if len(loops) > len(drawn) else ""
        alt = f"Force over elongation of {', '.join(drawn)}."
        caption = f"Force over elongation, each on its own scale.{chosen}"
        charts = [Chart(panels, alt, caption, columns=min(3, len(panels)))]
    if members or charts:
        found.append(Section("Members", charts=charts, tables=members))
    supports = [n for r in recordings.values() for n in r.names if n.startswith(("reaction.", "base_shear."))]
    if tables := _table("Supports", [n for n in dict.fromkeys(supports) if not _derived(n)], recordings):
        found.append(Section("Supports", tables=tables))
    return found


def _derived(name: str) -> bool:
    """Whether it is a base shear that follows from inertia: those have numbers, not axes."""
    return name.startswith("base_shear.") and name.rpartition(".")[2].isdigit()


def _kinds(recordings: Recordings) -> dict[str, str]:
    kinds: dict[str, str] = {}
    for recording in recordings.values():
        kinds |= dict((recording.attributes.get("building") or {}).get("watched") or {})
    return kinds


def _members(recordings: Recordings) -> list[str]:
    kinds = _kinds(recordings)
    names = dict.fromkeys(name for recording in recordings.values() for name in recording.names)
    return [name for name in names if name.rpartition(".")[0] in kinds]


def _deformation(recordings: Recordings, member: str) -> str:
    """The channel of a member's deformation, where some recording has it and the force."""
    for recording in recordings.values():
        for key in _DEFORMATIONS:
            if {f"{member}.{key}", f"{member}.force"} <= set(recording.names):
                return f"{member}.{key}"
    return ""


def _energy(recording: Recording, member: str) -> float:
    d, f = _deformation({"": recording}, member), f"{member}.force"
    if not d:
        return 0.0
    with np.errstate(over="ignore", invalid="ignore"):  # of a run that diverged
        taken = float(np.trapezoid(recording[f], recording[d]))
    return taken if np.isfinite(taken) else 0.0


def _loop(recordings: Recordings, member: str) -> Panel:
    lines = []
    for series, (name, recording) in enumerate(recordings.items()):
        if d := _deformation({name: recording}, member):
            x, y = 1e3 * recording[d], 1e-3 * recording[f"{member}.force"]
            shown = rows_to_draw(_POINTS, x, y)
            lines.append(Line(x[shown], y[shown], name, series))
    return Panel(member, "elongation [mm]", "force [kN]", tuple(lines))


def _table(title: str, channels: Iterable[str], recordings: Recordings) -> list[Table]:
    """Largest and smallest value of channels, the first of them where there are too many."""
    rows = []
    for channel in channels:
        for name, recording in recordings.items():
            if channel in recording.names:
                factor, unit = readable(str(recording.units[list(recording.names).index(channel)]))
                signal = factor * recording[channel]
                signal = signal[np.isfinite(signal)]
                rows.append([channel, name, unit, *(float(v) for v in (signal.min(initial=0), signal.max(initial=0)))])
    if not rows:
        return []
    columns, more = ["channel", "recording", "unit", "smallest", "largest"], len(rows) - _ROWS
    said = f"{title}, the first {_ROWS} of {len(rows)}" if more > 0 else title
    return [Table(said, columns, rows[:_ROWS], folded=len(rows) > _LONG)]
