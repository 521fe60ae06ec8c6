"""The monotonic clock of the operating system, readable inside compiled code."""

import time

import numpy as np
from numba import types

from hyloop.core.jit import pointer, verb

__all__ = ["now"]

_MONOTONIC = time.CLOCK_MONOTONIC
_read = types.ExternalFunction("clock_gettime", types.int32(types.int32, types.CPointer(types.int64)))


@verb
def now(scratch):
    """Seconds of the monotonic clock; `scratch` is an array of two float64, whose bytes are overwritten."""
    parts = scratch.view(np.int64)
    _read(_MONOTONIC, pointer(parts))
    seconds = parts[0] + 1e-9 * parts[1]
    scratch[0] = 0.0  # the bytes of an integer are no number to leave in a state
    scratch[1] = 0.0
    return seconds
