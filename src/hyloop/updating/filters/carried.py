"""The free parameters of a law inside a tick: from the number carried to the parameter, and within bounds."""

import math
from typing import NamedTuple

from hyloop.core.jit import verb
from hyloop.core.memory import read
from hyloop.updating.filters.parameters import CLIP, REACH, SHRINK, TRANSFORM

__all__ = ["Scaled", "held", "keep", "offer", "process", "scaled", "value"]


class Scaled(NamedTuple):
    """Settings of a free parameter, in the order of `carried_params`."""

    scale: float
    low: float
    high: float


WALK = len(Scaled._fields)  # the random walk stands behind them


@verb
def scaled(law, free, i):
    """Settings of free parameter i out of those of all of them."""
    return read(Scaled, free, law.each * i)


@verb
def process(law, free, i):
    """Standard deviation of the random walk of free parameter i in a tick."""
    return free[law.each * i + WALK]


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


@verb
def keep(law, m, free, usable, y):
    """Take over the mean after a usable measurement, within the bounds; offer it to the law and to other blocks."""
    for i in range(law.n):
        its = scaled(law, free, i)
        if usable:
            m.mean[i] = held(m.point[i], its, law.bounds)
        y[i] = m.params[law.order[i]] = offer(m.mean[i], its, law.bounds)
