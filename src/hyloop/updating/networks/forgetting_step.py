"""One tick of the network that forgets: the window moves on, then a few Levenberg-Marquardt steps in dual form."""

import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from hyloop.core.clock import now
from hyloop.core.jit import verb
from hyloop.neural.hysteresis import INPUTS, absorbed, features
from hyloop.neural.perceptron import evaluate, gradients, weight_count

__all__ = ["Places", "forgetting_step", "places"]

_DAMPING_MAX = 1e10
_NAMED = 4  # d_last, f_last, energy, count


class Places(NamedTuple):
    """Where everything lies in the block's memory."""

    w: int
    frozen: int  # pre-trained weights
    scale: int  # centre and factor of the six inputs and the force
    importance: int
    z: int  # inputs in the window, a row for each sample, the oldest first
    target: int
    J: int
    dual: int  # J J^T
    factor: int  # Cholesky factor of J J^T + t I
    Jr: int
    right: int
    r: int
    trial: int
    hidden: int
    delta: int
    gz: int
    clock: int
    size: int


@cache
def places(width: int, depth: int, rows: int) -> Places:
    """Lay out the memory for a window of `rows` samples."""
    n = weight_count(INPUTS, width, depth)
    sizes = [
        n,
        n,
        14,
        rows,
        rows * INPUTS,
        rows,
        rows * n,
        rows * rows,
        rows * rows,
        rows,
        rows,
        n,
        n,
        width * depth,
        width * depth,
        INPUTS,
        2,
    ]
    return Places(*np.cumsum([0, *sizes]).tolist())


@verb
def _dot(a, b, n):
    """Scalar product with eight sums, which the processor adds side by side."""
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    whole = n - n % 8
    for k in range(0, whole, 8):
        s0 += a[k] * b[k]
        s1 += a[k + 1] * b[k + 1]
        s2 += a[k + 2] * b[k + 2]
        s3 += a[k + 3] * b[k + 3]
        s4 += a[k + 4] * b[k + 4]
        s5 += a[k + 5] * b[k + 5]
        s6 += a[k + 6] * b[k + 6]
        s7 += a[k + 7] * b[k + 7]
    for k in range(whole, n):
        s0 += a[k] * b[k]
    return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))


@verb
def _window_error(w, z, target, importance, first, hidden, width, depth):
    """Weighted sum of squares over the samples in the window."""
    total = 0.0
    for m in range(first, len(target)):
        e = evaluate(w, z[m], hidden, INPUTS, width, depth) - target[m]
        total += importance[m] * e * e
    return total


@verb
def _solve(dual, t, L, right, first):
    """Overwrite `right` by the solution of (dual + t I) y = right, by Cholesky; False where it fails."""
    rows = len(right)
    for i in range(first, rows):
        for j in range(first, i + 1):
            s = dual[i, j] - _dot(L[i, first:], L[j, first:], j - first)
            if i == j:
                s += t
                if not s > 0.0:
                    return False
                L[i, i] = math.sqrt(s)
            else:
                L[i, j] = s / L[j, j]
    for i in range(first, rows):
        right[i] = (right[i] - _dot(L[i, first:], right[first:], i - first)) / L[i, i]
    for i in range(rows - 1, first - 1, -1):
        right[i] /= L[i, i]
        for k in range(first, i):
            right[k] -= L[i, k] * right[i]
    return True


