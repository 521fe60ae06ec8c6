r"""One tick of the unscented filter for parameters *and* hidden states of a law, in square-root form.

Every sigma point has its own parameters :math:`\theta` and its own states x, takes both through one tick of the law and
so has its own new state and its own force. With the deviations of all points from the centre in the columns of
G (central differences) and C (second differences), and :math:`b` the shift of the mean, the rows of

.. math:: \begin{pmatrix} g^T & c^T & \kappa b_f & \sigma & 0 \\ G & C & \kappa b & 0 & Q^{1/2} \end{pmatrix}, \qquad
    \kappa^2 = \beta - \alpha^2

have the joint covariance of force and unknowns as their products. Made lower triangular by reflections it is
:math:`\begin{pmatrix} s & 0 \\ k s & S \end{pmatrix}`: s is the standard deviation of the predicted force, k the gain
and S the lower triangle from which the next tick starts. No covariance is ever formed, and with process noise in every
unknown S is never singular, even where a law forgets what it was: in full plastic flow all points have one state.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from numba import carray

from hyloop.core.block import Block, rebind
from hyloop.core.jit import pointer, verb
from hyloop.core.memory import laid_out, read, views
from hyloop.updating.filters.carried import Carried, carried, held, offer, value
from hyloop.updating.filters.factors import triangularise
from hyloop.updating.filters.filter_step import Unscented, along
from hyloop.updating.filters.measurement import finite, fix, free_first, measurement, settings

__all__ = ["JointMemory", "joint_memory", "joint_step"]

measure: Any = None  # bound by `joint_step`


class JointMemory(NamedTuple):
    """What lies in the filter's state vector; N unknowns are n parameters, then the filtered states."""

    mean: int  # parameters
    spread: int  # S (N, N), lower triangle, P + Q = S S^T
    law: int  # all states of the law; the filtered ones are means
    array: int  # (N + 1, 3N + 2): force and unknowns of all sigma points
    shift: int  # b of the force and of every unknown
    centre: int  # force and unknowns of the central point
    params: int  # all parameters of the law
    begin: int  # state of the law at a sigma point
    trial: int  # and after the tick
    kept: int  # after the tick of the central point
    outputs: int  # of the law


def joint_memory(block: Block, n: int, filtered: int) -> tuple[JointMemory, int]:
    """Lay out the state of a filter with `n` free parameters and `filtered` states of a law; with its size."""
    N, nx = n + filtered, len(block.state)
    sizes = {"mean": n, "spread": N * N, "law": nx, "array": (N + 1) * (3 * N + 2), "shift": N + 1, "centre": N + 1}
    sizes |= {"params": len(block.params), "begin": nx, "trial": nx, "kept": nx, "outputs": len(block.outputs)}
    return laid_out(JointMemory, sizes)


def joint_step(block: Block, free: tuple[int, ...], states: tuple[int, ...], bounds: int) -> Callable:
    """Make ``advance(x, u, dt, p, y)`` for the parameters at `free` and the states at `states` of `block`.

    `p` is that of `filter_step`, followed by the process noise of every filtered state.
    """
    n, nx, inputs, order = len(free), len(block.state), len(block.inputs), free_first(block, free)
    memory, parameters = joint_memory(block, n, len(states))[0], settings(block, n, Unscented, Carried)
    N = n + len(states)
    rows, columns = N + 1, 3 * N + 2

    def advance(x, u, dt, p, y):
        m, q, signals = views(x, memory), views(p, parameters), pointer(u)
        fix(n, order, m.params, q.fixed)
        begin(nx, m)
        for point in range(2 * N + 1):
            draw(n, order, states, bounds, m, q, point)
            f = measure(m.begin, signals, dt, m.params, m.trial, m.outputs)
            note(n, nx, states, m, q, point, f)
        whole = complete(n, N, m, q)
        believed = m.centre[0] + m.shift[0]
        innovation = u[inputs] - believed
        usable = whole and math.isfinite(innovation)
        if not usable:
            ignore(N, m)
        if whole:
            triangularise(m.array, 0, rows, columns)
            whole = correct(n, nx, states, m, innovation, usable)
        if whole:
            take_over(n, N, nx, bounds, m, q)
            if usable:
                noise = read(Unscented, q.own, 0).noise
                believed = u[inputs] - innovation * (noise / m.array[0]) ** 2
        for i in range(n):
            y[i] = offer(m.mean[i], carried(q.free, i), bounds)
        y[n] = believed
        y[n + 1] = innovation

    return rebind(advance, measure=measurement(block))


