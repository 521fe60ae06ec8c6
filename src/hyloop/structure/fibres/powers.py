"""Powers that a loop over many members can take several at a time.

A call of the C library in a loop keeps the compiler from using the vector unit; arithmetic does not. The logarithm and
the exponential are here as plain series, long enough that what is cut off lies below the last bit.
"""

import math
from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

__all__ = ["power"]

_SHIFT = 6755399441055744.0  # 1.5 * 2**52: added to a number below 2**51 it leaves the nearest integer in the low bits
_SHIFT_BITS = 0x4338000000000000
_ROOT_BITS = 0x3FE6A09E667F3BCD  # sqrt(1/2)
_LOWEST = -1000.0  # 2**-1000 stands for zero
_LOG2 = math.log(2.0)


@intrinsic
def _bits(typingctx: Any, number: Any) -> Any:
    """The 64 bits of a float64 as a whole number."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), generate


@intrinsic
def _number(typingctx: Any, bits: Any) -> Any:
    """The float64 with these 64 bits."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), generate


@numba.njit(inline="always", error_model="numpy")
def _log2(a):
    """log2 a = k + (2/ln 2) artanh((m - 1)/(m + 1)) with a = 2^k m and m between sqrt(1/2) and sqrt(2)."""
    bits = _bits(a)
    k = (bits - _ROOT_BITS) >> 52
    m = _number(bits - (k << 52))
    s = (m - 1.0) / (m + 1.0)
    t = s * s  # at most 0.0295: eleven terms, in two halves that run side by side
    tt = t * t
    even = 1.0 + tt * (1 / 5 + tt * (1 / 9 + tt * (1 / 13 + tt * (1 / 17 + tt * (1 / 21)))))
    odd = 1 / 3 + tt * (1 / 7 + tt * (1 / 11 + tt * (1 / 15 + tt * (1 / 19))))
    return (_number(k + _SHIFT_BITS) - _SHIFT) + (2.0 / _LOG2) * s * (even + t * odd)


@numba.njit(inline="always", error_model="numpy")
def _exp2(a):
    """2^a = 2^n e^(f ln 2) with n the nearest integer and f at most one half: fourteen terms."""
    a = a if a > _LOWEST else _LOWEST
    shifted = a + _SHIFT
    f = (a - (shifted - _SHIFT)) * _LOG2
    ff = f * f
    even = 1.0 + ff * (
        1 / 2 + ff * (1 / 24 + ff * (1 / 720 + ff * (1 / 40320 + ff * (1 / 3628800 + ff * (1 / 479001600)))))
    )
    odd = 1.0 + ff * (
        1 / 6 + ff * (1 / 120 + ff * (1 / 5040 + ff * (1 / 362880 + ff * (1 / 39916800 + ff * (1 / 6227020800)))))
    )
    series = even + f * odd
    return _number(_bits(series) + (_bits(shifted) << 52))


@numba.njit(inline="always", error_model="numpy")
def power(a, b):
    """a^b for a >= 0 with a result between 2^-1000 and 2^1000; a = 0 gives 2^-1000, which is 1e-301."""
    return _exp2(b * _log2(a))
