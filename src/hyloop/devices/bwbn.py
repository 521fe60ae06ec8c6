"""The Bouc-Wen-Baber-Noori law: hysteresis with degradation and pinching."""

import numpy as np

from hyloop.core.block import Param, block

__all__ = ["TABLE_2", "bouc_wen_baber_noori"]

_TINY = 1e-30  # keeps powers differentiable at zero, and z_max real after A has degraded to nothing

# Wang et al. (2020), Table 2, printed in N and mm, here in N, m and J (n = 1): energy 1 N mm = 1e-3 J
TABLE_2 = {
    "k0": 74227.0e3,  # N/mm
    "alpha": 0.01,
    "A0": 1.0,
    "beta": 1.8e3,  # 1/mm^n
    "gamma": 0.8e3,  # 1/mm^n
    "n": 1.0,
    "delta_A": 0.0,
    "delta_nu": 5e-9 * 1e3,  # 1/(N mm)
    "delta_eta": 5e-9 * 1e3,  # 1/(N mm)
    "zeta_s": 0.95,
    "p": 4.0 * 1e3,  # 1/(N mm)
    "q": 0.25,
    "psi": 0.6e-3,  # mm
    "delta_psi": 0.5,  # mm/(N mm) = 1/N, which is also m/J
    "lambda_": 1.0,
}


