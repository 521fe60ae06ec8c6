"""One tick of the network that forgets: the window moves on, then a few Levenberg-Marquardt steps in dual form."""

import math
from collections import namedtuple
from collections.abc import Callable
from typing import NamedTuple

from numba import carray

from hyloop.core.block import Param
from hyloop.core.clock import now
from hyloop.core.jit import pointer, verb
from hyloop.core.memory import laid_out, read, views
from hyloop.neural.hysteresis import INPUTS, absorbed, features
from hyloop.neural.perceptron import evaluate, gradients, weight_count
from hyloop.updating.networks.dual import dot, solve

__all__ = ["PARAMS", "STATE", "ForgettingMemory", "forgetting_memory", "forgetting_step"]

_DAMPING_MAX = 1e10

STATE = {
    "d_last": "m",  # measured in the last tick
    "f_last": "N",
    "energy": "J",
    "count": "-",  # samples in the window
}
PARAMS = {
    "damping": Param("-", 1e-5, 0.0, about="Levenberg-Marquardt damping"),
    "iterations": Param("-", 2.0, 1.0, about="steps in a tick"),
    "anchor": Param("-", 0.0, 0.0, about="weight of the distance from the pre-trained weights"),
    "fallback": Param("-", 1.0, 0.0, 1.0, about="1: give out the pre-trained weights where they are better"),
    "budget": Param("s", math.inf, 0.0, about="time for a tick"),
}
State = namedtuple("State", STATE)
Settings = namedtuple("Settings", PARAMS)
NAMED, _ = laid_out(State, dict.fromkeys(STATE, 1))


class ForgettingMemory(NamedTuple):
    """What lies in the state vector behind the named states."""

    w: int  # weights
    frozen: int  # pre-trained weights
    centre: int  # of the six inputs and the force
    factor: int
    importance: int  # of the samples in the window, the oldest first
    z: int  # inputs in the window, a row for each sample
    target: int  # scaled forces in the window
    J: int  # weighted derivatives, a row for each sample
    dual: int  # J J^T
    L: int  # Cholesky factor of J J^T + t I
    Jr: int
    share: int  # (J J^T + t I)^-1 J r
    r: int  # J^T e + λ (w - w0)
    trial: int  # weights after a step
    hidden: int  # activations
    delta: int
    gz: int  # derivatives by the inputs
    clock: int  # scratch of the clock


class Window(NamedTuple):
    """The part of the window that a step has time for."""

    first: int
    error: float  # weighted sum of squares, with that of the anchor


def forgetting_memory(width: int, depth: int, rows: int) -> tuple[ForgettingMemory, int]:
    """Lay out the memory for a window of `rows` samples; with the size of the state vector."""
    n, neurons = weight_count(INPUTS, width, depth), width * depth
    sizes = {"w": n, "frozen": n, "centre": 7, "factor": 7, "importance": rows, "z": rows * INPUTS, "target": rows}
    sizes |= {"J": rows * n, "dual": rows * rows, "L": rows * rows, "Jr": rows, "share": rows, "r": n, "trial": n}
    sizes |= {"hidden": neurons, "delta": neurons, "gz": INPUTS, "clock": 2}
    return laid_out(ForgettingMemory, sizes, first=len(STATE))


def forgetting_step(width: int, depth: int, rule: int, rows: int) -> Callable:
    """Make ``advance(x, u, dt, p, y)``; everything in the closure is a number."""
    n, memory = weight_count(INPUTS, width, depth), forgetting_memory(width, depth, rows)[0]

    def advance(x, u, dt, p, y):
        s, m, q = views(x, NAMED), views(x, memory), read(Settings, p, 0)
        clock, d, f_m = carray(m.clock, (2,)), u[0], u[1]
        timed = q.budget < math.inf  # otherwise the clock is not asked, and two runs are equal
        deadline = now(clock) + q.budget if timed else math.inf
        fresh = math.isfinite(d) and math.isfinite(f_m)
        if fresh:
            move_window(rows, rule, s, m, d, f_m)
        newest = carray(m.z, (rows, INPUTS))[rows - 1]
        y[n] = evaluate(m.w, newest, m.hidden, INPUTS, width, depth) / m.factor[6] + m.centre[6]
        y[n + 1] = f_m - y[n]

        oldest, damping = rows - int(s.count[0]), q.damping
        iterations = int(q.iterations) if fresh else 0  # a sample that is missing teaches nothing
        for step in range(iterations):
            # where half of this step's time is over, the window ends
            pause = deadline - q.budget * (iterations - step - 0.5) / iterations
            window = linearise(n, rows, width, depth, m, q, oldest, timed, pause)
            better = False
            while not better and damping < _DAMPING_MAX and not (timed and now(clock) > deadline):
                better = descend(n, rows, width, depth, m, q, window, damping)
                damping *= 0.1 if better else 10.0
            if not better:
                break
            for k in range(n):
                m.w[k] = m.trial[k]

        updated = q.fallback <= 0.5 or improved(rows, width, depth, m, oldest)
        give_out(n, m, updated, pointer(y))

    return advance


