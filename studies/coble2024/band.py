r"""A banded damper whose friction remembers that it slipped: gap-slip with two memories, for a network to modulate.

As `hyloop.devices.gap_slip`, the band is a spring with a dead zone that slips on the drum more and more readily as its
force nears the friction level. New are two memories of the slip velocity, so that friction can fall *because* the band
slips and stay low for a while (the break-away of the real device), and three factors, 1 by default, that a network may
change at every sample: on the friction level (grip), on the sharpness of slip, and on how much faster than the drum the
band may give way (release).
"""

import jax
import jax.numpy as jnp
import numpy as np

from hyloop.core.block import Param, block

_V_GRIP = 0.005  # m/s, over which the rolling friction turns round

PARAMS = {
    "kd": Param("N/m", 0.1e6, low=1.0, about="stiffness of the slack band"),
    "kp": Param("N/m", 7.5e6, low=1.0, about="stiffness gained when taut, + side"),
    "kn": Param("N/m", 7.5e6, low=1.0, about="stiffness gained when taut, - side"),
    "gp": Param("m", 1.6e-3, low=1e-6, about="slack on the + side"),
    "gn": Param("m", 1.6e-3, low=1e-6, about="slack on the - side"),
    "w": Param("m", 0.5e-3, low=1e-6, about="width of the transition to taut"),
    "n_pos": Param("-", 5.0, low=0.1, about="sharpness of slip, + side"),
    "n_neg": Param("-", 5.0, low=0.1, about="sharpness of slip, - side"),
    "Fc_pos": Param("N", 13e3, low=1.0, about="friction at speed, + side"),
    "dF_pos": Param("N", 1e3, low=1e-3, about="friction gained at rest, + side"),
    "dS_pos": Param("N", 1e3, low=1e-3, about="friction gained without recent slip, + side"),
    "Fc_neg": Param("N", 13e3, low=1.0, about="friction at speed, - side"),
    "dF_neg": Param("N", 5e3, low=1e-3, about="friction gained at rest, - side"),
    "dS_neg": Param("N", 3e3, low=1e-3, about="friction gained without recent slip, - side"),
    "vs": Param("m/s", 0.05, low=1e-6, about="velocity over which friction weakens"),
    "vm": Param("m/s", 0.03, low=1e-6, about="remembered slip velocity over which friction weakens"),
    "tau_1": Param("s", 0.01, low=1e-6, about="duration of the short memory"),
    "tau_2": Param("s", 0.05, low=1e-6, about="duration of the long memory, which only a network reads"),
    "R_pos": Param("-", 1.5, low=1e-3, about="slip over travel less 1, at most, + side"),
    "R_neg": Param("-", 3.0, low=1e-3, about="slip over travel less 1, at most, - side"),
    "c": Param("N s/m", 5e3, low=0.0, about="viscous part"),
    "m": Param("kg", 100.0, low=0.0, about="effective mass"),
    "fg": Param("N", 200.0, low=0.0, about="rolling friction"),
    "off": Param("N", 0.0, about="force offset"),
    "grip": Param("-", 1.0, low=1e-3, about="factor on the friction level"),
    "sharpness": Param("-", 1.0, low=1e-3, about="factor on n"),
    "release": Param("-", 1.0, low=1e-3, about="factor on R"),
}
CONSTANT = tuple(key for key in PARAMS if key not in ("off", "grip", "sharpness", "release"))
MODULATED = ("grip", "sharpness", "release")


