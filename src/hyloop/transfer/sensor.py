"""Instruments as laboratories have them: what they show of a deformation and a force."""

import math

from hyloop.core.block import Param, inplace_block
from hyloop.core.noise import normal_pair

__all__ = ["LONGEST", "sensor"]

LONGEST = 64  # ticks of delay
_RING = LONGEST + 2


@inplace_block(
    inputs={"d": "m", "f": "N"},
    outputs={"d": "m", "f": "N"},
    state={"ticks": "-"},
    params={
        "noise_d": Param("m", 0.0, 0.0, about="standard deviation of the deformation"),
        "noise_f": Param("N", 0.0, 0.0, about="standard deviation of the force"),
        "offset_d": Param("m", 0.0, about="added to the deformation"),
        "offset_f": Param("N", 0.0, about="added to the force"),
        "drift_f": Param("N/s", 0.0, about="growth of what is added to the force"),
        "gain_f": Param("-", 1.0, 0.0, about="shown over true force"),
        "delay_f": Param("-", 0.0, 0.0, float(LONGEST), about="ticks by which the force is shown late"),
        "seed": Param("-", 0.0, 0.0, about="of the noise"),
    },
    memory=_RING,
    reference="ISO/IEC Guide 99 (VIM, 2012): bias, drift and sensitivity of a measuring instrument.",
)
def sensor(x, u, dt, p, y):
    r"""What a displacement transducer and a load cell show.

    .. math::
        d_m = d + o_d + \sigma_d n_1, \qquad
        f_m(t) = g\,f(t - \tau) + o_f + r\,t + \sigma_f n_2

    with white noise of unit variance, the delay :math:`\tau` in ticks, whole or not (a straight line bridges parts of
    a tick), and what was before the first tick taken for the first value. As the ``sensor`` of a site it stands behind
    the device, and the structure feels the force it shows.
    """
    ring, count = x[1:], x[0]
    if count == 0.0:
        for k in range(_RING):
            ring[k] = u[1]
    now = int(count) % _RING
    ring[now] = u[1]
    whole = math.floor(p[6])
    part = p[6] - whole
    newer, older = ring[(now - whole) % _RING], ring[(now - whole - 1) % _RING]
    first, second = normal_pair(p[7], count)
    y[0] = u[0] + p[2] + p[0] * first
    y[1] = p[5] * ((1.0 - part) * newer + part * older) + p[3] + p[4] * count * dt + p[1] * second
    x[0] += 1.0
