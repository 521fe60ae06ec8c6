"""Measured forces that come late: an updater is given the inputs of the time of measurement."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from numba import carray

from hyloop.core.block import rebind
from hyloop.core.jit import verb
from hyloop.core.memory import laid_out, views

__all__ = ["DelayMemory", "delay_memory", "delayed_step"]

step: Any = None  # bound by `delayed_step`


class DelayMemory(NamedTuple):
    """What lies behind the states of the updater."""

    ticks: int  # so far
    ring: int  # (depth + 1, inputs): the law's inputs of the past
    past: int  # the inputs handed on, and the force


def delay_memory(first: int, inputs: int, depth: int) -> tuple[DelayMemory, int]:
    """Lay out, behind `first` states, what a delay of up to `depth` ticks needs; with the size of the whole."""
    return laid_out(DelayMemory, {"ticks": 1, "ring": inputs * (depth + 1), "past": inputs + 1}, first)


def delayed_step(function: Callable, size: int, n_p: int, inputs: int, depth: int) -> Callable:
    r"""Make an ``advance`` that gives `function` the law's inputs of ``p[n_p]`` ticks ago with the present force.

    A part of a tick is bridged by a straight line between two samples. Until the first sample is that old it is held
    and the force counts as missing: nothing was measured of it. `size` is the number of states of `function`.
    """
    memory, slots = delay_memory(size, inputs, depth)[0], depth + 1

    def advance(x, u, dt, p, y):
        m, delay = views(x, memory), p[n_p]
        count, ring = int(m.ticks[0]), carray(m.ring, (slots, inputs))
        store(ring, slots, inputs, count, u)
        recall(ring, slots, inputs, count, delay, m.past)
        m.past[inputs] = u[inputs] if count >= delay else math.nan
        # the count turns round where nothing depends on it any more, so that it stays exact for ever
        m.ticks[0] = count + 1 if count + 1 < 2 * slots else slots
        step(x, carray(m.past, (inputs + 1,)), dt, p, y)

    return rebind(advance, step=verb(function))


@verb
def store(ring, slots, inputs, count, u):
    """Put the inputs into the ring; the first sample fills it."""
    for k in range(slots if count == 0 else 1):
        for i in range(inputs):
            ring[(count + k) % slots, i] = u[i]


@verb
def recall(ring, slots, inputs, count, delay, past):
    """The inputs of `delay` ticks ago."""
    whole = math.floor(delay)
    part = delay - whole
    newer = (count + slots - whole) % slots
    older = (newer + slots - 1) % slots if part > 0.0 else newer
    for i in range(inputs):
        past[i] = (1.0 - part) * ring[newer, i] + part * ring[older, i]
