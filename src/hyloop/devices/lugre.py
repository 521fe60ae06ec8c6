r"""LuGre dry friction in two discrete forms of one law, and its elasto-plastic successor.

.. math::

    \dot z = v - \sigma_0 \frac{|v|}{g(v)} z, \qquad
    f = \sigma_0 z + \sigma_1 \dot z + \sigma_2 v, \qquad
    g(v) = F_c + (F_s - F_c)\, e^{-(v/v_s)^2}

with :math:`F_c, F_s` chosen by the direction of motion. `lugre` is backward Euler in z, `lugre_exact` the exact
solution for a velocity held over the tick; both are bounded for any step. With a constant :math:`\sigma_1` the
law is passive only where :math:`\sigma_2 \ge \sigma_1 (F_s - F_c)/F_c` (doi:10.1109/9.847131), which no
published set for the banded damper fulfils, so none of the blocks is declared passive.

LuGre forgets a force that it holds: under vibrations far below sliding z decays at the rate :math:`\sigma_0 |v|/g`, and
whatever it should hold creeps away. `lugre_elastoplastic` does not, up to a share of the sliding force.
"""

import numpy as np

from hyloop.core.block import Param, block

__all__ = ["lugre", "lugre_elastoplastic", "lugre_exact", "lugre_level"]

_LEVEL = 23e3

_PARAMS = {
    "sigma0": Param("N/m", 6442.5e3, low=1.0, about="bristle stiffness"),
    "sigma1": Param("N s/m", 29.61e3, low=0.0, about="micro-damping"),
    "sigma2": Param("N s/m", 0.0, low=0.0, about="viscous friction"),
    "Fc_pos": Param("N", 22.91e3, low=1e-3, about="Coulomb friction, v > 0"),
    "Fs_pos": Param("N", 24.43e3, low=1e-3, about="static friction, v > 0"),
    "Fc_neg": Param("N", 19.75e3, low=1e-3, about="Coulomb friction, v < 0"),
    "Fs_neg": Param("N", 21.93e3, low=1e-3, about="static friction, v < 0"),
    "vs": Param("m/s", 0.025, low=1e-6, about="Stribeck velocity"),
}


def _linear(sigma0, sigma1, sigma2, **_):
    return sigma0, sigma1 + sigma2


@block(
    inputs={"v": "m/s"},
    outputs={"f": "N"},
    state={"z": "m"},
    params=_PARAMS,
    reference="Malik et al. 2025, eqs. 20-21 and Table 1; Canudas de Wit et al. 1995, doi:10.1109/9.376053",
    linear=_linear,
)
def lugre(x, u, dt, p):
    r"""LuGre friction by backward Euler in the bristle deflection.

    .. math::

        z^+ = \frac{z + v\,\delta t}{1 + \sigma_0 |v| \delta t / g(v)}, \qquad
        f = \sigma_0 z^+ + \sigma_1 \left(v - \sigma_0 \frac{|v|}{g(v)} z^+\right) + \sigma_2 v

    The recurrence is linear in z once v is known. First order in the step; :math:`|\sigma_0 z| \le \max g` for any
    step. Defaults are Table 1 of Malik et al. (23 kN). SI units.

    References
    ----------
    Canudas de Wit, Olsson, Astrom, Lischinsky (1995), doi:10.1109/9.376053.
    """
    v = u[0]
    sigma0, sigma1, sigma2 = p[0], p[1], p[2]
    Fc = np.where(v > 0.0, p[3], p[5])
    Fs = np.where(v > 0.0, p[4], p[6])
    g = Fc + (Fs - Fc) * np.exp(-(v / p[7]) * (v / p[7]))
    rate = sigma0 * np.abs(v) / g
    z = (x[0] + v * dt) / (1.0 + rate * dt)  # Eq. (20)
    f = sigma0 * z + sigma1 * (v - rate * z) + sigma2 * v  # Eq. (21)
    return (f,), (z,)


