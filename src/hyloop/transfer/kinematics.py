"""Velocity and acceleration as a laboratory has them: out of the measured deformation, and late."""

import numpy as np

from hyloop.core.block import Param, block

__all__ = ["CUTOFF", "kinematics"]

CUTOFF = 50.0  # Hz; motions of structures and the corners of friction loops lie below it, noise of transducers above


@block(
    inputs={"d": "m"},
    outputs={"d": "m", "v": "m/s", "a": "m/s2"},
    state={"d_last": "m", "v_last": "m/s", "slope": "m/s2", "begun": "-"},
    params={"cutoff": Param("Hz", CUTOFF, 1e-3, about="frequency from which on the velocity is damped")},
    reference="Franklin, Powell, Workman (1998), Digital Control of Dynamic Systems, 3rd ed., section 6.3 (filters of "
    "held signals); Butterworth (1930), On the theory of filter amplifiers.",
)
def kinematics(x, u, dt, p):
    r"""Velocity and acceleration from samples of the deformation, causal.

    The backward difference *w*, held over its tick, passes a Butterworth low-pass of second order,

    .. math:: \ddot v + \sqrt 2\,\omega\,\dot v + \omega^2 v = \omega^2 w, \qquad
        w = \frac{d_k - d_{k-1}}{\Delta t}, \qquad \omega = 2\pi f_c, \qquad
        a = \frac{v_k - v_{k-1}}{\Delta t}

    solved exactly for a held *w*: to the filter the deformation moves on straight lines between its samples. Where the
    motion is slow against the cut-off, *v* comes late by :math:`\sqrt 2/\omega` (4.5 ms at 50 Hz) and *a* by half a
    tick more. *d* is handed on as it came. The first sample begins at rest.
    """
    w = np.where(x[3] > 0.0, (u[0] - x[0]) / dt, 0.0)
    s = np.sqrt(2.0) * np.pi * p[0]  # real and imaginary part of both poles, ω/√2
    fade, turn, swing = np.exp(-s * dt), np.cos(s * dt), np.sin(s * dt)
    e, slope = x[1] - w, x[2]
    v = w + fade * ((turn + swing) * e + swing / s * slope)
    slope = fade * ((turn - swing) * slope - 2.0 * s * swing * e)
    # the mean over the tick: at its end the slope of a filtered staircase is low by (ω dt)² / 12
    return (u[0], v, (v - x[1]) / dt), (u[0], v, slope, 1.0)
