r"""Stress and tangent of many fibres at once, from committed histories; compiled.

A *row of fibres* is a number of fibres of one material. Their strains stand one after the other, and so do stresses,
tangents and each number of their histories (`Work`, `SteelHistory`). So the material is asked for once for a row, not
once for a fibre, and the loops fit the vector unit. Histories change only when `commit` is set; without it the same row
can be tried with any strains.

`hyloop.structure.fibres.materials` has the parameters, equations and references.
"""

from typing import Any, NamedTuple

from hyloop.core.jit import verb
from hyloop.core.memory import columns, read
from hyloop.structure.fibres.powers import power

__all__ = [
    "BILINEAR",
    "CONCRETE",
    "ELASTIC",
    "HISTORY",
    "PARAMETERS",
    "STEEL",
    "WORK",
    "BilinearNumbers",
    "ConcreteNumbers",
    "ElasticNumbers",
    "SteelNumbers",
    "Work",
    "advance",
]


class Work(NamedTuple):
    """Room for a row of fibres, as `columns`: what a law reads, what it writes, and what it notes in between."""

    strain: Any
    stress: Any
    tangent: Any
    way: Any  # strain since the last reversal
    span: Any  # length of the elastic line from there to the asymptote
    base: Any  # stress at the last reversal


class ElasticNumbers(NamedTuple):
    """Parameters of `Elastic`, as they stand in memory."""

    E: float


class BilinearNumbers(NamedTuple):
    """Parameters of `Bilinear`."""

    fy: float
    E: float
    b: float


class ConcreteNumbers(NamedTuple):
    """Parameters of `Concrete`, with two that follow from them."""

    fc: float
    ec: float
    fcu: float
    ecu: float
    E0: float  # initial modulus
    descent: float  # slope of the envelope from ec to ecu, positive


class SteelNumbers(NamedTuple):
    """Parameters of `Steel`."""

    fy: float
    E: float
    b: float
    R0: float
    cR1: float
    cR2: float
    a1: float
    a2: float
    a3: float
    a4: float


class SteelHistory(NamedTuple):
    """History of a row of bars, as `columns`."""

    strain: Any
    stress: Any
    direction: Any  # 1 or -1; 0: never strained
    e_r: Any  # strain at the last reversal
    s_r: Any  # stress there
    reach: Any  # from there to where the elastic line meets the asymptote; with its sign
    R: Any
    highest: Any  # strain
    lowest: Any


ELASTIC, BILINEAR, CONCRETE, STEEL = 0, 1, 2, 3
# numbers of a material, by kind
PARAMETERS = tuple(len(kind._fields) for kind in (ElasticNumbers, BilinearNumbers, ConcreteNumbers, SteelNumbers))
HISTORY = (0, 1, 1, len(SteelHistory._fields))  # numbers for each fibre, by kind
WORK = len(Work._fields)  # numbers of room for each fibre of a row


@verb
def advance(kind, n, work, history, numbers, commit):
    """Stresses and tangents of a row of `n` fibres from the strains in `work`.

    `history` and `numbers` point to the history of the row and to the parameters of its material. Callers give
    variables, not constants: Numba compiles all laws anew for every constant among the arguments.
    """
    if kind == CONCRETE:
        _concrete(n, work, history, read(ConcreteNumbers, numbers, 0), commit)
    elif kind == STEEL:
        law, past = read(SteelNumbers, numbers, 0), columns(SteelHistory, history, n)
        _steel_branches(n, work, past, law, commit)
        _steel_powers(n, work)
        _steel_curve(n, work, past, law, commit)
    elif kind == BILINEAR:
        _bilinear(n, work, history, read(BilinearNumbers, numbers, 0), commit)
    else:
        law = read(ElasticNumbers, numbers, 0)
        for k in range(n):
            work.stress[k] = law.E * work.strain[k]
            work.tangent[k] = law.E


@verb
def _bilinear(n, work, history, law, commit):
    """Return mapping with kinematic hardening, as in `hyloop.devices.bilinear`; the history is the plastic strain."""
    f_y, E, b = law
    H = b * E / (1.0 - b)
    for k in range(n):
        plastic = history[k]
        relative = E * (work.strain[k] - plastic) - H * plastic
        excess = abs(relative) - f_y
        flow = excess / (E + H) if excess > 0.0 else 0.0
        plastic += flow if relative > 0.0 else -flow
        work.stress[k] = E * (work.strain[k] - plastic)
        work.tangent[k] = b * E if excess > 0.0 else E
        history[k] = plastic if commit else history[k]


@verb
def _concrete(n, work, history, law, commit):
    """Kent-Park envelope with Karsan-Jirsa unloading; the history is the largest compressive strain.

    All numbers are positive in compression until the last lines. Loading and unloading are one formula, because the
    unloading line of a fibre that is just being loaded starts at its own point of the envelope.
    """
    f_c, e_c, f_cu, e_cu, E_0, descent = law
    for k in range(n):
        strain, largest = -work.strain[k], history[k]
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
        work.stress[k] = -stress if stress > 0.0 else 0.0
        work.tangent[k] = slope if strain >= m else (unload if stress > 0.0 else 0.0)
        history[k] = m if commit else largest