@block(
    inputs={"d": "m", "v": "m/s", "a": "m/s2"},
    outputs={"f": "N"},
    state={"u": "m", "d_last": "m", "s_1": "m/s", "s_2": "m/s"},
    params=PARAMS,
    reference="device and tests: Coble et al. 2024, doi:10.1016/j.ymssp.2024.111522; the law is hyloop's own",
    linear=lambda kd, kp, kn, c, **_: (kd + max(kp, kn), c),
)
def remembering_band(x, u, dt, p):
    r"""Band with backlash, gradual slip, and friction that falls with remembered slip.

    .. math::

        \dot u = v (1 - r), \qquad r = \frac{(1 + R)\,\xi}{R + \xi}, \quad \xi = (|\varphi(u)|/g)^n
        \text{ if } \varphi v > 0 \text{, else } r = 0, \qquad
        g = F_c + \Delta F e^{-|v|/v_s} + \Delta S e^{-s_1/v_m}

    .. math::

        \tau_i \dot s_i = |r v| - s_i, \qquad f = \varphi(u) + c v + m a + f_g \tanh(v/v_g) + f_0

    with :math:`\varphi` that of `gap_slip` and n, R, friction levels by its sign. One exponential
    (Rosenbrock-Euler) step of u a tick, so any travel in a tick is stable. SI units.
    """
    kd, kp, kn, gp, gn, w = p[0], p[1], p[2], p[3], p[4], p[5]
    d, v, a = u[0], u[1], u[2]

    def band(pull):
        up, down = (pull - gp) / w, (-pull - gn) / w
        e_up, e_down = np.exp(-np.abs(up)), np.exp(-np.abs(down))
        phi = (
            kd * pull
            + kp * w * (np.maximum(up, 0.0) + np.log(1.0 + e_up))
            - kn * w * (np.maximum(down, 0.0) + np.log(1.0 + e_down))
        )
        slope = (
            kd
            + kp * np.where(up > 0.0, 1.0, e_up) / (1.0 + e_up)
            + kn * np.where(down > 0.0, 1.0, e_down) / (1.0 + e_down)
        )
        return phi, slope

    dd = d - x[1]
    phi, slope = band(x[0])
    taut = phi > 0.0
    at_rest, unslipped = np.exp(-np.abs(v) / p[14]), np.exp(-x[2] / p[15])
    g = p[24] * np.where(taut, p[8] + p[9] * at_rest + p[10] * unslipped, p[11] + p[12] * at_rest + p[13] * unslipped)
    n = p[25] * np.where(taut, p[6], p[7])
    R = p[26] * np.where(taut, p[18], p[19])
    load = np.clip(np.abs(phi) / g, 1e-9, 10.0)  # power and its gradient stay finite at no load and absurd ones
    xi = np.power(load, n)
    slips = phi * dd > 0.0
    r = np.where(slips, (1.0 + R) * xi / (R + xi), 0.0)
    steep = np.where(slips, (1.0 + R) * R / ((R + xi) * (R + xi)) * n * xi / (load * g) * slope, 0.0)
    q = steep * np.abs(dd)
    # (1 - e^-q)/q, the exact mean over the step of a linearised approach to full slip
    mean = np.where(
        q < 0.01, 1.0 - q / 2.0 * (1.0 - q / 3.0 * (1.0 - q / 4.0)), (1.0 - np.exp(-q)) / np.maximum(q, 0.01)
    )
    move = dd * (1.0 - r) * mean
    speed = np.abs(dd - move) / dt
    s_1 = x[2] + (1.0 - np.exp(-dt / p[16])) * (speed - x[2])
    s_2 = x[3] + (1.0 - np.exp(-dt / p[17])) * (speed - x[3])
    pull = x[0] + move
    phi, slope = band(pull)
    return (phi + p[20] * v + p[21] * a + p[22] * np.tanh(v / _V_GRIP) + p[23],), (pull, d, s_1, s_2)


def start(layer, first):
    """State at rest in which the sensor reads the first force, from (deformation, force); differentiable.

    Bisection finds the pull; one Newton step from there, which changes nothing, carries its derivatives.
    """
    d, f = first[0], first[1]
    p = dict(zip(PARAMS, layer.parameters(jnp.zeros(4), jnp.stack([d, 0.0 * d, 0.0 * d])), strict=True))
    force = f - p["off"]
    spring = [p[key] for key in ("kd", "kp", "kn", "gp", "gn", "w")]
    fixed, wanted = jax.lax.stop_gradient((spring, force))
    law = jax.tree_util.Partial(_band, fixed)

    def halve(_, bracket):
        low, high = bracket
        middle = 0.5 * (low + high)
        below = law(middle) < wanted
        return jnp.where(below, middle, low), jnp.where(below, high, middle)

    low, high = jax.lax.fori_loop(0, 60, halve, (jnp.asarray(-1.0), jnp.asarray(1.0)))
    u = jax.lax.stop_gradient(0.5 * (low + high))
    u = u - (_band(spring, u) - force) / jax.lax.stop_gradient(jax.grad(law)(u))
    return jnp.stack([u, d, 0.0 * d, 0.0 * d])


def _band(spring, u):
    kd, kp, kn, gp, gn, w = spring
    return kd * u + kp * w * jnp.logaddexp(0.0, (u - gp) / w) - kn * w * jnp.logaddexp(0.0, (-u - gn) / w)
