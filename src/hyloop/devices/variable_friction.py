"""Dry friction whose clamping force is commanded."""

import numpy as np

from hyloop.core.block import Param, block

__all__ = ["variable_friction"]

_LOOSE = 1e-9  # N: friction of a device that is not clamped, so that nothing is divided by zero


@block(
    inputs={"d": "m"},
    outputs={"f": "N", "N_clamp": "N"},
    state={"y": "N", "clamp": "N", "d_last": "m"},
    params={
        "N": Param("N", 50e3, 0.0, about="commanded clamping force; a controller may overwrite it"),
        "N_max": Param("N", 100e3, 1e-3, about="largest clamping force"),
        "mu": Param("-", 0.4, 1e-6, about="friction over clamping force, of all faces together"),
        "k": Param("N/m", 20e6, 1e-3, about="stiffness before it slides"),
        "tau": Param("s", 0.0, 0.0, about="time constant of what clamps it; zero: it follows at once"),
    },
    reference="Dahl (1976), Solid friction damping of mechanical vibrations, doi:10.2514/3.61511; Dowdell and "
    "Cherry (1994), Semi-active friction dampers for seismic response control of structures.",
    linear=lambda k, **_: (k, 0.0),
    start=lambda N, N_max, **_: {"clamp": min(N, N_max)},
    flags="passive",
)
def variable_friction(x, u, dt, p):
    r"""Friction proportional to a commanded clamping force, elastic before it slides (Dahl's law).

    .. math::
        \frac{df}{dd} = k \left(1 - \frac{f}{\mu N}\operatorname{sgn}(\Delta d)\right), \qquad
        |f| \le \mu N, \qquad \tau\,\dot N = N_{cmd} - N

    Solved exactly for the straight increment of a tick with the clamping force at its end. The command is held between
    0 and `N_max`. Where the clamp is let go the force follows it down at once: the device slides. Passive whatever the
    command does, because a clamp stores no energy in the direction of sliding; independent of the rate while the
    command is constant. SI units.
    """
    command = np.clip(p[0], 0.0, p[1])
    clamp = command + (x[1] - command) * np.exp(-dt / np.maximum(p[4], 1e-12))
    level = np.maximum(p[2] * clamp, _LOOSE)
    way = p[3] * (u[0] - x[2])
    r = np.abs(way) / level
    decay = np.exp(-r)
    # (1 - e^-r)/r by its series near r = 0: no cancellation, and the gradient at rest is the true one
    mean = np.where(
        r < 0.01,
        1.0 - r / 2.0 * (1.0 - r / 3.0 * (1.0 - r / 4.0 * (1.0 - r / 5.0))),
        (1.0 - decay) / np.maximum(r, 0.01),
    )
    y = decay * np.clip(x[0], -level, level) + way * mean
    return (y, clamp), (y, clamp, u[0])
