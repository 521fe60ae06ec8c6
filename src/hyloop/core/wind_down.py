"""After a trip: the structure stands still, and the interlocks bring all rigs to their safe state.

The sites keep the deformation they have, so nothing new is wanted of any rig; only the blocks of physical sites run on,
tick by tick, and rows are recorded with time going on. A wind-down is a whole number of steps long: until every
interlock has settled, or as long as it may take.
"""

from hyloop.core.jit import bind, jit, pointer, verb
from hyloop.core.kernel import advance, record
from hyloop.core.plan import CALLED, INTERLOCKED, OK, PLACE, STATUS, STEP, Plan, State

__all__ = ["halt", "interlocked", "step_down", "wind_down"]


@verb
def interlocked(plan, state, status, called):
    """Status of the step just made, in which an interlock may have tripped; the clock notes which.

    One that tripped by itself counts before others that were told to by it. Where the run is `called` off anyway, those
    that were told to are no news.
    """
    if status != OK:
        return status
    reason = 0
    for i in range(plan.interlocks):
        own = int(state.bus[plan.trips[i]])
        if own > reason and reason <= CALLED:
            reason = own
            state.clock[PLACE] = i
    if reason == 0 or (reason == CALLED and called):
        return OK
    state.clock[STATUS] = INTERLOCKED
    return INTERLOCKED


@verb
def halt(plan, state, why):
    """Hold all sites where they are, and tell the interlocks, unless they know already."""
    for s in range(plan.sites):
        state.bus[plan.site_signal[4 * s + 1]] = 0.0
        state.bus[plan.site_signal[4 * s + 2]] = 0.0
    if state.bus[plan.bus_stop] == 0.0:
        state.bus[plan.bus_stop] = why


@verb
def settled(plan, state):
    """Whether every rig is in its safe state."""
    moving = 0
    for i in range(plan.interlocks):
        moving += int(state.bus[plan.settles[i]] == 0.0)
    return moving == 0


@verb
def pause(plan, state):
    """What a run on the clock does before a tick; here nothing."""


def _step_down(plan, state, rows, row):
    """The ticks of one step with the structure at rest, recorded from `row` on; whether every rig is safe now."""
    for j in range(plan.substeps):
        pause(plan, state)
        for b in range(plan.physical):
            advance(plan, state, b)
        if plan.every_tick and j + 1 < plan.substeps:
            record(plan, state, rows, row + j)
    state.clock[STEP] += 1.0
    state.bus[0] = state.clock[STEP] * plan.dt
    record(plan, state, rows, row + (plan.substeps - 1) * plan.every_tick)
    return settled(plan, state)


step_down = verb(_step_down)


@jit
def wind_down(plan_words, state_words, why, steps, rows):
    """Bring all rigs to their safe state in at most so many steps, and return how many were made.

    `why` is what the interlocks note that have not tripped by themselves, such as `hyloop.core.plan.FAULT`. Made in
    several calls it is the same.
    """
    plan, state = bind(Plan, plan_words), bind(State, state_words)
    stride = plan.substeps if plan.every_tick else 1
    for k in range(steps):
        halt(plan, state, why)
        if step_down(plan, state, pointer(rows), k * stride):
            return k + 1
    return steps
