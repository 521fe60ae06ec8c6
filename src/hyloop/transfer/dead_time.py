"""A dead time in front of an actuator, as rigs have it beside the lag of their poles."""

from dataclasses import replace
from typing import Any

import numpy as np

from hyloop.core.block import Instance, Param, inplace_block, rebind
from hyloop.errors import BadInput, OutOfBounds
from hyloop.transfer.delay import LONGEST, RING, late

__all__ = ["BEFORE", "behind"]

_ORDER = 3  # of the interpolation between ticks
_COUNT, _LATE, _RING = 0, 1, 2  # memory: ticks so far, the late command, the commands before; then that of the actuator
BEFORE = _RING + RING  # numbers before the memory of the actuator
plant: Any = None  # the actuator, which `behind` puts here


def advance(x, u, dt, p, y):
    r"""An actuator that hears its command late by a dead time :math:`\tau`.

    .. math:: G(s) = e^{-s\tau}\,G_0(s)

    Whole ticks are exact; between ticks stands Lagrange's polynomial of third order through the four samples round
    :math:`t - \tau`. A dead time below a tick is interpolated too: the actuator behind it is smooth.
    """
    now = int(x[_COUNT]) % RING
    x[_RING + now] = u[0]
    x[_LATE] = late(x[_RING : _RING + RING], now, p[0] / dt, _ORDER)
    plant(x[BEFORE:], x[_LATE : _LATE + 1], dt, p[1:], y)
    x[_COUNT] += 1.0


def _fits(dt: float, delay: float, **others: float) -> None:
    if delay > LONGEST * dt:
        raise BadInput(f"delay = {delay:g} s is {delay / dt:.0f} ticks of {dt:g} s; at most {LONGEST} can be kept.")


def behind(actuator: Instance, tau: float) -> Instance:
    """The same actuator behind a dead time in s; its command must be its only input."""
    if not 0.0 <= tau < np.inf:
        raise OutOfBounds(f"delay = {tau!r} s must be zero or positive.")
    law = actuator.block
    if list(law.inputs) != ["d"]:
        raise BadInput(f"delay: {law.name} reads {', '.join(law.inputs)}; only an actuator with one axis can have one.")
    if tau == 0.0:
        return actuator
    own = actuator.x0
    made = inplace_block(
        inputs=law.inputs,
        outputs=law.outputs,
        params={"delay": Param("s", tau, 0.0, about="dead time of the command"), **law.params},
        memory=BEFORE + len(own),
        fits=_fits,
        reference="Laakso, Valimaki, Karjalainen, Laine (1996), doi:10.1109/79.482137 (Lagrange); " + law.reference,
    )(rebind(advance, plant=law.compiled))
    contents = np.concatenate([np.zeros(BEFORE), own])
    return replace(made, name=law.name)(memory=contents, delay=tau, **actuator.params)
