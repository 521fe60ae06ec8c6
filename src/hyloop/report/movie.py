"""A building that moves under its record, with the loops of its devices drawing beside it."""

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, NamedTuple

import numpy as np

__all__ = ["WITHOUT_LOOP", "Loops", "Movie", "movie_html"]

HEIGHT = 470  # px on a wide screen
_MOST = 32000  # units of the largest displacement
WITHOUT_LOOP = -2  # a device of which no loop is drawn


class Loops(NamedTuple):
    """A curve that is drawn as time goes by, in the units shown; of other recordings too, below it in grey."""

    title: str
    x_label: str
    y_label: str
    t: np.ndarray
    x: np.ndarray
    y: np.ndarray
    others: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]] = ()


@dataclass(frozen=True, eq=False)
class Movie:
    """Nodes joined by lines, moving.

    Parameters
    ----------
    dt : float
        Time between frames in s.
    motions : ndarray, (frames, k)
        Displacements in m.
    nodes : sequence of (x, y, jx, jy)
        Where each node is at rest, in m, and which columns of `motions` move it to the right and up; -1 for none.
    lines : sequence of (i, j, site)
        Members between nodes, which have -1, and devices, which have the number of their loop or `WITHOUT_LOOP`.
    loops : sequence of Loops
        At most six.
    ground : (t, a)
        Ground acceleration in m/s2 over time in s.
    names : sequence of str
        Of the recording, and of the one it is compared with.
    others : ndarray, (frames, k), optional
        Displacements of that one, drawn in grey.
    """

    dt: float
    motions: np.ndarray
    nodes: Sequence[tuple[float, float, int, int]]
    lines: Sequence[tuple[int, int, int]]
    loops: Sequence[Loops]
    ground: tuple[np.ndarray, np.ndarray]
    alt: str
    caption: str = ""
    names: Sequence[str] = field(default=("",))
    others: np.ndarray | None = None


def movie_html(movie: Movie, name: str) -> str:
    """Canvas, controls and data; assets/movie.js plays it."""
    parts = [movie.motions] if movie.others is None else [movie.motions, movie.others]
    motions, *others = (_held(part) for part in parts)
    unit = max(float(np.abs(part).max(initial=0.0)) for part in (motions, *others)) / _MOST or 1.0
    shown = {
        "dt": movie.dt,
        "columns": int(movie.motions.shape[1]),
        "unit": unit,
        "motions": _counts(motions, unit),
        "others": _counts(others[0], unit) if others else None,
        "nodes": [[round(x, 4), round(y, 4), jx, jy] for x, y, jx, jy in movie.nodes],
        "lines": [list(line) for line in movie.lines],
        "loops": [_loops(loops) for loops in movie.loops],
        "ground": [_packed(part) for part in movie.ground],
        "names": list(movie.names),
    }
    data = json.dumps(shown, ensure_ascii=True, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    return (
        f'<div class="movie" id="{name}"><canvas role="img" aria-label="{escape(movie.alt)}" '
        f'style="height:{HEIGHT}px">{escape(movie.alt)}</canvas>'
        '<div class="controls"><button type="button" aria-label="play or pause">pause</button>'
        '<input type="range" min="0" max="1000" value="0" aria-label="time"><output></output></div></div>'
        f'<script type="application/json" data-for="{name}">{data}</script>'
    )


def _loops(loops: Loops) -> dict[str, Any]:
    return {
        "title": loops.title,
        "x_label": loops.x_label,
        "y_label": loops.y_label,
        "lines": [[_packed(part) for part in line] for line in ((loops.t, loops.x, loops.y), *loops.others)],
    }


def _counts(values: np.ndarray, unit: float) -> str:
    """Whole numbers of a small unit, little-endian: finer than any screen, and half the size."""
    return base64.b64encode(np.ascontiguousarray(np.rint(values / unit), "<i2").tobytes()).decode("ascii")


def _packed(values: np.ndarray) -> str:
    """Single precision, little-endian: finer than any screen."""
    return base64.b64encode(np.ascontiguousarray(_held(values), "<f4").tobytes()).decode("ascii")


def _held(values: np.ndarray) -> np.ndarray:
    """What single precision cannot hold is drawn at its end, nan at zero."""
    most = float(np.finfo(np.float32).max)
    return np.clip(np.nan_to_num(np.asarray(values, float), posinf=most, neginf=-most), -most, most)