@block(
    inputs={"v": "m/s"},
    outputs={"f": "N"},
    state={"y": "N"},
    params=_PARAMS,
    reference="Coble et al. 2024, eqs. 5-12, doi:10.1016/j.ymssp.2024.111522",
    linear=_linear,
)
def lugre_exact(x, u, dt, p):
    r"""LuGre friction in :math:`y = \sigma_0 z`, exact for a velocity held over the tick.

    .. math::

        y^+ = e^{-r} y + (1 - e^{-r})\,\mathrm{sgn}(v)\, g(v), \qquad r = \sigma_0 |v| \delta t / g(v)

    .. math::

        f = y^+ + \sigma_1 \left(v - \frac{|v|}{g(v)} y^+\right) + \sigma_2 v

    The force is that of the end of the tick (the printed Eq. 9 takes the beginning). Bounded by
    :math:`|y| \le \max g` for any step. Defaults as in `lugre`; Table 4 of Coble et al. is in drum-rim coordinates.
    SI units.

    References
    ----------
    Coble, Cao, Downey, Ricles (2024), doi:10.1016/j.ymssp.2024.111522.
    """
    v = u[0]
    sigma0, sigma1, sigma2 = p[0], p[1], p[2]
    Fc = np.where(v > 0.0, p[3], p[5])
    Fs = np.where(v > 0.0, p[4], p[6])
    g = Fc + (Fs - Fc) * np.exp(-(v / p[7]) * (v / p[7]))
    r = sigma0 * np.abs(v) / g * dt
    decay = np.exp(-r)
    # (1 - e^-r)/r by its series near r = 0: no cancellation, and the gradient at rest is the true one
    mean = np.where(
        r < 0.01,
        1.0 - r / 2.0 * (1.0 - r / 3.0 * (1.0 - r / 4.0 * (1.0 - r / 5.0))),
        (1.0 - decay) / np.maximum(r, 0.01),
    )
    y = decay * x[0] + sigma0 * v * dt * mean
    f = y + sigma1 * (v - np.abs(v) / g * y) + sigma2 * v
    return (f,), (y,)


@block(
    inputs={"v": "m/s"},
    outputs={"f": "N"},
    state={"z": "m"},
    params={
        **_PARAMS,
        "hold": Param("-", 0.7, low=0.0, high=0.99, about="share of the sliding force that is held without any creep"),
    },
    reference="Dupont, Hayward, Armstrong, Altpeter 2002, doi:10.1109/TAC.2002.1000274",
    linear=_linear,
)
def lugre_elastoplastic(x, u, dt, p):
    r"""LuGre friction that holds a force: bristles are elastic until the force nears that of sliding.

    .. math::

        \dot z = v - \alpha(z, v)\, \sigma_0 \frac{|v|}{g(v)} z, \qquad
        f = \sigma_0 z + \sigma_1 \dot z + \sigma_2 v

    .. math::

        \alpha = \tfrac12 - \tfrac12 \cos\left(\pi\, \mathrm{clip}\left(
        \frac{\sigma_0 |z|/g - h}{1 - h}, 0, 1\right)\right)

    and :math:`\alpha = 0` where the motion unloads a bristle that is not bent beyond sliding. With h = `hold` = 0 creep
    begins at once, yet slower than in `lugre`. Backward Euler, :math:`\alpha` at the bristle moved along; of first
    order, and :math:`|\sigma_0 z| \le \max g` for any step. SI units.

    References
    ----------
    Dupont, Hayward, Armstrong, Altpeter (2002), Single state elastoplastic friction models,
    doi:10.1109/TAC.2002.1000274.
    """
    v = u[0]
    sigma0, sigma1, sigma2, hold = p[0], p[1], p[2], p[8]
    Fc = np.where(v > 0.0, p[3], p[5])
    Fs = np.where(v > 0.0, p[4], p[6])
    g = Fc + (Fs - Fc) * np.exp(-(v / p[7]) * (v / p[7]))
    moved = x[0] + v * dt
    bent = sigma0 * np.abs(moved) / g
    alpha = 0.5 - 0.5 * np.cos(np.pi * np.clip((bent - hold) / (1.0 - hold), 0.0, 1.0))
    # a bristle bent beyond sliding (the friction fell meanwhile) slips whatever the direction
    rate = np.where((moved * v > 0.0) | (bent > 1.0), alpha, 0.0) * sigma0 * np.abs(v) / g
    z = moved / (1.0 + rate * dt)
    f = sigma0 * z + sigma1 * (v - rate * z) + sigma2 * v
    return (f,), (z,)


def lugre_level(level: float = _LEVEL) -> dict[str, float]:
    """Parameters of Table 1 of Malik et al. (2025) for a device of capacity `level` in N.

    The table holds for 23 kN. Forces are proportional to the pretension at equal motion, so stiffness,
    damping and friction levels all scale with it.
    """
    params = {key: spec.default for key, spec in _PARAMS.items()}
    return {key: value if key == "vs" else value * level / _LEVEL for key, value in params.items()}
