"""Blocks of one law that can run side by side, and the bus as the tracer sees it.

A compiled run calls one block after another. Under JAX every call is some operations more to compile and to start, so
blocks of the same law run as one, on arrays with an entry for each, wherever none of them hears another.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from hyloop.core import Instance
from hyloop.learn.laws.jax_law import jax_law

__all__ = ["Bus", "Lane", "lanes", "stale"]

_COLUMNS = ("inputs", "outputs", "parameters", "x0")


@dataclass(frozen=True, eq=False)
class Lane:
    """Blocks of one law: positions on the bus, a row for each signal and a column for each block."""

    law: Callable
    inputs: np.ndarray
    outputs: np.ndarray
    parameters: np.ndarray
    x0: np.ndarray

    @property
    def reads(self) -> set[int]:
        """Positions of its inputs and parameters."""
        return {*self.inputs.ravel().tolist(), *self.parameters.ravel().tolist()}

    @property
    def writes(self) -> set[int]:
        """Positions of its outputs."""
        return set(self.outputs.ravel().tolist())

    def advance(self, x: tuple, bus: "Bus", dt: float) -> tuple:
        """Write the outputs of a tick to the bus; returns the new states."""
        u, p = (tuple(bus.take(row) for row in rows) for rows in (self.inputs, self.parameters))
        outputs, new = jax.vmap(self.law, in_axes=(0, 0, None, 0), axis_size=self.outputs.shape[1])(x, u, dt, p)
        for positions, values in zip(self.outputs, outputs, strict=True):
            bus.put(positions, values)
        return tuple(new) if x else x


def lanes(
    instances: Sequence[Instance],
    inputs: Sequence[Sequence[int]],
    outputs: Sequence[Sequence[int]],
    parameters: Sequence[Sequence[int]],
) -> list[Lane]:
    """All blocks, in an order that gives what one after another gives."""
    found: list[tuple[Instance, Lane]] = []
    for one, *positions in zip(instances, inputs, outputs, parameters, strict=True):
        reads, writes, values = (np.array(part, dtype=np.int64)[:, None] for part in positions)
        lane = Lane(jax_law(one.block), reads, writes, values, one.x0[:, None])
        place = next(
            (k for k, (other, _) in enumerate(found) if other.block is one.block and _free(lane, found, k)), -1
        )
        if place < 0:
            found.append((one, lane))
            continue
        there = found[place][1]
        joined = {key: np.hstack([getattr(there, key), getattr(lane, key)]) for key in _COLUMNS}
        found[place] = one, Lane(lane.law, **joined)
    return [lane for _, lane in found]


def _free(lane: Lane, found: Sequence[tuple[Instance, Lane]], place: int) -> bool:
    """Whether a block may run together with the lane at `place`, before those that come after it."""
    for k, (_, other) in enumerate(found[place:]):
        if lane.reads & other.writes or lane.writes & other.writes or (k and lane.writes & other.reads):
            return False
    return True


def stale(order: Sequence[Lane], fresh: set[int], later: set[int]) -> np.ndarray:
    """Positions that are read before they are written in a tick, so that they still have what the last one left.

    `fresh` stands there anew when the tick begins, `later` is written after it.
    """
    ever = later.union(*(lane.writes for lane in order))
    now, found = set(fresh), set()
    for lane in order:
        found |= (lane.reads - now) & ever
        now |= lane.writes
    return np.array(sorted(found), dtype=np.int64)


class Bus:
    """Where every signal stands while a step is traced: which array, and which entry of it."""

    def __init__(self, base: Any) -> None:
        self._base = base
        self._at: dict[int, tuple[Any, int]] = {}

    def copy(self) -> "Bus":
        """Another one to write to."""
        other = Bus(self._base)
        other._at = dict(self._at)
        return other

    def put(self, positions: Any, values: Any) -> None:
        """Write an array to as many positions."""
        self._at.update({int(position): (values, k) for k, position in enumerate(positions)})

    def take(self, positions: np.ndarray) -> jax.Array:
        """The values at these positions; an array that stands there as it is costs nothing."""
        found = [self._at.get(int(position), (self._base, int(position))) for position in positions]
        if len({id(array) for array, _ in found}) != 1:
            return jnp.stack([array[k] for array, k in found]) if found else jnp.zeros(0)
        array, first = found[0]
        places = [k for _, k in found]
        if places != list(range(first, first + len(places))):
            return array[np.array(places)]
        return array if len(places) == array.shape[0] else array[first : first + len(places)]
