r"""Nonlinear viscous dampers: the dashpot :math:`f = C |v|^\alpha \mathrm{sgn}(v)`, alone and behind a spring."""

import numpy as np

from hyloop.core.block import Param, block

__all__ = ["nonlinear_maxwell", "nonlinear_viscous"]


def _dashpot(C, alpha, v_lin):
    return 0.0, C * v_lin ** (alpha - 1.0)


@block(
    inputs={"v": "m/s"},
    outputs={"f": "N"},
    params={
        "C": Param("N (s/m)^alpha", 708e3, low=0.0, about="dashpot coefficient"),
        "alpha": Param("-", 0.457, low=0.05, high=3.0, about="velocity exponent"),
        "v_lin": Param("m/s", 1e-3, low=1e-9, about="below this speed the damper is linear"),
    },
    reference="Lin and Chopra 2002, doi:10.1002/eqe.179",
    linear=_dashpot,
    flags="passive",
)
def nonlinear_viscous(x, u, dt, p):
    r"""Power-law dashpot, linear near rest so that its slope stays finite.

    .. math:: f = C\, v\, \max(|v|, v_{lin})^{\alpha - 1}

    Exact :math:`C |v|^\alpha \mathrm{sgn}(v)` above :math:`v_{lin}`; below it a linear damper of the same force at
    :math:`v_{lin}`. SI units.

    References
    ----------
    Lin, Chopra (2002), doi:10.1002/eqe.179.
    """
    v = u[0]
    f = p[0] * v * np.power(np.maximum(np.abs(v), p[2]), p[1] - 1.0)
    return (f,), ()


@block(
    inputs={"d": "m"},
    outputs={"f": "N"},
    state={"f_last": "N", "d_last": "m"},
    params={
        "K": Param("N/m", 1.02e8, low=1.0, about="spring stiffness"),
        "C": Param("N (s/m)^alpha", 708e3, low=1.0, about="dashpot coefficient"),
        "alpha": Param("-", 0.457, low=0.05, high=1.0, about="velocity exponent; above 1 unstable at rest"),
    },
    reference="Al-Subaihawi, Ricles and Quiel 2022, doi:10.1016/j.soildyn.2021.107108",
    linear=lambda K, C, alpha: (K, 0.0),
)
def nonlinear_maxwell(x, u, dt, p):
    r"""Spring in series with a power-law dashpot, explicit and without iteration.

    .. math::

        f_{k+1} = f_k - K \delta t \left(\frac{|f_k|}{C}\right)^{1/\alpha} \mathrm{sgn}(f_k) + K (d_{k+1} - d_k)

    First order in the step, and stable only while the linearised dashpot is slow enough,
    :math:`K \delta t\, v^{1-\alpha} < 2 \alpha C` with :math:`v = (|f|/C)^{1/\alpha}`. With the defaults (a 600 kN
    damper) that holds at 1/1024 s for every attainable force, and at 11/1024 s only below 454 kN. Beyond it the force
    is wrong but bounded, because the dashpot may take a tick's force to zero and no further (for
    :math:`\alpha \le 1/2` this never acts in the stable range). Being conditionally stable the block is not declared
    passive, although the device is. SI units.

    References
    ----------
    Al-Subaihawi, Ricles, Quiel (2022), doi:10.1016/j.soildyn.2021.107108.
    """
    K, C, alpha = p[0], p[1], p[2]
    f, d = x[0], u[0]
    # the floor keeps the gradient with respect to alpha finite at rest; its slip speed is far below any real one
    slip = np.power(np.maximum(np.abs(f) / C, 1e-30), 1.0 / alpha)
    f = f - np.sign(f) * np.minimum(K * dt * slip, np.abs(f)) + K * (d - x[1])
    return (f,), (f, d)
