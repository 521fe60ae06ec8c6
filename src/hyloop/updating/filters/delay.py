"""Measured forces that come late: an updater is given the inputs of the time of measurement."""

import math
from collections.abc import Callable
from typing import Any

from hyloop.core.block import rebind
from hyloop.core.jit import verb

__all__ = ["delayed_step", "ring_size"]

step: Any = None  # bound by `delayed_step`


def ring_size(inputs: int, depth: int) -> int:
    """States that a delay of up to `depth` ticks adds: a count, the law's inputs of the past, those handed on."""
    return 1 + inputs * (depth + 1) + inputs + 1


def delayed_step(function: Callable, size: int, n_p: int, inputs: int, depth: int) -> Callable:
    r"""Make an ``advance`` that gives `function` the law's inputs of ``p[n_p]`` ticks ago with the present force.

    A part of a tick is bridged by a straight line between two samples. Until the first sample is that old it is held
    and the force counts as missing: nothing was measured of it. `size` is the number of states of `function`.
    """
    ring, past = size + 1, size + 1 + inputs * (depth + 1)

    def advance(x, u, dt, p, y):
        count = int(x[size])
        slots = depth + 1
        for i in range(inputs):
            for k in range(slots if count == 0 else 1):  # the first sample fills the ring
                x[ring + inputs * ((count + k) % slots) + i] = u[i]
        whole = math.floor(p[n_p])
        part = p[n_p] - whole
        newer = (count + slots - whole) % slots
        older = (newer + slots - 1) % slots if part > 0.0 else newer
        for i in range(inputs):
            x[past + i] = (1.0 - part) * x[ring + inputs * newer + i] + part * x[ring + inputs * older + i]
        x[past + inputs] = u[inputs] if count >= p[n_p] else math.nan
        # the count turns round where nothing depends on it any more, so that it stays exact for ever
        x[size] = count + 1 if count + 1 < 2 * slots else slots
        step(x[:size], x[past : past + inputs + 1], dt, p[:n_p], y)

    return rebind(advance, step=verb(function))
