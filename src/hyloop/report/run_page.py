"""The report of a run or a study: one page with everything there is to see."""

import json
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from hyloop.errors import BadInput
from hyloop.record import Recording
from hyloop.report.charts import Chart
from hyloop.report.comfort import comfort_sections
from hyloop.report.control import control_sections
from hyloop.report.degrees import degrees_of_freedom
from hyloop.report.display import (
    MOST_SITES,
    Panel,
    Recordings,
    history_panels,
    hysteresis_panels,
    parameter_names,
    parameter_panels,
    readable,
    site_names,
    spectrum_panels,
)
from hyloop.report.following import following_answer, following_sections
from hyloop.report.interlocks import interlock_sections
from hyloop.report.members import member_sections
from hyloop.report.pace import pace_sections
from hyloop.report.page import Answer, Code, Section, Table, write_page
from hyloop.report.response import respond
from hyloop.report.response_sections import response_sections, run_answer, with_periods
from hyloop.report.sections import section_sections
from hyloop.report.tracking import tracking_sections
from hyloop.report.trust import trust_answer, trust_sections

__all__ = ["Chart", "Panel", "Section", "Table", "write_report"]

_BUDGET = 50_000  # points on a page: with plotly.js, which is 4.8 MB, and the moving picture it stays under 6 MB
_FEWEST, _MOST = 64, 4000  # points of one line
_LONG = 12  # rows; longer tables are folded
_PARAMETERS = 24  # panels of parameters; more cannot be read


def write_report(
    path: str | PathLike,
    recordings: Recordings,
    *,
    title: str,
    answer: Answer | None = None,
    summary: Sequence[Table] = (),
    notes: Sequence[str] = (),
    sections: Sequence[Section] = (),
) -> Path:
    """Write one HTML page about some recordings; it works offline and loads nothing.

    Parameters
    ----------
    path : path
        File to write; its folder is made.
    recordings : mapping of name to Recording
        What is drawn, on top of each other; the names stand in the legends. May be empty for a page of tables only.
    title : str
        Heading of the page.
    summary : sequence of Table
        Results, shown first.
    notes : sequence of str
        Paragraphs below the heading.
    sections : sequence of Section
        Further parts, shown after the results and before the recordings.

    Returns
    -------
    Path
        The file written.

    Notes
    -----
    Shown for what the channels give: interlocks that have tripped (``attributes["interlocks"]``), peaks, hysteresis of
    every site (``X.d``, ``X.f``), histories, response spectra of the ground motion (``ground``), commands of
    controllers (``attributes["controllers"]``), parameters that change, band and trust of models that are watched
    (``attributes["trust"]``), moment and curvature of sections (``attributes["sections"]``), members and supports that
    were watched, comfort of floors (``attributes["comfort"]``), timing (``attributes["timing"]``), provenance.
    Long histories are thinned so that no peak is lost (`hyloop.report.display.rows_to_draw`).
    """
    for name, recording in recordings.items():
        if len(recording.time) == 0:
            raise BadInput(f"report: the recording '{name}' has no samples. Leave it out, or run it again.")
    tables = [*summary, *_stories(recordings), *_devices(recordings), *_peaks(recordings)]
    own = None
    if len(recordings) == 1:
        single = next(iter(recordings.values()))
        own = trust_answer(single) or following_answer(single)
    overall = answer or run_answer(recordings)
    pictures = [] if overall.picture is None or own is None or answer is not None else [overall.picture]
    moving = [Section("The building in motion", [overall.sentence], charts=pictures)] if pictures else []
    parts = [
        *interlock_sections(recordings),
        Section("Results", notes, tables=tables),
        *sections,
        *trust_sections(recordings),
        *following_sections(recordings),
        *control_sections(recordings),
        *comfort_sections(recordings),
        *tracking_sections(recordings),
        *moving,
        *response_sections(recordings),
        *section_sections(recordings),
        *member_sections(recordings),
        *_drawings(recordings),
        *pace_sections(recordings),
        *_experiment(recordings),
        *_timing(recordings),
        *_provenance(recordings),
    ]
    return write_page(path, title, answer or own or overall, parts)


