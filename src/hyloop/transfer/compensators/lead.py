"""Compensators that are linear filters: phase lead, and a PI controller behind one."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from scipy import signal

from hyloop.core.block import Block, Instance, Param, inplace_block
from hyloop.core.jit import verb
from hyloop.core.memory import tail
from hyloop.errors import BadInput, OutOfBounds
from hyloop.transfer.compensators.coefficients import check_sampling, made_for

__all__ = ["phase_lead", "pi_lead"]

_PI = 4  # numbers of a PI controller before those of its lead: begun, last error, integral, last target


def phase_lead(num: Sequence[float], den: Sequence[float], *, dt: float) -> Instance:
    r"""Phase lead, or any other filter ``num(s)/den(s)`` of the command, discretised by Tustin's rule.

    Input is the deformation wanted ``d``, output the command ``d``. What was before the first tick is taken for the
    first value.

    Parameters
    ----------
    num, den : sequence of float
        Coefficients of numerator and denominator, highest power of s first: ``[k, k z]`` and ``[1, p]`` for
        k (s + z)/(s + p). The filter has to be proper and stable.
    dt : float
        Controller tick in s; the block runs at no other.
    """
    b, a, start = _tustin("phase_lead", num, den, dt)
    memory = np.concatenate([[0.0], np.zeros(len(start)), start, b, a])
    return _lead(len(start), float(dt))(memory=memory)


def pi_lead(kp: float, ki: float, num: Sequence[float], den: Sequence[float], *, dt: float) -> Instance:
    r"""A PI controller of the measured deformation, whose target leads that of the structure.

    .. math:: u = \left(k_p + \frac{k_i}{s}\right) \left(\frac{num(s)}{den(s)}\,d - d_m\right)

    The sample controller of the benchmark of Silva et al. (2020). Inputs are the deformation wanted ``d`` and the one
    measured in the last tick ``d_m``, output the command ``d``. What was measured is compared with the target of the
    tick it was measured in. Tustin's rule throughout.

    Parameters
    ----------
    kp, ki : float
        Gains of the error (-) and of its integral (1/s), not negative.
    num, den, dt
        The lead, as in `phase_lead`.
    """
    if not (kp >= 0.0 and ki >= 0.0 and kp + ki < np.inf):
        raise OutOfBounds(
            f"pi_lead: the gains kp = {kp!r} and ki = {ki!r} 1/s must not be negative; otherwise the feedback drives "
            "the actuator away."
        )
    b, a, start = _tustin("pi_lead", num, den, dt)
    memory = np.concatenate([np.zeros(_PI + len(start)), start, b, a])
    return _pi(len(start), float(dt))(memory=memory, kp=kp, ki=ki)


def _tustin(where: str, num: Sequence[float], den: Sequence[float], dt: float) -> tuple[Any, Any, Any]:
    """Discrete coefficients, and the states that belong to a constant input of one."""
    check_sampling(where, dt)
    above, below = (np.trim_zeros(np.atleast_1d(np.asarray(part, dtype=float)), "f") for part in (num, den))
    if len(below) < 2 or len(above) < 1 or len(above) > len(below):
        raise BadInput(
            f"{where}: a filter with {len(above)} coefficients above and {len(below)} below is not proper; give a "
            "denominator of at least first order and of at least the order of the numerator."
        )
    poles = np.roots(below)
    if np.max(poles.real) >= 0.0:
        raise OutOfBounds(
            f"{where}: the filter has a pole at {poles[np.argmax(poles.real)]:.4g} 1/s and does not settle. All poles "
            "need a negative real part."
        )
    b, a = (np.asarray(part) for part in signal.bilinear(above, below, 1.0 / dt))
    b = np.concatenate([b, np.zeros(len(a) - len(b))])
    return b, a, signal.lfilter_zi(b, a)


@verb
def _filtered(z: Any, order: int, start: Any, first: bool, new: float) -> float:
    """One tick of a filter in the transposed direct form; `start` is followed by its coefficients."""
    b, a = tail(start, order), tail(start, 2 * order + 1)
    if first:
        for k in range(order):
            z[k] = start[k] * new
    y = b[0] * new + z[0]
    for k in range(order):
        z[k] = b[k + 1] * new - a[k + 1] * y + (z[k + 1] if k + 1 < order else 0.0)
    return y


@cache
def _lead(order: int, dt: float) -> Block:
    make = inplace_block(
        inputs={"d": "m"},
        outputs={"d": "m"},
        params={},
        memory=1 + 4 * order + 2,
        reference="Franklin, Powell, Workman (1998), Digital Control of Dynamic Systems, 3rd ed., section 6.1",
    )
    return replace(make(_lead_step(order)), name="phase_lead", fits=made_for(dt))


def _lead_step(order: int) -> Callable:
    def advance(x, u, dt, p, y):
        y[0] = _filtered(tail(x, 1), order, tail(x, 1 + order), x[0] == 0.0, u[0])
        x[0] = 1.0

    return advance


@cache
def _pi(order: int, dt: float) -> Block:
    make = inplace_block(
        inputs={"d": "m", "d_m": "m"},
        outputs={"d": "m"},
        params={
            "kp": Param("-", 1.0, 0.0, about="gain of the error"),
            "ki": Param("1/s", 0.0, 0.0, about="gain of its integral"),
        },
        memory=_PI + 4 * order + 2,
        reference="Silva, Gomez, Maghareh, Dyke, Spencer (2020), doi:10.1016/j.ymssp.2019.106381",
    )
    return replace(make(_pi_step(order)), name="pi_lead", fits=made_for(dt))


def _pi_step(order: int) -> Callable:
    def advance(x, u, dt, p, y):
        begun = x[0] != 0.0
        target = _filtered(tail(x, _PI), order, tail(x, _PI + order), not begun, u[0])
        error = (x[3] if begun else target) - u[1]
        x[2] += 0.5 * dt * (error + (x[1] if begun else error))
        x[0], x[1], x[3] = 1.0, error, target
        y[0] = p[0] * error + p[1] * x[2]

    return advance
