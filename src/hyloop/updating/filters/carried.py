"""The free parameters of a law inside a tick: from the number carried to the parameter, and within bounds."""

import math
from typing import NamedTuple

from hyloop.core.jit import verb
from hyloop.core.memory import read
from hyloop.updating.filters.parameters import CLIP, REACH, SHRINK, TRANSFORM

__all__ = ["Carried", "Scaled", "carried", "held", "offer", "scaled", "value"]


class Scaled(NamedTuple):
    """Settings of a free parameter, in the order of `carried_params`."""

    scale: float
    low: float
    high: float


class Carried(NamedTuple):
    """Settings of a free parameter that walks at random."""

    scale: float
    low: float
    high: float
    process: float  # standard deviation of the random walk in a tick


@verb
def scaled(free, i):
    """Settings of free parameter i out of those of all of them."""
    return read(Scaled, free, 3 * i)


@verb
def carried(free, i):
    """Settings of free parameter i out of those of all of them, with its random walk."""
    return read(Carried, free, 4 * i)


@verb
def clip(a, low, high):
    """`a` held inside the bounds; nan stays nan."""
    return low if a < low else (high if a > high else a)


@verb
def value(m, its, bounds):
    """The parameter in its own unit from the number carried and the settings of the parameter."""
    if bounds == TRANSFORM:
        return its.low + (its.high - its.low) / (1.0 + math.exp(-its.scale * m))
    return its.scale * m


@verb
def held(m, its, bounds):
    """The carried number held inside the bounds, as far as the rule asks for that."""
    if bounds in (CLIP, SHRINK):
        return clip(m, its.low / its.scale, its.high / its.scale)
    if bounds == TRANSFORM:
        return clip(m, -REACH / its.scale, REACH / its.scale)
    return m


@verb
def offer(m, its, bounds):
    """The parameter as other blocks see it: low / scale * scale may round to just outside the bounds."""
    theta = value(m, its, bounds)
    return clip(theta, its.low, its.high) if bounds != 0 else theta
