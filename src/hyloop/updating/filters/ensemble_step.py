"""One tick of an ensemble Kalman filter, compiled for one law, one number of members and one bound rule.

Walk at random, ask the law for every member, weigh the innovation, correct parameters and states, keep within bounds.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from numba import carray

from hyloop.core.block import Block, rebind
from hyloop.core.jit import pointer, verb
from hyloop.core.memory import laid_out, read, views
from hyloop.core.noise import normal_pair
from hyloop.updating.filters.carried import Carried, carried, held, offer, value
from hyloop.updating.filters.measurement import finite, fix, free_first, measurement, settings

__all__ = ["EnsembleMemory", "ensemble_memory", "ensemble_step"]

measure: Any = None  # bound by `ensemble_step`


class EnsembleMemory(NamedTuple):
    """What lies in the filter's state vector."""

    carried: int  # (n, members)
    law: int  # (members, states of the law)
    drawn: int  # pairs of random numbers so far
    force: int  # of every member, less the mean
    gain: int  # of parameters, then states
    params: int  # all parameters of the law
    trial: int  # (members, states of the law) after the tick
    outputs: int  # of the law


class Own(NamedTuple):
    """The filter's own settings, in the order of its parameters."""

    noise: float  # standard deviation of the measured force
    seed: float  # names the random walk


class Forecast(NamedTuple):
    """The force that the members expect."""

    mean: float
    variance: float  # of the members
    total: float  # with that of the noise
    whole: bool  # whether every member has come through the tick


def ensemble_memory(block: Block, n: int, members: int) -> tuple[EnsembleMemory, int]:
    """Lay out the state of an ensemble with `n` free parameters of a law; with its size."""
    nx = len(block.state)
    sizes = {"carried": n * members, "law": members * nx, "drawn": 1, "force": members, "gain": n + nx}
    sizes |= {"params": len(block.params), "trial": members * nx, "outputs": len(block.outputs)}
    return laid_out(EnsembleMemory, sizes)


def ensemble_step(block: Block, free: tuple[int, ...], bounds: int, members: int) -> Callable:
    """Make ``advance(x, u, dt, p, y)`` for the parameters of `block` at the positions `free`.

    `p` holds the other parameters of the law in their order, then `Own`, then `Carried` for each free one.
    """
    n, nx, inputs, order = len(free), len(block.state), len(block.inputs), free_first(block, free)
    memory, parameters = ensemble_memory(block, n, members)[0], settings(block, n, Own, Carried)

    def advance(x, u, dt, p, y):
        m, q, signals = views(x, memory), views(p, parameters), pointer(u)
        before, after = carray(m.law, (members, nx)), carray(m.trial, (members, nx))
        fix(n, order, m.params, q.fixed)
        walk(n, members, bounds, m, q)
        for j in range(members):
            draw(n, order, members, bounds, m, q, j)
            m.force[j] = measure(pointer(before[j]), signals, dt, m.params, pointer(after[j]), m.outputs)
        f = forecast(nx, members, m, q)
        innovation = u[inputs] - f.mean
        usable = weigh(n, nx, members, m, f, innovation)
        if usable:
            correct(n, nx, members, m, q, f, innovation)
        if f.whole:  # a broken input must not break the devices for good
            for k in range(members * nx):
                m.law[k] = m.trial[k]
        keep(n, members, bounds, m, q, pointer(y))
        y[n] = f.mean + f.variance / f.total * innovation if usable else f.mean
        y[n + 1] = innovation

    return rebind(advance, measure=measurement(block))


@verb
def walk(n, members, bounds, m, q):
    """Random walk of every member within the bounds."""
    A, seed = carray(m.carried, (n, members)), read(Own, q.own, 0).seed
    for i in range(n):
        its = carried(q.free, i)
        for j in range(0, members, 2):
            first, second = normal_pair(seed, m.drawn[0])
            m.drawn[0] += 1.0
            A[i, j] += its.process * first
            if j + 1 < members:
                A[i, j + 1] += its.process * second
        for j in range(members):
            A[i, j] = held(A[i, j], its, bounds)


@verb
def draw(n, order, members, bounds, m, q, j):
    """Parameters of the law at member j."""
    A = carray(m.carried, (n, members))
    for i in range(n):
        m.params[order[i]] = value(A[i, j], carried(q.free, i), bounds)


@verb
def forecast(nx, members, m, q):
    """Mean and variance of the forces, which become deviations from their mean."""
    mean, variance, noise = 0.0, 0.0, read(Own, q.own, 0).noise
    for j in range(members):
        mean += m.force[j] / members
    for j in range(members):
        m.force[j] -= mean
        variance += m.force[j] * m.force[j] / (members - 1)
    return Forecast(mean, variance, variance + noise * noise, finite(m.trial, members * nx))


@verb
def weigh(n, nx, members, m, f, innovation):
    """Gain of every parameter and of every state after the tick; whether all is finite."""
    A, X = carray(m.carried, (n, members)), carray(m.trial, (members, nx))
    usable = f.whole and math.isfinite(innovation) and math.isfinite(f.total)
    for i in range(n):
        middle, shared = against(A[i], m.force, members)
        m.gain[i] = shared / f.total
        usable = usable and math.isfinite(middle + m.gain[i] * innovation)
    for k in range(nx):
        middle, shared = against(X[:, k], m.force, members)
        m.gain[n + k] = shared / f.total
        usable = usable and math.isfinite(middle + m.gain[n + k] * innovation)
    return usable


@verb
def against(a, force, members):
    """Mean of an unknown over the members, and its covariance with the force."""
    middle = shared = 0.0
    for j in range(members):
        middle += a[j] / members
    for j in range(members):
        shared += (a[j] - middle) * force[j] / (members - 1)
    return middle, shared


@verb
def correct(n, nx, members, m, q, f, innovation):
    """Move every member by the gain; deviations shrink by less, so that the covariance comes out right."""
    A, X = carray(m.carried, (n, members)), carray(m.trial, (members, nx))
    noise = read(Own, q.own, 0).noise
    less = 1.0 / (1.0 + math.sqrt(noise * noise / f.total))
    for j in range(members):
        move = innovation - less * m.force[j]
        for i in range(n):
            A[i, j] += m.gain[i] * move
        for k in range(nx):
            X[j, k] += m.gain[n + k] * move


@verb
def keep(n, members, bounds, m, q, y):
    """Hold every member within the bounds, and offer the mean of the parameters."""
    A = carray(m.carried, (n, members))
    for i in range(n):
        its, mean = carried(q.free, i), 0.0
        for j in range(members):
            A[i, j] = held(A[i, j], its, bounds)
            mean += A[i, j] / members
        y[i] = offer(mean, its, bounds)
