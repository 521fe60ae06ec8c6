r"""Friction with backlash: a LuGre slider between two springs that are soft near zero."""

import math

from hyloop.core.block import Param, inplace_block
from hyloop.core.jit import jit

__all__ = ["friction_backlash"]

_ITERATIONS = 60  # bisection alone reaches round-off within them


@jit
def _spring(s, k0, k1, x0):
    return k1 * s + (k0 - k1) * min(max(s, -x0), x0)  # Eq. (16)


@jit
def _slide(v, z, h, sigma0, sigma1, sigma2, Fc, Fs, vs):
    """Backward Euler step of LuGre at slip velocity v: new deflection, force, and slope of the force in v."""
    stribeck = (Fs - Fc) * math.exp(-(v / vs) * (v / vs))
    g = Fc + stribeck
    c = sigma0 * h / g
    dc = c / g * stribeck * 2.0 * v / (vs * vs)
    grip = 1.0 + c * abs(v)
    z_new = (z + v * h) / grip
    dz = (h - z_new * (math.copysign(c, v) + abs(v) * dc)) / grip
    return z_new, sigma0 * z_new + sigma1 * (z_new - z) / h + sigma2 * v, (sigma0 + sigma1 / h) * dz + sigma2


@jit
def _slip_velocity(v, rate, s, z, h, x0, k0, k1, sigma0, sigma1, sigma2, Fc, Fs, vs):
    """Slip velocity at which slider and springs carry the same force: Newton kept inside a bracket."""
    low, high = -math.inf, math.inf
    for _ in range(_ITERATIONS):
        _, f, slope = _slide(v, z, h, sigma0, sigma1, sigma2, Fc, Fs, vs)
        s_new = s + 0.5 * h * (rate - v)
        residual = f - _spring(s_new, k0, k1, x0)
        if residual < 0.0:
            low = v
        else:
            high = v
        slope += 0.5 * h * (k0 if abs(s_new) <= x0 else k1)
        v_new = v - residual / slope
        if not low <= v_new <= high:
            inside = math.isfinite(low) and math.isfinite(high)
            v_new = 0.5 * (low + high) if inside else v - math.copysign(1.0 + abs(v), residual)
        if abs(v_new - v) <= 1e-15 + 1e-13 * abs(v) or not math.isfinite(v_new):
            return v_new
        v = v_new
    return v


def _linear(x0, k0, k1, sigma0, sigma1, sigma2, Fc, Fs, vs, h_max):
    # the engaged stiffness: a method that linearises the device must not meet a stiffer one later
    return 1.0 / (2.0 / max(k0, k1) + 1.0 / sigma0), 0.0


@inplace_block(
    inputs={"d": "m"},
    outputs={"f": "N"},
    state={"d_last": "m", "s": "m", "z": "m"},
    params={
        "x0": Param("m", 0.005, low=0.0, about="half width of the soft range of a spring"),
        "k0": Param("N/m", 10e3, low=1.0, about="spring stiffness inside it"),
        "k1": Param("N/m", 150e3, low=1.0, about="spring stiffness outside it"),
        "sigma0": Param("N/m", 40e3, low=1.0, about="bristle stiffness"),
        "sigma1": Param("N s/m", 100.0, low=0.0, about="micro-damping"),
        "sigma2": Param("N s/m", 0.0, low=0.0, about="viscous friction (raised to the least that is well posed)"),
        "Fc": Param("N", 1000.0, low=1e-3, about="Coulomb friction"),
        "Fs": Param("N", 1050.0, low=1e-3, about="static friction"),
        "vs": Param("m/s", 0.01, low=1e-6, about="Stribeck velocity"),
        "h_max": Param("s", 1e-5, low=1e-9, about="longest internal step"),
    },
    reference="Coble et al. 2024, eq. 16 and Table 2, doi:10.1016/j.ymssp.2024.111522",
    linear=_linear,
)
def friction_backlash(x, u, dt, p, y):
    r"""LuGre slider between two equal piecewise-linear springs, all massless, so one force runs through them.

    .. math::

        d = 2 s + x_f, \qquad f = k_1 s + (k_0 - k_1)\,\mathrm{clip}(s, -x_0, x_0)
          = \sigma_0 z + \sigma_1 \dot z + \sigma_2 \dot x_f, \qquad
        \dot z = \dot x_f - \sigma_0 \frac{|\dot x_f|}{g(\dot x_f)} z

    The deformation runs straight from the last sample to this one; steps of at most ``h_max`` are backward Euler
    with the slip velocity :math:`\dot x_f` found by Newton's method, first order in ``h_max``. SI units; defaults
    are Table 2 of the reference.

    Without mass the slip velocity is unique only if the force rises with it, which velocity weakening can undo.
    A viscous part of :math:`\sigma_1 \rho (3 + \rho)/2, \rho = (F_s - F_c)/F_c`, is enough (the supremum of the
    weakening slope over all v and :math:`|\sigma_0 z| \le F_s`, rounded up); a smaller ``sigma2`` is raised to it.
    With Table 2 that is 7.6 N s/m: 0.8 % of the friction at 1 m/s.

    References
    ----------
    Coble, Cao, Downey, Ricles (2024), doi:10.1016/j.ymssp.2024.111522.
    """
    x0, k0, k1, sigma0, sigma1 = p[0], p[1], p[2], p[3], p[4]
    Fc, Fs, vs = p[6], p[7], p[8]
    rho = max(Fs / Fc - 1.0, 0.0)
    sigma2 = max(p[5], sigma1 * rho * (3.0 + rho) / 2.0)
    steps = max(math.ceil(dt / p[9] - 1e-9), 1)  # a ratio of 97.9999... and one of 98.0000... are the same
    h = dt / steps
    rate = (u[0] - x[0]) / dt
    s, z, v = x[1], x[2], rate
    for _ in range(steps):
        v = _slip_velocity(v, rate, s, z, h, x0, k0, k1, sigma0, sigma1, sigma2, Fc, Fs, vs)
        s += 0.5 * h * (rate - v)
        z, _, _ = _slide(v, z, h, sigma0, sigma1, sigma2, Fc, Fs, vs)
    x[0], x[1], x[2] = u[0], s, z
    y[0] = _spring(s, k0, k1, x0)
