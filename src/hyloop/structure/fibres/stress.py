r"""Stress and tangent of many fibres at once, from committed histories; compiled.

A *row of fibres* is a number of fibres of one material. Their strains stand one after the other in `x`, and so do
stresses, tangents and histories: number j of the history of fibre k is ``x[h + j n + k]``. So the material is asked for
once for a row, not once for a fibre, and the loops fit the vector unit. Histories change only when `commit` is set;
without it the same row can be tried with any strains.

`hyloop.structure.fibres.materials` has the parameters, equations and references.
"""

from hyloop.core.jit import verb
from hyloop.structure.fibres.powers import power

__all__ = ["BILINEAR", "CONCRETE", "ELASTIC", "HISTORY", "PARAMETERS", "STEEL", "WORK", "advance"]

ELASTIC, BILINEAR, CONCRETE, STEEL = 0, 1, 2, 3
PARAMETERS = (1, 3, 6, 10)  # numbers of a material, by kind
HISTORY = (0, 1, 1, 9)  # numbers for each fibre, by kind
WORK = 6  # numbers of scratch for each fibre of a row: strain, stress, tangent and three more


@verb
def advance(kind, n, x, w, size, h, p, q, commit):
    """Stresses and tangents of a row of `n` fibres.

    `x[w:]` holds the strains; stresses follow at ``w + size`` and tangents at ``w + 2 size``. Callers give variables,
    not constants: Numba compiles all laws anew for every constant among the arguments.
    """
    if kind == CONCRETE:
        _concrete(n, x, w, w + size, w + 2 * size, h, p, q, commit)
    elif kind == STEEL:
        _steel(n, x, w, size, h, p, q, commit)
    elif kind == BILINEAR:
        _bilinear(n, x, w, w + size, w + 2 * size, h, p, q, commit)
    else:
        for k in range(n):
            x[w + size + k] = p[q] * x[w + k]
            x[w + 2 * size + k] = p[q]


@verb
def _bilinear(n, x, e, s, t, h, p, q, commit):
    """Return mapping with kinematic hardening, as in `hyloop.devices.bilinear`; the history is the plastic strain."""
    f_y, E, b = p[q], p[q + 1], p[q + 2]
    H = b * E / (1.0 - b)
    for k in range(n):
        plastic = x[h + k]
        relative = E * (x[e + k] - plastic) - H * plastic
        excess = abs(relative) - f_y
        flow = excess / (E + H) if excess > 0.0 else 0.0
        plastic += flow if relative > 0.0 else -flow
        x[s + k] = E * (x[e + k] - plastic)
        x[t + k] = b * E if excess > 0.0 else E
        x[h + k] = plastic if commit else x[h + k]


@verb
def _concrete(n, x, e, s, t, h, p, q, commit):
    """Kent-Park envelope with Karsan-Jirsa unloading; the history is the largest compressive strain.

    All numbers are positive in compression until the last lines. Loading and unloading are one formula, because the
    unloading line of a fibre that is just being loaded starts at its own point of the envelope.
    """
    f_c, e_c, f_cu, e_cu, E_0, descent = p[q], p[q + 1], p[q + 2], p[q + 3], p[q + 4], p[q + 5]
    for k in range(n):
        strain, largest = -x[e + k], x[h + k]
        m = strain if strain > largest else largest
        eta = m / e_c
        # envelope at m
        if m < e_c:
            peak, slope = f_c * eta * (2.0 - eta), E_0 * (1.0 - eta)
        elif m < e_cu:
            peak, slope = f_c - descent * (m - e_c), -descent
        else:
            peak, slope = f_cu, 0.0
        # strain left when the stress is gone; the unloading line is never steeper than E_0
        eta = eta if m < e_cu else e_cu / e_c
        rest = e_c * (eta * (0.145 * eta + 0.13) if eta < 2.0 else 0.707 * (eta - 2.0) + 0.834)
        length = m - rest if m - rest > peak / E_0 else peak / E_0
        unload = peak / length if length > 0.0 else E_0
        stress = peak - unload * (m - strain)
        x[s + k] = -stress if stress > 0.0 else 0.0
        x[t + k] = slope if strain >= m else (unload if stress > 0.0 else 0.0)
        x[h + k] = m if commit else largest


