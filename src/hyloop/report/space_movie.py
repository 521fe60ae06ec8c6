r"""A frame in space that moves: few shapes and their histories, packed small for the script that draws them.

The displacements of all frames are a sum of a few shapes, each with a history,
:math:`u(t) = \sum_k a_k(t)\,s_k`. Shapes are taken until nothing in the picture is off by more than a part of a pixel;
two runs share them.
"""

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

__all__ = ["Run", "SpaceMovie", "shapes_of", "space_html"]

HEIGHT = 470  # px on a wide screen
FINENESS = 500.0  # of the largest displacement, which is drawn with some fifty pixels: a tenth of a pixel
LEVELS = 12  # colours of ductility: more are not told apart
MOST = 48  # shapes: a building that moves in more ways is drawn less finely, so that its page stays small
_FULL = 32000  # units of a whole number
_MORE = 16  # shapes at a time


@dataclass(frozen=True, eq=False)
class Run:
    """A run of a building.

    Attributes
    ----------
    name : str
    moved : ndarray, (frames, columns)
        Displacements in m.
    ductility : ndarray, (frames, braces)
        The largest until then.
    energy : ndarray, (frames, devices)
        Energy in J that all devices of a site have taken until then; no columns for a run without devices.
    """

    name: str
    moved: np.ndarray
    ductility: np.ndarray
    energy: np.ndarray


@dataclass(frozen=True, eq=False)
class SpaceMovie:
    """A building in space, of one run or of two beside each other.

    Parameters
    ----------
    dt : float
        Time between frames in s.
    places : ndarray, (nodes, 3)
        Where nodes are at rest, in m; y points up.
    moves : sequence of int
        What each column moves: 3 node + axis; -1 for the turn of a floor, in m at its rim.
    floors : sequence of (master, column, rim, nodes)
        Rigid floors: their turn is the column over the rim in m (column -1: none).
    lines : mapping of kind to pairs of nodes
        "column", "beam" and "floor".
    braces, devices : sequence of (i, j)
        Nodes they join.
    device_names : sequence of str
    roof : (master, corners)
        Nodes of the uppermost floor.
    traces : sequence of (label, t, values)
        Histories of the excitation, drawn below.
    runs : one or two of `Run`
        The second is the one to compare with.
    """

    dt: float
    places: np.ndarray
    moves: Sequence[int]
    floors: Sequence[tuple[int, int, float, Sequence[int]]]
    lines: dict[str, Sequence[tuple[int, int]]]
    braces: Sequence[tuple[int, int]]
    devices: Sequence[tuple[int, int]]
    device_names: Sequence[str]
    roof: tuple[int, Sequence[int]]
    traces: Sequence[tuple[str, np.ndarray, np.ndarray]]
    runs: Sequence[Run]
    alt: str
    caption: str = ""


def shapes_of(moved: np.ndarray, off: float, most: int = MOST) -> tuple[np.ndarray, np.ndarray]:
    """Histories a and shapes s with ``a @ s`` nowhere further than `off` from `moved`; (rows, k) and (k, columns).

    Of `most` shapes at most, which may leave more: then those that matter most.

    The rows are projected on an orthonormal basis that grows by what is left, taken in random mixtures (Halko,
    Martinsson and Tropp 2011, doi:10.1137/090771806), and the basis is turned so that the first shapes matter most.
    """
    random, left, rank = np.random.default_rng(0), moved.copy(), min(*moved.shape, 2 * most)
    basis = np.zeros((0, moved.shape[1]))
    while np.abs(left).max(initial=0.0) > off and len(basis) < rank:
        mixed = random.normal(size=(min(_MORE, rank - len(basis)), len(moved))) @ left
        mixed -= (mixed @ basis.T) @ basis  # again, for what rounding has left
        basis = np.vstack([basis, np.linalg.qr(mixed.T)[0].T])
        left = moved - (moved @ basis.T) @ basis
    turned, sizes, shapes = np.linalg.svd(moved @ basis.T, full_matrices=False)
    a, s = (turned * sizes)[:, :most], (shapes @ basis)[:most]
    rest, kept = moved - a @ s, a.shape[1]
    allowed = max(off, float(np.abs(rest).max(initial=0.0)))
    while kept > 0:  # what lies below the line is left out, the least first
        rest = rest + np.outer(a[:, kept - 1], s[kept - 1])
        if np.abs(rest).max(initial=0.0) > allowed:
            break
        kept -= 1
    return a[:, :kept], s[:kept]


