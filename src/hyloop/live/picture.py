"""The structure as it moves: the picture of the report, with motions that are sums of signals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyloop.live.signals import Signals
from hyloop.report.building_picture import BuildingPicture

__all__ = ["Picture", "picture_of"]


@dataclass(frozen=True)
class Picture:
    """Nodes (x, y, motion across, motion upwards) and lines (node, node, colour or -1).

    A motion is a sum of weighted signals, less what it was at rest.
    """

    nodes: list[tuple[float, float, int, int]]
    lines: list[tuple[int, int, int]]
    motions: list[list[tuple[int, float]]]
    signals: list[int]

    def as_json(self, first: np.ndarray) -> dict[str, Any]:
        """For the page: motions speak of places in `signals`, `rest` is what they are in the first row."""
        place = {signal: k for k, signal in enumerate(self.signals)}
        motions = [[(place[signal], weight) for signal, weight in motion] for motion in self.motions]
        rest = [float(value) if np.isfinite(value) else 0.0 for value in first[self.signals]]
        return {"nodes": self.nodes, "lines": self.lines, "motions": motions, "signals": self.signals, "rest": rest}

    def largest(self, first: np.ndarray, least: np.ndarray, greatest: np.ndarray) -> float:
        """A bound of the displacements until now, in m, for the scale of the picture."""
        moved = np.fmax(np.abs(greatest - first), np.abs(least - first))
        sizes = [sum(abs(weight) * moved[signal] for signal, weight in motion) for motion in self.motions]
        return float(np.nanmax(sizes)) if sizes and np.isfinite(sizes).any() else 0.0


def picture_of(
    signals: Signals, about: Mapping[str, Any], sites: Sequence[str], colours: Mapping[str, int]
) -> Picture | None:
    """The picture of a building whose floors are known and recorded; None of another one."""
    floors = _floors(signals, about)
    if not floors or any(not motion for motion in floors):
        return None
    drawn = BuildingPicture(about, signals.names, len(floors), sites)
    motions: list[list[tuple[int, float]]] = []
    for source in drawn.sources:
        if isinstance(source, str):
            motions.append([(signals[source], 1.0)])
            continue
        above, part = drawn.between(source)
        below = floors[above - 2] if above > 1 else []
        weighted = [(s, (1.0 - part) * w) for s, w in below] + [(s, part * w) for s, w in floors[above - 1]]
        motions.append([(signal, weight) for signal, weight in weighted if weight])
    lines = [(i, j, colours.get(drawn.sites[site], -2) if site >= 0 else site) for i, j, site in drawn.lines]
    needed = sorted({signal for motion in motions for signal, _ in motion})
    return Picture(drawn.nodes, lines, motions, needed)


def _floors(signals: Signals, about: Mapping[str, Any]) -> list[list[tuple[int, float]]]:
    """Displacement of every floor as a sum of signals: its own, or the drifts below it; else empty."""
    floors = list(about.get("floors") or [])
    found: list[list[tuple[int, float]]] = []
    for k, floor in enumerate(floors):
        drifts = [f"drift.{j + 1}" for j in range(k + 1)]
        if f"u.{floor}" in signals:
            found.append([(signals[f"u.{floor}"], 1.0)])
        elif all(name in signals for name in drifts):
            found.append([(signals[name], 1.0) for name in drifts])
        else:
            found.append([])
    return found
