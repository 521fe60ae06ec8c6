"""The monitor itself, compiled: one tick gives the band, the trust, and the force that goes to the structure.

What it is told lies in its memory behind the named states: a record of `Told`, then the pairs (low, high) of the
training ranges. So one compiled function serves every site.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from hyloop.core.block import Instance, Param, inplace_block
from hyloop.core.jit import verb
from hyloop.core.memory import read
from hyloop.neural.ranges import beyond
from hyloop.trust.settings import Band, Watch

__all__ = ["OUTPUTS", "guard"]

OUTPUTS = {
    "f": "N",
    "f_low": "N",
    "f_high": "N",
    "trust": "-",
    "fallback": "-",  # share of the fallback in the force
    "spread": "N",
    "score": "N",
    "q": "-",
    "fallback_ticks": "-",  # in which the fallback had a share
}
# the clock of a run writes it (`hyloop.core.overrun`): the model then counts as one that gives no number
LATE = Param("-", 0.0, 0.0, about="how many ticks late the model is, which was not computed then")
_FARTHEST = 1e3  # a distance that stands for an input that is no number
_RATIO = 3.0  # forces at the site and at the measured one are taken to differ by no more than this
_NONE = -1.0


class Told(NamedTuple):
    """Places among the inputs (-1: it is not there), then what `Band` and `Watch` say."""

    members: float  # number of further networks, whose forces stand from input 1 on
    inputs: float  # number of inputs of the network, behind them
    backup: float
    twin: float
    heard: float
    scaled: float  # 1: the residual counts as much more or less here as the force is larger or smaller
    # Band
    coverage: float
    floor: float
    force: float
    spread: float
    range: float
    weight: float  # of the residual of the twin
    gain: float
    # Watch
    capacity: float
    margin: float
    widest: float
    far: float
    apart: float
    limit: float
    back: float
    calm: float
    blend: float
    slew: float
    window: float
    fallback_half: float


class Kept(NamedTuple):
    """What it keeps from tick to tick."""

    share: float  # of the fallback
    away: float  # 1 while the fallback has or takes the force
    calm: float  # s since trust has been good enough to come back
    q: float
    residual: float  # mean squares of: the residual of the twin,
    apart: float  # the difference between model and fallback,
    own: float  # the force here
    there: float  # and that of the twin
    last: float  # force of the model in the last tick in which it was a number
    ticks: float


_STATE = dict(zip(Kept._fields, ("-", "-", "s", "-", "N2", "N2", "N2", "N2", "N", "-"), strict=True))
SHARE, AWAY, CALM, Q, RESIDUAL, APART, OWN, THERE, LAST, TICKS = range(len(Kept._fields))
TOLD = len(Kept._fields)
RANGES = TOLD + len(Told._fields)


def guard(
    band: Band,
    watch: Watch,
    *,
    members: Sequence[str] = (),
    ranges: Mapping[str, tuple[str, float, float]] | None = None,
    backup: bool = False,
    twin: bool = False,
    scaled: bool = False,
) -> Instance:
    """The monitor as a block: force of the model in, force for the structure out.

    Parameters
    ----------
    members : sequence of str
        Inputs with the forces of further networks; the force of the model is the mean of all.
    ranges : mapping of input to (unit, low, high)
        Inputs of the networks, and from where to where training saw them.
    backup, twin : bool
        Whether there is a fallback (input ``backup``), and a twin (``twin``) with the force (``heard``) that it is
        compared with.
    scaled : bool
        Whether the residual of the twin is scaled by the ratio of the forces here and there.
    """
    seen = dict(ranges or {})
    last = {"backup": backup, "twin": twin, "heard": twin}
    inputs = {"f": "N", **dict.fromkeys(members, "N"), **{key: unit for key, (unit, _, _) in seen.items()}}
    inputs |= {key: "N" for key, there in last.items() if there}
    order = list(inputs)
    places = {key: float(order.index(key)) if there else _NONE for key, there in last.items()}
    said = watch.complete | band.as_json()
    told = Told(
        members=len(members),
        inputs=len(seen),
        scaled=scaled,
        weight=band.twin,
        **places,
        **{key: said[key] for key in Told._fields if key in said and key != "twin"},
    )
    memory = np.concatenate([np.array(told, float), *(np.array([low, high]) for _, low, high in seen.values())])
    make = inplace_block(
        inputs=inputs,
        outputs=OUTPUTS,
        state=_STATE,
        params={"late": LATE} if backup else {},
        memory=len(memory),
        reference="Angelopoulos, Candès, Tibshirani (2023), arXiv:2307.16895; Gibbs, Candès (2021), arXiv:2106.00170",
    )
    block = replace(make(advance), name="guard")
    return block(initial={"q": band.q}, memory=memory)


def advance(x, u, dt, p, y):
    """One tick of the monitor of a model: band, trust, and the force with its fallback; see `Band` and `Watch`."""
    told = read(Told, x, TOLD)
    members, inputs = int(told.members), int(told.inputs)
    f, spread, sound = mean_force(u, members)
    distance = range_distance(x, u, members, inputs)
    fade = np.exp(-dt / told.window)
    residual = 0.0
    late = told.backup >= 0.0 and p[0] > 0.0
    if late:
        sound = False
    if told.twin >= 0.0:
        if not late:
            sound = follow_twin(x, told, u[int(told.heard)], u[int(told.twin)], f, sound, fade, dt) and sound
        residual = np.sqrt(x[RESIDUAL])
        if told.scaled > 0.0 and x[THERE] > 0.0:
            residual *= min(max(np.sqrt(x[OWN] / x[THERE]), 1.0 / _RATIO), _RATIO)
    size = min(abs(f), (1.0 + told.margin) * told.capacity) if sound else told.capacity  # a score is always a number
    score = told.floor + told.force * size + told.spread * spread + told.range * distance + told.weight * residual
    half = min(
        max(x[Q], 0.0) * score, 2.0 * told.capacity
    )  # no wider than from one end of what is possible to the other
    trust = how_far(half, told.widest) if sound else 0.0
    trust = min(trust, how_far(distance, told.far))
    trust = min(trust, how_far(abs(f) - told.capacity, told.margin * told.capacity))
    if told.backup >= 0.0:
        other = u[int(told.backup)]
        if sound:
            x[APART] = fade * x[APART] + (1.0 - fade) * held(f - other, 2.0 * told.capacity) ** 2
        trust = min(trust, how_far(np.sqrt(x[APART]), told.apart))
        f = hand_over(x, told, f, other, sound, trust, dt)
    share = x[SHARE]
    half = (1.0 - share) * half + share * told.fallback_half
    y[0] = f
    y[1] = f - half
    y[2] = f + half
    y[3] = trust
    y[4] = share
    y[5] = spread
    y[6] = score
    y[7] = x[Q]
    y[8] = x[TICKS]


@verb
def mean_force(u, members):
    """Mean and standard deviation (of a sample, over n - 1) of the networks, and whether all are numbers."""
    n, total = members + 1, 0.0
    for k in range(n):
        total += u[k]
    f, squares = total / n, 0.0
    for k in range(n):
        squares += (u[k] - f) ** 2
    sound = np.isfinite(squares)
    spread = np.sqrt(squares / members) if members > 0 and sound else 0.0
    return f, spread, sound


@verb
def range_distance(x, u, members, inputs):
    """How far the inputs are beyond what training saw: root of the sum of squares, each in widths of its range."""
    squares = 0.0
    for k in range(inputs):
        squares += beyond(u[1 + members + k], x[RANGES + 2 * k], x[RANGES + 2 * k + 1]) ** 2
    return min(np.sqrt(squares), _FARTHEST)


@verb
def follow_twin(x, told, heard, twin, f, sound, fade, dt):
    """Judge the band at the measured site, let q follow, and take in the residual; whether twin and truth are numbers.

    The band is that of the tick before: neither q nor the residuals know the force that it is judged by.
    """
    residual = abs(heard - twin)
    if not residual < np.inf:
        return False
    if told.gain > 0.0 and (abs(heard) > told.floor or abs(twin) > told.floor):
        size = min(abs(twin), (1.0 + told.margin) * told.capacity)
        score = told.floor + told.force * size + told.weight * np.sqrt(x[RESIDUAL])
        miss = 1.0 if residual > x[Q] * score else 0.0
        x[Q] += told.gain * dt * (miss - (1.0 - told.coverage))
    x[RESIDUAL] = fade * x[RESIDUAL] + (1.0 - fade) * residual**2
    x[THERE] = fade * x[THERE] + (1.0 - fade) * twin**2
    if sound:
        x[OWN] = fade * x[OWN] + (1.0 - fade) * f**2
    return True


@verb
def how_far(value, end):
    """One at zero and below, zero at `end` and beyond, and for what is no number."""
    if not value < end:
        return 0.0
    return 1.0 - max(value, 0.0) / end


@verb
def held(value, most):
    """A number within ±most; what is no number stays none, so that the run stops."""
    if value > most:
        return most
    if value < -most:
        return -most
    return value


@verb
def hand_over(x, told, f, other, sound, trust, dt):
    """The force between model and fallback: the share moves at a bounded rate, so that nothing jumps."""
    most = (1.0 + told.margin) * told.capacity
    f = held(f, most) if sound else x[LAST]
    other = held(other, most)
    x[LAST] = f
    if trust < told.limit:
        x[AWAY], x[CALM] = 1.0, 0.0
    elif x[AWAY] > 0.0:
        x[CALM] = x[CALM] + dt if trust >= told.back else 0.0
        if x[CALM] >= told.calm:
            x[AWAY] = 0.0
    step, gap = dt / told.blend, abs(other - f)
    if gap * step > told.slew * dt:
        step = told.slew * dt / gap
    x[SHARE] = min(x[SHARE] + step, 1.0) if x[AWAY] > 0.0 else max(x[SHARE] - step, 0.0)
    if x[SHARE] > 0.0:
        x[TICKS] += 1.0
    return (1.0 - x[SHARE]) * f + x[SHARE] * other
