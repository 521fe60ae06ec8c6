"""A building as nodes and lines, and what moves each node: nothing of a recording but the names of its channels."""

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from hyloop.report.movie import WITHOUT_LOOP

__all__ = ["BuildingPicture"]

_COLUMNS = 60  # motions at most
_FLOORS = 40  # that are drawn of a building without nodes
_USUAL = 3.0  # m, height of a story that is not known, for the picture
_BAY = 1.6  # width of a building without nodes, in story heights
_ASIDE, _UP = 0.5, 0.28  # where a unit of depth leads in the picture of a building in space


class BuildingPicture:
    """Nodes, lines and sources of motion.

    Parameters
    ----------
    about : mapping
        ``attributes["building"]`` of a recording.
    names : collection of str
        Channels there are.
    stories : int
        Number of stories.
    sites : sequence of str
        Sites whose loops are drawn beside it.

    Attributes
    ----------
    nodes : list of (x, y, across, up)
        Places in m, and the numbers of the sources that move a node; -1: none.
    lines : list of (node, node, loop)
        Members, with loop -1, and devices.
    sources : list
        Channels, or heights in m between floors.
    partly : bool
        Whether some nodes move with their floor because nothing else is known.
    """

    def __init__(self, about: Mapping[str, Any], names: Collection[str], stories: int, sites: Sequence[str]) -> None:
        heights = about.get("heights") or [_USUAL] * stories
        self.levels = np.concatenate([[0.0], np.cumsum(heights)])
        self.places: dict[str, np.ndarray] = {name: np.asarray(at) for name, at in about.get("nodes", {}).items()}
        members: list[Any] = about.get("members", [])
        if not self.places:
            width = max(_BAY * float(np.mean(heights)), 0.2 * float(np.sum(heights)))
            drawn = np.unique(np.rint(np.linspace(0, stories, min(stories, _FLOORS) + 1)).astype(int)).tolist()
            for k in drawn:
                level = self.levels[k]
                self.places |= {f"left {k}": np.array([0.0, level]), f"right {k}": np.array([width, level])}
            members = [[f"{side} {k}", f"{side} {up}"] for k, up in pairwise(drawn) for side in ("left", "right")]
            members += [[f"left {k}", f"right {k}"] for k in drawn[1:]]
        self.foot = min(float(at[1]) for at in self.places.values())
        self._sources: dict[Any, int] = {}
        self._in_story: dict[int, int] = {}
        self._names, self.sites, self.partly = frozenset(names), list(sites), False
        rigid = about.get("rigid", {})
        place = {name: k for k, name in enumerate(self.places)}
        self.nodes = [self._node(name, rigid.get(name)) for name in self.places]
        self.lines = [(place[i], place[j], -1) for i, j in members if i in place and j in place]
        for site, where in about.get("sites", {}).items():
            if ends := self._ends(where):
                number = self.sites.index(site) if site in self.sites else WITHOUT_LOOP
                self.lines.append((place[ends[0]], place[ends[1]], number))

    @property
    def sources(self) -> list[Any]:
        """What moves nodes, in the order of their numbers."""
        return list(self._sources)

    def between(self, height: float) -> tuple[int, float]:
        """The floor at or above a height, and how much of the way from the one below it is."""
        above = int(np.clip(np.searchsorted(self.levels, height), 1, len(self.levels) - 1))
        low, high = self.levels[above - 1], self.levels[above]
        return above, float(np.clip((height - low) / (high - low), 0.0, 1.0))

    def _node(self, name: str, floor: str | None) -> tuple[float, float, int, int]:
        at = self.places[name]
        x, y = float(at[0]), float(at[1])
        if len(at) == 3:
            x, y = x + _ASIDE * float(at[2]), y + _UP * float(at[2])
        height = float(at[1]) - self.foot
        if height <= 1e-9:
            return x, y, -1, -1
        known = [f"u.{owner}.ux" for owner in (name, floor) if owner and f"u.{owner}.ux" in self._names]
        if known and len(self._sources) < _COLUMNS:
            across = self._source(known[0])
        else:
            self.partly |= not known and not name.startswith(("left ", "right "))
            across = self._source(round(height, 6))
        up = f"u.{name}.uy"
        return x, y, across, self._source(up) if up in self._names and len(self._sources) < _COLUMNS else -1

    def _source(self, key: Any) -> int:
        return self._sources.setdefault(key, len(self._sources))

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
