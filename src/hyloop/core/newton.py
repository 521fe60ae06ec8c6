"""One step of an implicit method, solved by Newton's method: the reference the explicit methods are judged by.

Every evaluation starts from a copy of the whole memory, so devices of any kind are advanced from the same
committed state; the tangent is taken by differences. Exact and simple, not fast.
"""

import numpy as np

from hyloop.core.jit import jit
from hyloop.core.kernel import (
    NOT_CONVERGED,
    OK,
    STATUS,
    STEP,
    add_product,
    balance,
    check,
    collect,
    deform,
    record,
    report,
    resist,
    respond,
)

__all__ = ["newton_tick"]

TOLERANCE = 1e-12  # of the largest force in the equation of motion
CORRECTION = 1e-12  # of the displacement: where stiffness multiplies round-off, the residual cannot get smaller
ITERATIONS = 80  # evaluations, those of the tangent not counted
HALVINGS = 5  # of one correction
DIFFERENCE = 1e-7  # relative step of the difference quotient: near the square root of round-off
LEAST = 1e-5  # of the displacement: a structure at rest under its dead load has no increment to take differences by


@jit
def newton_tick(plan, state, excitation, k, rows, row):
    """Advance by one step Δt of Newmark's method or the generalized-α method."""
    n = plan.n
    start, increment = np.empty(plan.memory), np.empty(n)
    for i in range(plan.memory):
        start[i] = state.memory[i]
    size, largest = 1e-12, 0.0
    for i in range(n):
        largest = max(largest, abs(state.u[i]))
        increment[i] = plan.dt * state.v[i] + 0.5 * plan.dt**2 * state.w[i]
        size = max(size, abs(increment[i]))
    size = max(size, LEAST * largest)
    residual, shifted, tangent = np.empty(n), np.empty(n), np.empty((n, n))
    correction, before, halvings = np.zeros(n), np.inf, 0
    converged = settled = False
    for _ in range(ITERATIONS):
        scale = _evaluate(plan, state, start, increment, excitation, k, rows, row, residual)
        worst = _largest(residual)
        converged = settled or worst <= TOLERANCE * scale
        if converged or not np.isfinite(worst):
            break
        if worst > before and halvings < HALVINGS:  # too far, as where a crack closes: half the way back
            halvings += 1
            for i in range(n):
                correction[i] *= 0.5
                increment[i] += correction[i]
            continue
        before, halvings = worst, 0
        for j in range(n):
            kept = increment[j]
            increment[j] = kept + DIFFERENCE * size
            _evaluate(plan, state, start, increment, excitation, k, rows, row, shifted)
            for i in range(n):
                tangent[i, j] = (shifted[i] - residual[i]) / (increment[j] - kept)
            increment[j] = kept
        _solve(tangent, residual)
        for i in range(n):
            correction[i] = residual[i]
            increment[i] -= correction[i]
        settled = _largest(correction) <= CORRECTION * (size + largest)
    state.clock[STEP] += 1.0
    report(plan, state)
    record(plan, state, rows, row + (plan.substeps - 1) * plan.every_tick)
    status = check(plan, state)
    if status == OK and not converged:
        status = NOT_CONVERGED
        state.clock[STATUS] = status
    return status


@jit
def _evaluate(plan, state, start, increment, excitation, k, rows, row, residual):
    """Residual of the equation of motion after a displacement increment; returns its largest term.

    The increment, not the displacement, is the unknown: Δu - Δt v then keeps its digits at small steps.
    """
    n, dt = plan.n, plan.dt
    for i in range(plan.memory):
        state.memory[i] = start[i]
    weighted, inertia, old = np.empty(n), np.zeros(n), np.empty(n)
    for i in range(n):
        u, v, a = state.u[i], state.v[i], state.w[i]
        new = (increment[i] - dt * v) / (plan.beta * dt**2) - (0.5 / plan.beta - 1.0) * a
        weighted[i] = (1.0 - plan.alpha_m) * new + plan.alpha_m * a
        state.u[i], state.v[i], state.w[i] = u + increment[i], v + dt * ((1.0 - plan.gamma) * a + plan.gamma * new), new
        old[i] = state.g[i]
    deform(plan, state)
    resist(plan, state)
    respond(plan, state, rows, row)
    collect(plan, state)
    balance(plan, state, excitation, k)
    add_product(n, plan.M, weighted, inertia)
    scale = 0.0
    for i in range(n):
        residual[i] = inertia[i] - (1.0 - plan.alpha_f) * state.g[i] - plan.alpha_f * old[i]
        scale = max(scale, abs(inertia[i]), abs(state.r[i]), abs(state.g[i]))
    return scale


@jit
def _largest(vector):
    """Largest modulus; nan where any entry is nan (a loop: whole-array expressions compile for seconds)."""
    largest = 0.0
    for value in vector:
        if value != value:
            return value
        largest = max(largest, abs(value))
    return largest


@jit
def _solve(matrix, b):
    """Solve ``matrix x = b`` in place by elimination with row exchange; the answer replaces `b`."""
    n = b.shape[0]
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(matrix[i, k]) > abs(matrix[pivot, k]):
                pivot = i
        for j in range(n):
            matrix[k, j], matrix[pivot, j] = matrix[pivot, j], matrix[k, j]
        b[k], b[pivot] = b[pivot], b[k]
        for i in range(k + 1, n):
            factor = matrix[i, k] / matrix[k, k]
            for j in range(k, n):
                matrix[i, j] -= factor * matrix[k, j]
            b[i] -= factor * b[k]
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, n):
            b[k] -= matrix[k, j] * b[j]
        b[k] /= matrix[k, k]