def _stories(recordings: Recordings) -> list[Table]:
    rows = []
    for name, recording in recordings.items():
        for s in respond(recording).stories:
            ratio = None if s.drift_ratio is None else 100.0 * s.drift_ratio
            rows.append([s.story, name, 1e3 * s.drift, ratio, 1e3 * s.residual, s.acceleration])
    columns = [
        "story",
        "recording",
        "peak drift [mm]",
        "drift ratio [%]",
        "drift at the end [mm]",
        "peak acceleration of the floor above, absolute [m/s²]",
    ]
    return [Table("Stories", columns, sorted(rows, key=lambda row: row[0]), folded=len(rows) > _LONG)] if rows else []


def _devices(recordings: Recordings) -> list[Table]:
    rows, found = [], {name: respond(recording).devices for name, recording in recordings.items()}
    for site in site_names(recordings):
        for name, devices in found.items():
            for d in devices:
                if d.site == site:
                    whole = None if d.energy_of_all is None else 1e-3 * d.energy_of_all
                    count = int(d.count) if d.count is not None and float(d.count).is_integer() else d.count
                    rows.append(
                        [
                            site,
                            name,
                            1e3 * d.deformation,
                            1e-3 * d.force,
                            None if d.energy is None else 1e-3 * d.energy,
                            count,
                            whole,
                        ]
                    )
    columns = [
        "site",
        "recording",
        "peak deformation [mm]",
        "peak force of one device [kN]",
        "energy dissipated by one [kJ]",
        "devices",
        "energy dissipated by all [kJ]",
    ]
    return [Table("Devices", columns, rows, folded=len(rows) > _LONG)] if rows else []


def _peaks(recordings: Recordings) -> list[Table]:
    tables = []
    for title, unit in (("Peak displacement in mm", "m"), ("Peak rotation in mrad", "rad")):
        degrees = degrees_of_freedom(recordings, unit)
        if degrees:
            rows = [[name, *(_peak(r, name) for r in recordings.values())] for name in degrees]
            tables.append(Table(title, ["degree of freedom", *recordings], rows, folded=len(rows) > _LONG))
    return tables


def _peak(recording: Recording, channel: str) -> float | None:
    if channel not in recording.names:
        return None
    unit = recording.units[list(recording.names).index(channel)]
    signal = recording[channel]
    return float(np.abs(signal[np.isfinite(signal)]).max(initial=0.0)) * readable(str(unit))[0]


