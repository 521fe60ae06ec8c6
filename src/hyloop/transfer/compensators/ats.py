"""Adaptive time series compensator: an inverse plant from a moving window of what was sent and seen."""

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
    LIMITS,
    adopt,
    check_limits,
    check_sampling,
    limit_params,
    limit_values,
    made_for,
    outputs,
)
from hyloop.transfer.compensators.motion import CUTOFF, CUTOFF_PARAM, act, common_sizes, observe, want

__all__ = ["ats"]

# Smallest pivot of the normal equations, scaled to a unit diagonal, that is divided by. Sums of N rows carry errors of
# about sqrt(N) times 1e-16; six digits of the answer are left at 1e-8.
PIVOT = 1e-8
_OWN = 2  # parameters before the limits


class AtsMemory(NamedTuple):
    """`motion.Common`, and the window."""

    ticks: int
    place: int
    ring: int
    wanted: int
    sent: int
    seen: int
    phi: int
    a: int
    command: int
    skipped: int  # ticks since the last row of the window
    row: int  # that will be overwritten next
    rows: int  # the window: phi of its ticks
    sums: int  # of products over the window, lower triangle
    fresh: int  # of the rows since row 0 was last written
    matrix: int  # normal equations of the coefficients that are free, scaled
    scale: int
    right: int
    free: int


def ats(
    a: Sequence[float],
    *,
    dt: float,
    limits: Sequence[tuple[float, float]] | None = None,
    rates: Sequence[float] | None = None,
    window: float = 1.0,
    threshold: float = 0.0,
    cutoff: float = CUTOFF,
    every: int = 1,
    substeps: int = 1,
) -> Instance:
    r"""Adaptive time series compensator (ATS) of Chae, Kazemibidokhti and Ricles.

    .. math:: u = a_0\,d + a_1\,\dot d + a_2\,\ddot d\,(+ a_3\,\dddot d), \qquad
        \mathbf a = \arg\min \sum_{window} \left(u - \textstyle\sum_k a_k\,x_m^{(k)}\right)^2

    In every tick the coefficients are those with which the motion measured in the window would have been commanded
    as it was: the inverse of the plant, to its order. For a plant :math:`1/(b_0 + b_1 s + b_2 s^2 + ...)` they are
    the *b*; :math:`a_1/a_0` is about the delay. Inputs are the deformation wanted ``d`` and the one measured in the
    last tick ``d_m``; outputs the command ``d``, the coefficients ``a0, a1, ...`` and ``adapting`` (1 or 0).

    Parameters
    ----------
    a : sequence of 2 to 4 floats
        Seeds, in s^k. Without better knowledge: 1, the delay expected, half its square.
    dt : float
        Controller tick in s; the block runs at no other.
    limits : sequence of (low, high), optional
        Of every coefficient. Where both are equal it is held there, and the others are sought with it.
    rates : sequence of float, optional
        Largest change of every coefficient in a second.
    window : float
        Length of the window in s.
    threshold : float
        Root mean square of the measured deformation over the window, in m, below which nothing changes.
    cutoff : float
        Frequency in Hz of the low-passes on both sides of the regression (`hyloop.transfer.compensators.motion`).
    every : int
        Ticks from one row of the window to the next; the coefficients are found anew with every row.
    substeps : int
        Ticks in a step of the structure, over which the deformation wanted runs on a straight line.

    Notes
    -----
    Sums over the window cost the same for any length: the new row is added, the oldest is taken away. So that
    round-off does not pile up, a second sum is begun whenever the window has been written once round, and takes the
    place of the first at the end of the next round. Until the window is full the missing rows count as zero, for the
    threshold too. Where the motion does not tell the coefficients apart (a sine, for three of them), they stay.

    References
    ----------
    Chae, Kazemibidokhti, Ricles (2013), doi:10.1002/eqe.2294; settings of a tall building: Al-Subaihawi et al. (2024).
    """
    where = "ats"
    check_sampling(where, dt, cutoff, substeps)
    bounds, speeds = check_limits(where, a, limits, rates)
    if int(every) != every or every < 1:
        raise OutOfBounds(f"{where}: every = {every!r} must be a whole number of at least 1.")
    rows = round(window / (every * dt)) if 0.0 < window < math.inf else 0
    if rows < 2 * len(a):
        raise OutOfBounds(
            f"{where}: window = {window!r} s holds {rows} rows; {len(a)} coefficients need at least {2 * len(a)}. "
            f"Give at least {2 * len(a) * every * dt:g} s, of the order of a period of the motion."
        )
    if not 0.0 <= threshold < math.inf:
        raise OutOfBounds(f"{where}: threshold = {threshold!r} m must not be negative; 0 always adapts.")
    block = _block(len(a) - 1, int(substeps), rows, int(every), float(dt))
    at, size = _memory(len(a) - 1, int(substeps), rows)
    x = np.zeros(size)
    x[at.a : at.a + len(a)] = a
    return block(memory=x, threshold=threshold, cutoff=cutoff, **limit_values(bounds, speeds))


