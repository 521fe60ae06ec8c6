"""A magnetorheological damper: the modified Bouc-Wen law with coefficients that follow the current in its coil."""

import numpy as np

from hyloop.core.block import Param, block

__all__ = ["UTFSM", "mr_damper"]

# the damper tested at UTFSM (hyloop.data.mr_damper), its 12 published numbers in N, mm and A, here in N, m and A
UTFSM = {
    "k0": 1.50132794e-04 * 1e3,  # N/mm
    "k1": 1.23879769 * 1e3,  # N/mm
    "x0": 2.309142e-03 * 1e-3,  # mm
    "alpha_2": -38.1520043 * 1e3,  # N/mm/A²
    "alpha_1": 41.5084056 * 1e3,  # N/mm/A
    "alpha_0": 15.2210961 * 1e3,  # N/mm
    "beta_0": 1.89407553 * 1e6,  # 1/mm²
    "beta_1": -3.65610854,  # 1/A
    "c0_1": 7.62596402 * 1e3,  # N s/mm/A
    "c0_0": 0.924911328 * 1e3,  # N s/mm
    "c1_1": 78.3366934 * 1e3,  # N s/mm/A
    "c1_0": 9.86712839 * 1e3,  # N s/mm
}


def _linear(i, i_max, A, k0, k1, alpha_2, alpha_1, alpha_0, c0_1, c0_0, c1_1, c1_0, **_):
    """At rest the dashpots hold: a quick motion meets the hysteretic spring, k0 and k1, and c0 with c1 in series."""
    i = min(i, i_max)
    alpha, c0, c1 = (alpha_2 * i + alpha_1) * i + alpha_0, c0_1 * i + c0_0, c1_1 * i + c1_0
    series = c1 / (c0 + c1)
    return (alpha * A + k0) * series**2 + k1, c0 * series


