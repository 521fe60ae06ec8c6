"""A magnetorheological damper: an Eyring fluid behind a spring, and a friction that engages behind a gap."""

import numpy as np

from hyloop.core.block import Param, block

__all__ = ["mr_eyring"]

_NO_CURRENT = 1e-12  # A; keeps the power of the current differentiable without one
_NO_LAG = 1e-12  # s


def _linear(k_e, k_0, **_):
    # a quick motion meets the spring of the fluid; the friction behind its gap does not yet engage
    return k_e + k_0, 0.0


@block(
    inputs={"d": "m"},
    outputs={"f": "N", "i_coil": "A"},
    state={"S": "N", "e": "m", "coil": "A", "d_last": "m", "begun": "-"},
    params={
        "i": Param("A", 0.5, 0.0, 100.0, about="commanded current; a controller may overwrite it"),
        "i_max": Param("A", 1.0, 1e-3, 100.0, about="largest current of the driver, and of the tests behind the law"),
        "tau": Param("s", 1.0 / 190.0, 0.0, about="time constant of driver and coil"),
        "k_e": Param("N/m", 1.5e7, 1.0, about="spring behind which the fluid flows"),
        "F_0": Param("N", 28.0, 1e-3, about="flow force without current"),
        "F_1": Param("N", 260.0, 0.0, about="growth of the flow force to saturation"),
        "v_e": Param("m/s", 1.1e-3, 1e-7, about="speed at which flow turns from linear to logarithmic"),
        "k_y": Param("N/m", 1.8e6, 1.0, about="stiffness of the friction behind the gap"),
        "Y_0": Param("N", 40.0, 0.0, about="that friction without current"),
        "Y_1": Param("N", 700.0, 0.0, about="its growth to saturation"),
        "gap": Param("m", 0.17e-3, 0.0, about="way from one side to the other before it engages"),
        "i_h": Param("A", 0.7, 1e-3, about="current of half saturation"),
        "m": Param("-", 1.6, 1.0, about="exponent of the current"),
        "k_0": Param("N/m", 1e3, 0.0, about="spring of the accumulator"),
        "f_0": Param("N", 0.0, about="force of the accumulator at d = 0"),
    },
    reference="Eyring (1936), Viscosity, plasticity, and diffusion as examples of absolute reaction rates, "
    "doi:10.1063/1.1749836; Bitman, Choi, Choi, Wereley (2005), doi:10.1088/0964-1726/14/1/024 (Eyring flow in MR "
    "dampers).",
    linear=_linear,
    start=lambda i, i_max, **_: {"coil": min(i, i_max)},
    flags="passive",
)
def mr_eyring(x, u, dt, p):
    r"""Magnetorheological damper: Eyring flow behind a spring, friction behind a gap, accumulator.

    .. math::

        f = S + k_y\,\mathrm{dz}(e) + k_0 d + f_0, \qquad
        \dot S = k_e \left(\dot d - v_e \sinh\frac{S}{F(i)}\right)

    .. math::

        F(i) = F_0 + F_1 \sigma, \qquad Y(i) = Y_0 + Y_1 \sigma, \qquad
        \sigma = \frac{i^m}{i^m + i_h^m}, \qquad \tau\,\dot i = i_{cmd} - i

    where e follows d inside :math:`\pm(g/2 + Y/k_y)` and :math:`\mathrm{dz}` is what of it exceeds :math:`\pm g/2`.
    In steady flow :math:`S = F\,\mathrm{arsinh}(v/v_e)`: viscous near rest, nearly a yield force above it.

    The deformation moves on a straight line between two samples; for that the flow equation is solved exactly, by a
    Riccati equation in :math:`e^{S/F}` with the steady :math:`y_v = \mathrm{arsinh}(v/v_e)` and
    :math:`q = \exp(-k_e \delta t \sqrt{v^2 + v_e^2}/F)`,

    .. math::

        e^{S^+/F} = \frac{(1 - q) + e^{S/F}(e^{y_v} + q\,e^{-y_v})}{e^{S/F}(1 - q) + e^{-y_v} + q\,e^{y_v}}

    so that it is bounded for any step and needs no velocity. The first sample begins at rest, and the coil has carried
    its current for long when a run begins. Passive at any constant current.
    """
    d = u[0]
    command = np.clip(p[0], 0.0, p[1])
    coil = command + (x[2] - command) * np.exp(-dt / np.maximum(p[2], _NO_LAG))
    power = np.power(np.maximum(coil, _NO_CURRENT), p[12])
    grown = power / (power + np.power(p[11], p[12]))
    F, Y = p[4] + p[5] * grown, p[8] + p[9] * grown
    moved = np.where(x[4] > 0.0, d - x[3], 0.0)

    r = moved / (dt * p[6])  # v / v_e
    root = np.sqrt(1.0 + r * r)
    q = np.exp(-p[3] * dt * p[6] / F * root)
    large = root + np.abs(r)  # e^|y_v|, without cancellation on either side
    up, down = np.where(r > 0.0, large, 1.0 / large), np.where(r > 0.0, 1.0 / large, large)
    E = np.exp(x[0] / F)
    S = F * (np.log(1.0 - q + E * (up + q * down)) - np.log(E * (1.0 - q) + down + q * up))

    half, reach = 0.5 * p[10], 0.5 * p[10] + Y / p[7]
    e = np.clip(x[1] + moved, -reach, reach)
    f = S + p[7] * (e - np.clip(e, -half, half)) + p[13] * d + p[14]
    return (f, coil), (S, e, coil, d, 1.0)
