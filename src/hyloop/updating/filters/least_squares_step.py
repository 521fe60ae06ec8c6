"""One tick of recursive least squares: ask the law, weigh, correct and forget, keep within bounds, move on."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from numba import carray

from hyloop.core.block import Block, rebind
from hyloop.core.jit import verb
from hyloop.core.memory import laid_out, read, views
from hyloop.updating.filters.carried import keep, scaled, value
from hyloop.updating.filters.factors import reflect
from hyloop.updating.filters.measurement import finite, fix, followed, measurement, move_on, settings

__all__ = ["LeastSquaresMemory", "least_squares_memory", "least_squares_step"]

NEAR = 1e-4  # half width of the central difference, of the carried number: 1e-8 of curvature, 1e-12 of round-off

measure: Any = None  # bound by `least_squares_step`


class LeastSquaresMemory(NamedTuple):
    """What lies in the updater's state vector."""

    mean: int  # the numbers carried
    spread: int  # S (n, n), with P = S S^T
    law: int  # state of the device law
    fresh: int  # S after the measurement
    slope: int  # g = S^T φ, then the noise
    point: int  # mean after the measurement
    params: int  # all parameters of the law
    trial: int  # state of the law after a trial tick
    outputs: int  # of the law
    force: int  # at the mean, then beside it along every parameter


class Own(NamedTuple):
    """The updater's own settings, in the order of its parameters."""

    noise: float  # standard deviation of the measured force
    forgetting: float  # λ, weight of a sample relative to the next
    trace: float  # of the covariance, above which nothing is forgotten


def least_squares_memory(block: Block, n: int) -> tuple[LeastSquaresMemory, int]:
    """Lay out the state of an updater of `n` free parameters of a law; with its size."""
    sizes = {"mean": n, "spread": n * n, "law": len(block.state), "fresh": n * n, "slope": n + 1, "point": n}
    sizes |= {"params": len(block.params), "trial": len(block.state), "outputs": len(block.outputs), "force": 2 * n + 1}
    return laid_out(LeastSquaresMemory, sizes)


def least_squares_step(block: Block, free: tuple[int, ...], bounds: int) -> Callable:
    """Make ``advance(x, u, dt, p, y)`` for the parameters of `block` at the positions `free`.

    `p` holds the other parameters of the law in their order, then `Own`, then scale and bounds for each free one.
    """
    law = followed(block, free, bounds, walk=False)
    memory, parameters = least_squares_memory(block, law.n)[0], settings(law, Own)

    def advance(x, u, dt, p, y):
        m, q = views(x, memory), views(p, parameters)
        fix(law, m.params, q.fixed)
        for point in range(2 * law.n + 1):
            draw(law, m, q, point)
            m.force[point] = measure(m.law, u, dt, m.params, m.trial, m.outputs)
        innovation = u[law.inputs] - m.force[0]
        variance = slopes(law, m, q)
        usable = weigh(law, m, variance, innovation)
        if usable:
            correct(law, m, q, variance)
        keep(law, m, q.free, usable, y)
        y[law.n] = measure(m.law, u, dt, m.params, m.trial, m.outputs)
        move_on(m.law, m.trial, law.states)
        y[law.n + 1] = innovation

    return rebind(advance, measure=measurement(block))


@verb
def draw(law, m, q, point):
    """Parameters of the law at the mean, then a little more and a little less of each."""
    for i in range(law.n):
        mean = m.mean[i]
        if point == 1 + 2 * i:
            mean += NEAR
        elif point == 2 + 2 * i:
            mean -= NEAR
        m.params[law.order[i]] = value(mean, scaled(law, q.free, i), law.bounds)


@verb
def slopes(law, m, q):
    """g = S^T φ with the noise behind it, and the sum of their squares: the variance of the force."""
    n, own = law.n, read(Own, q.own, 0)
    S = carray(m.spread, (n, n))
    for j in range(n):
        m.slope[j] = 0.0
    for i in range(n):
        phi = (m.force[1 + 2 * i] - m.force[2 + 2 * i]) / (2.0 * NEAR)
        for j in range(n):
            m.slope[j] += S[i, j] * phi
    m.slope[n] = own.noise * math.sqrt(own.forgetting)
    variance = 0.0
    for j in range(n + 1):
        variance += m.slope[j] * m.slope[j]
    return variance


@verb
def weigh(law, m, variance, innovation):
    """The mean after the measurement; whether all is finite."""
    n = law.n
    S = carray(m.spread, (n, n))
    for i in range(n):
        s = 0.0
        for j in range(n):
            s += S[i, j] * m.slope[j]
        m.point[i] = m.mean[i] + s / variance * innovation
    return math.isfinite(innovation) and math.isfinite(variance) and finite(m.point, n)


@verb
def correct(law, m, q, variance):
    """S after the measurement; the past fades, as long as the trace of the covariance stays below its ceiling."""
    n, own = law.n, read(Own, q.own, 0)
    reflect(m.slope, 0, math.sqrt(variance), n, m.spread, 0, n, m.fresh, 0)
    trace = 0.0
    for k in range(n * n):
        trace += m.fresh[k] * m.fresh[k]
    fade = 1.0 / math.sqrt(own.forgetting) if trace <= own.forgetting * own.trace else 1.0
    for k in range(n * n):
        m.spread[k] = fade * m.fresh[k]
