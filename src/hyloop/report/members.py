"""Members and supports that were watched: loops of braces, and the largest of everything."""

from collections.abc import Iterable, Mapping, Set

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
    found, kinds, charts = [], _kinds(recordings), []
    channels = {name: _loops(recording, kinds) for name, recording in recordings.items()}
    worked: dict[str, float] = {}
    for name, recording in recordings.items():
        for member, d in channels[name].items():
            worked[member] = max(worked.get(member, -np.inf), _energy(recording, d, member))
    drawn = sorted(worked, key=lambda member: -worked[member])[:_LOOPS]
    if drawn:
        panels = [_loop(recordings, channels, member) for member in drawn]
        chosen = f" Of {len(worked)}, those that have taken most energy." if len(worked) > len(drawn) else ""
        alt = f"Force over deformation of {', '.join(drawn)}."
        caption = f"Force over deformation of braces and devices that are members, each on its own scale.{chosen}"
        charts = [Chart(panels, alt, caption, columns=min(3, len(panels)))]
    members = _table("Forces and deformations", _members(recordings, kinds), recordings)
    if members or charts:
        found.append(Section("Members", charts=charts, tables=members))
    names = list(dict.fromkeys(name for recording in recordings.values() for name in recording.names))
    shears = [name for name in names if name.startswith("support_shear.")]
    tables = _table("Base shear, from the forces of members and devices", shears, recordings)
    tables += _table("Reactions", [name for name in names if name.startswith("reaction.")], recordings)
    if tables:
        found.append(Section("Supports", tables=tables))
    return found


def _kinds(recordings: Recordings) -> dict[str, str]:
    kinds: dict[str, str] = {}
    for recording in recordings.values():
        kinds |= dict((recording.attributes.get("building") or {}).get("watched") or {})
    return kinds


def _members(recordings: Recordings, kinds: Mapping[str, str]) -> list[str]:
    names = dict.fromkeys(name for recording in recordings.values() for name in recording.names)
    return [name for name in names if name.rpartition(".")[0] in kinds]


def _loops(recording: Recording, kinds: Mapping[str, str]) -> dict[str, str]:
    """Deformation of every brace whose force is recorded, too."""
    names = set(recording.names)
    found = {member: _deformation(names, member) for member, kind in kinds.items() if kind == "brace"}
    return {member: d for member, d in found.items() if d}


def _deformation(names: Set[str], member: str) -> str:
    """The channel of a member's deformation, where there is one and the force."""
    found = [f"{member}.{key}" for key in _DEFORMATIONS if {f"{member}.{key}", f"{member}.force"} <= names]
    return found[0] if found else ""


def _energy(recording: Recording, d: str, member: str) -> float:
    with np.errstate(over="ignore", invalid="ignore"):  # of a run that diverged
        taken = float(np.trapezoid(recording[f"{member}.force"], recording[d]))
    return taken if np.isfinite(taken) else 0.0


def _loop(recordings: Recordings, channels: Mapping[str, dict[str, str]], member: str) -> Panel:
    lines, labels = [], ("", "")
    for series, (name, recording) in enumerate(recordings.items()):
        if d := channels[name].get(member, ""):
            places = [list(recording.names).index(channel) for channel in (d, f"{member}.force")]
            scales = [readable(str(recording.units[k])) for k in places]
            x, y = (factor * recording.data[:, k] for (factor, _), k in zip(scales, places, strict=True))
            shown = rows_to_draw(_POINTS, x, y)
            lines.append(Line(x[shown], y[shown], name, series))
            labels = f"{d.rpartition('.')[2]} [{scales[0][1]}]", f"force [{scales[1][1]}]"
    return Panel(member, *labels, tuple(lines))


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
