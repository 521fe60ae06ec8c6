"""The drivers of a run: its start, and any number of steps in one compiled call.

All take plan and state as tables (`hyloop.core.jit.Table`). A live step is a run of one row, so both agree to the last
bit.
"""

from hyloop.core.jit import bind, jit, pointer
from hyloop.core.kernel import advance, newton_tick, resist, resist_sparse, sparse_tick, tick
from hyloop.core.motion import balance, collect, load, report
from hyloop.core.plan import OK, Plan, State
from hyloop.core.wind_down import interlocked

__all__ = ["begin", "run", "settle"]


@jit
def run(plan_words, state_words, steps, excitation, rows):
    """Make a number of steps; `excitation` has the values for one after another, `rows` takes what is recorded.

    Returns the number of steps made, the failing one included; -1, and nothing moves, if the excitation has another
    length.
    """
    plan, state = bind(Plan, plan_words), bind(State, state_words)
    if excitation.size != steps * plan.excitations:
        return -1
    stride = plan.substeps if plan.every_tick else 1
    for i in range(steps):
        if plan.implicit:
            status = newton_tick(plan, state, pointer(excitation), i * plan.excitations, pointer(rows), i * stride)
        elif plan.sparse:
            status = sparse_tick(plan, state, pointer(excitation), i * plan.excitations, pointer(rows), i * stride)
        else:
            status = tick(plan, state, pointer(excitation), i * plan.excitations, pointer(rows), i * stride)
        if plan.interlocks:
            status = interlocked(plan, state, status, False)
        if status != OK:
            return i + 1
    return steps


@jit
def begin(plan_words, state_words, excitation, moved):
    """Unbalanced force of the initial state; `moved` tells whether devices start away from rest."""
    plan, state = bind(Plan, plan_words), bind(State, state_words)
    if plan.sparse:
        resist_sparse(plan, state)
    else:
        resist(plan, state)
    if moved:
        for b in range(plan.blocks):
            advance(plan, state, b)
    collect(plan, state)
    if plan.sparse:
        load(plan, state, pointer(excitation), 0)
    else:
        balance(plan, state, pointer(excitation), 0)


@jit
def settle(plan_words, state_words):
    """Put the initial state on the bus."""
    report(bind(Plan, plan_words), bind(State, state_words))
