"""Conditional adaptive time series: recursive, without a window, and only where there is something to learn."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from hyloop.core.block import Block, Instance, Param, inplace_block
from hyloop.core.jit import verb
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
from hyloop.transfer.compensators.motion import CUTOFF, CUTOFF_PARAM, act, common_sizes, observe, want

__all__ = ["conditional_ats"]

_OWN = 5  # parameters before the limits
SPREAD = 0.5  # of the seeds, as a fraction of them


class CatsMemory(NamedTuple):
    """`motion.Common`, and the recursion."""

    ticks: int
    place: int
    ring: int
    wanted: int
    sent: int
    seen: int
    phi: int
    a: int
    command: int
    scale: int  # of every coefficient
    P: int  # covariance over that of a unit residual, in the scales
    gain: int


def conditional_ats(
    a: Sequence[float],
    *,
    dt: float,
    limits: Sequence[tuple[float, float]] | None = None,
    rates: Sequence[float] | None = None,
    memory: float = 1.0,
    noise: float = 1e-5,
    threshold: float = 0.0,
    tolerance: float = 0.0,
    cutoff: float = CUTOFF,
    scales: Sequence[float] | None = None,
    substeps: int = 1,
) -> Instance:
    r"""Adaptive time series whose coefficients are found recursively, and only on conditions.

    .. math:: u = \sum_k a_k\,d^{(k)}, \qquad \varepsilon = u_f - \phi^T a, \qquad
        g = \frac{P \phi}{\lambda \sigma^2 + \phi^T P \phi}, \qquad a \leftarrow a + g\,\varepsilon, \qquad
        P \leftarrow \frac{P - g \phi^T P}{\lambda}, \qquad \lambda = e^{-\delta t/T}

    Nothing changes unless the filtered measured deformation is at least the threshold *and* the error is at least the
    tolerance times the motion, :math:`\sqrt{x_f^2 + (a_1 \dot x_f)^2}`. So rest, noise and a model that is good enough
    leave the coefficients alone, and no window has to be kept. The idea of conditions is that of Palacio-Betancur and
    Gutierrez Soto; the recursion and the form of the conditions are ours. What is forgotten is bounded: *P* never grows
    beyond its start.

    Inputs are ``d`` and ``d_m`` of the last tick; outputs the command ``d``, the coefficients and ``adapting``.

    Parameters
    ----------
    a, dt, limits, rates, cutoff, substeps
        As in `ats`.
    memory : float
        Time T in s after which a sample counts 1/e.
    noise : float
        σ in m: what the filtered command differs from the model by, from tick to tick.
    threshold, tolerance : float
        Conditions: least deformation in m, and least error over the motion.
    scales : sequence of float, optional
        Spread of every seed in s^k; default half the seed, which then must not be zero.

    References
    ----------
    Palacio-Betancur, Gutierrez Soto (2019), doi:10.1016/j.ymssp.2019.106345; Ljung (1999), System Identification,
    section 11.2.
    """
    where = "conditional_ats"
    check_sampling(where, dt, cutoff, substeps)
    bounds, speeds = check_limits(where, a, limits, rates)
    spread = [SPREAD * abs(value) for value in a] if scales is None else [float(value) for value in scales]
    if len(spread) != len(a) or not all(0.0 < value < math.inf for value in spread):
        raise OutOfBounds(
            f"{where}: {len(a)} coefficients need as many positive scales, got {spread}. Where a seed is zero, state "
            "its spread in `scales`."
        )
    if not (dt <= memory < math.inf and 0.0 < noise < math.inf):
        raise OutOfBounds(f"{where}: memory = {memory!r} s must be at least a tick and noise = {noise!r} m positive.")
    if not (0.0 <= threshold < math.inf and 0.0 <= tolerance < math.inf):
        raise OutOfBounds(
            f"{where}: threshold = {threshold!r} m and tolerance = {tolerance!r} must not be negative; 0 always adapts."
        )
    at, size = _memory(len(a) - 1, int(substeps))
    x, n = np.zeros(size), len(a)
    x[at.a : at.a + n], x[at.scale : at.scale + n] = a, spread
    x[at.P : at.P + n * n] = np.eye(n).ravel()
    settings = {"threshold": threshold, "tolerance": tolerance, "cutoff": cutoff, "noise": noise, "memory_time": memory}
    return _block(n - 1, int(substeps), float(dt))(memory=x, **settings, **limit_values(bounds, speeds))


def _memory(order: int, stride: int) -> tuple[CatsMemory, int]:
    n = order + 1
    return laid_out(CatsMemory, common_sizes(order, stride) | {"scale": n, "P": n * n, "gain": n})


@cache
def _block(order: int, stride: int, dt: float) -> Block:
    own = {
        "threshold": Param("m", 0.0, 0.0, about="least measured deformation"),
        "tolerance": Param("-", 0.0, 0.0, about="least error over the motion"),
        "cutoff": CUTOFF_PARAM,
        "noise": Param("m", 1e-5, 1e-300, about="standard deviation of the residual"),
        "memory_time": Param("s", 1.0, 1e-300, about="time after which a sample counts 1/e"),
    }
    make = inplace_block(
        inputs={"d": "m", "d_m": "m"},
        outputs=outputs(order) | {"adapting": "-"},
        params=own | limit_params(order),
        memory=_memory(order, stride)[1],
        reference="Palacio-Betancur, Gutierrez Soto (2019), doi:10.1016/j.ymssp.2019.106345",
    )
    return replace(make(_step(order, stride)), name="conditional_ats", fits=made_for(dt))


def _step(order: int, stride: int) -> Callable:
    memory, n = _memory(order, stride)[0], order + 1

    def advance(x, u, dt, p, y):
        m = views(x, memory)
        want(m, order, stride, u[0], dt)
        adapting = 0.0
        if observe(m, order, u[1], dt, p[2]):
            error = m.phi[n]
            for k in range(n):
                error -= m.a[k] * m.phi[k]
            size = abs(m.phi[0])
            whole = math.hypot(size, m.a[1] * m.phi[1])  # where the motion passes zero its velocity counts
            if size >= p[0] and abs(error) >= p[1] * whole and whole > 0.0:
                adapting = 1.0
                recur(m, n, p[3], math.exp(-dt / p[4]))
                for k in range(n):
                    adopt(m.a, k, m.a[k] + m.scale[k] * m.gain[k] * error, tail(p, _OWN), dt)
        act(m, order, y)
        y[n + 1] = adapting

    return advance


@verb
def recur(m: Any, n: int, noise: float, keep: float) -> None:
    """Gain of the present sample, and the covariance after it; `keep` is the forgetting factor λ."""
    weight = keep * noise * noise
    for i in range(n):
        m.gain[i] = 0.0
        for j in range(n):
            m.gain[i] += m.P[i * n + j] * m.scale[j] * m.phi[j]
        weight += m.gain[i] * m.scale[i] * m.phi[i]
    trace = 0.0
    for i in range(n):
        for j in range(i + 1):
            m.P[i * n + j] -= m.gain[i] * m.gain[j] / weight
            m.P[j * n + i] = m.P[i * n + j]
        trace += m.P[i * n + i]
    if trace < n * keep:  # forget no further than to where it began
        for i in range(n * n):
            m.P[i] /= keep
    for i in range(n):
        m.gain[i] /= weight
