r"""One tick of an unscented filter, compiled for one law, one number of parameters and one choice of rules.

Predict, with L the lower triangle of P + Q; draw the sigma points :math:`m \pm \gamma\,l_j` along its columns and ask
the law at each; weigh the innovation, correct mean and spread, keep within bounds, move on.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from numba import carray

from hyloop.core.block import Block, rebind
from hyloop.core.jit import pointer, verb
from hyloop.core.memory import laid_out, read, views
from hyloop.updating.filters.carried import Carried, carried, held, offer, value
from hyloop.updating.filters.factors import cholesky, mend, reflect, triangularise
from hyloop.updating.filters.measurement import finite, fix, free_first, measurement, move_on, settings
from hyloop.updating.filters.parameters import SHRINK

__all__ = ["REPAIRS", "FilterMemory", "Unscented", "along", "filter_memory", "filter_step"]

REPAIRS = {"none": 0, "nearest": 1, "square-root": 2}
_NEAREST, _SQUARE_ROOT = 1, 2

measure: Any = None  # bound by `filter_step`


class FilterMemory(NamedTuple):
    """What lies in the filter's state vector."""

    mean: int  # the numbers carried
    spread: int  # P (n, n), or its factor S with P = S S^T
    law: int  # state of the device law, one for all sigma points
    good: int  # last good covariance
    work: int  # [S | process] (n, 2n), whose left half becomes the lower triangle L
    matrix: int  # P before the measurement, where the covariance itself is carried
    gain: int  # L g: covariance of the parameters with the force
    slope: int  # g: force along each column of L, then what no column explains
    point: int  # mean after the measurement
    params: int  # all parameters of the law
    trial: int  # state of the law after a trial tick
    outputs: int  # of the law
    force: int  # at every sigma point


class Unscented(NamedTuple):
    """The filter's own settings, in the order of its parameters."""

    noise: float  # standard deviation of the measured force
    width: float  # γ, distance of the sigma points in standard deviations
    curvature: float  # β - α²


class Forecast(NamedTuple):
    """The force that the sigma points expect."""

    force: float
    variance: float
    rest: float  # the part of the variance that no column of L explains


@verb
def along(point, n):
    """Column and direction of a sigma point: first the centre, then those ahead along every column, then behind."""
    return (point - 1, 1.0) if point <= n else (point - 1 - n, -1.0)


def filter_memory(block: Block, n: int) -> tuple[FilterMemory, int]:
    """Lay out the state of a filter with `n` free parameters of a law; with its size."""
    sizes = {"mean": n, "spread": n * n, "law": len(block.state), "good": n * n, "work": 2 * n * n, "matrix": n * n}
    sizes |= {"gain": n, "slope": n + 1, "point": n}
    sizes |= {"params": len(block.params), "trial": len(block.state), "outputs": len(block.outputs), "force": 2 * n + 1}
    return laid_out(FilterMemory, sizes)


def filter_step(block: Block, free: tuple[int, ...], bounds: int, repair: int) -> Callable:
    """Make ``advance(x, u, dt, p, y)`` for the parameters of `block` at the positions `free`.

    `p` holds the other parameters of the law in their order, then `Unscented`, then `Carried` for each free one.
    Everything in the closure is a number, so that Numba's cache key is the same in every process; sizes and rules go to
    the verbs one by one, because Numba then compiles each for these very numbers, with loops of known length.
    """
    n, nx, inputs, order = len(free), len(block.state), len(block.inputs), free_first(block, free)
    memory, parameters = filter_memory(block, n)[0], settings(block, n, Unscented, Carried)
    columns = 2 * n

    def advance(x, u, dt, p, y):
        m, q, signals = views(x, memory), views(p, parameters), pointer(u)
        fix(n, order, m.params, q.fixed)
        if repair == _SQUARE_ROOT:
            predict_factor(n, columns, m, q)
        else:
            predict_covariance(n, columns, m, q, repair == _NEAREST)
        share = shrink(n, m, q) if bounds == SHRINK else 1.0
        for point in range(columns + 1):
            draw(n, order, bounds, m, q, point)
            m.force[point] = measure(m.law, signals, dt, m.params, m.trial, m.outputs)
        f = forecast(n, m, q)
        innovation = u[inputs] - f.force
        # a sample that is missing, or that some sigma point cannot answer, teaches nothing
        usable = weigh(n, m, f.variance, innovation) and share > 0.0
        if repair == _SQUARE_ROOT:
            correct_factor(n, columns, m, f, usable)
        else:
            correct_covariance(n, m, f, usable)
        if repair == _NEAREST:
            mend(x, memory.spread, memory.good, n, x, memory.work, columns)
        keep(n, order, bounds, m, q, usable, pointer(y))
        # the device moves on once, with what is now known of it
        y[n] = measure(m.law, signals, dt, m.params, m.trial, m.outputs)
        move_on(m.law, m.trial, nx)
        y[n + 1] = innovation

    return rebind(advance, measure=measurement(block))


