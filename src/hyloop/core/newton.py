"""An implicit step, solved by Newton's method: the reference the explicit methods are judged by.

The unknown is the displacement increment of the step. `guess` makes a first one; the tick then asks the structure and
every block what they answer to it, and `improve` looks at the residual of the equation of motion and makes a better
one, until it holds. Every trial starts from a copy of the whole memory, so devices of any kind are advanced from the
same committed state; the tangent is taken by differences, one trial for each column. Exact and simple, not fast.
"""

from typing import NamedTuple

import numpy as np

from hyloop.core.full_products import add_product
from hyloop.core.jit import Floats, Ints, bind, verb
from hyloop.core.motion import balance, collect, deform, report
from hyloop.core.plan import STEP

__all__ = ["Iteration", "converged", "guess", "improve", "workspace"]

TOLERANCE = 1e-12  # of the largest force in the equation of motion
CORRECTION = 1e-12  # of the displacement: where stiffness multiplies round-off, the residual cannot get smaller
TRIALS = 80  # those of the tangent not counted
HALVINGS = 5  # of one correction
DIFFERENCE = 1e-7  # relative step of the difference quotient: near the square root of round-off
LEAST = 1e-5  # of the displacement: a structure at rest under its dead load has no increment to take differences by

COLUMN, TRIED, HALVED, SETTLED, CONVERGED = range(5)
SIZE, LARGEST, WORST, KEPT = range(4)


class Iteration(NamedTuple):
    """What Newton's method works with in a step; nothing of it outlives the step."""

    start: Floats  # memory at the start of the step
    increment: Floats  # on trial
    weighted: Floats  # acceleration of the trial at the instant of the equation of motion
    inertia: Floats
    answer: Floats  # residual of the trial
    residual: Floats  # of the last trial that was not one for the tangent
    correction: Floats
    tangent: Floats  # by rows
    tally: Ints  # column of the tangent (-1: none), trials, halvings, last correction was tiny, equation holds
    number: (
        Floats  # size of the increment, largest displacement, largest residual so far, increment less its difference
    )


def workspace(n: int, memory: int) -> Iteration:
    """Memory for a structure of n degrees of freedom; for none, where the method is explicit."""
    return Iteration(
        start=np.zeros(memory),
        increment=np.zeros(n),
        weighted=np.zeros(n),
        inertia=np.zeros(n),
        answer=np.zeros(n),
        residual=np.zeros(n),
        correction=np.zeros(n),
        tangent=np.zeros(n * n),
        tally=np.zeros(5, np.int64),
        number=np.zeros(4),
    )


@verb
def converged(state):
    """Whether the equation of motion held in the end."""
    return bind(Iteration, state.newton).tally[CONVERGED] == 1


@verb
def guess(plan, state):
    """Take the increment of a step with constant acceleration as a first trial."""
    m = bind(Iteration, state.newton)
    for i in range(plan.memory):
        m.start[i] = state.memory[i]
    size, largest = 1e-12, 0.0
    for i in range(plan.n):
        largest = max(largest, abs(state.u[i]))
        m.increment[i] = plan.dt * state.v[i] + 0.5 * plan.dt**2 * state.w[i]
        m.correction[i] = 0.0
        size = max(size, abs(m.increment[i]))
    m.number[SIZE], m.number[LARGEST], m.number[WORST] = max(size, LEAST * largest), largest, np.inf
    m.tally[COLUMN] = -1
    m.tally[TRIED] = m.tally[HALVED] = m.tally[SETTLED] = m.tally[CONVERGED] = 0
    impose(plan, state, m)


@verb
def impose(plan, state, m):
    """Go back to the start of the step, and from there by the increment on trial.

    The increment, not the displacement, is the unknown: Δu - Δt v then keeps its digits at small steps.
    """
    dt = plan.dt
    for i in range(plan.memory):
        state.memory[i] = m.start[i]
    for i in range(plan.n):
        u, v, a = state.u[i], state.v[i], state.w[i]
        new = (m.increment[i] - dt * v) / (plan.beta * dt**2) - (0.5 / plan.beta - 1.0) * a
        m.weighted[i] = (1.0 - plan.alpha_m) * new + plan.alpha_m * a
        state.u[i] = u + m.increment[i]
        state.v[i] = v + dt * ((1.0 - plan.gamma) * a + plan.gamma * new)
        state.w[i] = new
    deform(plan, state)


