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

from hyloop.core.block import Block, rebind
from hyloop.updating.filters.factors import triangularise
from hyloop.updating.filters.measurement import measurement
from hyloop.updating.filters.parameters import TRANSFORM, held, offer, value

__all__ = ["JointPlaces", "joint_places", "joint_step"]

measure: Any = None  # bound by `joint_step`


class JointPlaces(NamedTuple):
    """Where everything lies in the filter's state vector; N unknowns are n parameters, then the filtered states."""

    mean: int  # parameters
    spread: int  # S (N, N), lower triangle, P + Q = S S^T
    law: int  # all states of the law; the filtered ones are means
    array: int  # (N + 1, 3N + 2): force and unknowns of all sigma points
    shift: int  # b of the force and of every unknown
    centre: int  # force and unknowns of the central point
    params: int
    begin: int  # state of the law at a sigma point
    trial: int  # and after the tick
    kept: int  # after the tick of the central point
    outputs: int
    size: int


def joint_places(block: Block, n: int, filtered: int) -> JointPlaces:
    """Lay out the state of a filter with `n` free parameters and `filtered` states of a law."""
    N, nx = n + filtered, len(block.state)
    sizes = [n, N * N, nx, (N + 1) * (3 * N + 2), N + 1, N + 1, len(block.params), nx, nx, nx, len(block.outputs)]
    ends = [0]
    for size in sizes:
        ends.append(ends[-1] + size)
    return JointPlaces(*ends)


def joint_step(block: Block, free: tuple[int, ...], states: tuple[int, ...], bounds: int) -> Callable:
    """Make ``advance(x, u, dt, p, y)`` for the parameters at `free` and the states at `states` of `block`.

    `p` is that of `filter_step`, followed by the process noise of every filtered state.
    """
    n, n_p, nx, inputs = len(free), len(block.params), len(block.state), len(block.inputs)
    N, wide = n + len(states), 3 * (n + len(states)) + 2
    mean, spread, law, array, shift, centre, params, begin, trial, kept, outputs, size = joint_places(
        block, n, len(states)
    )
    order = (*free, *(k for k in range(n_p) if k not in free))
    n_fixed = n_p - n
    settings = n_fixed + 3
    tail, transformed = settings + 4 * n, bounds == TRANSFORM

    def advance(x, u, dt, p, y):
        noise, width, curvature = p[n_fixed], p[n_fixed + 1], p[n_fixed + 2]
        x_law, x_begin, x_new = x[law : law + nx], x[begin : begin + nx], x[trial : trial + nx]
        p_law, y_law = x[params : params + n_p], x[outputs:size]
        for k in range(n_fixed):
            p_law[order[n + k]] = p[k]

        # row 0 is the force; column j of G and N + j of C come from the pair of sigma points along column j of L
        for k in range(nx):
            x_begin[k] = x_law[k]
        for point in range(2 * N + 1):
            j, sign = (point - 1) // 2, 0.0 if point == 0 else (1.0 if point % 2 == 1 else -1.0)
            for i in range(N):
                offset = sign * width * x[spread + i * N + j] if point > 0 else 0.0
                if i < n:
                    p_law[order[i]] = value(x[mean + i] + offset, p, settings + 4 * i, transformed)
                else:
                    x_begin[states[i - n]] = x_law[states[i - n]] + offset
            f = measure(x_begin, u, dt, p_law, x_new, y_law)
            if point == 0:
                for k in range(nx):
                    x[kept + k] = x_new[k]
            for i in range(N + 1):
                if 0 < i <= n:
                    # a parameter stays where its sigma point is
                    if sign > 0.0:
                        x[array + i * wide + j] = x[spread + (i - 1) * N + j]
                        x[array + i * wide + N + j] = 0.0
                    continue
                a = f if i == 0 else x_new[states[i - 1 - n]]
                if point == 0:
                    x[centre + i] = a
                elif sign > 0.0:
                    x[array + i * wide + j] = a
                else:
                    plus = x[array + i * wide + j]
                    x[array + i * wide + j] = (plus - a) / (2.0 * width)
                    x[array + i * wide + N + j] = (plus + a - 2.0 * x[centre + i]) / (2.0 * width)

        whole = True
        for i in range(N + 1):
            bend = 0.0
            for j in range(N):
                bend += x[array + i * wide + N + j] / width
                whole = whole and math.isfinite(x[array + i * wide + j]) and math.isfinite(x[array + i * wide + N + j])
            x[shift + i] = bend
            x[array + i * wide + 2 * N] = math.sqrt(curvature) * bend
            x[array + i * wide + 2 * N + 1] = noise if i == 0 else 0.0
            for j in range(N):
                x[array + i * wide + 2 * N + 2 + j] = 0.0
            if i > 0:
                k = settings + 4 * (i - 1) + 3 if i <= n else tail + i - 1 - n
                x[array + i * wide + 2 * N + 1 + i] = p[k]
        innovation = u[inputs] - (x[centre] + x[shift])
        usable = whole and math.isfinite(innovation)
        if not usable:
            # a sample that is missing teaches nothing, but the device moves on
            for k in range(2 * N + 1):
                x[array + k] = 0.0

        believed = x[centre] + x[shift]
        if whole:
            triangularise(x, array, N + 1, wide)
            for i in range(N):
                gain = x[array + (i + 1) * wide] / x[array] if usable else 0.0
                x[shift + 1 + i] += gain * innovation if usable else 0.0
                for j in range(i + 1):
                    whole = whole and math.isfinite(x[array + (i + 1) * wide + 1 + j])
                if i < n:
                    whole = whole and math.isfinite(x[shift + 1 + i])
                else:
                    x[kept + states[i - n]] += x[shift + 1 + i]
            for k in range(nx):
                whole = whole and math.isfinite(x[kept + k])
        if whole:
            for i in range(N):
                for j in range(N):
                    x[spread + i * N + j] = x[array + (i + 1) * wide + 1 + j]
            for i in range(n):
                x[mean + i] = held(x[mean + i] + x[shift + 1 + i], p, settings + 4 * i, bounds)
            for k in range(nx):
                x_law[k] = x[kept + k]  # states that are not filtered are those of the central point
            if usable:
                believed = u[inputs] - innovation * (noise / x[array]) ** 2

        for i in range(n):
            y[i] = offer(x[mean + i], p, settings + 4 * i, bounds)
        y[n] = believed
        y[n + 1] = innovation

    return rebind(advance, measure=measurement(block))
