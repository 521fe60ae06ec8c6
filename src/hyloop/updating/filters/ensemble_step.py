"""One tick of an ensemble Kalman filter, compiled for one law, one number of members and one bound rule."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from hyloop.core.block import Block, rebind
from hyloop.core.noise import normal_pair
from hyloop.updating.filters.measurement import measurement
from hyloop.updating.filters.parameters import TRANSFORM, held, offer, value

__all__ = ["EnsemblePlaces", "ensemble_places", "ensemble_step"]

measure: Any = None  # bound by `ensemble_step`


class EnsemblePlaces(NamedTuple):
    """Where everything lies in the filter's state vector."""

    carried: int  # (n, members)
    law: int  # (members, states of the law)
    drawn: int  # pairs of random numbers so far
    force: int  # of every member
    gain: int  # of parameters, then states
    params: int
    trial: int  # (members, states of the law) after the tick
    outputs: int
    size: int


def ensemble_places(block: Block, n: int, members: int) -> EnsemblePlaces:
    """Lay out the state of an ensemble with `n` free parameters of a law."""
    nx = len(block.state)
    sizes = [n * members, members * nx, 1, members, n + nx, len(block.params), members * nx, len(block.outputs)]
    ends = [0]
    for size in sizes:
        ends.append(ends[-1] + size)
    return EnsemblePlaces(*ends)


def ensemble_step(block: Block, free: tuple[int, ...], bounds: int, members: int) -> Callable:
    """Make ``advance(x, u, dt, p, y)`` for the parameters of `block` at the positions `free`.

    `p` holds the other parameters of the law in their order, then noise and seed, then scale, low, high and process
    for each free one. The closure holds numbers only, so that Numba's cache finds the function again.
    """
    n, n_p, nx, inputs = len(free), len(block.params), len(block.state), len(block.inputs)
    carried, law, drawn, force, gain, params, trial, outputs, size = ensemble_places(block, n, members)
    order = (*free, *(k for k in range(n_p) if k not in free))
    n_fixed, transformed = n_p - n, bounds == TRANSFORM
    settings = n_fixed + 2

    def advance(x, u, dt, p, y):
        noise, seed = p[n_fixed], p[n_fixed + 1]
        p_law, y_law = x[params : params + n_p], x[outputs:size]
        for k in range(n_fixed):
            p_law[order[n + k]] = p[k]

        # random walk
        for i in range(n):
            k = settings + 4 * i
            for j in range(0, members, 2):
                first, second = normal_pair(seed, x[drawn])
                x[drawn] += 1.0
                x[carried + i * members + j] += p[k + 3] * first
                if j + 1 < members:
                    x[carried + i * members + j + 1] += p[k + 3] * second
            for j in range(members):
                x[carried + i * members + j] = held(x[carried + i * members + j], p, k, bounds)

        # every member through the law
        mean, whole = 0.0, True
        for j in range(members):
            for i in range(n):
                p_law[order[i]] = value(x[carried + i * members + j], p, settings + 4 * i, transformed)
            x_law, x_new = x[law + j * nx : law + (j + 1) * nx], x[trial + j * nx : trial + (j + 1) * nx]
            x[force + j] = measure(x_law, u, dt, p_law, x_new, y_law)
            mean += x[force + j] / members
            for k in range(nx):
                whole = whole and math.isfinite(x_new[k])
        variance = 0.0
        for j in range(members):
            x[force + j] -= mean
            variance += x[force + j] * x[force + j] / (members - 1)
        total = variance + noise * noise
        innovation = u[inputs] - mean
        usable = whole and math.isfinite(innovation) and math.isfinite(total)

        for a in range(n + nx):
            # row a: a parameter, or a state after the tick
            at, stride = (carried + a * members, 1) if a < n else (trial + a - n, nx)
            middle = shared = 0.0
            for j in range(members):
                middle += x[at + j * stride] / members
            for j in range(members):
                shared += (x[at + j * stride] - middle) * x[force + j] / (members - 1)
            x[gain + a] = shared / total
            usable = usable and math.isfinite(middle + x[gain + a] * innovation)
        if usable:
            # the deviations shrink by less than the mean moves, so that the covariance comes out right
            less = 1.0 / (1.0 + math.sqrt(noise * noise / total))
            for a in range(n + nx):
                at, stride = (carried + a * members, 1) if a < n else (trial + a - n, nx)
                for j in range(members):
                    x[at + j * stride] += x[gain + a] * (innovation - less * x[force + j])
        if whole:  # a broken input must not break the devices for good
            for k in range(members * nx):
                x[law + k] = x[trial + k]

        for i in range(n):
            k, m = settings + 4 * i, 0.0
            for j in range(members):
                x[carried + i * members + j] = held(x[carried + i * members + j], p, k, bounds)
                m += x[carried + i * members + j] / members
            y[i] = offer(m, p, k, bounds)
        y[n] = mean + variance / total * innovation if usable else mean
        y[n + 1] = innovation

    return rebind(advance, measure=measurement(block))
