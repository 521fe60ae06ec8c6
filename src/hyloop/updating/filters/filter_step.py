"""One tick of an unscented filter, compiled for one law, one number of parameters and one choice of rules."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from hyloop.core.block import Block, rebind
from hyloop.updating.filters.factors import cholesky, mend, reflect, triangularise
from hyloop.updating.filters.measurement import measurement
from hyloop.updating.filters.parameters import SHRINK, TRANSFORM, held, offer, value

__all__ = ["REPAIRS", "Places", "filter_step", "places"]

REPAIRS = {"none": 0, "nearest": 1, "square-root": 2}
_NEAREST, _SQUARE_ROOT = 1, 2

measure: Any = None  # bound by `filter_step`


class Places(NamedTuple):
    """Where everything lies in the filter's state vector."""

    mean: int
    spread: int  # P (n, n), or its factor S with P = S S^T
    law: int  # state of the device law, one for all sigma points
    good: int  # last good covariance
    work: int  # [S | process] (n, 2n), whose left half becomes the lower triangle
    matrix: int  # P before the measurement, where the covariance itself is carried
    gain: int
    slope: int  # force along each column of the triangle, then what no column explains
    point: int  # one sigma point
    params: int  # all parameters of the law
    trial: int  # state of the law after a trial tick
    outputs: int
    size: int


def places(block: Block, n: int) -> Places:
    """Lay out the state of a filter with `n` free parameters of a law."""
    sizes = [
        n,
        n * n,
        len(block.state),
        n * n,
        2 * n * n,
        n * n,
        n,
        n + 1,
        n,
        len(block.params),
        len(block.state),
        len(block.outputs),
    ]
    ends = [0]
    for size in sizes:
        ends.append(ends[-1] + size)
    return Places(*ends)


def filter_step(block: Block, free: tuple[int, ...], bounds: int, repair: int) -> Callable:
    """Make ``advance(x, u, dt, p, y)`` for the parameters of `block` at the positions `free`.

    `p` holds the other parameters of the law in their order, then noise, spread, curvature, then scale, low, high
    and process for each free one. Everything in the closure is a number, so that Numba's cache key is the same in
    every process.
    """
    n, n_p, nx, inputs = len(free), len(block.params), len(block.state), len(block.inputs)
    mean, spread, law, good, work, matrix, gain, slope, point, params, trial, outputs, size = places(block, n)
    order = (*free, *(k for k in range(n_p) if k not in free))
    n_fixed, columns = n_p - n, 2 * n
    settings = n_fixed + 3
    transformed = bounds == TRANSFORM

    def advance(x, u, dt, p, y):
        noise, width, curvature = p[n_fixed], p[n_fixed + 1], p[n_fixed + 2]
        x_law, p_law, x_new, y_law = x[law : law + nx], x[params : params + n_p], x[trial : trial + nx], x[outputs:size]
        for k in range(n_fixed):
            p_law[order[n + k]] = p[k]

        # random walk: P- = P + Q, then its lower triangle L
        if repair == _SQUARE_ROOT:
            for i in range(n):
                for j in range(n):
                    x[work + i * columns + j] = x[spread + i * n + j]
                    x[work + i * columns + n + j] = p[settings + 4 * i + 3] if i == j else 0.0
            triangularise(x, work, n, columns)
        else:
            for i in range(n):
                for j in range(n):
                    x[matrix + i * n + j] = x[spread + i * n + j]
                x[matrix + i * n + i] += p[settings + 4 * i + 3] ** 2
            if not cholesky(x, matrix, n, x, work, columns) and repair != _NEAREST:
                for i in range(n):
                    x[mean + i] = math.nan  # a filter that has failed shall not look like one that has converged

        factor = 1.0
        if bounds == SHRINK:
            # a sigma point lies farthest out along one coordinate by the largest entry of that row of L
            for i in range(n):
                scale, low, high = p[settings + 4 * i], p[settings + 4 * i + 1], p[settings + 4 * i + 2]
                reach = 0.0
                for j in range(i + 1):
                    reach = max(reach, abs(scale * width * x[work + i * columns + j]))
                room = min(high - scale * x[mean + i], scale * x[mean + i] - low)
                steps = 10
                while steps > 0 and steps / 10.0 * reach > room:
                    steps -= 1
                factor = min(factor, steps / 10.0)
            if factor > 0.0:  # without a spread there is nothing to learn from; the covariance stays as it is
                for i in range(n):
                    for j in range(n):
                        x[work + i * columns + j] *= factor
                        x[matrix + i * n + j] *= factor * factor

        for i in range(n):
            p_law[order[i]] = value(x[mean + i], p, settings + 4 * i, transformed)
        centre = measure(x_law, u, dt, p_law, x_new, y_law)

        # central differences along the columns of L: the weighted sums of the textbook without their huge weights
        rest, bend, total = noise * noise, 0.0, 0.0
        for j in range(n):
            plus = minus = 0.0
            for sign in (1.0, -1.0):
                for i in range(n):
                    m = x[mean + i] + sign * width * x[work + i * columns + j]
                    p_law[order[i]] = value(m, p, settings + 4 * i, transformed)
                f = measure(x_law, u, dt, p_law, x_new, y_law)
                if sign > 0.0:
                    plus = f
                else:
                    minus = f
            x[slope + j] = (plus - minus) / (2.0 * width)
            second = (plus + minus - 2.0 * centre) / (2.0 * width)
            bend += second / width
            rest += second * second
            total += x[slope + j] * x[slope + j]
        rest += curvature * bend * bend
        variance = total + rest
        innovation = u[inputs] - (centre + bend)

        # a sample that is missing, or that some sigma point cannot answer, teaches nothing
        usable = math.isfinite(innovation) and math.isfinite(variance) and factor > 0.0
        for i in range(n):
            s = 0.0
            for j in range(n):
                s += x[work + i * columns + j] * x[slope + j]
            x[gain + i] = s
            x[point + i] = x[mean + i] + s / variance * innovation
            usable = usable and math.isfinite(x[point + i])

        if repair == _SQUARE_ROOT:
            # P+ = L (I - g g^T / variance) L^T
            x[slope + n] = math.sqrt(rest)
            if usable:
                reflect(x, slope, math.sqrt(variance), n, x, work, columns, x, spread)
            else:
                for i in range(n):
                    for j in range(n):
                        x[spread + i * n + j] = x[work + i * columns + j]
        else:
            for i in range(n):
                for j in range(n):
                    change = x[gain + i] * x[gain + j] / variance if usable else 0.0
                    x[spread + i * n + j] = x[matrix + i * n + j] - change
            if repair == _NEAREST:
                mend(x, spread, good, n, x, work, columns)

        for i in range(n):
            k = settings + 4 * i
            if usable:
                x[mean + i] = held(x[point + i], p, k, bounds)
            y[i] = p_law[order[i]] = offer(x[mean + i], p, k, bounds)

        # the device moves on once, with what is now known of it; a broken input must not break its state for good
        f = measure(x_law, u, dt, p_law, x_new, y_law)
        whole = True
        for k in range(nx):
            whole = whole and math.isfinite(x_new[k])
        if whole:
            for k in range(nx):
                x_law[k] = x_new[k]
        y[n] = f
        y[n + 1] = innovation

    return rebind(advance, measure=measurement(block))
