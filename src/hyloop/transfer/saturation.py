r"""What an actuator cannot exceed: the rate of its command, its velocity and its stroke.

Every actuator of `hyloop.transfer` passes its command through `followed` and what its plant makes of it through
`moved`. The limits stand before and behind the plant, which itself goes on unhindered between them:

.. math::
    c_k = c_{k-1} + \operatorname{clip}(u_k - c_{k-1}, \pm r\,\Delta t), \qquad
    d_k = \operatorname{clip}(d_{k-1} + \operatorname{clip}(y_k - d_{k-1}, \pm v_{max}\,\Delta t), \pm d_{max})

The channel ``saturated`` of an actuator is the sum of those that are active: 1 stroke, 2 velocity, 4 command rate or
valve, 8 force; 0 where none is.
"""

import math

from hyloop.core.block import Param
from hyloop.core.jit import jit

__all__ = ["FORCE", "LEAST", "LIMITS", "MOTION", "STROKE", "UNLIMITED", "VALVE", "VELOCITY", "followed", "moved"]

STROKE, VELOCITY, VALVE, FORCE = 1.0, 2.0, 4.0, 8.0
LEAST = 1e-9  # in SI units: below it nothing moves at all
UNLIMITED = 1e30  # in SI units: a limit that is none. Infinity would be a channel that nobody can draw or write as JSON

# the last parameters of every actuator, in this order
LIMITS = {
    "stroke": Param("m", UNLIMITED, LEAST, about="largest deformation; there the piston stands"),
    "velocity": Param("m/s", UNLIMITED, LEAST, about="largest velocity"),
    "rate": Param("m/s", UNLIMITED, LEAST, about="largest rate of the command"),
}
# what every actuator gives
MOTION = {"d": "m", "v": "m/s", "a": "m/s2", "saturated": "-"}


@jit
def followed(command, last, rate, dt):
    """Command within its rate, and whether that was a limit."""
    reach = rate * dt
    if command > last + reach:
        return last + reach, VALVE
    if command < last - reach:
        return last - reach, VALVE
    return command, 0.0


@jit
def moved(d, v, a, d_last, v_last, dt, stroke, velocity):
    """Motion within stroke and velocity, and which of them limits it; v and a then follow from the motion."""
    active = 0.0
    reach = velocity * dt
    if d > d_last + reach:
        d, active = d_last + reach, VELOCITY
    elif d < d_last - reach:
        d, active = d_last - reach, VELOCITY
    if abs(d) > stroke:
        d = math.copysign(stroke, d)
        active += STROKE
    if active > 0.0:
        v = (d - d_last) / dt
    if abs(v) > velocity:
        v = math.copysign(velocity, v)
        active = active if active >= VELOCITY else active + VELOCITY
    if active > 0.0:
        a = (v - v_last) / dt
    return d, v, a, active
