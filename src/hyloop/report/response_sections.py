"""What a run page says first, and how the response is spread over the height and over time."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from hyloop.record import Recording, picture_of
from hyloop.report.building import building_movie
from hyloop.report.charts import Chart
from hyloop.report.display import Line, Panel, Recordings, history_panels, hysteresis_panels, rows_to_draw
from hyloop.report.interlocks import tripped
from hyloop.report.page import Answer, Section
from hyloop.report.profiles import envelope_groups, profile_chart
from hyloop.report.response import Response, respond
from hyloop.report.space import space_movie
from hyloop.report.space_answer import space_answer

__all__ = ["response_sections", "run_answer", "with_periods"]

G = 9.80665  # m/s2
_POINTS = 1000  # of a line
_CARRIERS = {  # of energy, in the order they are drawn
    "input": "put in by the excitation",
    "devices": "devices",
    "damping": "inherent damping",
    "structure": "structure",
    "kinetic": "motion",
}


def run_answer(recordings: Recordings, *, picture: bool = True) -> Answer:
    """One sentence, three numbers and a picture of the first recording, beside the second where there are two."""
    if not recordings:
        return Answer("No recordings.", [("0", "recordings"), ("–", ""), ("–", "")], None)
    (name, first), *others = recordings.items()
    other, against = others[0] if len(others) == 1 else ("", None)
    beside = other if other.startswith("without ") else f"in {other}"
    response, without = respond(first), None if against is None else respond(against)
    space = space_answer(first, against, beside) if picture_of(first) is not None else None
    drawn = None
    if picture:
        both = ("with devices", other) if other == "without devices" else (name, other)
        drawn = space_movie(first, against, both) or building_movie(first, against, (name, other))
        drawn = drawn or _still(recordings)
    sentence = _stopped(first) or (space[0] if space else _sentence(response, without, beside))
    if len(others) > 1:
        sentence = f"{len(recordings)} recordings, of which {name}: {sentence[0].lower()}{sentence[1:]}"
    end = float(first.time[-1])
    sentence = re.sub(r"(?<=\d) (?=%|mm\b|kN\b|g\b)", "\u00a0", sentence)  # a number and its unit stay on a line
    numbers = space[1] if space else _numbers(response, without, beside, end, len(first.names))
    return Answer(sentence, numbers, drawn)


def _stopped(recording: Recording) -> str:
    if log := tripped(recording):
        said = recording.fault
        if not said.startswith("the interlock"):  # it was something else, and the interlocks were told to
            said = f"the run stopped early, at {log[0]['time']:.3g} s: {said}"
        return f"{said[0].upper()}{said[1:].rstrip('.')}."
    if recording.fault:
        return f"The run stopped early, at {recording.time[-1]:.3g} s: {recording.fault.rstrip('.')}."
    if not recording.complete:
        return f"The recording ends at {recording.time[-1]:.3g} s: the run was cut off, or is still going on."
    return ""


def _sentence(response: Response, without: Response | None, other: str) -> str:
    worst = response.worst
    if worst is None:
        found = max(response.devices, key=lambda d: d.force, default=None)
        if found is None:
            return "A recording without stories and without devices."
        return f"The largest device force is {1e-3 * found.force:.3g} kN, at {found.site}."
    said = f"The largest story drift is {_drift(worst.drift, worst.drift_ratio)}, in story {worst.story}"
    if without is not None and without.worst is not None and _size(without):
        change = 100.0 * (_size(response) / _size(without) - 1.0)
        before = _drift(without.worst.drift, without.worst.drift_ratio)
        differs = f"{abs(change):.0f} % {'less' if change < 0 else 'more'}"
        if without.worst.story != worst.story:
            return f"{said}, {differs} than the largest {other}, {before} in story {without.worst.story}."
        return f"{said}: {differs} than the {before} {other}."
    share = response.share
    return f"{said}" + (f"; the devices take {100 * share:.0f} % of the energy." if share is not None else ".")


def _size(response: Response) -> float:
    worst = response.worst
    return 0.0 if worst is None else worst.drift if worst.drift_ratio is None else worst.drift_ratio


def _two(value: float) -> str:
    """Two digits, zeros included."""
    return f"{value:#.2g}".rstrip(".")


def _drift(drift: float, ratio: float | None) -> str:
    return f"{1e3 * drift:.3g} mm" if ratio is None else f"{_two(100 * ratio)} % of the height ({1e3 * drift:.3g} mm)"


def _numbers(
    response: Response, without: Response | None, other: str, end: float, channels: int
) -> Sequence[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    sizes: list[tuple[str, Callable[[Response], float | None], Callable[[float], str]]] = [
        ("largest absolute acceleration of a floor", lambda r: r.acceleration, lambda a: f"{_two(a / G)} g"),
        ("largest base shear", lambda r: r.base_shear, lambda shear: f"{1e-3 * shear:.4g} kN"),
    ]
    if (worst := response.worst) is not None:
        show = (
            (lambda d: f"{1e3 * d:.3g} mm") if worst.drift_ratio is None else (lambda ratio: f"{_two(100 * ratio)} %")
        )
        sizes.insert(0, (f"largest drift, story {worst.story}", _size, show))
    for label, size, show in sizes:
        if (value := size(response)) is not None:
            before = None if without is None else size(without)
            beside = "" if before is None else f"; {show(before)}{_elsewhere(size, response, without)} {other}"
            found.append((show(value), f"{label}{beside}"))
    if (share := response.share) is not None:
        found.insert(2, (f"{100 * share:.0f} %", "of the energy put in was taken by the devices"))
    for device in response.devices[:2]:
        found.append((f"{1e-3 * device.force:.3g} kN", f"largest force of {device.site}"))
    found += [(f"{end:.3g} s", "duration"), (str(channels), "channels"), ("–", "")]
    return found[:3]


def _elsewhere(size: Callable, response: Response, without: Response | None) -> str:
    """The story of the other run, where its largest drift is in another one."""
    if size is not _size or without is None or without.worst is None or response.worst is None:
        return ""
    return "" if without.worst.story == response.worst.story else f" in story {without.worst.story}"


def _still(recordings: Recordings) -> Chart | None:
    """A picture where there is no building: loops, or else histories."""
    panels = hysteresis_panels(recordings, _POINTS)[:3] or history_panels(recordings, _POINTS)[:2]
    if not panels:
        return None
    alt = f"{', '.join(panel.title for panel in panels)}; recordings: {', '.join(recordings)}."
    height = 360 if len(panels) <= 3 and panels[0].x_label[:4] != "time" else 150
    return Chart(panels, alt, columns=1 if height == 150 else len(panels), row_height=height)


def response_sections(recordings: Recordings) -> list[Section]:
    """Profiles over the height and energy over time."""
    sections = []
    if chart := profile_chart(envelope_groups(recordings)):
        sections.append(Section("Over the height", charts=[chart]))
    if panels := _energies(recordings):
        alt = f"Energy over time: {', '.join(_CARRIERS.values())}; recordings: {', '.join(recordings)}."
        sections.append(Section("Energy", _balance(recordings), charts=[Chart(panels, alt, columns=len(panels))]))
    return sections


def _energies(recordings: Recordings) -> list[Panel]:
    panels = []
    for name, recording in recordings.items():
        lines = []
        for series, (key, label) in enumerate(_CARRIERS.items()):
            if f"energy.{key}" in recording.names:
                values = 1e-3 * recording[f"energy.{key}"]
                rows = rows_to_draw(_POINTS, values)
                lines.append(Line(recording.time[rows], values[rows], label, series))
        if lines:
            panels.append(Panel(name, "time [s]", "energy [kJ]", tuple(lines)))
    return panels[:3]


def _balance(recordings: Recordings) -> list[str]:
    texts = []
    for name, recording in recordings.items():
        if "energy.residual" not in recording.names:
            if "energy.structure" in recording.names:
                texts.append(f"{name}: what yielding members of the structure take is found by difference.")
            continue
        parts = [recording[f"energy.{key}"] for key in ("residual", *_CARRIERS) if f"energy.{key}" in recording.names]
        left, *others = (np.abs(part[np.isfinite(part)]).max(initial=0.0) for part in parts)
        if (most := max(others, default=0.0)) > 0.0:
            off = 100.0 * left / most
            texts.append(f"{name}: what goes in and what is found elsewhere agree within {off:.2g} % of the largest.")
    return texts


def with_periods(recordings: Recordings, panels: Sequence[Panel]) -> list[Panel]:
    """Spectra with the first periods of the building as upright lines."""
    periods = {T for r in recordings.values() for T in r.attributes.get("periods", []) if 0.05 <= T <= 5.0}
    found = []
    for panel in panels:
        top = max((float(line.y.max()) for line in panel.lines if len(line.y)), default=0.0)
        marks = [Line(np.full(2, T), np.array([0.0, top]), f"T = {T:.3g} s", None) for T in sorted(periods)]
        found.append(replace(panel, lines=(*marks, *panel.lines)))
    return found
