"""The monitor of every trained block: how many ticks had an input outside the training range, and how far."""

import numpy as np

from hyloop.core.jit import verb

__all__ = ["MONITOR", "beyond", "monitor", "note_excess"]

# named states of a monitored block, one after the other
MONITOR = {"ticks_outside": "-", "largest_excess": "-"}


@verb
def beyond(value, low, high):
    """Distance beyond a range, as a part of its width; where there is no width, in the unit of the signal."""
    if low <= value <= high:
        return 0.0
    if value != value:
        return np.inf
    width = high - low if 0.0 < high - low < np.inf else 1.0
    return max(low - value, value - high) / width


@verb
def note_excess(x, at, excess):
    """Count a tick outside, in the two states at `at`."""
    if excess > 0.0:
        x[at] += 1.0
        x[at + 1] = max(x[at + 1], excess)


@verb
def monitor(x, at, u, inputs, ranges):
    """Compare the inputs with the pairs (low, high) that begin at ``x[ranges]``; the states are at `at`."""
    excess = 0.0
    for k in range(inputs):
        excess = max(excess, beyond(u[k], x[ranges + 2 * k], x[ranges + 2 * k + 1]))
    note_excess(x, at, excess)
