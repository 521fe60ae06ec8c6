"""Learned springs in compiled code, one step of every form, on the memory of a block.

The forms are those of `hyloop.learn.springs`, where their formulas stand; here nothing can be learned any more. What a
form needs is said once, by a `Form`: numbers with names, arrays, how many states, and whether there is a perceptron.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hyloop.core.jit import verb
from hyloop.core.memory import read
from hyloop.neural.dense import respond
from hyloop.neural.lanes import as_int64
from hyloop.neural.ranges import monitor

__all__ = ["FORMS", "Form", "Places", "advance"]


@dataclass(frozen=True)
class Form:
    """One form of a spring: its code, the names of its numbers in order, its arrays, and the size of its state.

    `states` -1: as many as there are entries in the first array. All arrays have one length. `inputs` of a perceptron;
    0: there is none. `rated`: it holds for one sampling interval only.
    """

    code: int
    numbers: tuple[str, ...]
    arrays: tuple[str, ...] = ()
    states: int = 0
    inputs: int = 0
    rated: bool = False


_ENDS = ("low", "high", "slope_low", "slope_high")  # the curve, and how it goes on beyond them
_SPLINE, _LINE, _NETWORK, _STOPS, _SLOPE, _RETURN = range(6)
FORMS = {
    "spline": Form(_SPLINE, ("force", *_ENDS, "first", "spacing", "offset"), ("c",)),
    "broken line": Form(_LINE, ("force", *_ENDS, "length", "slope"), ("jump", "knot")),
    "network": Form(_NETWORK, ("force", *_ENDS, "length", "offset"), inputs=1),
    "stop operators": Form(_STOPS, ("force", "low", "high", "length", "k"), ("w", "r"), states=-1),
    "slope": Form(_SLOPE, ("force", "length", "k"), ("phi",), states=2),
    "return": Form(_RETURN, ("force", "length", "increment"), ("linear",), states=3, inputs=4, rated=True),
}


class Places(NamedTuple):
    """Table at the head of the memory; all but the code and the entries are positions in the state of the block."""

    code: int
    ranges: int
    state: int
    numbers: int
    first: int  # first array
    second: int
    entries: int  # of an array
    query: int  # what the perceptron is asked
    answer: int
    dense: int  # table of the perceptron


def advance(x, u, dt, p, y):
    """A learned spring; what was learned is in its memory."""
    m = read(Places, as_int64(x), 2)
    monitor(x, 0, u, 1, m.ranges)
    d, n = u[0], m.numbers
    if m.code == _STOPS:
        f = _stops(x, m, d)
    elif m.code == _SLOPE:
        f = _slope(x, m, d)
    elif m.code == _RETURN:
        f = _return(x, m, d)
    else:
        low, high = x[n + 1], x[n + 2]
        inside = low if d < low else (high if d > high else d)
        if m.code == _SPLINE:
            curve = _spline(x, m, (inside - x[n + 5]) / x[n + 6]) - x[n + 7]
        elif m.code == _LINE:
            curve = _broken_line(x, m, inside / x[n + 5])
        else:
            x[m.query] = inside / x[n + 5]
            x[m.answer] = 0.0
            respond(x, as_int64(x), m.dense, m.query, 1.0, m.answer)
            curve = x[m.answer] - x[n + 6]
        f = x[n] * curve + (x[n + 4] if d > high else x[n + 3]) * (d - inside)
    y[0] = f
    y[1] = x[0]


@verb
def _spline(x, m, t):
    """Cubic B-spline at t, in units of the spacing from the first knot: four of its pieces are not zero."""
    last = m.entries - 4
    i = 0 if not t >= 1.0 else (last if t >= last else int(t))
    s = 0.0
    for j in range(i, i + 4):
        r = abs(t - (j - 1.0))
        if r < 1.0:
            s += x[m.first + j] * (2.0 / 3.0 - r * r + r * r * r / 2.0)
        else:
            rest = 2.0 - r if not r > 2.0 else 0.0
            s += x[m.first + j] * (rest * rest * rest / 6.0)
    return s


@verb
def _broken_line(x, m, a):
    s = x[m.numbers + 6] * a
    for j in range(m.entries):
        b = x[m.second + j]
        s += x[m.first + j] * (_positive(a - b) - _positive(-b))
    return s


@verb
def _stops(x, m, d):
    force, low, high, length, k = (x[m.numbers], x[m.numbers + 1], x[m.numbers + 2], x[m.numbers + 3], x[m.numbers + 4])
    a = d / length
    inside = _held(a, low / length, high / length)
    s = k * inside + _positive(k) * (a - inside)
    for j in range(m.entries):
        r = x[m.second + j]
        e = _held(a - x[m.state + j], -r, r)
        s += x[m.first + j] * (e / r)
        x[m.state + j] = a - e
    return force * s


@verb
def _slope(x, m, d):
    """One Runge-Kutta step for the straight increment, every stage held inside."""
    a, z = d / x[m.numbers + 1], x[m.state]
    h = a - x[m.state + 1]
    direction, half = np.sign(h), (m.entries - 3) / 2.0
    k1 = _spline(x, m, (1.0 + z * direction) * half)
    k2 = _spline(x, m, (1.0 + _held(z + h / 2.0 * k1, -1.0, 1.0) * direction) * half)
    k3 = _spline(x, m, (1.0 + _held(z + h / 2.0 * k2, -1.0, 1.0) * direction) * half)
    k4 = _spline(x, m, (1.0 + _held(z + h * k3, -1.0, 1.0) * direction) * half)
    z = _held(z + h / 6.0 * (k1 + 2.0 * (k2 + k3) + k4), -1.0, 1.0)
    x[m.state], x[m.state + 1] = z, a
    return x[m.numbers] * (x[m.numbers + 2] * a + z)


@verb
def _return(x, m, d):
    increment, q = (d - x[m.state + 1]) / x[m.numbers + 2], m.query
    x[q], x[q + 1], x[q + 2], x[q + 3] = x[m.state], d / x[m.numbers + 1], increment, x[m.state + 2]
    x[m.answer] = 0.0
    respond(x, as_int64(x), m.dense, q, -1.0, m.answer)
    other = x[m.answer]
    x[m.answer] = 0.0
    respond(x, as_int64(x), m.dense, q, 1.0, m.answer)
    f = (x[m.answer] - other) / 2.0
    for j in range(4):
        f += x[m.first + j] * x[q + j]
    x[m.state], x[m.state + 1], x[m.state + 2] = f, d, increment
    return x[m.numbers] * f


@verb
def _positive(a):
    return a if a > 0.0 or a != a else 0.0


@verb
def _held(a, low, high):
    """Between two ends; NaN stays NaN, so that a broken signal is seen."""
    return low if a < low else (high if a > high else a)
