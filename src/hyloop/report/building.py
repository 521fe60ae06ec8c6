"""The building of a recording as a moving picture: nodes, lines, and what moves them."""

from itertools import pairwise
from typing import Any

import numpy as np

from hyloop.record import Recording
from hyloop.report.display import readable, rows_to_draw, site_names
from hyloop.report.movie import WITHOUT_LOOP, Loops, Movie
from hyloop.report.response import story_numbers

__all__ = ["building_movie"]

_FRAME = 0.02  # s between frames; the script draws what lies between them
_NUMBERS = 120_000  # of all frames: a page stays below 6 MB
_COLUMNS = 60  # motions at most
_FLOORS = 40  # that are drawn of a building without nodes
_POINTS = 2000  # of a loop
_LOOPS = 6  # that can be told apart
_USUAL = 3.0  # m, height of a story that is not known, for the picture
_BAY = 1.6  # width of a building without nodes, in story heights
_ASIDE, _UP = 0.5, 0.28  # where a unit of depth leads in the picture of a building in space


def building_movie(recording: Recording, against: Recording | None = None, names: tuple[str, str] = ("", "")) -> Any:
    """A `Movie` of the building, or None if the recording does not know its floors and the ground."""
    floors = _floors(recording)
    moving = next((name for name in ("ground", "ground.x", "ground.z", "ground.1") if name in recording.names), None)
    if floors.shape[1] == 0 or moving is None or len(recording) < 2:
        return None
    picture = _Picture(recording)
    duration = float(recording.time[-1] - recording.time[0])
    compared = against is not None and _floors(against).shape[1] == floors.shape[1]
    frames = _NUMBERS // (max(picture.columns, 1) * (2 if compared else 1))
    step = max(_FRAME, duration / frames)
    times = recording.time[0] + step * np.arange(int(duration / step + 1e-9) + 1)
    ground = recording[moving]
    rows = rows_to_draw(_POINTS, ground)
    known = (recording.attributes.get("building") or {}).get("heights")
    shown = "Displacements relative to the ground, enlarged; colours join each device with its loop."
    if moving != "ground":
        shown += f" Of the ground {moving} is drawn."
    if picture.partly:
        shown += " Nodes whose displacement is not recorded move with their floor."
    if not known:
        shown += " Story heights are not known; the picture takes them as equal."
    return Movie(
        dt=step,
        motions=_at(times, recording.time, picture.motions(recording)),
        nodes=picture.nodes,
        lines=picture.lines,
        loops=[_loops(recording, site, against) for site in picture.sites],
        ground=(recording.time[rows] - recording.time[0], ground[rows]),
        alt=f"The building moving under the record, with the loops of {', '.join(picture.sites) or 'no device'}.",
        caption=shown,
        names=names if compared else names[:1],
        others=_at(times, against.time, picture.motions(against)) if compared and against is not None else None,
    )


def _floors(recording: Recording) -> np.ndarray:
    """Displacement of every floor relative to the ground, m: drifts summed from the bottom up."""
    drifts = [np.nan_to_num(recording[f"drift.{k}"]) for k in story_numbers(recording)]
    return np.cumsum(np.column_stack(drifts), axis=1) if drifts else np.zeros((len(recording), 0))


