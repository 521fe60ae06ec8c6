"""The drivers of a run: its start, and any number of steps in one compiled call.

All take plan and state as tables (`hyloop.core.jit.table`). A live step is a run of one row, so both agree to the
last bit.
"""

from hyloop.core.jit import bind, jit, pointer
from hyloop.core.kernel import OK, Plan, State, advance, balance, collect, load, report, resist, tick
from hyloop.core.newton import newton_tick
from hyloop.core.sparse_tick import resist as resist_sparse
from hyloop.core.sparse_tick import sparse_tick

__all__ = ["begin", "run", "settle"]


@jit
def run(plan_table, state_table, excitation, rows):
    """Step through the rows of `excitation`; returns the number of steps made, the failing one included."""
    plan, state = bind(Plan, plan_table), bind(State, state_table)
    stride = plan.substeps if plan.every_tick else 1
    for i in range(excitation.shape[0]):
        if plan.implicit:
            status = newton_tick(plan, state, pointer(excitation), i * plan.excitations, pointer(rows), i * stride)
        elif plan.sparse:
            status = sparse_tick(plan, state, pointer(excitation), i * plan.excitations, pointer(rows), i * stride)
        else:
            status = tick(plan, state, pointer(excitation), i * plan.excitations, pointer(rows), i * stride)
        if status != OK:
            return i + 1
    return excitation.shape[0]


@jit
def begin(plan_table, state_table, excitation, moved):
    """Unbalanced force of the initial state; `moved` tells whether devices start away from rest."""
    plan, state = bind(Plan, plan_table), bind(State, state_table)
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
def settle(plan_table, state_table):
    """Put the initial state on the bus."""
    report(bind(Plan, plan_table), bind(State, state_table))