@verb
def move_window(rows, rule, s, m, d, f_m):
    """Every sample moves on by a row, and the new one becomes the last."""
    z = carray(m.z, (rows, INPUTS))
    for i in range(rows - 1):
        for k in range(INPUTS):
            z[i, k] = z[i + 1, k]
        m.target[i] = m.target[i + 1]
    features(z[rows - 1], d, s.d_last[0], s.f_last[0], s.energy[0], m.centre, m.factor)
    m.target[rows - 1] = (f_m - m.centre[6]) * m.factor[6]
    s.energy[0] += absorbed(f_m, d, s.d_last[0], rule)
    s.d_last[0] = d
    s.f_last[0] = f_m
    s.count[0] = min(s.count[0] + 1.0, float(rows))


@verb
def linearise(n, rows, width, depth, m, q, oldest, timed, pause):
    """J, J J^T, r and J r, the newest sample first, as far back as time allows."""
    z, J, dual = carray(m.z, (rows, INPUTS)), carray(m.J, (rows, n)), carray(m.dual, (rows, rows))
    first, error = oldest, pull(n, m, q)
    for i in range(rows - 1, oldest - 1, -1):
        root, g = math.sqrt(m.importance[i]), J[i]
        e = root * (evaluate(m.w, z[i], m.hidden, INPUTS, width, depth) - m.target[i])
        gradients(m.w, z[i], m.hidden, g, m.gz, m.delta, INPUTS, width, depth)
        for k in range(n):
            g[k] *= root
            m.r[k] += g[k] * e
        error += e * e
        for j in range(i, rows):
            dual[j, i] = dot(J[j], g, n)
        if timed and now(carray(m.clock, (2,))) > pause:
            first = i
            break
    for i in range(first, rows):
        m.Jr[i] = dot(J[i], m.r, n)
    return Window(first, error)


@verb
def pull(n, m, q):
    """What the anchor adds to r, and to the error."""
    error = 0.0
    for k in range(n):
        m.r[k] = q.anchor * (m.w[k] - m.frozen[k])
        error += q.anchor * (m.w[k] - m.frozen[k]) ** 2
    return error


@verb
def descend(n, rows, width, depth, m, q, window, damping):
    """Weights after one step in dual form; whether they are better."""
    t, J = damping + q.anchor, carray(m.J, (rows, n))
    for i in range(window.first, rows):
        m.share[i] = m.Jr[i]
    if not solve(rows, m.dual, t, m.L, m.share, window.first):
        return False
    for k in range(n):
        m.trial[k] = m.r[k]
    for i in range(window.first, rows):
        share, g = m.share[i], J[i]
        for k in range(n):
            m.trial[k] -= share * g[k]
    reached = 0.0
    for k in range(n):
        m.trial[k] = m.w[k] - m.trial[k] / t
        reached += q.anchor * (m.trial[k] - m.frozen[k]) ** 2
    reached += window_error(rows, width, depth, m, m.trial, window.first)
    return reached < window.error


@verb
def window_error(rows, width, depth, m, w, first):
    """Weighted sum of squares over the samples in the window."""
    z, total = carray(m.z, (rows, INPUTS)), 0.0
    for i in range(first, rows):
        e = evaluate(w, z[i], m.hidden, INPUTS, width, depth) - m.target[i]
        total += m.importance[i] * e * e
    return total


@verb
def improved(rows, width, depth, m, oldest):
    """Whether the updated weights explain the window as well as the pre-trained ones."""
    ours = window_error(rows, width, depth, m, m.w, oldest)
    return ours <= window_error(rows, width, depth, m, m.frozen, oldest)


@verb
def give_out(n, m, updated, y):
    """The weights for the models that follow."""
    for k in range(n):
        y[k] = m.w[k] if updated else m.frozen[k]
    y[n + 2] = 1.0 if updated else 0.0
