"""The moving picture of a frame in space, from a recording and the picture that was recorded beside it."""

import re
from typing import Any

import numpy as np

from hyloop.record import Recording, picture_of
from hyloop.report.display import readable, rows_to_draw
from hyloop.report.response import device_channels
from hyloop.report.space_movie import Run, SpaceMovie

__all__ = ["displaced", "ductilities", "peak_ductility", "space_movie"]

_POINTS = 1500  # of a history of the excitation
_TRACES = 3  # of the excitation
_EXCITATION = re.compile(r"ground(\.\w+)?$|load\.")


def space_movie(
    recording: Recording, against: Recording | None = None, names: tuple[str, str] = ("", "")
) -> SpaceMovie | None:
    """The building in motion, beside the one to compare with; None where no picture was recorded."""
    picture = picture_of(recording)
    if picture is None or len(picture) < 2:
        return None
    frame: dict[str, Any] = picture.attributes["frame"]
    other = None if against is None else picture_of(against)
    if other is not None and other.attributes["frame"]["nodes"] != frame["nodes"]:
        other = None
    place = {node: k for k, node in enumerate(frame["nodes"])}
    sites = {name: ends for name, ends in frame["sites"].items() if device_channels(recording, name)}
    times = picture.time
    runs = [_run(names[0], recording, picture, list(sites), times)]
    if against is not None and other is not None:
        runs.append(_run(names[1], against, other, list(sites), times))
    top = max(frame["floors"], key=lambda floor: frame["places"][floor["master"]][1], default=None)
    yielding = f"{len(frame['braces'])} braces coloured by the largest ductility so far" if frame["braces"] else ""
    shown = [part for part in (yielding, "devices by the energy they have taken" if sites else "") if part]
    caption = f"Displacements relative to the ground, enlarged{'; ' if shown else ''}{', '.join(shown)}."
    step = float(times[1] - times[0])
    moves, floors = _columns(picture)
    caption += f" {1 / step:.3g} frames in a second are recorded. Drag to turn it."
    return SpaceMovie(
        dt=step,
        places=np.array(frame["places"]),
        moves=moves,
        floors=floors,
        lines={kind: [(i, j) for i, j, of in frame["lines"] if of == kind] for kind in ("column", "beam", "floor")},
        braces=[(i, j) for _, i, j in frame["braces"]],
        devices=[(place[ends[0]], place[ends[-1]]) for ends in sites.values()],
        device_names=list(sites),
        roof=(0, []) if top is None else (top["master"], top["outline"]),
        traces=_traces(recording),
        runs=runs,
        alt=f"The building in space, moving{', with and without its devices' if len(runs) > 1 else ''}.",
        caption=caption,
    )


def displaced(picture: Recording) -> np.ndarray:
    """Displacements of all nodes in m, relative to the state at rest; (frames, nodes, 3).

    Nodes of a rigid floor move with its master: u_x = U_x + θ (z - Z), u_z = U_z - θ (x - X).
    """
    frame = picture.attributes["frame"]
    place = {name: k for k, name in enumerate(picture.names)}
    at = np.array(frame["places"])
    moved = np.zeros((len(picture), len(at), 3))
    for k, node in enumerate(frame["nodes"]):
        for axis, dof in enumerate(("ux", "uy", "uz")):
            if (column := place.get(f"u.{node}.{dof}")) is not None:
                moved[:, k, axis] = picture.data[:, column]
    for floor in frame["floors"]:
        master, nodes = floor["master"], np.array(floor["nodes"], dtype=int)
        column = place.get(f"u.{frame['nodes'][master]}.ry")
        turn = 0.0 if column is None else picture.data[:, column, None]
        arm = at[nodes] - at[master]
        moved[:, nodes, 0] = moved[:, master, None, 0] + turn * arm[:, 2]
        moved[:, nodes, 2] = moved[:, master, None, 2] - turn * arm[:, 0]
    return moved


