"""A virtual nonlinear viscous damper: what stands in a laboratory for the one a model believes in."""

import math

from hyloop.core.block import Param, inplace_block
from hyloop.devices.viscous import nonlinear_maxwell

__all__ = ["viscous_specimen"]

_maxwell = nonlinear_maxwell.compiled
_DRIFT = {
    "K_end": Param("-", 1.0, low=0.05, high=20.0, about="K at the end of the drift over that at its beginning"),
    "C_end": Param("-", 1.0, low=0.05, high=20.0, about="C at the end of the drift over that at its beginning"),
    "alpha_end": Param("-", 1.0, low=0.05, high=20.0, about="alpha at the end of the drift over that at its beginning"),
    "drift_time": Param("s", 60.0, low=1e-3, about="over which the parameters drift, from the start on"),
}
_SEAL = {
    "friction": Param("N", 0.0, low=0.0, about="friction of the seal"),
    "v_s": Param("m/s", 1e-3, low=1e-9, about="speed at which three quarters of that friction are there"),
}


@inplace_block(
    inputs={"d": "m"},
    outputs={"f": "N"},
    state={"f_fluid": "N", "d_last": "m", "time": "s"},
    params={**nonlinear_maxwell.params, **_DRIFT, **_SEAL},
    reference="Al-Subaihawi, Ricles, Quiel and Marullo 2024 (damper of a hybrid test); Lin and Chopra 2002, "
    "doi:10.1002/eqe.179",
    linear=lambda K, **rest: (K, 0.0),
)
def viscous_specimen(x, u, dt, p, y):
    r"""`nonlinear_maxwell` whose parameters drift, with friction of the seal, which a Maxwell model does not have.

    .. math::

        f = f_{Maxwell}(K \kappa(t), C \gamma(t), \alpha\, a(t)) + F_s \tanh(\dot d/v_s), \qquad
        \kappa(t) = 1 + (\kappa_{end} - 1) \min(t/T, 1)

    and :math:`\gamma`, :math:`a` likewise, with the drift time T: oil that warms up, or a specimen that has changed
    since it was characterised (parameters other than those of the model). The velocity is that over the tick. SI units.

    References
    ----------
    Al-Subaihawi, Ricles, Quiel, Marullo (2024), Development of multi-directional real-time hybrid simulation for tall
    buildings subject to multi-natural hazards.
    """
    x[2] += dt
    part = min(x[2] / p[6], 1.0)
    K, C = p[0] * (1.0 + part * (p[3] - 1.0)), p[1] * (1.0 + part * (p[4] - 1.0))
    alpha = p[2] * (1.0 + part * (p[5] - 1.0))
    rate = (u[0] - x[1]) / dt
    (f,), (x[0], x[1]) = _maxwell((x[0], x[1]), (u[0],), dt, (K, C, alpha))
    y[0] = f + p[7] * math.tanh(rate / p[8])
