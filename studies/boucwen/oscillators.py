"""A mass on a spring, a dashpot and a hysteretic element, as pure laws: force in, displacement out.

Both go by one classical Runge-Kutta step over a tick, in which the force moves on a straight line.
"""

import numpy as np

from hyloop.core.block import Param, block

_TINY = 1e-30  # keeps the power of |z| differentiable at z = 0
_BODY = {
    "m": Param("kg", 1.0, 1e-9, about="mass"),
    "c": Param("N s/m", 1.0, about="damping"),
    "k": Param("N/m", 1.0, about="stiffness beside the element"),
}


@block(
    inputs={"u": "N"},
    outputs={"y": "m"},
    state={"y": "m", "v": "m/s", "z": "N", "u_last": "N"},
    params={
        **_BODY,
        "alpha": Param("N/m", 1.0, 1e-9, about="stiffness of the element at z = 0"),
        "beta_gamma": Param("1/m", 0.0, about="softening against z, whatever the direction"),
        "beta_delta": Param("1/m", 0.0, about="softening that turns with the direction"),
        "nu": Param("-", 1.0, 1.0, about="power of z"),
    },
    reference="Noël and Schoukens (2016), Hysteretic benchmark with a dynamic nonlinearity, doi:10.4121/12967592.",
)
def bouc_wen_oscillator(x, u, dt, p):
    r"""The benchmark's equations: the white box.

    .. math:: m\ddot y + c\dot y + k y + z = u, \qquad
        \dot z = \alpha v - \beta(\gamma |v||z|^{\nu-1}z + \delta v|z|^\nu)
    """
    m, c, k, alpha, a, b, nu = p[0], p[1], p[2], p[3], p[4], p[5], p[6]
    half, u_0, u_1 = 0.5 * dt, x[3], u[0]

    def rates(y, v, z, f):
        power = np.power(np.maximum(np.abs(z), _TINY), nu)
        return v, (f - c * v - k * y - z) / m, alpha * v - power * (a * np.abs(v) * np.sign(z) + b * v)

    f = 0.5 * (u_0 + u_1)
    y, v, z = x[0], x[1], x[2]
    y1, v1, z1 = rates(y, v, z, u_0)
    y2, v2, z2 = rates(y + half * y1, v + half * v1, z + half * z1, f)
    y3, v3, z3 = rates(y + half * y2, v + half * v2, z + half * z2, f)
    y4, v4, z4 = rates(y + dt * y3, v + dt * v3, z + dt * z3, u_1)
    y = y + dt / 6.0 * (y1 + 2.0 * (y2 + y3) + y4)
    v = v + dt / 6.0 * (v1 + 2.0 * (v2 + v3) + v4)
    z = z + dt / 6.0 * (z1 + 2.0 * (z2 + z3) + z4)
    return (y,), (y, v, z, u_1)


@block(
    inputs={"u": "N"},
    outputs={"y": "m"},
    state={"y": "m", "v": "m/s", "z": "N", "z_mid": "N", "u_last": "N"},
    params={
        **_BODY,
        "k_out": Param("N/m", 1.0, 1e-9, about="stiffness of the element while its force grows"),
        "k_back": Param("N/m", 1.0, 1e-9, about="stiffness of the element while its force falls"),
        "rho": Param("1/m", 1.0, about="how fast the force forgets, over the way made"),
    },
    reference="Dahl (1968), A solid friction model, report TOR-0158(3107-18)-1, doi:10.21236/ADA041920.",
)
def dahl_oscillator(x, u, dt, p):
    r"""Dahl's friction, with one stiffness away from z = 0 and one back to it: the simpler law that a network corrects.

    .. math:: m\ddot y + c\dot y + k y + z = u, \qquad
        \dot z = k_{out}\,v - \rho |v| z \;\text{ where } zv > 0, \text{ else } k_{back}\,v - \rho |v| z

    A network that gives both stiffnesses from the size of the force makes it any rate-independent law, the same in both
    directions, whose slope is a function of its force. ``z_mid`` is that size in the middle of the coming tick, as
    expected: stiffnesses from it are right to second order.
    """
    m, c, k, out, back, rho = p[0], p[1], p[2], p[3], p[4], p[5]
    half, u_0, u_1 = 0.5 * dt, x[4], u[0]

    def rates(y, v, z, f):
        return v, (f - c * v - k * y - z) / m, np.where(z * v > 0.0, out, back) * v - rho * np.abs(v) * z

    f = 0.5 * (u_0 + u_1)
    y, v, z = x[0], x[1], x[2]
    y1, v1, z1 = rates(y, v, z, u_0)
    y2, v2, z2 = rates(y + half * y1, v + half * v1, z + half * z1, f)
    y3, v3, z3 = rates(y + half * y2, v + half * v2, z + half * z2, f)
    y4, v4, z4 = rates(y + dt * y3, v + dt * v3, z + dt * z3, u_1)
    y = y + dt / 6.0 * (y1 + 2.0 * (y2 + y3) + y4)
    v = v + dt / 6.0 * (v1 + 2.0 * (v2 + v3) + v4)
    z = z + dt / 6.0 * (z1 + 2.0 * (z2 + z3) + z4)
    return (y,), (y, v, z, np.abs(z + half * rates(y, v, z, u_1)[2]), u_1)