@verb
def predict_factor(n, columns, m, q):
    """Random walk: the lower triangle L of P- = P + Q, from the factor [S | Q^(1/2)]."""
    S, L = carray(m.spread, (n, n)), carray(m.work, (n, columns))
    for i in range(n):
        for j in range(n):
            L[i, j] = S[i, j]
            L[i, n + j] = carried(q.free, i).process if i == j else 0.0
    triangularise(m.work, 0, n, columns)


@verb
def predict_covariance(n, columns, m, q, mended):
    """Random walk: P- = P + Q, and its lower triangle L."""
    S, P = carray(m.spread, (n, n)), carray(m.matrix, (n, n))
    for i in range(n):
        for j in range(n):
            P[i, j] = S[i, j]
        P[i, i] += carried(q.free, i).process ** 2
    if not cholesky(m.matrix, 0, n, m.work, 0, columns) and not mended:
        for i in range(n):
            m.mean[i] = math.nan  # a filter that has failed shall not look like one that has converged


@verb
def shrink(n, m, q):
    """Lower the spread by tenths until all sigma points are inside the bounds; returns the share that is left."""
    P, L, share = carray(m.matrix, (n, n)), carray(m.work, (n, 2 * n)), 1.0
    for i in range(n):
        # a sigma point lies farthest out along one coordinate by the largest entry of that row of L
        its, width, reach = carried(q.free, i), read(Unscented, q.own, 0).width, 0.0
        for j in range(i + 1):
            reach = max(reach, abs(its.scale * width * L[i, j]))
        share = min(share, room(m.mean[i], reach, its))
    if share > 0.0:  # without a spread there is nothing to learn from; the covariance stays as it is
        for i in range(n):
            for j in range(n):
                L[i, j] *= share
                P[i, j] *= share * share
    return share


@verb
def room(mean, reach, its):
    """Tenths of `reach` that one parameter can go to either side within its bounds."""
    inside = min(its.high - its.scale * mean, its.scale * mean - its.low)
    steps = 10
    while steps > 0 and steps / 10.0 * reach > inside:
        steps -= 1
    return steps / 10.0


@verb
def draw(n, order, bounds, m, q, point):
    """Parameters of the law at a sigma point: the mean itself, or beside it along a column of L."""
    L, width = carray(m.work, (n, 2 * n)), read(Unscented, q.own, 0).width
    j, sign = along(point, n)
    for i in range(n):
        mean = m.mean[i] + sign * width * L[i, j] if point > 0 else m.mean[i]
        m.params[order[i]] = value(mean, carried(q.free, i), bounds)


@verb
def forecast(n, m, q):
    """Force and its variance by central differences along the columns of L.

    They are the weighted sums of the textbook without their huge weights.
    """
    own, centre = read(Unscented, q.own, 0), m.force[0]
    rest, bend, total = own.noise * own.noise, 0.0, 0.0
    for j in range(n):
        plus, minus = m.force[1 + j], m.force[1 + n + j]
        m.slope[j] = (plus - minus) / (2.0 * own.width)
        second = (plus + minus - 2.0 * centre) / (2.0 * own.width)
        bend += second / own.width
        rest += second * second
        total += m.slope[j] * m.slope[j]
    rest += own.curvature * bend * bend
    return Forecast(centre + bend, total + rest, rest)


@verb
def weigh(n, m, variance, innovation):
    """Gain and the mean after the measurement; whether all is finite."""
    L = carray(m.work, (n, 2 * n))
    for i in range(n):
        s = 0.0
        for j in range(n):
            s += L[i, j] * m.slope[j]
        m.gain[i] = s
        m.point[i] = m.mean[i] + s / variance * innovation
    return math.isfinite(innovation) and math.isfinite(variance) and finite(m.point, n)


@verb
def correct_factor(n, columns, m, f, usable):
    """P+ = L (I - g g^T / variance) L^T, on its factor."""
    S, L = carray(m.spread, (n, n)), carray(m.work, (n, columns))
    m.slope[n] = math.sqrt(f.rest)
    if usable:
        reflect(m.slope, 0, math.sqrt(f.variance), n, m.work, 0, columns, m.spread, 0)
    else:
        for i in range(n):
            for j in range(n):
                S[i, j] = L[i, j]


@verb
def correct_covariance(n, m, f, usable):
    """P+ = P- less what the gain explains."""
    S, P = carray(m.spread, (n, n)), carray(m.matrix, (n, n))
    for i in range(n):
        for j in range(n):
            change = m.gain[i] * m.gain[j] / f.variance if usable else 0.0
            S[i, j] = P[i, j] - change


@verb
def keep(n, order, bounds, m, q, usable, y):
    """Take over the mean after a usable measurement, within the bounds; offer it to the law and to other blocks."""
    for i in range(n):
        its = carried(q.free, i)
        if usable:
            m.mean[i] = held(m.point[i], its, bounds)
        y[i] = m.params[order[i]] = offer(m.mean[i], its, bounds)