def _drawings(recordings: Recordings) -> list[Section]:
    changing = parameter_names(recordings)
    drawn = changing[:_PARAMETERS]
    lines = sum(2 * min(len(site_names({name: r})), MOST_SITES) + len(drawn) + 2 for name, r in recordings.items())
    points = int(np.clip(_BUDGET // max(lines, 1), _FEWEST, _MOST))
    names = ", ".join(recordings)
    thinned = any(len(r.time) > points for r in recordings.values())
    how = (
        f" Drawn with at most {points} points a line: of each short stretch the smallest and largest value are kept, "
        "so every peak is there."
    )
    note = how if thinned else ""
    if (count := len(site_names(recordings))) > MOST_SITES:
        note = f" The first {MOST_SITES} of {count} sites are drawn.{note}"
    found = []
    if panels := hysteresis_panels(recordings, points):
        alt = f"Force against deformation of {_list(panels)}; recordings: {names}."
        caption = "Force against deformation of each site, each on its own scale." + note
        found.append(Section("Hysteresis", charts=[Chart(panels, alt, caption, columns=min(3, len(panels)))]))
    if panels := history_panels(recordings, points):
        alt = f"Histories of {_list(panels)} over time; recordings: {names}."
        caption = "Drag across a panel or move the ends of the slider to zoom; double-click to go back." + note
        found.append(Section("Histories", charts=[Chart(panels, alt, caption, row_height=120, common_x=True)]))
    if panels := with_periods(recordings, spectrum_panels(recordings)):
        alt = f"Pseudo-acceleration response spectra of {_list(panels)} with 5 % damping."
        caption = "Pseudo-acceleration of a linear oscillator with 5 % damping."
        if any(r.attributes.get("periods") for r in recordings.values()):
            caption += " Grey: the first periods of the building, with the initial stiffness of its devices."
        chart = Chart(panels, alt, caption, columns=2, row_height=280, log_x=True)
        found.append(Section("Response spectra", charts=[chart]))
    if panels := parameter_panels(recordings, drawn, points):
        alt = f"Parameters {_list(panels)} over time; recordings: {names}."
        rest = f" The first {len(drawn)} of {len(changing)} are shown." if len(changing) > len(drawn) else ""
        bounds = (
            " Grey: bounds of an estimate." if any("estimates" in r.attributes for r in recordings.values()) else ""
        )
        caption = f"Parameters that change during the run.{bounds}{rest}{note}"
        found.append(Section("Parameters", charts=[Chart(panels, alt, caption, columns=2, row_height=170)]))
    return found


def _list(panels: Sequence[Panel]) -> str:
    return ", ".join(panel.title for panel in panels)


def _experiment(recordings: Recordings) -> list[Section]:
    """The text of the file that was run, to run it again."""
    texts = {
        str(r.attributes["experiment_text"]): r for r in recordings.values() if r.attributes.get("experiment_text")
    }
    code = [Code(text) for text in texts]
    changed = [", ".join(r.attributes.get("overrides", [])) for r in texts.values()]
    remarks = [f"Changed when it was run: {text}." for text in changed if text]
    return [Section("Experiment file", remarks, code=code, folded=True)] if code else []


def _timing(recordings: Recordings) -> list[Section]:
    times = {name: _flat(r.attributes["timing"]) for name, r in recordings.items() if "timing" in r.attributes}
    if not times:
        return []
    return [Section("Timing", tables=_side_by_side("Time taken", times), folded=True)]


def _provenance(recordings: Recordings) -> list[Section]:
    if not recordings:
        return []
    rows = [
        [
            name,
            len(r.time),
            1e3 * float(np.median(np.diff(r.time))) if len(r.time) > 1 else None,
            len(r.names),
            "complete" if r.complete else "stopped early",
        ]
        for name, r in recordings.items()
    ]
    files = Table("Recordings", ["name", "samples", "time step [ms]", "channels", "state"], rows)
    shown = {"timing", "paced", "interlocks", "building", "experiment_text"}  # elsewhere, or as a picture
    rest = {n: _flat({k: v for k, v in r.attributes.items() if k not in shown}) for n, r in recordings.items()}
    return [Section("Provenance", tables=[files, *_side_by_side("Provenance", rest)], folded=True)]


def _side_by_side(title: str, values: Mapping[str, Mapping[str, Any]]) -> list[Table]:
    """A table of what differs, a column for each recording, and one of what they have in common."""
    keys = list(dict.fromkeys(key for item in values.values() for key in item))
    items = list(values.values())
    same = [key for key in keys if all(key in item and item[key] == items[0][key] for item in items)]
    differ = [[key, *(item.get(key) for item in items)] for key in keys if key not in same]
    common = [[key, items[0][key]] for key in same]
    one = title if len(items) == 1 else f"{title}, the same for all recordings"
    tables = [Table(title, ["", *values], differ)] if differ else []
    return [*tables, Table(one, ["", "value"], common)] if common else tables


def _flat(attributes: Any, prefix: str = "") -> dict[str, Any]:
    """Nested mappings as ``outer.inner``; lists and other things as text."""
    if not isinstance(attributes, Mapping):
        return {prefix or "value": attributes}
    flat: dict[str, Any] = {}
    for key, value in attributes.items():
        name = f"{prefix}.{key}" if prefix else str(key)
        if isinstance(value, Mapping):
            flat |= _flat(value, name)
        elif isinstance(value, (list, tuple)):
            flat[name] = ", ".join(v if isinstance(v, str) else json.dumps(v, default=str) for v in value)
        else:
            flat[name] = value if isinstance(value, (int, float)) else str(value)
    return flat
