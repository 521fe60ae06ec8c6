"""The inverse of a plant that is known, as a compensator with fixed coefficients."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from hyloop.core.block import Block, Instance, Param, inplace_block
from hyloop.core.memory import laid_out, views
from hyloop.transfer.compensators.coefficients import check_limits, check_sampling, made_for
from hyloop.transfer.compensators.motion import want

__all__ = ["inverse"]


class InverseMemory(NamedTuple):
    """What lies in the memory; see `motion.Common`."""

    ticks: int
    place: int
    ring: int
    wanted: int


def inverse(a: Sequence[float], *, dt: float, substeps: int = 1) -> Instance:
    r"""Fixed inverse of a plant, of first to third order.

    .. math:: u = a_0\,d + a_1\,\dot d + a_2\,\ddot d + a_3\,\dddot d

    For a plant :math:`1/(b_0 + b_1 s + b_2 s^2 + ...)` the coefficients are the *b*, and what is not compensated begins
    with the first power left out. Input is the deformation wanted ``d``, output the command ``d``.

    Parameters
    ----------
    a : sequence of 2 to 4 floats
        Coefficients in s^k.
    dt : float
        Controller tick in s; the block runs at no other.
    substeps : int
        Ticks in a step of the structure, over which the deformation wanted runs on a straight line.
    """
    check_sampling("inverse", dt, substeps=substeps)
    check_limits("inverse", a, None, None)
    return _block(len(a) - 1, int(substeps), float(dt))(**{f"a{k}": float(value) for k, value in enumerate(a)})


def _memory(order: int, stride: int) -> tuple[InverseMemory, int]:
    return laid_out(InverseMemory, {"ticks": 1, "place": 1, "ring": 4 * stride + 1, "wanted": order + 1})


@cache
def _block(order: int, stride: int, dt: float) -> Block:
    make = inplace_block(
        inputs={"d": "m"},
        outputs={"d": "m"},
        params={f"a{k}": Param(f"s^{k}", math.nan, about=f"coefficient of derivative {k}") for k in range(order + 1)},
        memory=_memory(order, stride)[1],
        reference="Chen, Ricles (2009), doi:10.1061/(ASCE)EM.1943-7889.0000066 (inverse compensation)",
    )
    return replace(make(_step(order, stride)), name="inverse", fits=made_for(dt))


def _step(order: int, stride: int) -> Callable:
    memory = _memory(order, stride)[0]

    def advance(x, u, dt, p, y):
        m = views(x, memory)
        want(m, order, stride, u[0], dt)
        m.ticks[0] = 1.0
        y[0] = 0.0
        for k in range(order + 1):
            y[0] += p[k] * m.wanted[k]

    return advance