def _memory(order: int, stride: int, rows: int) -> tuple[AtsMemory, int]:
    n, width = order + 1, order + 2
    sizes = common_sizes(order, stride) | {"skipped": 1, "row": 1, "rows": rows * width}
    sizes |= {"sums": width * width, "fresh": width * width, "matrix": n * n, "scale": n, "right": n, "free": n}
    return laid_out(AtsMemory, sizes)


@cache
def _block(order: int, stride: int, rows: int, every: int, dt: float) -> Block:
    make = inplace_block(
        inputs={"d": "m", "d_m": "m"},
        outputs=outputs(order) | {"adapting": "-"},
        params={"threshold": Param("m", 0.0, 0.0, about="least root mean square of the motion"), "cutoff": CUTOFF_PARAM}
        | limit_params(order),
        memory=_memory(order, stride, rows)[1],
        reference="Chae, Kazemibidokhti, Ricles (2013), doi:10.1002/eqe.2294",
    )
    return replace(make(_step(order, stride, rows, every)), name="ats", fits=made_for(dt))


def _step(order: int, stride: int, rows: int, every: int) -> Callable:
    memory = _memory(order, stride, rows)[0]

    def advance(x, u, dt, p, y):
        m = views(x, memory)
        want(m, order, stride, u[0], dt)
        adapting = 0.0
        if observe(m, order, u[1], dt, p[1]):
            m.skipped[0] += 1.0
            if m.skipped[0] >= every:
                m.skipped[0] = 0.0
                slide(m, order, rows)
                if m.sums[0] >= rows * p[0] * p[0] and m.sums[0] > 0.0 and solve(m, order + 1, tail(p, _OWN)):
                    adapting = 1.0
                    for k in range(order + 1):
                        adopt(m.a, k, m.free[k], tail(p, _OWN), every * dt)
        act(m, order, y)
        y[order + 2] = adapting

    return advance


@verb
def slide(m: Any, order: int, rows: int) -> None:
    """Put the present sample into the window in place of the oldest, and keep the sums."""
    width, row = order + 2, int(m.row[0])
    old = row * width
    for i in range(width):
        for j in range(i + 1):
            new = m.phi[i] * m.phi[j]
            m.sums[i * width + j] += new - m.rows[old + i] * m.rows[old + j]
            m.fresh[i * width + j] += new
    for i in range(width):
        m.rows[old + i] = m.phi[i]
    m.row[0] = row + 1
    if row + 1 == rows:  # `fresh` has seen exactly the rows of the window, and taken none away
        m.row[0] = 0.0
        for i in range(width * width):
            m.sums[i], m.fresh[i] = m.fresh[i], 0.0


@verb
def solve(m: Any, n: int, limits: Any) -> bool:
    """Coefficients that explain the window best, in `m.free`; those with equal limits are known. False: not told apart.

    Normal equations scaled to a unit diagonal, by Cholesky's method.
    """
    width = n + 1
    for i in range(n):
        known = limits[LIMITS * i] == limits[LIMITS * i + 1]
        diagonal = m.sums[i * width + i]
        m.free[i] = limits[LIMITS * i] if known else 0.0
        m.scale[i] = 0.0 if known or not diagonal > 0.0 else 1.0 / math.sqrt(diagonal)
    for i in range(n):
        m.right[i] = m.sums[n * width + i]
        for j in range(n):
            entry = m.sums[i * width + j] if j <= i else m.sums[j * width + i]
            m.right[i] -= entry * m.free[j]
            m.matrix[i * n + j] = entry * m.scale[i] * m.scale[j]
        m.right[i] *= m.scale[i]
        if m.scale[i] == 0.0:  # a row of its own: the answer is zero there
            m.matrix[i * n + i] = 1.0
    for j in range(n):
        for k in range(j):
            m.matrix[j * n + j] -= m.matrix[j * n + k] ** 2
        if not m.matrix[j * n + j] > PIVOT:
            return False
        m.matrix[j * n + j] = math.sqrt(m.matrix[j * n + j])
        for i in range(j + 1, n):
            for k in range(j):
                m.matrix[i * n + j] -= m.matrix[i * n + k] * m.matrix[j * n + k]
            m.matrix[i * n + j] /= m.matrix[j * n + j]
    for i in range(n):
        for k in range(i):
            m.right[i] -= m.matrix[i * n + k] * m.right[k]
        m.right[i] /= m.matrix[i * n + i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            m.right[i] -= m.matrix[k * n + i] * m.right[k]
        m.right[i] /= m.matrix[i * n + i]
    for i in range(n):
        if m.scale[i] != 0.0:
            m.free[i] = m.right[i] * m.scale[i]
    return True
