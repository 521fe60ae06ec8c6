"""A run on the clock: the same tick, begun at its time, in one compiled call.

Every controller tick waits for an absolute time, so that lateness never adds up: it sleeps until shortly before, then
looks at the clock without a pause. Nothing in here knows of Python: no lock, no memory to collect, no allocation. What
another thread wants to say (stop) or to know (how many rows are there) goes through whole numbers in shared memory.
"""

from typing import NamedTuple

from hyloop.core import kernel
from hyloop.core.clock import nanoseconds, sleep_until
from hyloop.core.jit import Floats, Ints, Table, bind, jit, pointer, rebind, verb
from hyloop.core.keeping import keep
from hyloop.core.overrun import Overrun, go_on, remember, tell
from hyloop.core.plan import CALLED_OFF, FAULT, OK, PLACE, STATUS, TAKEN_OVER, TOO_LATE, Plan, State
from hyloop.core.wind_down import _step_down, halt, interlocked

__all__ = [
    "DONE",
    "DOWN",
    "ENDED",
    "EXTRAPOLATED",
    "MARKS",
    "OVERRUNS",
    "ROWS",
    "STOP",
    "TAKEN",
    "TICK",
    "LiveState",
    "Pace",
    "run_paced",
    "wind_down_paced",
]

DONE, ROWS, STOP, TICK, WOKE, SEEN, OVERRUNS, LATE, ENDED, EXTRAPOLATED, OWN, DOWN, TAKEN = range(13)
MARKS = 13
"""Whole numbers of `Pace.marks`: steps made, rows that are there, wish of another thread to stop, ticks begun, when the
last one began, when the clock was read last, ticks that began too late, how late the present one is in whole ticks,
whether no tick will follow, late ticks in which forces went on along a line, how long the present tick has computed
outside of all blocks, how many of the steps were those of a wind-down, and whether a watchdog has taken the rigs over:
then no block runs any more, whatever the loop does."""


class Pace(NamedTuple):
    """The clock of a run. All times in ns; arrays have one number for each tick, or each block."""

    start: int  # when the run begins
    tick: float
    spin: int  # how long before its time a tick begins to look at the clock
    allowed: int  # lateness that is no overrun yet
    stops: int  # whether an overrun ends the run
    clock: Ints  # scratch, struct timespec
    marks: Ints
    lateness: Ints  # of every tick: when it began, less when it should have
    work: Ints  # of every tick: how long it computed
    block_total: Ints  # of every block, and last of the structure itself: time in all ticks, and in the longest
    block_worst: Ints
    overrun: Table  # of hyloop.core.overrun.Overrun: what a late tick passes over
    keep_every: int  # steps from one copy of the memory to the next; 0: none is made
    kept: Floats  # the copies, and the steps they belong to (hyloop.core.keeping)
    kept_at: Ints


# what changes in a run, and its clock
LiveState = NamedTuple("LiveState", [*State.__annotations__.items(), ("pace", Table)])  # pyright: ignore


@verb
def wait(plan, state):
    """Wait for the time of the next tick, and note how late it begins and how long the last one took."""
    pace = bind(Pace, state.pace)
    if pace.marks[TAKEN]:
        return
    k = pace.marks[TICK]
    time = nanoseconds(pace.clock)
    if k > 0:
        finish(plan, pace, time)
    due = pace.start + int(k * pace.tick)
    while time < due:
        if due - time > pace.spin:
            sleep_until(due - pace.spin, pace.clock)
        time = nanoseconds(pace.clock)
    late = time - due
    pace.lateness[k] = late
    pace.marks[WOKE] = pace.marks[SEEN] = time
    pace.marks[LATE] = pace.marks[OWN] = 0
    if late > pace.allowed:
        pace.marks[OVERRUNS] += 1
        pace.marks[LATE] = 1 + int(late / pace.tick)
        if pace.stops and not pace.marks[STOP]:
            pace.marks[STOP] = TOO_LATE
    if plan.bus_stop and pace.marks[STOP] and state.bus[plan.bus_stop] == 0.0:
        state.bus[plan.bus_stop] = pace.marks[STOP]  # interlocks act in this very tick
    pace.marks[TICK] = k + 1


@verb
def finish(plan, pace, time):
    """Note how long the tick that ends has computed; what no block has taken was the structure's."""
    pace.work[pace.marks[TICK] - 1] = time - pace.marks[WOKE]
    spend(pace, plan.blocks, pace.marks[OWN] + time - pace.marks[SEEN])