@verb
def matrix(m, N):
    """Rows: the force, then every unknown. Columns: G, C, the shift of the mean, the noise, the process noise."""
    return carray(m.array, (N + 1, 3 * N + 2))


@verb
def begin(nx, m):
    """States that are not filtered begin as they are at every sigma point."""
    for k in range(nx):
        m.begin[k] = m.law[k]


@verb
def draw(n, order, states, bounds, m, q, point):
    """Parameters and states at a sigma point: the mean itself, or beside it along a column of S."""
    N, width = n + len(states), read(Unscented, q.own, 0).width
    S = carray(m.spread, (N, N))
    j, sign = along(point, N)
    for i in range(n):
        offset = sign * width * S[i, j] if point > 0 else 0.0
        m.params[order[i]] = value(m.mean[i] + offset, carried(q.free, i), bounds)
    for i in range(len(states)):
        offset = sign * width * S[n + i, j] if point > 0 else 0.0
        m.begin[states[i]] = m.law[states[i]] + offset


@verb
def note(n, nx, states, m, q, point, f):
    """Keep the central point; of the pair along column j of S make the columns j of G and of C."""
    N, width = n + len(states), read(Unscented, q.own, 0).width
    S, A = carray(m.spread, (N, N)), matrix(m, N)
    j, sign = along(point, N)
    if point == 0:
        m.centre[0] = f
        for k in range(nx):
            m.kept[k] = m.trial[k]
        for i in range(len(states)):
            m.centre[1 + n + i] = m.trial[states[i]]
    elif sign > 0.0:
        A[0, j] = f
        for i in range(n):  # a parameter stays where its sigma point is
            A[1 + i, j] = S[i, j]
            A[1 + i, N + j] = 0.0
        for i in range(len(states)):
            A[1 + n + i, j] = m.trial[states[i]]
    else:
        differ(A, 0, j, N, f, m.centre, width)
        for i in range(len(states)):
            differ(A, 1 + n + i, j, N, m.trial[states[i]], m.centre, width)


@verb
def differ(A, i, j, N, minus, centre, width):
    """Central and second difference of row i, from the point ahead, which `A` holds, and from `minus` behind."""
    plus = A[i, j]
    A[i, j] = (plus - minus) / (2.0 * width)
    A[i, N + j] = (plus + minus - 2.0 * centre[i]) / (2.0 * width)


@verb
def complete(n, N, m, q):
    """Shift of the means, and the columns that follow from it and from the noises; whether all points are finite."""
    A, own, whole = matrix(m, N), read(Unscented, q.own, 0), True
    for i in range(N + 1):
        bend = 0.0
        for j in range(N):
            bend += A[i, N + j] / own.width
            whole = whole and math.isfinite(A[i, j]) and math.isfinite(A[i, N + j])
        m.shift[i] = bend
        A[i, 2 * N] = math.sqrt(own.curvature) * bend
        A[i, 2 * N + 1] = own.noise if i == 0 else 0.0
        for j in range(N):
            A[i, 2 * N + 2 + j] = 0.0
    for i in range(n):
        A[1 + i, 2 * N + 2 + i] = carried(q.free, i).process
    for i in range(n, N):
        A[1 + i, 2 * N + 2 + i] = q.walks[i - n]
    return whole


@verb
def ignore(N, m):
    """A sample that is missing teaches nothing, but the device moves on: the force is unrelated to the unknowns."""
    for k in range(2 * N + 1):
        m.array[k] = 0.0


@verb
def correct(n, nx, states, m, innovation, usable):
    """Shift of every unknown by the prediction and the measurement; whether all is finite."""
    N = n + len(states)
    A, whole = matrix(m, N), True
    for i in range(N):
        if usable:
            m.shift[1 + i] += A[1 + i, 0] / A[0, 0] * innovation
        for j in range(i + 1):
            whole = whole and math.isfinite(A[1 + i, 1 + j])
    for i in range(len(states)):
        m.kept[states[i]] += m.shift[1 + n + i]
    for i in range(n):
        whole = whole and math.isfinite(m.shift[1 + i])
    return whole and finite(m.kept, nx)


@verb
def take_over(n, N, nx, bounds, m, q):
    """Spread, parameters within their bounds, and states; those not filtered are of the central point."""
    S, A = carray(m.spread, (N, N)), matrix(m, N)
    for i in range(N):
        for j in range(N):
            S[i, j] = A[1 + i, 1 + j]
    for i in range(n):
        m.mean[i] = held(m.mean[i] + m.shift[1 + i], carried(q.free, i), bounds)
    for k in range(nx):
        m.law[k] = m.kept[k]
