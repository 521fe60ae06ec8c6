"""Polynomial extrapolation: where the motion will be when the actuator is there."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np

from hyloop.core.block import Block, Instance, Param, inplace_block
from hyloop.errors import OutOfBounds
from hyloop.transfer.compensators.coefficients import check_sampling, made_for

__all__ = ["extrapolation"]


def extrapolation(delay: float, *, dt: float, order: int = 3, spacing: float | None = None) -> Instance:
    r"""The value that a polynomial through past samples has one delay later.

    .. math:: u(t) = \sum_{j=0}^{n} c_j\,d(t - j h), \qquad
        c_j = \prod_{i \ne j} \frac{\tau + i h}{(i - j) h}

    With the spacing *h* equal to the delay and n = 3 the weights are 4, -6, 4, -1 (Horiuchi et al.). Exact for
    motions that are polynomials of order *n*; it amplifies beyond about a tenth of 1/delay. Input is the deformation
    wanted ``d``, output the command ``d``. What was before the first tick is taken for the first value.

    Parameters
    ----------
    delay : float
        Delay of the actuator in s.
    dt : float
        Controller tick in s; the block runs at no other.
    order : int
        Order of the polynomial, 1 to 6.
    spacing : float, optional
        Time between the samples in s, rounded to ticks; default the delay.

    References
    ----------
    Horiuchi, Inoue, Konno, Namita (1999), doi:10.1002/(SICI)1096-9845(199910)28:10<1121::AID-EQE858>3.0.CO;2-O.
    """
    where = "extrapolation"
    check_sampling(where, dt)
    if not 0.0 < delay < math.inf:
        raise OutOfBounds(f"{where}: delay = {delay!r} s must be positive; without a delay leave the compensator out.")
    if int(order) != order or not 1 <= order <= 6:
        raise OutOfBounds(f"{where}: order = {order!r} must be a whole number from 1 to 6.")
    steps = round((delay if spacing is None else spacing) / dt)
    if steps < 1:
        raise OutOfBounds(
            f"{where}: samples {delay if spacing is None else spacing!r} s apart are closer than a tick of {dt:g} s. "
            "Give a wider spacing, or run the controller faster."
        )
    ahead = delay / (steps * dt)
    weights = {
        f"c{j}": float(np.prod([(ahead + i) / (i - j) for i in range(order + 1) if i != j])) for j in range(order + 1)
    }
    return _block(int(order), steps, float(dt))(**weights)


@cache
def _block(order: int, steps: int, dt: float) -> Block:
    make = inplace_block(
        inputs={"d": "m"},
        outputs={"d": "m"},
        params={
            f"c{j}": Param("-", math.nan, about=f"weight of the sample {j} spacings ago") for j in range(order + 1)
        },
        memory=2 + order * steps + 1,
        reference="Horiuchi, Inoue, Konno, Namita (1999), Earthquake Eng. Struct. Dyn. 28(10), 1121-1141",
    )
    return replace(make(_step(order, steps)), name="extrapolation", fits=made_for(dt))


def _step(order: int, steps: int) -> Callable:
    slots = order * steps + 1

    def advance(x, u, dt, p, y):
        place = int(x[1])
        for k in range(slots if x[0] == 0.0 else 1):
            x[2 + (place + k) % slots] = u[0]
        y[0] = 0.0
        for j in range(order + 1):
            y[0] += p[j] * x[2 + (place + slots - j * steps) % slots]
        x[0], x[1] = 1.0, (place + 1) % slots

    return advance