@verb
def spend(pace, b, took):
    """Note the time of a block in a tick."""
    pace.block_total[b] += took
    if took > pace.block_worst[b]:
        pace.block_worst[b] = took


@verb
def ramp(plan, state, j):
    """Move every site along its ramp, when it is time, and see to what stands in for models in a late tick."""
    pace = bind(Pace, state.pace)
    overrun = bind(Overrun, pace.overrun)
    if overrun.reach and not pace.marks[LATE]:
        remember(overrun, state.bus, pace.marks[TICK] - 1)
    wait(plan, state)
    if overrun.reach and pace.marks[LATE]:
        pace.marks[EXTRAPOLATED] += go_on(overrun, state.bus, pace.marks[TICK] - 1)
    tell(overrun, state.bus, pace.marks[LATE])
    kernel.ramp(plan, state, j)
    time = nanoseconds(pace.clock)
    pace.marks[OWN] = time - pace.marks[WOKE]
    pace.marks[SEEN] = time


@verb
def advance(plan, state, b):
    """Advance a block, unless a late tick passes it over, and note how long it took."""
    pace = bind(Pace, state.pace)
    if not pace.marks[TAKEN] and (pace.marks[LATE] == 0 or bind(Overrun, pace.overrun).keeps[b]):
        kernel.advance(plan, state, b)
    time = nanoseconds(pace.clock)
    spend(pace, b, time - pace.marks[SEEN])
    pace.marks[SEEN] = time


respond = verb(rebind(kernel._respond, ramp=ramp, advance=advance))
tick = verb(rebind(kernel._tick, respond=respond))
sparse_tick = verb(rebind(kernel._tick, resist=kernel.resist_sparse, correct=kernel.correct_sparse, respond=respond))
step_down = verb(rebind(_step_down, pause=wait, advance=advance))


@verb
def bring_down(plan, state, why, steps, rows, row):
    """Bring all rigs to their safe state in at most so many steps, recording from `row` on."""
    pace = bind(Pace, state.pace)
    stride = plan.substeps if plan.every_tick else 1
    safe = False
    while not safe and steps > 0:
        halt(plan, state, why)
        safe = step_down(plan, state, rows, row)
        if pace.marks[TAKEN]:
            break
        row += stride
        steps -= 1
        pace.marks[DOWN] += 1
        pace.marks[DONE] += 1
        pace.marks[ROWS] += stride


@jit
def run_paced(plan_words, state_words, steps, excitation, rows):
    """`hyloop.core.run` on the clock. Explicit methods only: an implicit one does not know how long it takes."""
    plan, state = bind(Plan, plan_words), bind(LiveState, state_words)
    pace = bind(Pace, state.pace)
    if excitation.size != steps * plan.excitations or plan.implicit:
        return -1
    stride = plan.substeps if plan.every_tick else 1
    status = OK
    for i in range(steps):
        if plan.sparse:
            status = sparse_tick(plan, state, pointer(excitation), i * plan.excitations, pointer(rows), i * stride)
        else:
            status = tick(plan, state, pointer(excitation), i * plan.excitations, pointer(rows), i * stride)
        if pace.marks[TAKEN]:  # this step is not shown: others have made another one
            status = CALLED_OFF
            state.clock[PLACE], state.clock[STATUS] = TAKEN_OVER, status
            break
        if plan.interlocks:
            status = interlocked(plan, state, status, pace.marks[STOP] != 0)
        if status == OK and pace.marks[STOP]:
            status = CALLED_OFF
            state.clock[PLACE] = pace.marks[STOP]
            state.clock[STATUS] = status
        if pace.keep_every and status == OK and (i + 1) % pace.keep_every == 0:
            keep(state.memory, plan.memory, i + 1, pace.kept, pace.kept_at)
        pace.marks[DONE] = i + 1
        pace.marks[ROWS] = (i + 1) * stride  # only now do others see the rows
        if status != OK:
            break
    if status != OK and plan.interlocks and not pace.marks[TAKEN]:
        bring_down(plan, state, FAULT, plan.down, pointer(rows), pace.marks[ROWS])
    if pace.marks[TICK] > 0:
        finish(plan, pace, nanoseconds(pace.clock))
    return pace.marks[DONE]


@jit
def wind_down_paced(plan_words, state_words, why, steps, row, rows):
    """`hyloop.core.wind_down.wind_down` on the clock, recording from `row` on."""
    plan, state = bind(Plan, plan_words), bind(LiveState, state_words)
    bring_down(plan, state, why, steps, pointer(rows), row)
    return bind(Pace, state.pace).marks[DOWN]
