"""One tick of an unscented filter, compiled for one law, one number of parameters and one choice of rules."""

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from hyloop.core.block import Block, rebind
from hyloop.core.jit import verb
from hyloop.updating.factors import cholesky, nearest, triangularise
from hyloop.updating.measurement import measurement

__all__ = ["BOUNDS", "REACH", "REPAIRS", "Places", "filter_step", "places"]

BOUNDS: Mapping[str | None, int] = {None: 0, "clip": 1, "shrink": 2, "transform": 3}
REPAIRS = {"none": 0, "nearest": 1, "square-root": 2}
_CLIP, _SHRINK, _TRANSFORM = 1, 2, 3
_NEAREST, _SQUARE_ROOT = 1, 2
SHIFT = 1e-11  # of the tall-building paper: the least that keeps a rebuilt covariance definite
REACH = 6.0  # logits: within 0.25 % of a bound the transform is so flat that the filter could not return

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
    slope: int
    point: int  # one sigma point
    params: int  # all parameters of the law
    trial: int  # state of the law after a trial tick
    outputs: int
    size: int


def places(block: Block, n: int) -> Places:
    """Lay out the state of a filter with `n` free parameters of a law."""
    sizes = [n, n * n, len(block.state), n * n, 2 * n * n, n * n, n, n, n, len(block.params), len(block.state),
             len(block.outputs)]  # fmt: skip
    ends = [0]
    for size in sizes:
        ends.append(ends[-1] + size)
    return Places(*ends)


@verb
def value(m, scale, low, high, transformed):
    """A parameter in its own unit from the number the filter carries."""
    if transformed:
        return low + (high - low) / (1.0 + math.exp(-scale * m))
    return scale * m


@verb
def clip(a, low, high):
    """`a` held inside the bounds; nan stays nan."""
    return low if a < low else (high if a > high else a)


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
    transformed = bounds == _TRANSFORM

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
            definite = cholesky(x, matrix, n, x, work, columns)
            if repair == _NEAREST:
                if not definite:
                    nearest(x, matrix, n, x, work, SHIFT)
                    definite = cholesky(x, matrix, n, x, work, columns)
                for k in range(n * n):
                    if definite:
                        x[good + k] = x[matrix + k]
                    else:
                        x[matrix + k] = x[good + k]
                if not definite:
                    cholesky(x, matrix, n, x, work, columns)
            elif not definite:
                for i in range(n):
                    x[mean + i] = math.nan  # a filter that has failed shall not look like one that has converged

        if bounds == _SHRINK:
            # a sigma point lies farthest out along one coordinate by the largest entry of that row of L
            factor = 1.0
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
            for i in range(n):
                for j in range(n):
                    x[work + i * columns + j] *= factor
                    x[matrix + i * n + j] *= factor * factor

        for i in range(n):
            m = x[mean + i]
            p_law[order[i]] = value(
                m, p[settings + 4 * i], p[settings + 4 * i + 1], p[settings + 4 * i + 2], transformed
            )
        centre = measure(x_law, u, dt, p_law, x_new, y_law)

        # central differences along the columns of L: the weighted sums of the textbook without their huge weights
        rest, bend, total = noise * noise, 0.0, 0.0
        for j in range(n):
            plus = minus = 0.0
            for sign in (1.0, -1.0):
                for i in range(n):
                    m = x[mean + i] + sign * width * x[work + i * columns + j]
                    k = settings + 4 * i
                    p_law[order[i]] = value(m, p[k], p[k + 1], p[k + 2], transformed)
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
        usable = math.isfinite(innovation) and math.isfinite(variance)
        for i in range(n):
            s = 0.0
            for j in range(n):
                s += x[work + i * columns + j] * x[slope + j]
            x[gain + i] = s
            x[point + i] = x[mean + i] + s / variance * innovation
            usable = usable and math.isfinite(x[point + i])

        if repair == _SQUARE_ROOT:
            # Potter's form: I - g g^T / variance is the square of I - step g g^T
            step = 1.0 / (variance * (1.0 + math.sqrt(rest / variance))) if usable else 0.0
            for i in range(n):
                for j in range(n):
                    change = step * x[gain + i] * x[slope + j] if usable else 0.0
                    x[spread + i * n + j] = x[work + i * columns + j] - change
        else:
            for i in range(n):
                for j in range(n):
                    change = x[gain + i] * x[gain + j] / variance if usable else 0.0
                    x[spread + i * n + j] = x[matrix + i * n + j] - change

        for i in range(n):
            k = settings + 4 * i
            scale, low, high = p[k], p[k + 1], p[k + 2]
            if usable:
                m = x[point + i]
                if bounds in (_CLIP, _SHRINK):
                    m = clip(m, low / scale, high / scale)
                elif transformed:
                    m = clip(m, -REACH / scale, REACH / scale)
                x[mean + i] = m
            y[i] = value(x[mean + i], scale, low, high, transformed)
            if bounds != 0:
                y[i] = clip(y[i], low, high)  # low / scale * scale may round to just outside
            p_law[order[i]] = y[i]

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