@verb
def _steel(n, x, w, size, h, p, q, commit):
    """Giuffré-Menegotto-Pinto curve from the last reversal, in three loops; the middle one has all the powers.

    The same law for one bar is `hyloop.devices.steel.menegotto_pinto_step`; a test holds them equal.

    History: strain, stress, direction, strain and stress of the reversal, reach, R, largest and smallest strain.
    """
    e, s, t = w, w + size, w + 2 * size
    way, span, base = w + 3 * size, w + 4 * size, w + 5 * size
    f_y, E, b, R_0, c_1, c_2 = p[q], p[q + 1], p[q + 2], p[q + 3], p[q + 4], p[q + 5]
    e_y = f_y / E
    for k in range(n):
        direction, e_r, s_r = x[h + 2 * n + k], x[h + 3 * n + k], x[h + 4 * n + k]
        reach, R, highest, lowest = x[h + 5 * n + k], x[h + 6 * n + k], x[h + 7 * n + k], x[h + 8 * n + k]
        step = x[e + k] - x[h + k]
        if direction == 0.0:  # never strained: from the origin to the virgin yield point
            direction = 1.0 if step > 0.0 else (-1.0 if step < 0.0 else 0.0)
            highest, lowest, reach, R = e_y, -e_y, (direction if direction != 0.0 else 1.0) * e_y, R_0
        elif step * direction < 0.0:
            e_r, s_r = x[h + k], x[h + n + k]
            highest = e_r if e_r > highest else highest
            lowest = e_r if e_r < lowest else lowest
            direction = -direction
            side = q + (8 if direction > 0.0 else 6)
            shift = 1.0
            if p[side] > 0.0:
                shift = 1.0 + p[side] * ((highest - lowest) / (2.0 * p[side + 1] * e_y)) ** 0.8
            # along the elastic line to the hardening asymptote of the new direction
            reach = (direction * shift * f_y * (1.0 - b) + b * E * e_r - s_r) / (E * (1.0 - b))
            xi = abs((highest if direction > 0.0 else lowest) - (e_r + reach)) / e_y
            R = R_0 * (1.0 - c_1 * xi / (c_2 + xi))
        distance = abs(x[e + k] - e_r)
        x[way + k] = x[e + k] - e_r
        x[span + k] = abs(reach)
        x[base + k] = s_r
        larger, smaller = max(distance, abs(reach)), min(distance, abs(reach))
        x[s + k] = smaller / larger if larger > 0.0 else 0.0
        x[t + k] = R
        if commit:
            x[h + 2 * n + k], x[h + 3 * n + k], x[h + 4 * n + k] = direction, e_r, s_r
            x[h + 5 * n + k], x[h + 6 * n + k], x[h + 7 * n + k], x[h + 8 * n + k] = reach, R, highest, lowest
    for k in range(n):
        ratio = power(x[s + k], x[t + k])
        x[t + k] = power(1.0 + ratio, 1.0 / x[t + k])
        x[s + k] = ratio
    for k in range(n):
        a, length, ratio, bend = x[way + k], x[span + k], x[s + k], x[t + k]
        # e/(1 + |e/reach|^R)^(1/R) in two forms, so that no power overflows
        distance = abs(a)
        if distance < length:
            curve, slope = a / bend, 1.0 / (bend * (1.0 + ratio))
        else:
            curve = (length if a > 0.0 else -length) / bend
            # without any reach the curve is the asymptote, from the reversal itself on
            slope = ratio * length / (distance * bend * (1.0 + ratio)) if distance > 0.0 else 0.0
        x[s + k] = x[base + k] + E * (b * a + (1.0 - b) * curve)
        x[t + k] = E * (b + (1.0 - b) * slope)
        if commit:
            x[h + k], x[h + n + k] = x[e + k], x[s + k]
