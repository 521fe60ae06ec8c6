"""The Giuffré-Menegotto-Pinto law of steel, as a force-deformation law."""

import math

from hyloop.core.block import Param, inplace_block
from hyloop.core.jit import jit

__all__ = ["giuffre_menegotto_pinto", "menegotto_pinto_step"]


@jit
def menegotto_pinto_step(x, d, p):
    """Advance the state `x` of one bar with parameters `p` to deformation `d`; return force and tangent stiffness.

    State and parameters are ordered as in `giuffre_menegotto_pinto`. Fibres have the same law in a form for the vector
    unit (`hyloop.structure.fibres.stress`); a test holds them equal.
    """
    d_last, f_last, s, d_r, f_r, reach, R, d_max, d_min = x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8]
    k, f_y, b, R0, cR1, cR2 = p[0], p[1], p[2], p[3], p[4], p[5]
    d_y = f_y / k
    step = d - d_last
    if step == 0.0 and s == 0.0:
        return 0.0, k
    if s == 0.0:  # first loading: from the origin to the virgin yield point, without isotropic shift
        s = 1.0 if step > 0.0 else -1.0
        d_max, d_min = d_y, -d_y
        reach, R = s * d_y, R0
    elif step * s < 0.0:
        d_r, f_r = d_last, f_last
        d_max, d_min = max(d_max, d_r), min(d_min, d_r)
        s = -s
        a, size = (p[8], p[9]) if s > 0.0 else (p[6], p[7])
        shift = 1.0 + a * ((d_max - d_min) / (2.0 * size * d_y)) ** 0.8
        # from the reversal along the elastic line to the hardening asymptote of the new direction
        reach = (s * shift * f_y * (1.0 - b) + b * k * d_r - f_r) / (k * (1.0 - b))
        xi = abs((d_max if s > 0.0 else d_min) - (d_r + reach)) / d_y
        R = R0 * (1.0 - cR1 * xi / (cR2 + xi))
    # (f_0 - f_r)/(d_0 - d_r) is k, which turns the curve into e/(1 + |e/reach|^R)^(1/R) times (1-b) k beside b k e.
    # Two forms of it, so that no power overflows and a reach of rounding size does no harm
    e, size, span = d - d_r, abs(d - d_r), abs(reach)
    if size < span:
        ratio = (size / span) ** R
        bend = (1.0 + ratio) ** (1.0 / R)
        curve, slope = e / bend, 1.0 / (bend * (1.0 + ratio))
    else:
        inverse = span / size if size > 0.0 else 0.0
        ratio = inverse**R
        bend = (1.0 + ratio) ** (1.0 / R)
        curve, slope = math.copysign(span, e) / bend, ratio * inverse / (bend * (1.0 + ratio))
    f = f_r + k * (b * e + (1.0 - b) * curve)
    x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8] = d, f, s, d_r, f_r, reach, R, d_max, d_min
    return f, k * (b + (1.0 - b) * slope)


@inplace_block(
    inputs={"d": "m"},
    outputs={"f": "N"},
    state={
        "d_last": "m",
        "f_last": "N",
        "s": "-",
        "d_r": "m",
        "f_r": "N",
        "reach": "m",
        "R": "-",
        "d_max": "m",
        "d_min": "m",
    },
    params={
        "k": Param("N/m", 1e7, 1e-9, about="elastic stiffness"),
        "f_y": Param("N", 1e5, 1e-9, about="yield force"),
        "b": Param("-", 0.02, 0.0, 0.999, about="hardening ratio: stiffness after yield over k"),
        "R0": Param("-", 20.0, 1.0, about="sharpness of the first knee"),
        "cR1": Param("-", 0.925, 0.0, 0.999, about="loss of sharpness after large plastic excursions"),
        "cR2": Param("-", 0.15, 1e-9, about="excursion, in d_y, that costs half of it"),
        "a1": Param("-", 0.0, 0.0, about="isotropic hardening in compression"),
        "a2": Param("-", 1.0, 1e-9, about="excursion, in d_y, that shifts the compression asymptote by a1 f_y"),
        "a3": Param("-", 0.0, 0.0, about="isotropic hardening in tension"),
        "a4": Param("-", 1.0, 1e-9, about="excursion, in d_y, that shifts the tension asymptote by a3 f_y"),
    },
    reference="Menegotto and Pinto (1973), Method of analysis for cyclically loaded R.C. plane frames, IABSE reports "
    "13, 15-22; Filippou, Popov and Bertero (1983), Effects of bond deterioration on hysteretic behavior of reinforced "
    "concrete joints, report UCB/EERC-83/19, University of California, Berkeley.",
    linear=lambda k, **_: (k, 0.0),
    flags="passive rate-independent",
)
def giuffre_menegotto_pinto(x, u, dt, p, y):
    r"""Steel after Giuffré, Menegotto and Pinto with the isotropic hardening of Filippou et al.

    Between the last reversal :math:`(d_r, f_r)` and the point :math:`(d_0, f_0)` where the elastic line through it
    meets the hardening asymptote of the present direction :math:`s = \pm 1`, the force is

    .. math::
        \frac{f - f_r}{f_0 - f_r} = b\,\rho + \frac{(1-b)\,\rho}{(1 + |\rho|^R)^{1/R}}, \qquad
        \rho = \frac{d - d_r}{d_0 - d_r}, \qquad
        R = R_0\left(1 - \frac{c_{R1}\,\xi}{c_{R2} + \xi}\right)

    with ξ the distance, in :math:`d_y = f_y/k`, between :math:`d_0` and the extreme deformation reached before in the
    direction s. At a reversal the asymptote :math:`f = s\,\sigma f_y + b k\,(d - s\,\sigma d_y)` is shifted by

    .. math::
        \sigma = 1 + a \left(\frac{d_{max} - d_{min}}{2\,a'\,d_y}\right)^{0.8}, \qquad
        (a, a') = (a_1, a_2) \text{ for } s = -1, \quad (a_3, a_4) \text{ for } s = +1

    the power form OpenSees uses in place of the linear shift of the 1983 report. The state keeps
    :math:`d_0 - d_r` as `reach`. Units: d in m, f in N. For a bar
    of area S and length L use k = E S/L and f_y = σ_y S.

    The force is exact for a straight increment of any length. A known trait of the law is kept: after a partial
    unloading the reloading curve starts afresh and overshoots the curve it left.
    """
    y[0] = menegotto_pinto_step(x, u[0], p)[0]
