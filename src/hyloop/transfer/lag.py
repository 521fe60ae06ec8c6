"""Actuators that lag: of first and of second order."""

import math

from hyloop.core.block import Param, inplace_block
from hyloop.core.jit import jit
from hyloop.transfer.saturation import LIMITS, MOTION, followed, moved

__all__ = ["first_order_lag", "second_order_lag"]

_REFERENCE = (
    "Franklin, Powell, Workman (1998), Digital Control of Dynamic Systems, 3rd ed., section 6.3.2 (triangle hold)."
)
_GAIN = Param("-", 1.0, 1e-6, about="motion over command when all is slow")
_NEAR = 1e-4  # |1 - ζ²| (ω dt)² below which sin and sinh are taken from their series


@inplace_block(
    inputs={"d": "m"},
    outputs=MOTION,
    state={"y": "m", "c_last": "m", "d_last": "m", "v_last": "m/s"},
    params={"tau": Param("s", 0.01, 1e-9, about="time constant"), "gain": _GAIN, **LIMITS},
    reference=_REFERENCE,
)
def first_order_lag(x, u, dt, p, y):
    r"""An actuator that follows its command with a lag of first order.

    .. math:: \tau\,\dot d + d = g\,c, \qquad \frac{d}{c} = \frac{g}{\tau s + 1}

    Exact for a command that moves on a straight line between ticks. A slow command is followed late by :math:`\tau`.
    *v* and *a* are those of the equation, with the slope of the command.
    """
    tau, gain = p[0], p[1]
    command, active = followed(u[0], x[1], p[4], dt)
    slope = (command - x[1]) / dt
    fade = -math.expm1(-dt / tau)
    lag = tau * slope
    d = x[0] + fade * (gain * (x[1] - lag) - x[0]) + gain * (command - x[1])
    v = (gain * command - d) / tau
    x[0] = d
    d, v, a, more = moved(d, v, (gain * slope - v) / tau, x[2], x[3], dt, p[2], p[3])
    y[0], y[1], y[2], y[3] = d, v, a, active + more
    x[1], x[2], x[3] = command, d, v


@jit
def free_decay(omega, zeta, dt):
    """e^(-ζωt) times cos(ω_d t), and times sin(ω_d t)/ω_d, after a tick; beyond critical damping cosh and sinh."""
    square = (1.0 - zeta * zeta) * (omega * dt) ** 2
    fade = math.exp(-zeta * omega * dt)
    if abs(square) < _NEAR:  # the next terms are 2e-13 of it
        return fade * (1.0 - square / 2.0 + square**2 / 24.0), fade * dt * (1.0 - square / 6.0 + square**2 / 120.0)
    angle = math.sqrt(abs(square))
    if square > 0.0:
        return fade * math.cos(angle), fade * dt * math.sin(angle) / angle
    slow, fast = math.exp(angle - zeta * omega * dt), math.exp(-angle - zeta * omega * dt)  # cosh alone would overflow
    return 0.5 * (slow + fast), 0.5 * (slow - fast) * dt / angle


@inplace_block(
    inputs={"d": "m"},
    outputs=MOTION,
    state={"y": "m", "rate_y": "m/s", "c_last": "m", "d_last": "m", "v_last": "m/s"},
    params={
        "frequency": Param("Hz", 20.0, 1e-6, about="natural frequency"),
        "damping": Param("-", 0.7, 1e-6, about="damping ratio"),
        "gain": _GAIN,
        **LIMITS,
    },
    reference=_REFERENCE,
)
def second_order_lag(x, u, dt, p, y):
    r"""An actuator that follows its command like an oscillator.

    .. math:: \ddot d + 2\zeta\omega\,\dot d + \omega^2 d = \omega^2 g\,c, \qquad \omega = 2\pi f

    Exact for a command that moves on a straight line between ticks, at any damping ratio. A slow command is followed
    late by :math:`2\zeta/\omega`. *v* and *a* are those of the equation.
    """
    omega, zeta, gain = 2.0 * math.pi * p[0], p[1], p[2]
    command, active = followed(u[0], x[2], p[5], dt)
    slope = gain * (command - x[2]) / dt
    late = 2.0 * zeta / omega * slope
    # what is left of the deviation from the motion that a straight line has in the long run
    e, e_rate = x[0] - (gain * x[2] - late), x[1] - slope
    cosine, sine = free_decay(omega, zeta, dt)
    deviation = (cosine + zeta * omega * sine) * e + sine * e_rate
    rate = (cosine - zeta * omega * sine) * e_rate - omega * omega * sine * e
    d, v = gain * command - late + deviation, slope + rate
    x[0], x[1] = d, v
    a = omega * omega * (gain * command - d) - 2.0 * zeta * omega * v
    d, v, a, more = moved(d, v, a, x[3], x[4], dt, p[3], p[4])
    y[0], y[1], y[2], y[3] = d, v, a, active + more
    x[2], x[3], x[4] = command, d, v
