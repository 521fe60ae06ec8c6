"""What stops a run: the last verb of a step. Kernels never raise; they return a status code."""

import numpy as np

from hyloop.core.jit import verb
from hyloop.core.newton import converged
from hyloop.core.plan import (
    DISPLACEMENT,
    DRIFT,
    ENERGY,
    IMBALANCE,
    IMPULSE,
    LIMIT,
    NON_FINITE,
    NOT_CONVERGED,
    OK,
    PLACE,
    STATUS,
)

__all__ = ["check"]

FINITE = np.finfo(float).max


@verb
def check(plan, state):
    """Status of the step just made; on failure the clock notes the place (of a displacement, a site or a drift).

    Every comparison is written so that nan fails it.
    """
    outside, even, odd = 0, 0.0, 0.0  # two sums, because each addition waits for the one before
    for i in range(plan.n):
        outside += int(not abs(state.u[i]) <= plan.max_u) + int(not abs(state.w[i]) <= FINITE)
    for i in range(0, plan.n - 1, 2):
        even += plan.mass[i] * state.v[i] ** 2
        odd += plan.mass[i + 1] * state.v[i + 1] ** 2
    if plan.n % 2:
        even += plan.mass[plan.n - 1] * state.v[plan.n - 1] ** 2
    status = OK
    if outside > 0:
        status = displaced(plan, state)
    elif not even + odd <= plan.max_energy * state.clock[IMPULSE] ** 2:
        status = ENERGY
    elif plan.bus_imbalance and not state.bus[plan.bus_imbalance] <= plan.max_imbalance:
        status = IMBALANCE
    else:
        for s in range(plan.sites):
            f = state.bus[plan.site_signal[4 * s + 3]]
            if not (abs(state.d1[s]) <= plan.site_limit[2 * s] and abs(f) <= plan.site_limit[2 * s + 1]):
                status = LIMIT
                state.clock[PLACE] = s
        for s in range(plan.drifts):
            drift = 0.0
            for k in range(plan.drift_start[s], plan.drift_start[s + 1]):
                drift += plan.drift_coef[k] * state.u[plan.drift_dof[k]]
            if not abs(drift) <= plan.drift_limit[s]:
                status = DRIFT
                state.clock[PLACE] = s
    if status == OK and plan.implicit and not converged(state):
        status = NOT_CONVERGED
    state.clock[STATUS] = status
    return status


@verb
def displaced(plan, state):
    """Which displacement is not finite, or the largest of those that are too large.

    A force that is not finite makes all of w so, through a full matrix; the unbalanced force tells where it acts.
    """
    status = DISPLACEMENT
    state.clock[PLACE] = 0
    for i in range(plan.n):
        if abs(state.u[i]) > abs(state.u[int(state.clock[PLACE])]):
            state.clock[PLACE] = i
    for i in range(plan.n - 1, -1, -1):
        if not np.isfinite(state.w[i] + state.u[i]):
            status = NON_FINITE
            state.clock[PLACE] = i
    for i in range(plan.n - 1, -1, -1):
        if status == NON_FINITE and not np.isfinite(state.g[i]):
            state.clock[PLACE] = i
    return status