@block(
    inputs={"d": "m", "v": "m/s"},
    outputs={"f": "N", "i_coil": "A"},
    state={"e": "m", "z": "m", "coil": "A"},
    params={
        "i": Param("A", 0.5, 0.0, 100.0, about="commanded current; a controller may overwrite it"),
        "i_max": Param("A", 1.0, 1e-3, 100.0, about="largest current of the driver, and of the tests behind the law"),
        "tau": Param("s", 1.0 / 190.0, 0.0, about="time constant of driver and coil"),
        "A": Param("-", 300.0, 1e-6, about="slope dz/de at z = 0"),
        "k0": Param("N/m", UTFSM["k0"], 0.0, about="spring beside the hysteresis"),
        "k1": Param("N/m", UTFSM["k1"], 0.0, about="spring of the accumulator"),
        "x0": Param("m", UTFSM["x0"], about="deformation at which that spring is slack"),
        "alpha_2": Param("N/(m A2)", UTFSM["alpha_2"], about="quadratic part of the factor α of z"),
        "alpha_1": Param("N/(m A)", UTFSM["alpha_1"], about="linear part of α"),
        "alpha_0": Param("N/m", UTFSM["alpha_0"], 1e-6, about="α without current"),
        "beta_0": Param("1/m2", UTFSM["beta_0"], 1e-6, about="β = γ without current: the ultimate z is sqrt(A/2β)"),
        "beta_1": Param("1/A", UTFSM["beta_1"], about="growth of ln β with the current"),
        "c0_1": Param("N s/(m A)", UTFSM["c0_1"], 0.0, about="growth of c0 with the current"),
        "c0_0": Param("N s/m", UTFSM["c0_0"], 0.0, about="dashpot beside the hysteresis, without current"),
        "c1_1": Param("N s/(m A)", UTFSM["c1_1"], 0.0, about="growth of c1 with the current"),
        "c1_0": Param("N s/m", UTFSM["c1_0"], 1e-3, about="dashpot in series, without current"),
    },
    reference="Spencer, Dyke, Sain, Carlson (1997), Phenomenological model for magnetorheological dampers, "
    "doi:10.1061/(ASCE)0733-9399(1997)123:3(230); parameters of the damper of UTFSM (Quiroz, Fermandois).",
    linear=_linear,
    start=lambda i, i_max, **_: {"coil": min(i, i_max)},
    flags="passive",
)
def mr_damper(x, u, dt, p):
    r"""Magnetorheological damper: modified Bouc-Wen with the current as command.

    .. math::
        f &= c_1\,\dot y + k_1 (d - x_0), \qquad
        \dot y = \frac{\alpha z + c_0 v + k_0 (d - y)}{c_0 + c_1}, \qquad
        \dot z = A w - \beta\,(w z^2 + |w|\,z\,|z|), \qquad w = v - \dot y \\
        \alpha &= \alpha_2 i^2 + \alpha_1 i + \alpha_0, \quad \beta = \beta_0 e^{\beta_1 i}, \quad
        c_0 = c_{01} i + c_{00}, \quad c_1 = c_{11} i + c_{10}, \qquad \tau\,\dot i = i_{cmd} - i

    This is the law of Spencer et al. with γ = β and n = 2, as they and most others identify it. The command is held
    between 0 and `i_max`, and the coil has carried it for long when a run begins. Units: d, z and e = d - y in m, f in
    N, i in A. Passive at any constant current; where the current changes, α z changes without work.

    Over a tick with a constant velocity the direction of w cannot change, so z follows in closed form from the way e
    has gone,

    .. math:: z = z_u \tanh\left(\frac{A\,e}{z_u} + \dots\right), \qquad z_u = \sqrt{A / 2\beta},

    and one equation in e is left, :math:`\dot e = (c_1 v - \alpha z(e) - k_0 e)/(c_0 + c_1)`, solved by one classical
    Runge-Kutta step. Its rate, α A / (c0 + c1), is at most 423/s with the default parameters whatever the velocity, so
    the step is stable up to 6 ms; z never passes z_u from inside. At 1024 Hz the force is within 2e-4 of its peak of
    a fine solution by SciPy (tests/devices/test_mr_damper.py).
    """
    d, v, e, z = u[0], u[1], x[0], x[1]
    A, k0, k1, x0 = p[3], p[4], p[5], p[6]
    command = np.clip(p[0], 0.0, p[1])
    coil = command + (x[2] - command) * np.exp(-dt / np.maximum(p[2], 1e-12))
    i = 0.5 * (x[2] + coil)  # over the tick
    alpha = (p[7] * i + p[8]) * i + p[9]
    z_u = np.sqrt(A / (2.0 * p[10] * np.exp(p[11] * i)))
    c0, c1 = p[12] * i + p[13], p[14] * i + p[15]

    # in the direction of w: the way is r > 0, and z begins at `back` (unloading, straight) or at `ahead` (loading)
    push = c1 * v - k0 * e
    s = np.where(push - alpha * z >= 0.0, 1.0, -1.0)
    back, ahead = np.minimum(s * z, 0.0), np.maximum(s * z, 0.0) / z_u

    def loaded(r):
        straight = np.minimum(A * r, -back)
        t = np.tanh((A * r - straight) / z_u)
        return back + straight + z_u * (ahead + t) / (1.0 + ahead * t)

    def rate(r):
        return (s * push - k0 * r - alpha * loaded(r)) / (c0 + c1)

    r1 = rate(0.0)
    r2 = rate(0.5 * dt * r1)
    r3 = rate(0.5 * dt * r2)
    r4 = rate(dt * r3)
    r = dt / 6.0 * (r1 + 2.0 * (r2 + r3) + r4)
    e, z = e + s * r, s * loaded(r)
    # the force at the end of the tick is that of the current there
    alpha = (p[7] * coil + p[8]) * coil + p[9]
    c0, c1 = p[12] * coil + p[13], p[14] * coil + p[15]
    f = c1 / (c0 + c1) * (alpha * z + c0 * v + k0 * e) + k1 * (d - x0)
    return (f, coil), (e, z, coil)
