"""The building of a recording as a moving picture: how its nodes move, and the loops of its devices."""

from typing import Any

import numpy as np

from hyloop.record import Recording
from hyloop.report.building_picture import BuildingPicture
from hyloop.report.display import readable, rows_to_draw, site_names
from hyloop.report.movie import Loops, Movie
from hyloop.report.response import story_numbers

__all__ = ["building_movie"]

_FRAME = 0.02  # s between frames; the script draws what lies between them
_NUMBERS = 120_000  # of all frames: a page stays below 6 MB
_POINTS = 2000  # of a loop
_LOOPS = 6  # that can be told apart


def building_movie(recording: Recording, against: Recording | None = None, names: tuple[str, str] = ("", "")) -> Any:
    """A `Movie` of the building, or None if the recording does not know its floors and the ground."""
    floors = _floors(recording)
    moving = next((name for name in ("ground", "ground.x", "ground.z", "ground.1") if name in recording.names), None)
    if floors.shape[1] == 0 or moving is None or len(recording) < 2:
        return None
    about = recording.attributes.get("building") or {}
    picture = BuildingPicture(about, recording.names, floors.shape[1], _busiest(recording))
    duration = float(recording.time[-1] - recording.time[0])
    compared = against is not None and _floors(against).shape[1] == floors.shape[1]
    frames = _NUMBERS // (max(len(picture.sources), 1) * (2 if compared else 1))
    step = max(_FRAME, duration / frames)
    times = recording.time[0] + step * np.arange(int(duration / step + 1e-9) + 1)
    ground = recording[moving]
    rows = rows_to_draw(_POINTS, ground)
    known = about.get("heights")
    shown = "Displacements relative to the ground, enlarged; colours join each device with its loop."
    if moving != "ground":
        shown += f" Of the ground {moving} is drawn."
    if picture.partly:
        shown += " Nodes whose displacement is not recorded move with their floor."
    if not known:
        shown += " Story heights are not known; the picture takes them as equal."
    return Movie(
        dt=step,
        motions=_at(times, recording.time, _motions(picture, recording)),
        nodes=picture.nodes,
        lines=picture.lines,
        loops=[_loops(recording, site, against) for site in picture.sites],
        ground=(recording.time[rows] - recording.time[0], ground[rows]),
        alt=f"The building moving under the record, with the loops of {', '.join(picture.sites) or 'no device'}.",
        caption=shown,
        names=names if compared else names[:1],
        others=_at(times, against.time, _motions(picture, against)) if compared and against is not None else None,
    )


def _floors(recording: Recording) -> np.ndarray:
    """Displacement of every floor relative to the ground, m: drifts summed from the bottom up."""
    drifts = [np.nan_to_num(recording[f"drift.{k}"]) for k in story_numbers(recording)]
    return np.cumsum(np.column_stack(drifts), axis=1) if drifts else np.zeros((len(recording), 0))


def _busiest(recording: Recording) -> list[str]:
    """The sites whose loops are largest, in their order."""
    sites = sorted(site_names({"": recording}), key=lambda site: -_taken(recording, site))[:_LOOPS]
    return sorted(sites)


def _taken(recording: Recording, site: str) -> float:
    return float(np.nanmax(np.abs(recording[f"{site}.d"])) * np.nanmax(np.abs(recording[f"{site}.f"])))


def _motions(picture: BuildingPicture, recording: Recording) -> np.ndarray:
    """A column for every source: a channel, or a height between floors."""
    floors = np.hstack([np.zeros((len(recording), 1)), _floors(recording)])
    columns = []
    for key in picture.sources:
        if isinstance(key, str):
            rest = recording[key][0] if key in recording.names else 0.0
            columns.append(np.nan_to_num(recording[key] - rest) if key in recording.names else floors[:, -1] * 0.0)
        else:
            above, part = picture.between(key)
            columns.append((1.0 - part) * floors[:, above - 1] + part * floors[:, above])
    return np.column_stack(columns) if columns else np.zeros((len(recording), 1))


def _at(times: np.ndarray, given: np.ndarray, columns: np.ndarray) -> np.ndarray:
    return np.column_stack([np.interp(times, given, column) for column in columns.T])


def _loops(recording: Recording, site: str, against: Recording | None) -> Loops:
    lines = []
    units = dict(zip(recording.names, recording.units, strict=True))
    (wide, x_unit), (tall, y_unit) = (readable(units[f"{site}.{key}"]) for key in ("d", "f"))
    for one in (recording, *([against] if against is not None else [])):
        if not {f"{site}.d", f"{site}.f"} <= set(one.names):
            continue
        d, f = wide * one[f"{site}.d"], tall * one[f"{site}.f"]
        rows = rows_to_draw(_POINTS, d, f)
        lines.append((one.time[rows] - one.time[0], d[rows], f[rows]))
    return Loops(site, x_unit, y_unit, *lines[0], others=lines[1:])
