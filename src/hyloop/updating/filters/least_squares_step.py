"""One tick of recursive least squares: ask the law, weigh, correct and forget, keep within bounds, move on."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from numba import carray

from hyloop.core.block import Block, rebind
from hyloop.core.jit import pointer, verb
from hyloop.core.memory import laid_out, read, views
from hyloop.updating.filters.carried import Scaled, held, offer, scaled, value
from hyloop.updating.filters.factors import reflect
from hyloop.updating.filters.measurement import finite, fix, free_first, measurement, move_on, settings

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

    `p` holds the other parameters of the law in their order, then `Own`, then `Scaled` for each free one.
    """
    n, nx, inputs, order = len(free), len(block.state), len(block.inputs), free_first(block, free)
    memory, parameters = least_squares_memory(block, n)[0], settings(block, n, Own, Scaled)

    def advance(x, u, dt, p, y):
        m, q, signals = views(x, memory), views(p, parameters), pointer(u)
        fix(n, order, m.params, q.fixed)
        for point in range(2 * n + 1):
            draw(n, order, bounds, m, q, point)
            m.force[point] = measure(m.law, signals, dt, m.params, m.trial, m.outputs)
        innovation = u[inputs] - m.force[0]
        variance = slopes(n, m, q)
        usable = weigh(n, m, variance, innovation)
        if usable:
            correct(n, m, q, variance)
        keep(n, order, bounds, m, q, usable, pointer(y))
        y[n] = measure(m.law, signals, dt, m.params, m.trial, m.outputs)
        move_on(m.law, m.trial, nx)
        y[n + 1] = innovation

    return rebind(advance, measure=measurement(block))


@verb
def draw(n, order, bounds, m, q, point):
    """Parameters of the law at the mean, then with a little more of each, then with a little less."""
    for i in range(n):
        mean = m.mean[i]
        if point == 1 + i:
            mean += NEAR
        elif point == 1 + n + i:
            mean -= NEAR
        m.params[order[i]] = value(mean, scaled(q.free, i), bounds)


@verb
def slopes(n, m, q):
    """g = S^T φ with the noise behind it, and the sum of their squares: the variance of the force."""
    S, own = carray(m.spread, (n, n)), read(Own, q.own, 0)
    for j in range(n):
        m.slope[j] = 0.0
    for i in range(n):
        phi = (m.force[1 + i] - m.force[1 + n + i]) / (2.0 * NEAR)
        for j in range(n):
            m.slope[j] += S[i, j] * phi
    m.slope[n] = own.noise * math.sqrt(own.forgetting)
    variance = 0.0
    for j in range(n + 1):
        variance += m.slope[j] * m.slope[j]
    return variance


@verb
def weigh(n, m, variance, innovation):
    """The mean after the measurement; whether all is finite."""
    S = carray(m.spread, (n, n))
    for i in range(n):
        s = 0.0
        for j in range(n):
            s += S[i, j] * m.slope[j]
        m.point[i] = m.mean[i] + s / variance * innovation
    return math.isfinite(innovation) and math.isfinite(variance) and finite(m.point, n)


@verb
def correct(n, m, q, variance):
    """S after the measurement; the past fades, as long as the trace of the covariance stays below its ceiling."""
    own = read(Own, q.own, 0)
    reflect(m.slope, 0, math.sqrt(variance), n, m.spread, 0, n, m.fresh, 0)
    trace = 0.0
    for k in range(n * n):
        trace += m.fresh[k] * m.fresh[k]
    fade = 1.0 / math.sqrt(own.forgetting) if trace <= own.forgetting * own.trace else 1.0
    for k in range(n * n):
        m.spread[k] = fade * m.fresh[k]


@verb
def keep(n, order, bounds, m, q, usable, y):
    """Take over the mean after a usable measurement, within the bounds; offer it to the law and to other blocks."""
    for i in range(n):
        its = scaled(q.free, i)
        if usable:
            m.mean[i] = held(m.point[i], its, bounds)
        y[i] = m.params[order[i]] = offer(m.mean[i], its, bounds)
