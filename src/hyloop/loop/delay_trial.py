"""The critical delay by trial: the loop itself is run with longer and shorter delays, and grows or decays."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hyloop.core.block import Param, block
from hyloop.errors import BadInput
from hyloop.loop.critical_delay import critical_delay, linearised
from hyloop.loop.limits import Limits
from hyloop.loop.loop import Loop
from hyloop.transfer.delay import LONGEST, delay

__all__ = ["tried_critical_delay"]

_KICK = 1e-4  # m/s at every degree of freedom, to begin with
_CYCLES = 400.0  # of a free vibration: other modes have gone by then, and a delay 1 % too long shows
_HALVINGS = 9  # of the range that is searched


@block(
    inputs={"d": "m", "v": "m/s"},
    outputs={"f": "N"},
    params={"k": Param("N/m", 0.0), "c": Param("N s/m", 0.0)},
    reference="Chopra (2017), Dynamics of Structures, 5th ed., Pearson, sections 1.3 and 1.4.",
    linear=lambda k, c: (k, c),
)
def _linear(x, u, dt, p):
    return (p[0] * u[0] + p[1] * u[1],), ()


def tried_critical_delay(loop: Loop, sites: str | Sequence[str] | None = None) -> float:
    """Delay in s from which on free vibrations of the loop grow, by halving; beside `critical_delay`, as its check.

    Devices at the sites are replaced by their linearised ones behind actuators of the law ``delay``, everything else is
    as it is. Known to about 1 %, and between half and twice the predicted delay only.
    """
    expected = critical_delay(loop, sites)
    ticks = loop.dt / loop.substeps
    if not np.isfinite(expected.delay) or expected.delay < 2.0 * ticks or 2.0 * expected.delay > LONGEST * ticks:
        raise BadInput(
            f"a critical delay of {expected.delay:g} s cannot be tried with ticks of {ticks:g} s; change the substeps."
        )
    others = {}
    for site in loop.sites:
        if site.name in expected.sites:
            k, c = linearised(site)
            rig = {"actuator": delay(tau=expected.delay)}
            others[site.name] = replace(
                site, device=_linear(k=k, c=c), transfer=rig, wiring={}, max_d=np.inf, max_f=np.inf
            )
    trial = loop.replace(sites=others, blocks=(), limits=Limits(max_u=np.inf, max_energy=np.inf))
    steps = int(_CYCLES / expected.frequency / loop.dt)
    low, high = 0.5 * expected.delay, 2.0 * expected.delay
    for _ in range(_HALVINGS):
        middle = float(np.sqrt(low * high))
        if _grows(trial, expected.sites, middle, steps):
            high = middle
        else:
            low = middle
    return float(np.sqrt(low * high))


def _grows(loop: Loop, sites: Sequence[str], tau: float, steps: int) -> bool:
    """Whether a free vibration is larger in the last third than in the one before."""
    one = loop.copy({f"{name}.actuator.tau": tau for name in sites})
    kick = _KICK * (-1.0) ** np.arange(loop.structure.n) + 2.0 * _KICK  # of every mode something
    quiet = np.zeros((steps, loop.structure.excitation.shape[1]))
    result = one.run(quiet, record=[f"{name}.d" for name in sites], v0=kick, on_fault="stop")
    if not result.complete:
        return True
    _, before, last = np.array_split(result.data, 3)
    return bool(np.mean(last**2) > np.mean(before[-len(last) :] ** 2))