def packed_motion(runs: Sequence[Run]) -> dict[str, Any]:
    """Shapes, and their histories in each run, as whole numbers of a unit each."""
    held = [np.nan_to_num(run.moved, posinf=0.0, neginf=0.0) for run in runs]
    together = np.vstack(held)
    largest = float(np.abs(together).max(initial=0.0))
    a, s = shapes_of(together, largest / FINENESS)
    a_units, s_units = (np.abs(part).max(axis=axis, initial=0.0) / _FULL for part, axis in ((a, 0), (s, 1)))
    a_units[a_units == 0.0], s_units[s_units == 0.0] = 1.0, 1.0
    ends = np.cumsum([len(part) for part in held])[:-1]
    return {
        "count": int(a.shape[1]),
        "units": (a_units * s_units).tolist(),
        "shapes": _whole(s / s_units[:, None], "<i2"),
        "histories": [_whole(part, "<i2") for part in np.split(a / a_units, ends)],
        "largest": largest,
    }


def packed_ductility(runs: Sequence[Run]) -> dict[str, Any]:
    """When each brace reaches a further level of ductility: frame, brace, level; levels run from 1 to the largest."""
    most = max((float(np.nanmax(run.ductility, initial=0.0)) for run in runs), default=0.0)
    top = _round_up(most) if most > 1.0 else 2.0
    events = []
    for run in runs:
        with np.errstate(invalid="ignore"):
            part = np.clip((np.nan_to_num(run.ductility) - 1.0) / (top - 1.0), -1.0, 1.0)
        levels = np.where(part > 0.0, np.ceil(part * LEVELS), 0).astype(np.uint8)
        before = np.vstack([np.zeros_like(levels[:1]), levels[:-1]])
        frame, brace = np.nonzero(levels > before)
        events.append([_whole(frame, "<u4"), _whole(brace, "<u4"), _whole(levels[frame, brace], "u1")])
    with_braces = [run.ductility for run in runs if run.ductility.shape[1]]
    return {
        "top": top,
        "levels": LEVELS,
        "events": events,
        "largest": [_single(np.nan_to_num(reached).max(axis=1)) for reached in with_braces],
        "yielded": [_whole((reached > 1.0).sum(axis=1), "<u4") for reached in with_braces],
    }


def space_html(movie: SpaceMovie, name: str) -> str:
    """Canvas, controls and data; assets/space.js draws."""
    kinds = {kind: _whole(np.array(pairs, dtype=int).reshape(-1), "<u4") for kind, pairs in movie.lines.items()}
    shown = {
        "dt": movie.dt,
        "frames": len(movie.runs[0].moved),
        "places": _single(movie.places),
        "moves": [int(place) for place in movie.moves],
        "floors": [[int(master), int(column), rim, list(nodes)] for master, column, rim, nodes in movie.floors],
        "lines": kinds | {"brace": _whole(np.array(movie.braces, dtype=int).reshape(-1), "<u4")},
        "devices": [[name, int(i), int(j)] for name, (i, j) in zip(movie.device_names, movie.devices, strict=True)],
        "roof": [int(movie.roof[0]), [int(k) for k in movie.roof[1]]],
        "traces": [[label, _single(t), _single(values)] for label, t, values in movie.traces],
        "motion": packed_motion(movie.runs),
        "ductility": packed_ductility(movie.runs),
        "energy": [_single(run.energy) for run in movie.runs],
        "names": [run.name for run in movie.runs],
    }
    data = json.dumps(shown, ensure_ascii=True, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    alt = escape(movie.alt)
    return (
        f'<div class="movie space" id="{name}"><canvas role="img" tabindex="0" aria-label="{alt} Arrow keys turn it, '
        f'plus and minus change how much the motion is enlarged, space plays." style="height:{HEIGHT}px">{alt}</canvas>'
        '<div class="controls"><button type="button" data-do="play" aria-label="play or pause">pause</button>'
        '<input type="range" min="0" max="1000" value="0" aria-label="time"><output></output></div>'
        '<div class="controls"><span>motion</span>'
        '<button type="button" data-do="less" aria-label="enlarge the motion less">−</button>'
        '<button type="button" data-do="more" aria-label="enlarge the motion more">+</button>'
        '<span>view</span><button type="button" data-do="oblique">oblique</button>'
        '<button type="button" data-do="x">along x</button>'
        '<button type="button" data-do="z">along z</button>'
        '<button type="button" data-do="above">above</button></div></div>'
        f'<script type="application/json" data-for="{name}">{data}</script>'
    )


def _round_up(value: float) -> float:
    """The next of 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10 times a power of ten."""
    power = 10.0 ** np.floor(np.log10(value))
    steps = (1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
    return float(next(step for step in steps if step * power >= value * (1 - 1e-12)) * power)


def _whole(values: np.ndarray, kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(np.rint(values), kind).tobytes()).decode("ascii")


def _single(values: np.ndarray) -> str:
    most = float(np.finfo(np.float32).max)
    held = np.clip(np.nan_to_num(np.asarray(values, float), posinf=most, neginf=-most), -most, most)
    return base64.b64encode(np.ascontiguousarray(held, "<f4").tobytes()).decode("ascii")
