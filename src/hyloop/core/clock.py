"""The monotonic clock of the operating system, read and waited for inside compiled code."""

import time

import numpy as np
from numba import types

from hyloop.core.jit import pointer, verb

__all__ = ["nanoseconds", "now", "sleep_until"]

_MONOTONIC, _ABSOLUTE = time.CLOCK_MONOTONIC, 1
_SECOND = 1_000_000_000  # ns
_TIME = types.CPointer(types.int64)  # struct timespec: seconds and nanoseconds
_read = types.ExternalFunction("clock_gettime", types.int32(types.int32, _TIME))
_sleep = types.ExternalFunction("clock_nanosleep", types.int32(types.int32, types.int32, _TIME, _TIME))


@verb
def now(scratch):
    """Seconds of the monotonic clock; `scratch` is an array of two float64, whose bytes are overwritten."""
    parts = scratch.view(np.int64)
    _read(_MONOTONIC, pointer(parts))
    seconds = parts[0] + 1e-9 * parts[1]
    scratch[0] = 0.0  # the bytes of an integer are no number to leave in a state
    scratch[1] = 0.0
    return seconds


@verb
def nanoseconds(parts):
    """The monotonic clock in ns; `parts` points to two int64, which are overwritten."""
    _read(_MONOTONIC, parts)
    return parts[0] * _SECOND + parts[1]


@verb
def sleep_until(t, parts):
    """Sleep until the clock shows `t` in ns, or a signal comes; a time that has passed returns at once."""
    parts[0] = t // _SECOND
    parts[1] = t % _SECOND
    _sleep(_MONOTONIC, _ABSOLUTE, parts, parts)
