"""Sites of an experiment on the page of its model: where they are, and lines to draw them by."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from hyloop.errors import OutOfBounds, UnknownName
from hyloop.report.page import Table

__all__ = ["COLUMNS", "PlacedSite", "place_sites", "site_lines", "site_texts", "sites_table"]

COLUMNS = ["site", "where", "devices", "device"]
_LEVEL = 1e-6  # m: nodes of a level have the same height but for rounding


class PlacedSite(NamedTuple):
    """A site for a person: its place in words, how many devices of which law, and the two ends of its line."""

    name: str
    where: str
    devices: float
    device: str
    ends: np.ndarray | None

    @property
    def row(self) -> list[Any]:
        return [self.name, self.where, f"{self.devices:g}", self.device]


def place_sites(
    sites: Mapping[str, Any], nodes: Mapping[str, np.ndarray], floors: Sequence[str], up: int
) -> list[PlacedSite]:
    """Sites (`hyloop.files.schema.SiteSpec`) in a model; `floors` has a node of each story, `up` is the vertical axis.

    A site in a story is drawn as a diagonal of one bay; one that is against the ground, or along a vector, has no line.

    Raises
    ------
    BadInput
        For a node or a story that the model does not have.
    """
    found, crossed = [], {}
    for name, spec in sites.items():
        ends = None
        if spec.between is not None:
            tags = [end.partition(".")[0] for end in spec.between]
            for tag in tags:
                if tag not in nodes:
                    raise UnknownName("node", tag, nodes, where=f"sites.{name}.between")
            where = f"between {' and '.join(spec.between)}" if len(tags) == 2 else f"{tags[0]} against the ground"
            ends = np.array([nodes[tag] for tag in tags]) if len(set(tags)) == 2 else None
        elif spec.story is not None:
            if not 1 <= spec.story <= len(floors):
                raise OutOfBounds(f"sites.{name}.story: {spec.story} does not exist; there are {len(floors)} stories.")
            where = f"story {spec.story}"
            crossed[spec.story] = crossed.get(spec.story, 0) + 1
            ends = _diagonal(nodes, floors, spec.story, up, crossed[spec.story] % 2 == 0)
        else:
            where = "along a vector"
        found.append(PlacedSite(name, where, spec.count, _device(spec), ends))
    return found


def sites_table(sites: Sequence[PlacedSite]) -> list[Table]:
    """The table of a page; none without sites."""
    return [Table("Sites", COLUMNS, [site.row for site in sites])] if sites else []


def site_lines(sites: Sequence[PlacedSite]) -> list[np.ndarray]:
    """The lines that can be drawn."""
    return [site.ends for site in sites if site.ends is not None]


def site_texts(sites: Sequence[PlacedSite]) -> list[str]:
    """What stands at the ends of those lines and in the gaps after them."""
    return [word for site in sites if site.ends is not None for word in (*[f"{site.name}: {site.device}"] * 2, "")]


def _device(spec: Any) -> str:
    if spec.follows is not None:
        return f"follows {spec.follows}"
    return "trained network" if spec.device.network is not None else spec.device.name


def _diagonal(
    nodes: Mapping[str, np.ndarray], floors: Sequence[str], story: int, up: int, other: bool
) -> np.ndarray | None:
    """From a node of the level below to one of the level of the floor, in the first bay; `other`: across it."""
    places = np.array(list(nodes.values()), dtype=float)
    top = nodes[floors[story - 1]][up]
    foot = nodes[floors[story - 2]][up] if story > 1 else places[:, up].min()
    lower, upper = (places[np.abs(places[:, up] - level) < _LEVEL] for level in (foot, top))
    # in the plane of the leftmost node, from left to right
    lower, upper = (rows[np.lexsort(np.delete(rows, up, axis=1).T[::-1])] for rows in (lower, upper))
    if not len(lower) or not len(upper):
        return None
    along = np.delete(lower - lower[0], up, axis=1)
    beside = [row for row in upper if np.abs(np.delete(row - lower[0], up)).max() > _LEVEL]
    if other and len(along) > 1:
        return np.array([lower[1], upper[0]])
    return np.array([lower[0], beside[0] if beside else upper[0]])