# Giuffré-Menegotto-Pinto in three loops over all bars, of which the middle one has all the powers, and one over those
# that turn. The same law for one bar is `hyloop.devices.steel.menegotto_pinto_step`; a test holds them equal.


@verb
def _steel_branches(n, work, past, law, commit):
    """The branch of the curve each bar is on; a new one where the strain turns, or where it moves for the first time.

    Bars that turn are few in a step. They have a loop of their own, because lanes would calculate a reversal for every
    bar and drop most of them.
    """
    for k in range(n):
        _enter(k, work, past.e_r[k], past.s_r[k], past.reach[k], past.R[k])
    e_y = law.fy / law.E
    k = _next_turn(0, n, work, past)
    while k < n:
        direction, e_r, s_r = past.direction[k], past.e_r[k], past.s_r[k]
        highest, lowest = past.highest[k], past.lowest[k]
        if direction == 0.0:  # never strained: from the origin to the virgin yield point
            step = work.strain[k] - past.strain[k]
            direction = 1.0 if step > 0.0 else (-1.0 if step < 0.0 else 0.0)
            highest, lowest, reach, R = e_y, -e_y, (direction if direction != 0.0 else 1.0) * e_y, law.R0
        else:
            direction, e_r, s_r = -direction, past.strain[k], past.stress[k]
            highest = e_r if e_r > highest else highest
            lowest = e_r if e_r < lowest else lowest
            reach, R = _reversed(law, direction, e_r, s_r, highest, lowest)
        _enter(k, work, e_r, s_r, reach, R)
        if commit:
            past.direction[k], past.e_r[k], past.s_r[k] = direction, e_r, s_r
            past.reach[k], past.R[k], past.highest[k], past.lowest[k] = reach, R, highest, lowest
        k = _next_turn(k + 1, n, work, past)


@verb
def _next_turn(k, n, work, past):
    """The first bar from k on that turns or was never strained; n: none."""
    while k < n:
        direction = past.direction[k]
        if direction == 0.0 or (work.strain[k] - past.strain[k]) * direction < 0.0:
            break
        k += 1
    return k


@verb
def _enter(k, work, e_r, s_r, reach, R):
    """Put a bar on a branch.

    What the powers need stands in the place of their results: the shorter of way and span over the longer, and R.
    """
    way, span = work.strain[k] - e_r, abs(reach)
    work.way[k], work.span[k], work.base[k] = way, span, s_r
    larger, smaller = max(abs(way), span), min(abs(way), span)
    work.stress[k] = smaller / larger if larger > 0.0 else 0.0
    work.tangent[k] = R


@verb
def _reversed(law, direction, e_r, s_r, highest, lowest):
    """Reach and R after a reversal: along the elastic line to the hardening asymptote of the new direction."""
    f_y, E, b = law.fy, law.E, law.b
    e_y = f_y / E
    a, a_range = (law.a3, law.a4) if direction > 0.0 else (law.a1, law.a2)
    shift = 1.0
    if a > 0.0:
        shift = 1.0 + a * ((highest - lowest) / (2.0 * a_range * e_y)) ** 0.8
    reach = (direction * shift * f_y * (1.0 - b) + b * E * e_r - s_r) / (E * (1.0 - b))
    xi = abs((highest if direction > 0.0 else lowest) - (e_r + reach)) / e_y
    return reach, law.R0 * (1.0 - law.cR1 * xi / (law.cR2 + xi))


@verb
def _steel_powers(n, work):
    """The ratio to the power R as stress, and (1 + that)^(1/R) as tangent."""
    for k in range(n):
        ratio = power(work.stress[k], work.tangent[k])
        work.tangent[k] = power(1.0 + ratio, 1.0 / work.tangent[k])
        work.stress[k] = ratio


@verb
def _steel_curve(n, work, past, law, commit):
    """Stress and tangent on the branch."""
    E, b = law.E, law.b
    for k in range(n):
        a, length, ratio, bend = work.way[k], work.span[k], work.stress[k], work.tangent[k]
        # e/(1 + |e/reach|^R)^(1/R) in two forms, so that no power overflows
        distance = abs(a)
        if distance < length:
            curve, slope = a / bend, 1.0 / (bend * (1.0 + ratio))
        else:
            curve = (length if a > 0.0 else -length) / bend
            # without any reach the curve is the asymptote, from the reversal itself on
            slope = ratio * length / (distance * bend * (1.0 + ratio)) if distance > 0.0 else 0.0
        work.stress[k] = work.base[k] + E * (b * a + (1.0 - b) * curve)
        work.tangent[k] = E * (b + (1.0 - b) * slope)
        if commit:
            past.strain[k], past.stress[k] = work.strain[k], work.stress[k]
