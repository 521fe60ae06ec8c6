r"""What a network hears of a measured damper, and what its followers are told.

The ear moves the law with the parameters of Table 2 as the damper is moved, and compares. With its force :math:`f_0`
and :math:`s = \mathrm{sgn} f_0` the network hears

.. math:: e = s (f_m - f_0), \qquad m = |f_0|, \qquad w = s\, \dot d_m,

each smoothed over one of its samples, and of the smoothed ones :math:`q = e/(m + 30\,kN)` and
:math:`l = \ln(1 + m/10\,kN)`: of a damper with another C and alpha, :math:`\ln f/f_0 = \ln C/C_0 +
(\alpha/\alpha_0 - 1) \ln f_0/C_0`, and so q is about a line over l. All are the same for a motion and its mirror
image. It answers with :math:`\ln K/K_0`, :math:`\ln C/C_0`, :math:`\ln \alpha/\alpha_0` and the friction of the seal in
units of 20 kN, for a law that runs in every tick: explicit, it would not be stable at the rate of the network.
"""

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from hyloop.core.block import Param, block, inplace_block
from hyloop.devices import nonlinear_maxwell
from hyloop.loop import FreeBlock
from hyloop.neural import load_network
from hyloop.neural.resampled import resampled
from hyloop.transfer import difference

from .specimens import START

EVERY = 16  # ticks in a sample of the network: 64 Hz
FACTORS = (0.2, 2.0)  # bounds of the factors on K, C and alpha, as those of the filter
LOW, HIGH = (float(np.log(bound)) for bound in FACTORS)
SEAL, MOST_SEAL = 20e3, 5.0  # N, unit of the friction of the seal; bound of it in that unit
SOME, LITTLE = 30e3, 10e3  # N, forces below which nothing can be said of a ratio
HEARD = {"e": "N", "m": "N", "w": "m/s", "q": "-", "l": "-"}
TOLD = ("k", "c", "a", "s")

K0, C0, ALPHA0 = START.values()
_maxwell = nonlinear_maxwell.compiled
_LAW = {key: Param(nonlinear_maxwell.params[key].unit, value) for key, value in START.items()}


@inplace_block(
    inputs={"d": "m", "f": "N", "v": "m/s"},
    outputs=HEARD,
    state={"f_law": "N", "d_law": "m", "e_now": "N", "m_now": "N", "w_now": "m/s"},
    params={**_LAW, "span": Param("-", float(EVERY), low=1.0, about="ticks over which is smoothed")},
    reference="Al-Subaihawi et al. (2024), Table 2 (law and parameters)",
)
def ear(x, u, dt, p, y):
    """What a measured damper does beyond the law of Table 2; see the top of the file."""
    (f,), (x[0], x[1]) = _maxwell((x[0], x[1]), (u[0],), dt, (p[0], p[1], p[2]))
    sign = 1.0 if f >= 0.0 else -1.0
    x[2] += (sign * (u[1] - f) - x[2]) / p[3]
    x[3] += (abs(f) - x[3]) / p[3]
    x[4] += (sign * u[2] - x[4]) / p[3]
    y[0], y[1], y[2] = x[2], x[3], x[4]
    y[3], y[4] = x[2] / (x[3] + SOME), math.log(1.0 + x[3] / LITTLE)


@block(
    inputs=dict.fromkeys(TOLD, "-"),
    outputs={**{key: spec.unit for key, spec in _LAW.items()}, "friction": "N"},
    params={},
    reference="Al-Subaihawi et al. (2024), section 8 (bounds of the parameters)",
)
def told(x, u, dt, p):
    """Parameters of the law from the answer of a network, held inside the bounds of the filter."""
    K = K0 * np.exp(np.minimum(np.maximum(u[0], LOW), HIGH))
    C = C0 * np.exp(np.minimum(np.maximum(u[1], LOW), HIGH))
    alpha = ALPHA0 * np.exp(np.minimum(np.maximum(u[2], LOW), HIGH))
    friction = SEAL * np.minimum(np.maximum(u[3], 0.0), MOST_SEAL)
    return (K, C, alpha, friction), ()


def heard(d: np.ndarray, f: np.ndarray, dt: float) -> np.ndarray:
    """What the ear gives in every tick (ticks, 5) for a measured deformation and force."""
    v = difference(span=float(EVERY)).drive(dt, d=d)["v"]
    found = ear().drive(dt, d=d, f=f, v=v)
    return np.column_stack([found[key] for key in HEARD])


def ears(network: Path, leader: str, shown: Mapping[str, str], target: Mapping[str, str]) -> list[FreeBlock]:
    """Blocks from the instruments of a measured damper to the parameters of its first follower, in order.

    The network takes every 16th sample and its answer is held: parameters are slow.
    """
    device = resampled(load_network(network).device(), "hold")
    speed, inner, mind = f"{leader}.speed", f"{leader}.ear", f"{leader}.network"
    return [
        FreeBlock(speed, difference(span=float(EVERY)), {"d": shown["d"]}),
        FreeBlock(inner, ear(), {"d": shown["d"], "f": shown["f"], "v": f"{speed}.v"}),
        FreeBlock(mind, device, {key: f"{inner}.{key}" for key in HEARD}),
        FreeBlock(f"{leader}.told", told(), {key: f"{mind}.{key}" for key in TOLD}, target),
    ]