def forgetting_step(width: int, depth: int, rule: int, rows: int) -> Callable:
    """Make ``advance(x, u, dt, p, y)``; everything in the closure is a number."""
    n = weight_count(INPUTS, width, depth)
    W, FROZEN, SCALE, IMPORTANCE, Z, TARGET, J_, DUAL, FACTOR, JR, RIGHT, R, TRIAL, HIDDEN, DELTA, GZ, CLOCK, SIZE = (
        places(width, depth, rows)
    )

    def advance(x, u, dt, p, y):
        m = x[_NAMED:]
        w, frozen, c, s = m[W:FROZEN], m[FROZEN:SCALE], m[SCALE : SCALE + 7], m[SCALE + 7 : IMPORTANCE]
        importance, z, target = m[IMPORTANCE:Z], m[Z:TARGET].reshape((rows, INPUTS)), m[TARGET:J_]
        J, dual, L = (
            m[J_:DUAL].reshape((rows, n)),
            m[DUAL:FACTOR].reshape((rows, rows)),
            m[FACTOR:JR].reshape((rows, rows)),
        )
        Jr, right, r, trial = m[JR:RIGHT], m[RIGHT:R], m[R:TRIAL], m[TRIAL:HIDDEN]
        hidden, delta, gz, clock = m[HIDDEN:DELTA], m[DELTA:GZ], m[GZ:CLOCK], m[CLOCK:SIZE]
        d, f_m = u[0], u[1]
        nu, iterations, anchor, budget = p[0], int(p[1]), p[2], p[4]
        timed = budget < math.inf  # otherwise the clock is not asked, and two runs are equal
        deadline = now(clock) + budget if timed else math.inf

        if math.isfinite(d) and math.isfinite(f_m):
            for i in range(rows - 1):
                for k in range(INPUTS):
                    z[i, k] = z[i + 1, k]
                target[i] = target[i + 1]
            features(z[rows - 1], d, x[0], x[1], x[2], c, s)
            target[rows - 1] = (f_m - c[6]) * s[6]
            x[2] += absorbed(f_m, d, x[0], rule)
            x[0], x[1], x[3] = d, f_m, min(x[3] + 1.0, float(rows))
        else:
            iterations = 0  # a sample that is missing teaches nothing
        oldest = rows - int(x[3])
        y[n] = evaluate(w, z[rows - 1], hidden, INPUTS, width, depth) / s[6] + c[6]
        y[n + 1] = f_m - y[n]

        for step in range(iterations):
            error = 0.0
            for k in range(n):
                r[k] = anchor * (w[k] - frozen[k])
                error += anchor * (w[k] - frozen[k]) ** 2
            # the newest sample first: where half of this step's time is over, the window ends here
            pause, first = deadline - budget * (iterations - step - 0.5) / iterations, oldest
            for i in range(rows - 1, oldest - 1, -1):
                root, g = math.sqrt(importance[i]), J[i]
                e = root * (evaluate(w, z[i], hidden, INPUTS, width, depth) - target[i])
                gradients(w, z[i], hidden, g, gz, delta, INPUTS, width, depth)
                for k in range(n):
                    g[k] *= root
                    r[k] += g[k] * e
                error += e * e
                for j in range(i, rows):
                    dual[j, i] = _dot(J[j], g, n)
                if timed and now(clock) > pause:
                    first = i
                    break
            for i in range(first, rows):
                Jr[i] = _dot(J[i], r, n)
            better = False
            while not better and nu < _DAMPING_MAX and not (timed and now(clock) > deadline):
                t = nu + anchor
                for i in range(first, rows):
                    right[i] = Jr[i]
                if _solve(dual, t, L, right, first):
                    for k in range(n):
                        trial[k] = r[k]
                    for i in range(first, rows):
                        share, g = right[i], J[i]
                        for k in range(n):
                            trial[k] -= share * g[k]
                    reached = 0.0
                    for k in range(n):
                        trial[k] = w[k] - trial[k] / t
                        reached += anchor * (trial[k] - frozen[k]) ** 2
                    reached += _window_error(trial, z, target, importance, first, hidden, width, depth)
                    better = reached < error
                nu *= 0.1 if better else 10.0
            if not better:
                break
            for k in range(n):
                w[k] = trial[k]

        updated = True
        if p[3] > 0.5:
            ours = _window_error(w, z, target, importance, oldest, hidden, width, depth)
            updated = ours <= _window_error(frozen, z, target, importance, oldest, hidden, width, depth)
        for k in range(n):
            y[k] = w[k] if updated else frozen[k]
        y[n + 2] = 1.0 if updated else 0.0

    return advance
