"""Adaptive model-based compensator: an inverse plant that descends along the gradient of its error."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np

from hyloop.core.block import Block, Instance, Param, inplace_block
from hyloop.core.memory import laid_out, tail, views
from hyloop.errors import OutOfBounds
from hyloop.transfer.compensators.coefficients import (
    adopt,
    check_limits,
    check_sampling,
    limit_params,
    limit_values,
    made_for,
    outputs,
)
from hyloop.transfer.compensators.motion import CUTOFF, CUTOFF_PARAM, Common, act, common_sizes, observe, want

__all__ = ["amb"]

SPEED, LEVEL = 50.0, 1e-3  # 1/s and m: a fiftieth of a second at a motion of a millimetre


class _Own(NamedTuple):
    threshold: int = 0
    cutoff: int = 1
    gains: int = 2


def amb(
    a: Sequence[float],
    *,
    dt: float,
    limits: Sequence[tuple[float, float]] | None = None,
    rates: Sequence[float] | None = None,
    speed: float = SPEED,
    level: float = LEVEL,
    scales: Sequence[float] | None = None,
    threshold: float = 0.0,
    cutoff: float = CUTOFF,
    substeps: int = 1,
) -> Instance:
    r"""Adaptive model-based compensator (AMB).

    .. math:: u = \sum_k a_k\,d^{(k)}, \qquad \varepsilon = u_f - \sum_k a_k\,x_f^{(k)}, \qquad
        a_k \leftarrow a_k + \frac{\gamma_k\,x_f^{(k)}\,\varepsilon}{1 + \sum_j \gamma_j\,(x_f^{(j)})^2}, \qquad
        \gamma_k = \nu\,\delta t\,\frac{s_k^2}{L^2}

    with the filtered command and measured motion of the same tick (`hyloop.transfer.compensators.motion`). The
    coefficients of a low-order model of the plant follow the gradient of the squared error; with the denominator the
    step can never overshoot, whatever the gain. Inputs are ``d`` and ``d_m`` of the last tick; outputs the command
    ``d`` and the coefficients ``a0, a1, ...``.

    Parameters
    ----------
    a : sequence of 2 to 4 floats
        Coefficients of the inverse of the initial model in s^k; the authors take the third order.
    dt : float
        Controller tick in s; the block runs at no other.
    limits, rates
        Limits of every coefficient, and its largest change in a second.
    speed, level : float
        The error of the model falls at the rate ν = `speed` in 1/s where terms of the size L = `level` in m make up the
        command.
    scales : sequence of float, optional
        s_k in s^k: how the descent is shared out. Default: the seeds, which then must not be zero.
    threshold : float
        Filtered measured deformation in m below which nothing changes.
    cutoff : float
        Frequency in Hz of the low-passes on both sides.
    substeps : int
        Ticks in a step of the structure, over which the deformation wanted runs on a straight line.

    References
    ----------
    Chen, Guo, Sun (2015), doi:10.1088/0964-1726/24/11/115042; Fermandois, Galmez, Valdebenito (2020), 17WCEE.
    """
    where = "amb"
    check_sampling(where, dt, cutoff, substeps)
    bounds, speeds = check_limits(where, a, limits, rates)
    shares = [abs(value) for value in a] if scales is None else [float(value) for value in scales]
    if len(shares) != len(a) or not all(0.0 < share < math.inf for share in shares):
        raise OutOfBounds(
            f"{where}: {len(a)} coefficients need as many positive scales, got {shares}. Where a seed is zero, state "
            "in `scales` what size its coefficient may have."
        )
    if not (0.0 < speed < math.inf and 0.0 < level < math.inf):
        raise OutOfBounds(f"{where}: speed = {speed!r} 1/s and level = {level!r} m must be positive.")
    if not 0.0 <= threshold < math.inf:
        raise OutOfBounds(f"{where}: threshold = {threshold!r} m must not be negative; 0 always adapts.")
    at, size = _memory(len(a) - 1, int(substeps))
    x = np.zeros(size)
    x[at.a : at.a + len(a)] = a
    gains = {f"gain_{k}": speed * (share / level) ** 2 for k, share in enumerate(shares)}
    block = _block(len(a) - 1, int(substeps), float(dt))
    return block(memory=x, threshold=threshold, cutoff=cutoff, **gains, **limit_values(bounds, speeds))


def _memory(order: int, stride: int) -> tuple[Common, int]:
    return laid_out(Common, common_sizes(order, stride))


@cache
def _block(order: int, stride: int, dt: float) -> Block:
    gains = {
        f"gain_{k}": Param(f"s^{2 * k}/(m2 s)", math.nan, 0.0, about=f"adaptation gain of a{k}")
        for k in range(order + 1)
    }
    make = inplace_block(
        inputs={"d": "m", "d_m": "m"},
        outputs=outputs(order),
        params={"threshold": Param("m", 0.0, 0.0, about="least measured deformation"), "cutoff": CUTOFF_PARAM}
        | gains
        | limit_params(order),
        memory=_memory(order, stride)[1],
        reference="Chen, Guo, Sun (2015), doi:10.1088/0964-1726/24/11/115042",
    )
    return replace(make(_step(order, stride)), name="amb", fits=made_for(dt))


def _step(order: int, stride: int) -> Callable:
    memory, n, own = _memory(order, stride)[0], order + 1, _Own()
    gains, limits = own.gains, own.gains + n

    def advance(x, u, dt, p, y):
        m = views(x, memory)
        want(m, order, stride, u[0], dt)
        if observe(m, order, u[1], dt, p[1]) and abs(m.phi[0]) >= p[0]:
            error, weight = m.phi[n], 1.0
            for k in range(n):
                error -= m.a[k] * m.phi[k]
                weight += p[gains + k] * dt * m.phi[k] * m.phi[k]
            for k in range(n):
                step = p[gains + k] * dt * m.phi[k] * error / weight
                adopt(m.a, k, m.a[k] + step, tail(p, limits), dt)
        act(m, order, y)

    return advance
