r"""Two laws of the banded rotary friction damper, fitted to tests of a 20 kN device.

The band grips the drum only after it has been pulled taut, so the force in it is a spring with a dead zone,

.. math::

    \varphi(u) = k_d u + k_p w \ln\left(1 + e^{(u - g_p)/w}\right) - k_n w \ln\left(1 + e^{(-u - g_n)/w}\right)

and the device adds a viscous, an inertial and a rolling part to it, :math:`c v + m a + f_g \tanh(v/v_g) + f_0`.
The laws differ in how the band slips on the drum. Every parameter is a fit to 13 harmonic and 6 earthquake tests
(Coble et al., Dataset-Friction-Damper-with-Backlash, 36 lb pretension); m is effective, larger than any part.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from hyloop.core.block import Instance, Param, block

__all__ = ["band_force", "gap_slip", "placed", "start_at", "stick_slip"]

_V_GRIP = 0.005  # m/s, over which the rolling friction turns round
_SLIP_MOST = 1.3  # slip over travel, at most: the fit needs a band that can give way faster than it is pulled
_GAP_STEPS = 4
_STICK_STEPS = 12
_CAPACITY = 1.02  # of the friction at rest: more than this in the band is the work of a step too large to follow it

_REFERENCE = "Coble et al. 2024, doi:10.1016/j.ymssp.2024.111522 (device and tests); law and fit are hyloop's own"


def _band(kd, kp, kn, gp, gn, w):
    return {
        "kd": Param("N/m", kd, low=1.0, about="stiffness of the slack band"),
        "kp": Param("N/m", kp, low=0.0, about="stiffness gained when taut, + side"),
        "kn": Param("N/m", kn, low=0.0, about="stiffness gained when taut, - side"),
        "gp": Param("m", gp, low=0.0, about="slack on the + side"),
        "gn": Param("m", gn, low=0.0, about="slack on the - side"),
        "w": Param("m", w, low=1e-6, about="width of the transition to taut"),
    }


def _frame(c, m, fg, off):
    return {
        "c": Param("N s/m", c, low=0.0, about="viscous part"),
        "m": Param("kg", m, low=0.0, about="effective mass moved by the actuator"),
        "fg": Param("N", fg, low=0.0, about="rolling friction"),
        "off": Param("N", off, about="force offset"),
    }


def band_force(u, kd, kp, kn, gp, gn, w, **_):
    r"""Force :math:`\varphi(u)` in N of a band pulled by u in m; the other parameters of a law are ignored."""
    return kd * u + kp * w * np.logaddexp(0.0, (u - gp) / w) - kn * w * np.logaddexp(0.0, (-u - gn) / w)


def _pull(force: float, params: Mapping[str, float]) -> float:
    """The u at which the band carries `force` (the inverse of `band_force`, which rises everywhere)."""
    from scipy.optimize import brentq  # here, because it would add a fifth to the time of `import hyloop`

    reach = (abs(force) + (params["kp"] + params["kn"]) * params["w"]) / params["kd"]
    root: Any = brentq(lambda u: band_force(u, **params) - force, -reach, reach, xtol=1e-15)
    return float(root)


def _gap_slip_at(u, d, params):
    return {"s": d - u, "d_last": d}


def _stick_slip_at(u, d, params):
    return {"b": u, "b_dot": 0.0, "z": band_force(u, **params) / params["sg"], "v_last": 0.0}


def start_at(device: Instance, force: float, d: float = 0.0) -> Instance:
    r"""The same device at rest at deformation `d`, its force sensor reading `force`.

    Solves :math:`\varphi(u) = F(0) - f_0` for the position in the backlash, as one must before comparing with a test.
    Works for `gap_slip`, `stick_slip` and the specimens built on them.
    """
    return placed(device, _pull(force - device.params["off"], device.params), d)


def placed(device: Instance, u: float, d: float = 0.0) -> Instance:
    """The same device at rest at deformation `d` with its band pulled by `u` (slack from -gn to gp)."""
    begin = _gap_slip_at if "s" in device.initial else _stick_slip_at
    return device.block(initial={**device.initial, **begin(u, d, device.params)}, **device.params)


def _engaged(kd, kp, kn, c, **_):
    # the stiffness of the taut band: a method that linearises the device must not meet a stiffer one later
    return kd + max(kp, kn), c


@block(
    inputs={"d": "m", "v": "m/s", "a": "m/s2"},
    outputs={"f": "N", "f_band": "N"},
    state={"s": "m", "d_last": "m"},
    params={
        **_band(0.102e6, 7.21e6, 7.87e6, 0.20e-3, 4.50e-3, 0.395e-3),
        "n_pos": Param("-", 17.8, low=0.1, high=50.0, about="sharpness of slip, + side"),
        "n_neg": Param("-", 1.15, low=0.1, high=50.0, about="sharpness of slip, - side"),
        "Fc_pos": Param("N", 11.58e3, low=1.0, about="friction at speed, + side"),
        "dF_pos": Param("N", 1.03e3, low=0.0, about="friction gained at rest, + side"),
        "Fc_neg": Param("N", 14.50e3, low=1.0, about="friction at speed, - side"),
        "dF_neg": Param("N", 11.14e3, low=0.0, about="friction gained at rest, - side"),
        "vs": Param("m/s", 0.045, low=1e-6, about="velocity over which friction weakens"),
        **_frame(7.76e3, 780.0, 289.0, 349.0),
        "lag": Param("s", 1.0 / 1024.0, low=0.0, about="delay of slip behind the pull"),
    },
    reference=_REFERENCE,
    linear=_engaged,
    start=lambda **params: _gap_slip_at(_pull(-params["off"], params), 0.0, params),
)
def gap_slip(x, u, dt, p):
    r"""Band with backlash that slips on the drum gradually; one state, the slip position s.

    .. math::

        u = d - s, \qquad \frac{ds}{dd} = \min\left(1.3, (|\varphi(u)|/g)^n\right)
        \text{ if } \varphi\,\mathrm{d}d > 0 \text{, else } 0, \qquad g = F_c + \Delta F e^{-|v|/v_s} - k \tau |v|

    .. math:: f = \varphi(u) + c v + m a + f_g \tanh(v/v_g) + f_0

    with :math:`n, F_c, \Delta F, k` by the sign of :math:`\varphi`, and g at least a tenth of its first two terms. The
    lag τ is the sampling interval of the fit, whose Euler steps let slip follow the pull of the sample before: part of
    the identified model, stated here so that the law does not depend on the tick. The straight line of a tick is
    integrated by four exponential (Rosenbrock-Euler) steps: second order, 5 N at 1/1024 s and 0.16 m/s. Increments of
    more than some millimetres a tick are not followed in detail, but never pull the band beyond its friction at rest,
    :math:`F_c + \Delta F`. Outputs the force and the part of it in the bands, :math:`\varphi`. Starts without force.
    Not passive: the mass stores energy and the offset is constant. SI units.

    References
    ----------
    Coble, Cao, Downey, Ricles (2024), doi:10.1016/j.ymssp.2024.111522.
    """
    kd, kp, kn, gp, gn, w = p[0], p[1], p[2], p[3], p[4], p[5]
    d, v, a = u[0], u[1], u[2]
    weak = np.exp(-np.abs(v) / p[12])
    g_pos, g_neg = p[8] + p[9] * weak, p[10] + p[11] * weak
    g_pos = np.maximum(g_pos - kp * p[17] * np.abs(v), 0.1 * g_pos)
    g_neg = np.maximum(g_neg - kn * p[17] * np.abs(v), 0.1 * g_neg)

    def band(u):
        # ln(1 + e^x) = max(x, 0) + ln(1 + e^-|x|) cannot overflow
        up, down = (u - gp) / w, (-u - gn) / w
        e_up, e_down = np.exp(-np.abs(up)), np.exp(-np.abs(down))
        phi = (
            kd * u
            + kp * w * (np.maximum(up, 0.0) + np.log(1.0 + e_up))
            - kn * w * (np.maximum(down, 0.0) + np.log(1.0 + e_down))
        )
        slope = (
            kd
            + kp * np.where(up > 0.0, 1.0, e_up) / (1.0 + e_up)
            + kn * np.where(down > 0.0, 1.0, e_down) / (1.0 + e_down)
        )
        return phi, slope

    h = (d - x[1]) / _GAP_STEPS
    u = x[1] - x[0]
    phi, slope = band(u)
    before = phi
    for _ in range(_GAP_STEPS):
        n = np.where(phi > 0.0, p[6], p[7])
        g = np.where(phi > 0.0, g_pos, g_neg)
        load = np.clip(np.abs(phi) / g, 1e-12, 10.0)  # power and its gradient stay finite at no load and absurd ones
        r = np.power(load, n)
        r, steep = np.minimum(r, _SLIP_MOST), np.where(r < _SLIP_MOST, r, 0.0) * n / (load * g)
        r, steep = np.where(phi * h > 0.0, r, 0.0), np.where(phi * h > 0.0, steep, 0.0)
        q = steep * slope * np.abs(h)
        # (1 - e^-q)/q, the exact mean over the step of a linearised approach to full slip
        mean = np.where(
            q < 0.01, 1.0 - q / 2.0 * (1.0 - q / 3.0 * (1.0 - q / 4.0)), (1.0 - np.exp(-q)) / np.maximum(q, 0.01)
        )
        u = u + h * (1.0 - r) * mean
        phi, slope = band(u)
    # a band pulled on beyond what the drum can hold slides back to that
    side = np.where(phi > 0.0, 1.0, -1.0)
    most = _CAPACITY * np.where(phi > 0.0, p[8] + p[9], p[10] + p[11])
    over = np.where(side * phi > side * before, np.maximum(side * phi - most, 0.0), 0.0)
    u, phi = u - side * over / slope, phi - side * over
    return (phi + p[13] * v + p[14] * a + p[15] * np.tanh(v / _V_GRIP) + p[16], phi), (d - u, d)


@block(
    inputs={"v": "m/s", "a": "m/s2"},
    outputs={"f": "N", "f_band": "N"},
    state={"b": "m", "b_dot": "m/s", "z": "m", "v_last": "m/s"},
    params={
        **_band(0.11e6, 8.40e6, 13.26e6, 2.635e-3, 2.635e-3, 0.46e-3),
        "Fs_pos": Param("N", 14.6e3, low=1.0, about="static friction, v > 0"),
        "Fk_pos": Param("N", 10.3e3, low=1.0, about="kinetic friction, v > 0"),
        "Fs_neg": Param("N", 22.2e3, low=1.0, about="static friction, v < 0"),
        "Fk_neg": Param("N", 12.2e3, low=1.0, about="kinetic friction, v < 0"),
        "vs_pos": Param("m/s", 0.054, low=1e-6, about="velocity over which friction weakens, v > 0"),
        "vs_neg": Param("m/s", 0.033, low=1e-6, about="velocity over which friction weakens, v < 0"),
        "M": Param("kg", 38.7, low=0.1, about="mass of the bands"),
        "cb": Param("N s/m", 2.87e3, low=0.0, about="damping of the bands"),
        "sg": Param("N/m", 62.7e6, low=1.0, about="bristle stiffness between band and drum"),
        "s1": Param("s", 0.028e-3, low=0.0, about="micro-damping over bristle stiffness"),
        **_frame(5.03e3, 630.0, 260.0, -30.0),
    },
    reference=_REFERENCE,
    linear=_engaged,
    start=lambda **params: _stick_slip_at(_pull(-params["off"], params), 0.0, params),
)
def stick_slip(x, u, dt, p):
    r"""Band with mass and backlash, dragged by the drum through a bristle: sticks, slips and so chatters.

    .. math::

        M \ddot b = f_b - \varphi(b) - c_b \dot b, \qquad f_b = \sigma_g (z + s_1 \dot z), \qquad
        \dot z = v_r - \sigma_g \frac{|v_r|}{g} z, \qquad v_r = v - \dot b

    .. math::

        g = F_k + (F_s - F_k) e^{-|v_r|/v_s}, \qquad f = f_b + c v + m a + f_g \tanh(v/v_g) + f_0

    with :math:`F_s, F_k, v_s` by the sign of :math:`v_r`. Twelve steps a tick, the velocity straight from the last
    sample to this one, backward Euler in z and symplectic Euler in b with a mass that keeps any step stable.
    Only the velocity drives the bristle: differences of a measured deformation would be too rough for it. In ticks too
    large to be followed the band swings no further than to twice the static friction.
    Outputs the force and the part of it in the bands, :math:`\varphi(b)`. Starts without force. SI units.

    References
    ----------
    Coble, Cao, Downey, Ricles (2024), doi:10.1016/j.ymssp.2024.111522.
    """
    kd, kp, kn, gp, gn, w = p[0], p[1], p[2], p[3], p[4], p[5]
    M, cb, sg, s1 = p[12], p[13], p[14], p[15]
    v, a = u[0], u[1]
    b, b_dot, z = x[0], x[1], x[2]

    def phi(u):
        up, down = (u - gp) / w, (-u - gn) / w
        return (
            kd * u
            + kp * w * (np.maximum(up, 0.0) + np.log(1.0 + np.exp(-np.abs(up))))
            - kn * w * (np.maximum(down, 0.0) + np.log(1.0 + np.exp(-np.abs(down))))
        )

    h = dt / _STICK_STEPS
    # a third of h^2 K added to the mass bounds the frequency of any spring at sqrt(3)/h; 0.4 % of M at 1/1024 s
    inertia = M + h * h * (kd + np.maximum(kp, kn) + sg) / 3.0
    f = sg * z
    for i in range(_STICK_STEPS):
        vr = x[3] + (v - x[3]) * ((i + 1.0) / _STICK_STEPS) - b_dot
        Fs = np.where(vr > 0.0, p[6], p[8])
        Fk = np.where(vr > 0.0, p[7], p[9])
        g = Fk + (Fs - Fk) * np.exp(-np.abs(vr) / np.where(vr > 0.0, p[10], p[11]))
        rate = sg * np.abs(vr) / g
        z = (z + vr * h) / (1.0 + rate * h)
        f = sg * (z + s1 * (vr - rate * z))
        b_dot = b_dot + h * (f - phi(b) - cb * b_dot) / inertia
        b = b + h * b_dot
    # the mass added for stability may carry the band too far in a large step
    band = phi(b)
    side = np.where(band > 0.0, 1.0, -1.0)
    over = np.maximum(side * band - _CAPACITY * 2.0 * np.where(band > 0.0, p[6], p[8]), 0.0)
    b, b_dot = b - side * over / (kd + np.where(band > 0.0, kp, kn)), np.where(over > 0.0, 0.0, b_dot)
    band = band - side * over
    return (f + p[16] * v + p[17] * a + p[18] * np.tanh(v / _V_GRIP) + p[19], band), (b, b_dot, z, v)