class _Picture:
    """Nodes, lines and sources of motion."""

    def __init__(self, recording: Recording) -> None:
        about = recording.attributes.get("building") or {}
        count = _floors(recording).shape[1]
        heights = about.get("heights") or [_USUAL] * count
        self.levels = np.concatenate([[0.0], np.cumsum(heights)])
        self.places: dict[str, np.ndarray] = {name: np.asarray(at) for name, at in about.get("nodes", {}).items()}
        members: list[Any] = about.get("members", [])
        if not self.places:
            width = max(_BAY * float(np.mean(heights)), 0.2 * float(np.sum(heights)))
            drawn = np.unique(np.rint(np.linspace(0, count, min(count, _FLOORS) + 1)).astype(int)).tolist()
            for k in drawn:
                level = self.levels[k]
                self.places |= {f"left {k}": np.array([0.0, level]), f"right {k}": np.array([width, level])}
            members = [[f"{side} {k}", f"{side} {up}"] for k, up in pairwise(drawn) for side in ("left", "right")]
            members += [[f"left {k}", f"right {k}"] for k in drawn[1:]]
        self.foot = min(float(at[1]) for at in self.places.values())
        self._sources: dict[Any, int] = {}
        self._in_story: dict[int, int] = {}
        self.partly = False
        rigid = about.get("rigid", {})
        place = {name: k for k, name in enumerate(self.places)}
        self.nodes = [self._node(recording, name, rigid.get(name)) for name in self.places]
        self.sites = sorted(site_names({"": recording}), key=lambda s: -self._taken(recording, s))[:_LOOPS]
        self.sites.sort()
        self.lines = [(place[i], place[j], -1) for i, j in members if i in place and j in place]
        for site, where in about.get("sites", {}).items():
            if ends := self._ends(where):
                number = self.sites.index(site) if site in self.sites else WITHOUT_LOOP
                self.lines.append((place[ends[0]], place[ends[1]], number))

    @staticmethod
    def _taken(recording: Recording, site: str) -> float:
        return float(np.nanmax(np.abs(recording[f"{site}.d"])) * np.nanmax(np.abs(recording[f"{site}.f"])))

    def _node(self, recording: Recording, name: str, floor: str | None) -> tuple[float, float, int, int]:
        at = self.places[name]
        x, y = float(at[0]), float(at[1])
        if len(at) == 3:
            x, y = x + _ASIDE * float(at[2]), y + _UP * float(at[2])
        height = float(at[1]) - self.foot
        if height <= 1e-9:
            return x, y, -1, -1
        known = [f"u.{owner}.ux" for owner in (name, floor) if owner and f"u.{owner}.ux" in recording.names]
        if known and len(self._sources) < _COLUMNS:
            across = self._source(known[0])
        else:
            self.partly |= not known and not name.startswith(("left ", "right "))
            across = self._source(round(height, 6))
        up = f"u.{name}.uy"
        return x, y, across, self._source(up) if up in recording.names and len(self._sources) < _COLUMNS else -1

    def _source(self, key: Any) -> int:
        return self._sources.setdefault(key, len(self._sources))

    @property
    def columns(self) -> int:
        """Number of motions."""
        return len(self._sources)

    def motions(self, recording: Recording) -> np.ndarray:
        """A column for every source: a channel, or a height between floors."""
        floors = np.hstack([np.zeros((len(recording), 1)), _floors(recording)])
        columns = []
        for key in self._sources:
            if isinstance(key, str):
                rest = recording[key][0] if key in recording.names else 0.0
                columns.append(np.nan_to_num(recording[key] - rest) if key in recording.names else floors[:, -1] * 0.0)
            else:
                above = int(np.clip(np.searchsorted(self.levels, key), 1, len(self.levels) - 1))
                low, high = self.levels[above - 1], self.levels[above]
                part = float(np.clip((key - low) / (high - low), 0.0, 1.0))
                columns.append((1.0 - part) * floors[:, above - 1] + part * floors[:, above])
        return np.column_stack(columns) if columns else np.zeros((len(recording), 1))

    def _ends(self, where: dict[str, Any]) -> tuple[str, str] | None:
        """Nodes between which a device is drawn."""
        if nodes := where.get("nodes"):
            foot = self._nearest(float(self.places[nodes[0]][0]), 0.0) if nodes[0] in self.places else None
            ends = nodes if len(nodes) == 2 else [nodes[0], foot]
            return (ends[0], ends[1]) if all(end in self.places for end in ends) else None
        story = where.get("story")
        if not story or story >= len(self.levels):
            return None
        left = min(float(at[0]) for at in self.places.values())
        right = min((float(at[0]) for at in self.places.values() if at[0] > left + 1e-6), default=left)
        before = self._in_story[story] = self._in_story.get(story, 0) + 1
        foot, top = (left, right) if before % 2 else (right, left)  # a second one crosses the first
        lower, upper = (self._nearest(x, float(self.levels[k])) for x, k in ((foot, story - 1), (top, story)))
        return (lower, upper) if lower != upper else None

    def _nearest(self, x: float, height: float) -> str:
        """The node at a height, and of those the one nearest to a line."""

        def distance(name: str) -> float:
            at = self.places[name]
            return abs(float(at[1]) - self.foot - height) + 1e-3 * abs(float(at[0]) - x)

        return min(self.places, key=distance)


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