@block(
    inputs={"d": "m"},
    outputs={"f": "N"},
    state={"z": "m", "eps": "J", "d_last": "m"},
    params={
        "k0": Param("N/m", TABLE_2["k0"], 1e-9, about="elastic stiffness for A0 = 1"),
        "alpha": Param("-", TABLE_2["alpha"], 0.0, 1.0, about="stiffness after yield over k0"),
        "A0": Param("-", TABLE_2["A0"], 1e-9, about="slope dz/dd of the virgin device at z = 0"),
        "beta": Param("1/m^n", TABLE_2["beta"], 0.0, about="loop width"),
        "gamma": Param("1/m^n", TABLE_2["gamma"], about="loop shape"),
        "n": Param("-", TABLE_2["n"], 1.0, about="sharpness of the knee"),
        "delta_A": Param("1/J", TABLE_2["delta_A"], 0.0, about="loss of A with energy"),
        "delta_nu": Param("1/J", TABLE_2["delta_nu"], 0.0, about="strength degradation with energy"),
        "delta_eta": Param("1/J", TABLE_2["delta_eta"], 0.0, about="stiffness degradation with energy"),
        "zeta_s": Param("-", TABLE_2["zeta_s"], 0.0, 1.0, about="total slip: largest loss of stiffness by pinching"),
        "p": Param("1/J", TABLE_2["p"], 0.0, about="rate at which pinching appears with energy"),
        "q": Param("-", TABLE_2["q"], 0.0, 1.0, about="pinching level: z over z_max where slip is greatest"),
        "psi": Param("m", TABLE_2["psi"], 1e-12, about="initial spread of the slip over z"),
        "delta_psi": Param("m/J", TABLE_2["delta_psi"], 0.0, about="growth of that spread with energy"),
        "lambda_": Param("-", TABLE_2["lambda_"], 1e-9, about="offset that couples spread and severity of the slip"),
    },
    reference="Baber and Noori (1985), Random vibration of degrading, pinching systems, J. Eng. Mech. 111(8), "
    "1010-1026, doi:10.1061/(ASCE)0733-9399(1985)111:8(1010); parameters of Wang, Lv, Wu and Wang (2020), ANN based on "
    "forgetting factor for online model updating in substructure pseudo-dynamic hybrid simulation, Table 2.",
    linear=lambda k0, alpha, A0, **_: (k0 * (alpha + (1.0 - alpha) * A0), 0.0),
    flags="passive rate-independent",
)
def bouc_wen_baber_noori(x, u, dt, p):
    r"""Bouc-Wen-Baber-Noori hysteresis: strength and stiffness degrade with energy, and loops pinch.

    .. math::
        f &= \alpha k_0\,d + (1-\alpha) k_0\,z, \qquad
        \frac{d\varepsilon}{dd} = (1-\alpha) k_0\,z, \qquad
        \frac{dz}{dd} = h\,\frac{A - \nu\,|z|^n\,[\gamma + \beta\,\operatorname{sgn}(z\,\Delta d)]}{\eta} \\
        A &= A_0 - \delta_A\varepsilon, \qquad \nu = 1 + \delta_\nu\varepsilon, \qquad
        \eta = 1 + \delta_\eta\varepsilon \\
        h &= 1 - \zeta_1 \exp\left[-\left(\frac{z\operatorname{sgn}(\Delta d) - q\,z_{max}}{\zeta_2}\right)^2\right] \\
        \zeta_1 &= \zeta_s\,(1 - e^{-p\,\varepsilon_+}), \qquad
        \zeta_2 = (\psi + \delta_\psi\,\varepsilon_+)(\lambda + \zeta_1), \qquad
        z_{max} = \left[\frac{A}{\nu\,(\beta+\gamma)}\right]^{1/n}, \qquad \varepsilon_+ = \max(\varepsilon, 0)

    Units: d and z in m, f in N, ε in J. A table in N and mm (Table 2 of Wang et al., see `TABLE_2`) converts as
    k0 × 1e3; β, γ × 1e3ⁿ, because νβ|z|ⁿ is a number; δ_A, δ_ν, δ_η, p × 1e3, because each multiplies an energy to
    a number and 1 N mm is 1e-3 J; ψ × 1e-3, because ζ₂ divides a length; δ_ψ × 1, a length over an energy.
    The energy in the pinching terms is held at or above zero: there a rounding error below zero, times a large p,
    would otherwise overflow.

    One classical Runge-Kutta step on (z, ε) integrates the straight increment of a tick. Increments must be short
    beside the shortest scale of the law, and with Table 2 that is the appearance of pinching: p ε reaches 1 at
    d = sqrt(2/(p k0)) = 2.6 µm of first loading. A longer first increment leaves an error of up to half of k0
    times that increment, which fades over the following z_max/(1 - zeta_s) = 8 mm of travel. z never leaves ± its
    virgin z_max.

    Dissipative for β ≥ 0 and q ≥ 0 while degradation within one cycle is slight.
    """
    d, z, eps = u[0], x[0], x[1]
    k0, alpha, A0, beta, gamma, n = p[0], p[1], p[2], p[3], p[4], p[5]
    delta_A, delta_nu, delta_eta = p[6], p[7], p[8]
    zeta_s, p_, q, psi, delta_psi, lambda_ = p[9], p[10], p[11], p[12], p[13], p[14]
    b = np.maximum(beta + gamma, _TINY)
    z_u = np.power(A0 / b, 1.0 / n)
    h = d - x[2]
    s = np.sign(h)
    k_h = (1.0 - alpha) * k0

    def slope(z, eps):
        A = A0 - delta_A * eps  # Eq. (8)
        nu = 1.0 + delta_nu * eps  # Eq. (9)
        eta = 1.0 + delta_eta * eps  # Eq. (10)
        slip = np.maximum(eps, 0.0)
        zeta_1 = zeta_s * (1.0 - np.exp(-p_ * slip))  # Eq. (13)
        zeta_2 = (psi + delta_psi * slip) * (lambda_ + zeta_1)  # Eq. (14)
        z_max = np.power(np.maximum(A / (nu * b), _TINY), 1.0 / n)  # Eq. (15)
        r = (z * s - q * z_max) / zeta_2
        shape = A - nu * np.power(np.maximum(np.abs(z), _TINY), n) * (gamma + beta * s * np.sign(z))
        return (1.0 - zeta_1 * np.exp(-r * r)) * shape / eta  # Eqs. (7), (12)

    # Eq. (11) makes the energy slope k_h z, so its stages need no function of their own
    k1 = slope(z, eps)
    z2 = np.clip(z + 0.5 * h * k1, -z_u, z_u)
    k2 = slope(z2, eps + 0.5 * h * k_h * z)
    z3 = np.clip(z + 0.5 * h * k2, -z_u, z_u)
    k3 = slope(z3, eps + 0.5 * h * k_h * z2)
    z4 = np.clip(z + h * k3, -z_u, z_u)
    k4 = slope(z4, eps + h * k_h * z3)
    eps = eps + h / 6.0 * k_h * (z + 2.0 * (z2 + z3) + z4)
    z = np.clip(z + h / 6.0 * (k1 + 2.0 * (k2 + k3) + k4), -z_u, z_u)
    return (alpha * k0 * d + k_h * z,), (z, eps, d)
