"""What a tick that begins too late passes over, and what stands in for it.

In such a tick the blocks that keep up are advanced as always; of the others the outputs stay as they are. The forces of
modelled sites may go on along a line meanwhile, and guards may be told that their model has not been computed.
"""

from typing import NamedTuple

from hyloop.core.jit import Floats, Ints, verb

__all__ = ["Overrun", "go_on", "remember", "tell"]

_LAST, _BEFORE, _COUNT = range(3)  # of `Overrun.known`


class Overrun(NamedTuple):
    """Which blocks keep up, and where the stand-ins lie on the bus."""

    keeps: Ints  # of every block: whether a late tick advances it, too
    guards: int  # how many are told that a tick is late, and where
    guard: Ints
    reach: int  # ticks for which forces go on along a line; 0: they stay
    forces: int  # how many do, and where they are
    force: Ints
    line: Floats  # scratch: of each of them the last value that was computed, and the one before
    known: Ints  # scratch: ticks of the two, and how many there are


@verb
def remember(overrun, bus, tick):
    """Note the forces of the tick that has ended, if they were computed."""
    overrun.known[_BEFORE] = overrun.known[_LAST]
    overrun.known[_LAST] = tick
    overrun.known[_COUNT] = min(overrun.known[_COUNT] + 1, 2)
    for k in range(overrun.forces):
        overrun.line[2 * k + 1] = overrun.line[2 * k]
        overrun.line[2 * k] = bus[overrun.force[k]]


@verb
def go_on(overrun, bus, tick):
    """Forces on the line through the last two that were computed, or at its end; whether they have moved along it."""
    if overrun.known[_COUNT] < 2:
        return 0
    ahead = tick - overrun.known[_LAST]
    part = min(ahead, overrun.reach) / (overrun.known[_LAST] - overrun.known[_BEFORE])
    for k in range(overrun.forces):
        last = overrun.line[2 * k]
        bus[overrun.force[k]] = last + part * (last - overrun.line[2 * k + 1])
    return int(ahead <= overrun.reach)


@verb
def tell(overrun, bus, late):
    """Tell the guards how many ticks late the present one is."""
    for k in range(overrun.guards):
        bus[overrun.guard[k]] = late
