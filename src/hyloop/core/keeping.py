"""Copies of the state of a run that goes on, for a thread that writes them to a disk.

There are two places, taken in turn. Each has a number beside it: the step that its copy belongs to, or -1 while it is
being written. Who reads a place and finds the same number before and after has a whole copy; nobody waits for anybody.
"""

from typing import Any

from numba import types
from numba.extending import intrinsic

from hyloop.core.jit import verb

__all__ = ["PLACES", "keep"]

PLACES = 2
_WRITING = -1


@intrinsic
def _fence(typingctx: Any) -> Any:
    """What was written before is seen by other processors before what is written after."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        builder.fence("release")
        return context.get_dummy_value()

    return types.void(), generate


@verb
def keep(memory, size, step, places, steps):
    """Copy `memory` into the place whose turn it is."""
    turn = 0 if steps[0] <= steps[1] else 1
    steps[turn] = _WRITING
    _fence()
    for k in range(size):
        places[turn * size + k] = memory[k]
    _fence()
    steps[turn] = step
