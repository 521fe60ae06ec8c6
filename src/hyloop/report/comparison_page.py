"""The page about several recordings: what differs as numbers, side by side, and as a picture over time."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from hyloop.errors import BadInput
from hyloop.report.charts import Chart
from hyloop.report.comparison import Difference, compare, motions_differ, only_in
from hyloop.report.degrees import telling_degree
from hyloop.report.display import Line, Panel, Recordings, readable, rows_to_draw, short
from hyloop.report.page import Answer, Section, Table
from hyloop.report.run_page import write_report

__all__ = ["comparison_name", "write_comparison"]

_POINTS = 3000  # of a line
_NAMED = 3  # recordings in the name of a page
_LONG = 12  # rows; longer tables are folded
_KINDS = ("u.", "drift.", "a_abs.", "base_shear", "energy.")  # what is asked of a structure, before its devices


def comparison_name(paths: Sequence[Path]) -> str:
    """Name of the page: ``bare-vs-damped.html``."""
    plain = [path.stem for path in paths]
    stems = [
        path.stem if plain.count(path.stem) == 1 else f"{path.resolve().parent.name}-{path.stem}" for path in paths
    ]
    rest = f"-and-{len(stems) - _NAMED}-more" if len(stems) > _NAMED else ""
    return f"{'-vs-'.join(stems[:_NAMED])}{rest}.html"


def write_comparison(path: Path, recordings: Recordings, title: str) -> Path:
    """Write one HTML page that compares every recording with the first; it loads nothing."""
    (name, first), *others = recordings.items()
    if not others:
        raise BadInput("a comparison needs two recordings or more.")
    for key, recording in recordings.items():
        if len(recording.time) == 0:
            raise BadInput(f"report: the recording '{key}' has no samples. Leave it out, or run it again.")
    found = {other: compare(first, recording) for other, recording in others}
    channel = _shown_channel(recordings, found)
    text = [f"Differences are the other recording less {name}, at their common times; nothing is interpolated."]
    if any(motions_differ(rows) for rows in found.values()):
        text.insert(0, "The ground motions differ: a difference below is not the effect of anything in the structure.")
    for key, recording in recordings.items():
        if alone := only_in(list(recordings.values()), recording):
            text.append(f"Only in {key}: {_some(alone)}.")
    text += _refusals(found)
    sections = [
        Section("Peaks", tables=[_peaks(recordings, found)]),
        Section("Differences", text, tables=[_differences(name, other, rows) for other, rows in found.items() if rows]),
    ]
    answer = Answer(
        _under(found) + _sentence(recordings, found, channel),
        _numbers(name, found, channel),
        _picture(recordings, found, channel),
    )
    return write_report(path, recordings, title=title, answer=answer, sections=sections)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")


def _shown_channel(recordings: Recordings, found: dict[str, list[Difference]]) -> str:
    """The channel on top: the sway that all share, else what differs most; empty where none is shared."""
    shared = set.intersection(*({d.channel for d in rows} for rows in found.values()))
    if (sway := telling_degree(recordings, shared)) is not None:
        return sway
    parts = {d.channel: d.part for rows in found.values() for d in rows if d.channel in shared and np.isfinite(d.part)}
    return max(parts, key=lambda channel: parts[channel]) if parts else next(iter(sorted(shared)), "")


def _one(rows: Sequence[Difference], channel: str) -> Difference:
    return next(d for d in rows if d.channel == channel)


def _named(channel: str) -> str:
    return f"displacement {channel}" if channel.startswith("u.") else f"of {channel}"


def _value(value: float, unit: str) -> str:
    factor, shown = readable(unit)
    return f"{short(factor * value)} {shown}".rstrip()


def _under(found: dict[str, list[Difference]]) -> str:
    return "Under different motions: " if any(motions_differ(rows) for rows in found.values()) else ""


def _sentence(recordings: Recordings, found: dict[str, list[Difference]], channel: str) -> str:
    name, *others = recordings
    if not channel:
        return f"{name} and {', '.join(others)} have no channel in common."
    if len(others) > 1:
        peaks = {name: _one(found[others[0]], channel).peaks[0]}
        peaks |= {other: _one(found[other], channel).peaks[1] for other in others}
        low, high = (pick(peaks, key=lambda key: peaks[key]) for pick in (min, max))
        unit = _one(found[others[0]], channel).unit
        return (
            f"Of {len(recordings)} recordings {low} has the least peak {_named(channel)}, {_value(peaks[low], unit)}, "
            f"and {high} the greatest, {_value(peaks[high], unit)}."
        )
    rows, other = found[others[0]], others[0]
    compared = [d for d in rows if not d.refused]
    if compared and all(d.largest == 0.0 for d in compared) and len(compared) == len(rows):
        return f"{name} and {other} are the same in all {len(rows)} common channels, bit for bit."
    one = _one(rows, channel)
    before, after = (_value(value, one.unit) for value in one.peaks)
    said = f"The peak {_named(channel)} is {before} in {name} and {after} in {other}"
    if motions_differ(rows):
        return f"{said}; that tells nothing about their structures."
    if one.ratio is not None:
        change = 100.0 * (one.ratio - 1.0)
        said += f", {abs(change):.3g} % {'less' if change < 0.0 else 'more'}" if abs(change) >= 0.05 else ", the same"
    if not one.refused:
        return f"{said}; they differ by {_value(one.rms, one.unit)} in the root mean square."
    return f"{said}; histories cannot be subtracted ({one.refused})."


def _numbers(name: str, found: dict[str, list[Difference]], channel: str) -> list[tuple[str, str]]:
    """Of the last recording compared: ratio of peaks, largest ratio elsewhere, difference."""
    other, rows = list(found.items())[-1]
    if not channel:
        return [("0", "channels in common"), ("–", "ratio of peaks"), ("–", "difference")]
    one = _one(rows, channel)
    forces = [d for d in rows if d.channel.endswith(".f") and d.ratio is not None] or [
        d for d in rows if d.channel.startswith("a_abs.") and d.ratio is not None
    ]
    most = max(forces, key=lambda d: d.peaks[0], default=None)
    difference = "–" if one.refused else _value(one.largest, one.unit)
    when = f", at {one.at:.3g} s" if not one.refused else ""
    last = (difference, f"largest difference of {channel}{when}")
    if motions_differ(rows):
        last = ("different", "ground motions: histories are not subtracted here")
    return [
        ("–" if one.ratio is None else f"× {one.ratio:.3g}", f"peak of {channel}, {other} over {name}"),
        ("–", "no other peak")
        if most is None
        else (f"× {most.ratio:.3g}", f"peak of {most.channel}, {other} over {name}"),
        last,
    ]


def _picture(recordings: Recordings, found: dict[str, list[Difference]], channel: str) -> Chart | None:
    """Histories on top of each other, and below them the differences."""
    if not channel:
        return None
    unit = _one(next(iter(found.values())), channel).unit
    factor, shown = readable(unit)
    label = f"{channel} [{shown}]" if shown else channel
    lines = []
    for series, (name, recording) in enumerate(recordings.items()):
        rows = rows_to_draw(_POINTS, recording[channel])
        lines.append(Line(recording.time[rows], factor * recording[channel][rows], name, series))
    panels = [Panel(channel, "time [s]", label, tuple(lines))]
    differences = []
    for series, (name, rows) in enumerate(found.items(), 1):
        one = _one(rows, channel)
        if not one.refused:
            kept = rows_to_draw(_POINTS, one.values)
            differences.append(Line(one.time[kept], factor * one.values[kept], name, series))
    if differences:
        panels.append(Panel(f"difference from {next(iter(recordings))}", "time [s]", label, tuple(differences)))
    alt = f"{channel} of {', '.join(recordings)} over time, and the difference."
    caption = "Drag across a panel or move the ends of the slider to zoom; double-click to go back."
    return Chart(panels, alt, caption, row_height=180 if len(panels) > 1 else 340, common_x=True)


def _peaks(recordings: Recordings, found: dict[str, list[Difference]]) -> Table:
    """Peaks side by side, with their ratios to the first; those of the structure come first."""
    name, *others = recordings
    shared = list(dict.fromkeys(d.channel for rows in found.values() for d in rows if d.channel != "t"))
    shared.sort(key=lambda channel: next((k for k, kind in enumerate(_KINDS) if channel.startswith(kind)), len(_KINDS)))
    table = []
    for channel in shared:
        of = {other: d for other in others for d in found[other] if d.channel == channel}
        any_ = next(iter(of.values()))
        factor, unit = readable(any_.unit)
        row = [f"{channel} [{unit or '-'}]", factor * any_.peaks[0]]
        for other in others:
            one = of.get(other)
            row += [None, None] if one is None else [factor * one.peaks[1], one.ratio]
        table.append(row)
    columns = ["channel", name, *(text for other in others for text in (other, f"{other} / {name}"))]
    return Table("Peaks", columns, table, folded=len(table) > _LONG)


def _differences(name: str, other: str, rows: Sequence[Difference]) -> Table:
    table = []
    for one in rows:
        factor, unit = readable(one.unit)
        if one.channel == "t" or one.refused:
            continue
        part = 100.0 * one.part
        table.append([f"{one.channel} [{unit or '-'}]", factor * one.rms, part, factor * one.largest, one.at])
    columns = ["channel", "rms", f"rms, % of the range in {name}", "largest", "at [s]"]
    return Table(f"{other} less {name}", columns, table, folded=len(table) > _LONG)


def _refusals(found: dict[str, list[Difference]]) -> list[str]:
    """What could not be subtracted, and why."""
    told = []
    for other, rows in found.items():
        reasons: dict[str, list[str]] = {}
        for one in rows:
            if one.refused:
                reasons.setdefault(one.refused, []).append(one.channel)
        for reason, channels in reasons.items():
            told.append(f"Not subtracted for {other}, {reason}: {_some(channels)}.")
    return told