def ductilities(picture: Recording) -> np.ndarray:
    """The largest ductility of every brace until each frame."""
    names = [f"{name}.ductility" for name, _, _ in picture.attributes["frame"]["braces"]]
    place = {name: k for k, name in enumerate(picture.names)}
    return picture.data[:, [place[name] for name in names]]


def peak_ductility(recording: Recording) -> tuple[float, int, int] | None:
    """Largest ductility of a brace, number of braces that have yielded, and number of braces; None if not recorded."""
    picture = picture_of(recording)
    if picture is None or not picture.attributes["frame"]["braces"]:
        return None
    reached = ductilities(picture)[-1]
    return float(np.nanmax(reached)), int(np.sum(reached > 1.0)), len(reached)


def _run(name: str, recording: Recording, picture: Recording, sites: list[str], times: np.ndarray) -> Run:
    moved, reached = _moved(picture), ductilities(picture)
    rows = np.clip(np.searchsorted(picture.time, times - 1e-9), 0, len(picture) - 1)
    has_devices = any(device_channels(recording, site) for site in sites)
    return Run(name, moved[rows], reached[rows], _energies(recording, sites if has_devices else [], times))


def _columns(picture: Recording) -> tuple[list[int], list[tuple[int, int, float, list[int]]]]:
    """What the displacements of a picture move, and its rigid floors."""
    frame = picture.attributes["frame"]
    place, at = {node: k for k, node in enumerate(frame["nodes"])}, np.array(frame["places"])
    moves, turns = [], {}
    for column, name in enumerate(_displacements(picture)):
        node, _, dof = name.removeprefix("u.").rpartition(".")
        moves.append(-1 if dof == "ry" else 3 * place[node] + ("ux", "uy", "uz").index(dof))
        if dof == "ry":
            turns[place[node]] = column
    floors = []
    for floor in frame["floors"]:
        arms = (at[floor["nodes"]] - at[floor["master"]])[:, [0, 2]]
        rim = float(np.linalg.norm(arms, axis=1).max()) or 1.0
        floors.append((floor["master"], turns.get(floor["master"], -1), rim, floor["nodes"]))
    return moves, floors


def _moved(picture: Recording) -> np.ndarray:
    """Displacements of a picture in m; turns of floors in m at their rim, so that all columns are equally fine."""
    rows = picture.data[:, : len(_displacements(picture))].copy()
    for _, column, rim, _ in _columns(picture)[1]:
        if column >= 0:
            rows[:, column] *= rim
    return rows


def _displacements(picture: Recording) -> list[str]:
    return [name for name in picture.names if not name.endswith(".ductility")]  # which stand first


def _energies(recording: Recording, sites: list[str], times: np.ndarray) -> np.ndarray:
    """Energy taken by all devices of each site until each time, in J: n ∫ f dd."""
    found, counts = np.zeros((len(times), len(sites))), recording.attributes.get("counts") or {}
    for k, site in enumerate(sites):
        if channels := device_channels(recording, site):
            d, f = (recording[name] for name in channels)
            work = np.append(0.0, np.cumsum(0.5 * (f[1:] + f[:-1]) * np.diff(d)))
            found[:, k] = float(counts.get(site) or 1.0) * np.interp(times, recording.time, work)
    return found


def _traces(recording: Recording) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """Histories of the ground where it moves, else the largest loads; a few of them."""
    units = dict(zip(recording.names, recording.units, strict=True))
    peaks = {name: float(np.abs(np.nan_to_num(recording[name])).max()) for name in units if _EXCITATION.match(name)}
    chosen = [name for name, peak in peaks.items() if name.startswith("ground") and peak > 0.0]
    chosen = chosen or sorted((name for name in peaks if peaks[name] > 0.0), key=lambda name: -peaks[name])
    traces = []
    for name in chosen[:_TRACES]:
        factor, unit = readable(units[name])
        rows = rows_to_draw(_POINTS, recording[name])
        traces.append((f"{name} [{unit}]", recording.time[rows] - recording.time[0], factor * recording[name][rows]))
    return traces
