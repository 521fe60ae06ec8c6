"""A design as numbers: what varies, what it costs, and what compiled runs say of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
from scipy.optimize import brentq

from hyloop.errors import BadInput, OutOfBounds, UnknownName
from hyloop.files.design import Design
from hyloop.files.excitations import Excitation, ground_motion, naming
from hyloop.files.schema import Experiment
from hyloop.files.units import quantity
from hyloop.loop import Loop

__all__ = ["Problem", "motions", "problem"]


@dataclass(frozen=True, eq=False)
class Problem:
    """Values of groups of parameters, between bounds and at one cost, and the drifts that judge them."""

    loop: Loop
    groups: dict[str, list[str]]
    unit: str
    cost: np.ndarray
    low: np.ndarray
    high: np.ndarray
    budget: float
    drifts: tuple[str, ...]  # channels
    stories: np.ndarray  # the same as columns over the displacements

    def parameters(self, x: np.ndarray) -> dict[str, float]:
        """Channels and their values."""
        return {name: float(value) for value, names in zip(x, self.groups.values(), strict=True) for name in names}

    def spent(self, share: np.ndarray) -> np.ndarray:
        """Values in proportion to positive shares, held between the bounds, that spend the whole budget."""
        full = np.maximum(np.asarray(share, dtype=float), 1e-12)

        def over(level: float) -> float:
            return float(self.cost @ np.clip(np.exp(level) * full, self.low, self.high)) - self.budget

        ends = np.log(np.maximum(self.low, 1e-12 * self.high) / full).min(), np.log(self.high / full).max()
        if over(ends[0]) >= 0.0 or over(ends[1]) <= 0.0:  # the budget is what the bounds cost
            return np.clip(np.exp(ends[0] if over(ends[0]) >= 0.0 else ends[1]) * full, self.low, self.high)
        level: Any = brentq(over, *ends, xtol=1e-13)
        return np.clip(np.exp(level) * full, self.low, self.high)

    def peaks(self, x: np.ndarray, excitations: Sequence[np.ndarray]) -> np.ndarray:
        """Largest drift of every story (motions, stories), by compiled runs."""
        loop, found = self.loop.copy(self.parameters(x)), []
        for e in excitations:
            u = loop.run(e, record="u.*").data - loop.structure.at_rest
            found.append(np.abs(u @ self.stories).max(axis=0))
        return np.array(found)


def problem(loop: Loop, design: Design) -> Problem:
    """Read the table `[design]` for a loop that is built."""
    bounds, known = loop.parts.bounds, loop.channels
    names: list[str] = []
    for pattern in design.vary:
        fit = [name for name in bounds if fnmatchcase(name, pattern)]
        if not fit:
            raise UnknownName("parameter", pattern, bounds, where="design.vary")
        names += [name for name in fit if name not in names]
    places = {site.name: site for site in loop.sites}
    outside = [name for name in names if name.rpartition(".")[0] not in places]
    if outside:
        raise BadInput(f"design.vary: {outside[0]} is no parameter of a device at a site; name others.")
    units = {known[name] for name in names}
    if len(units) > 1:
        raise BadInput(f"design.vary: the parameters have the units {', '.join(sorted(units))}; name those of one.")
    for name in design.weights:
        if name not in places:
            raise UnknownName("site", name, places, where="design.weights")
    groups, unit = _groups(loop, names, design.by_story), units.pop()
    weight = {name: design.weights.get(name, 1.0) * site.count for name, site in places.items()}
    cost = np.array([sum(weight[name.rpartition(".")[0]] for name in group) for group in groups.values()])
    low, high, budget = (quantity(getattr(design, key), unit, f"design.{key}") for key in ("low", "high", "budget"))
    for name in names:
        for key, value in (("low", low), ("high", high)):
            bounds[name].check(value, f"design.{key}, {name}")
    if not 0.0 <= low < high:
        raise OutOfBounds(f"design.low = {low:g} {unit} must be at least zero and below high = {high:g} {unit}.")
    if not cost.sum() * low < budget < cost.sum() * high:
        raise OutOfBounds(
            f"design.budget = {budget:g} {unit} must lie between what all parameters cost at their bounds, "
            f"{cost.sum() * low:g} and {cost.sum() * high:g} {unit}."
        )
    drifts = [name for name in loop.derived().names if name.startswith("drift_ratio.")]
    drifts = drifts or [name for name in loop.derived().names if name.startswith("drift.")]
    if not drifts:
        raise BadInput("design: the structure has no floors, so that it has no story drifts to lower.")
    stories = np.array([loop.structure.story(k + 1) for k in range(len(loop.structure.floors))])
    if loop.structure.heights:
        stories = stories / np.array(loop.structure.heights)[:, None]
    ends = np.full(len(groups), low), np.full(len(groups), high)
    return Problem(loop, groups, unit, cost, *ends, budget, tuple(drifts), stories.T)


def _groups(loop: Loop, names: Sequence[str], by_story: bool) -> dict[str, list[str]]:
    """Parameters that have one value together: those of one key at sites of one direction, or each its own."""
    if not by_story:
        return {name: [name] for name in names}
    along = {site.name: site.along for site in loop.sites}
    found: dict[tuple, list[str]] = {}
    for name in names:
        place, _, key = name.rpartition(".")
        direction = along[place] * np.sign(along[place][np.flatnonzero(along[place])[0]])
        found.setdefault((key, *np.flatnonzero(direction).tolist()), []).append(name)
    return {group[0]: group for group in found.values()}


def motions(experiment: Experiment, table: str, specs: dict[str, Excitation], loop: Loop) -> tuple[list, list[str]]:
    """Rows for the loop of every motion, and notes on those that were replaced."""
    if loop.parts.plan.excitations != 1:
        raise BadInput("design: the structure must have one direction of the ground and no loads.")
    rows, notes = [], []
    for name, spec in specs.items():
        own = int(np.random.SeedSequence(experiment.seed, spawn_key=tuple(name.encode())).generate_state(1)[0])
        with naming("excitation", f"design.{table}.{name}"):
            motion, note = ground_motion(spec, loop.dt, own)
        rows.append(loop.rows(motion))
        notes.append(f"{table}: {name}: {note.partition(': ')[2]}")
    return rows, notes