@verb
def improve(plan, state, excitation, k):
    """Judge the trial that was answered. True ends the step; otherwise the next trial stands ready."""
    m = bind(Iteration, state.newton)
    collect(plan, state)
    scale = residual(plan, state, m, excitation, k)
    ended = False
    if m.tally[COLUMN] >= 0:
        differentiate(plan, m)
    else:
        ended = judge(plan, m, scale)
    if ended:
        state.clock[STEP] += 1.0
        report(plan, state)
    else:
        impose(plan, state, m)
    return ended


@verb
def residual(plan, state, m, excitation, k):
    """Residual of the equation of motion; returns its largest term."""
    n = plan.n
    for i in range(n):
        m.answer[i] = plan.alpha_f * state.g[i]
        m.inertia[i] = 0.0
    balance(plan, state, excitation, k)
    add_product(n, plan.M, m.weighted, m.inertia)
    scale = 0.0
    for i in range(n):
        m.answer[i] = m.inertia[i] - (1.0 - plan.alpha_f) * state.g[i] - m.answer[i]
        scale = max(scale, abs(m.inertia[i]), abs(state.r[i]), abs(state.g[i]))
    return scale


@verb
def judge(plan, m, scale):
    """End the iteration, or halve a correction that led too far, or begin with the first column of a new tangent."""
    n = plan.n
    for i in range(n):
        m.residual[i] = m.answer[i]
    worst = modulus(m.residual, n)
    m.tally[TRIED] += 1
    m.tally[CONVERGED] = int(m.tally[SETTLED] == 1 or worst <= TOLERANCE * scale)
    ended = m.tally[CONVERGED] == 1 or not np.isfinite(worst) or m.tally[TRIED] == TRIALS
    if not ended and worst > m.number[WORST] and m.tally[HALVED] < HALVINGS:  # as where a crack closes: half way back
        m.tally[HALVED] += 1
        for i in range(n):
            m.correction[i] *= 0.5
            m.increment[i] += m.correction[i]
    elif not ended:
        m.number[WORST], m.tally[HALVED] = worst, 0
        shift(m, 0)
    return ended


@verb
def shift(m, column):
    """Move one degree of freedom a little, to see what that does to the residual."""
    m.tally[COLUMN], m.number[KEPT] = column, m.increment[column]
    m.increment[column] += DIFFERENCE * m.number[SIZE]


@verb
def differentiate(plan, m):
    """One more column of the tangent; with the last one, the correction of the increment."""
    n, j = plan.n, m.tally[COLUMN]
    for i in range(n):
        m.tangent[i * n + j] = (m.answer[i] - m.residual[i]) / (m.increment[j] - m.number[KEPT])
    m.increment[j] = m.number[KEPT]
    if j + 1 < n:
        shift(m, j + 1)
    else:
        m.tally[COLUMN] = -1
        eliminate(m.tangent, m.residual, n)
        for i in range(n):
            m.correction[i] = m.residual[i]
            m.increment[i] -= m.correction[i]
        m.tally[SETTLED] = int(modulus(m.correction, n) <= CORRECTION * (m.number[SIZE] + m.number[LARGEST]))


@verb
def modulus(vector, n):
    """Largest modulus of the entries; nan where any is nan."""
    largest = 0.0
    for i in range(n):
        if vector[i] != vector[i]:
            return vector[i]
        largest = max(largest, abs(vector[i]))
    return largest


@verb
def eliminate(matrix, b, n):
    """Solve ``matrix x = b`` in place by elimination with row exchange; the answer replaces `b`."""
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(matrix[i * n + k]) > abs(matrix[pivot * n + k]):
                pivot = i
        for j in range(n):
            matrix[k * n + j], matrix[pivot * n + j] = matrix[pivot * n + j], matrix[k * n + j]
        b[k], b[pivot] = b[pivot], b[k]
        for i in range(k + 1, n):
            factor = matrix[i * n + k] / matrix[k * n + k]
            for j in range(k, n):
                matrix[i * n + j] -= factor * matrix[k * n + j]
            b[i] -= factor * b[k]
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, n):
            b[k] -= matrix[k * n + j] * b[j]
        b[k] /= matrix[k * n + k]
