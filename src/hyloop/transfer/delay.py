"""An actuator that does what it is told, but late."""

import math

from hyloop.core.block import Param, inplace_block
from hyloop.core.jit import jit
from hyloop.errors import BadInput
from hyloop.transfer.saturation import LIMITS, MOTION, followed, moved

__all__ = ["LONGEST", "delay", "late"]

LONGEST = 1024  # ticks of delay
_ORDER = 5  # highest of the interpolation
RING = LONGEST + _ORDER + 1
_WHOLE = 1e-9  # of a tick: a quotient of two decimal numbers is a whole number but for round-off


def ring_fits(dt: float, tau: float, order: float, key: str = "tau") -> None:
    """Refuse delays that cannot be interpolated, or are longer than the memory."""
    ticks = tau / dt
    if order != round(order):
        raise BadInput(f"order = {order:g} must be a whole number from 1 to {_ORDER}.")
    if 0.0 < ticks < 1.0 - _WHOLE:
        raise BadInput(
            f"{key} = {tau:g} s is shorter than a tick of {dt:g} s. Give 0 or at least a tick, or run the controller "
            "faster (integrator.substeps)."
        )
    if ticks > LONGEST:
        raise BadInput(f"{key} = {tau:g} s is {ticks:.0f} ticks of {dt:g} s; at most {LONGEST} can be kept.")


@jit
def late(ring, now, ticks, order):
    """Value of a ring buffer some ticks before `now`, by Lagrange's polynomial through order + 1 samples round it."""
    size = len(ring)
    whole = round(ticks)
    if abs(ticks - whole) < _WHOLE:
        return ring[(now - int(whole)) % size]
    first = max(0, math.floor(ticks) - (order - 1) // 2)
    value = 0.0
    for j in range(order + 1):
        weight = 1.0
        for i in range(order + 1):
            if i != j:
                weight *= (ticks - first - i) / (j - i)
        value += weight * ring[(now - first - j) % size]
    return value


@inplace_block(
    inputs={"d": "m"},
    outputs=MOTION,
    state={"ticks": "-", "c_last": "m", "d_last": "m", "v_last": "m/s"},
    params={
        "tau": Param("s", 0.01, 0.0, about="delay: 0, or at least a tick"),
        "order": Param("-", 3.0, 1.0, float(_ORDER), about="of the interpolation between ticks"),
        **LIMITS,
    },
    memory=RING,
    fits=lambda dt, tau, order, **limits: ring_fits(dt, tau, order),
    reference="Laakso, Valimaki, Karjalainen, Laine (1996), Splitting the unit delay, IEEE Signal Process. Mag. 13(1), "
    "30-60, doi:10.1109/79.482137 (Lagrange interpolation).",
)
def delay(x, u, dt, p, y):
    r"""An actuator that comes late and is exact otherwise.

    .. math:: d(t) = c(t - \tau), \qquad c = 0 \text{ before the first tick}

    Whole ticks are exact; between ticks stands Lagrange's polynomial of the given order *N* through the N + 1 samples
    nearest to :math:`t - \tau`, with an error of order :math:`\Delta t^{N+1}`. Odd orders have samples on both sides.
    *v* and *a* are backward differences: between ticks the piston moves on a straight line.
    """
    count = x[0]
    ring = x[4:]
    command, active = followed(u[0], x[1], p[4], dt)
    now = int(count) % RING
    ring[now] = command
    wanted = late(ring, now, p[0] / dt, int(p[1]))
    v = (wanted - x[2]) / dt
    d, v, a, more = moved(wanted, v, (v - x[3]) / dt, x[2], x[3], dt, p[2], p[3])
    y[0], y[1], y[2], y[3] = d, v, a, active + more
    x[0], x[1], x[2], x[3] = count + 1.0, command, d, v
