"""The functions a law may use, as scalar Numba helpers.

A law is written against the name ``np``. In Python that is NumPy, under JAX it is ``jax.numpy`` and in the
loop it is this module: NumPy's own ``where`` and ``clip`` cost about 100 ns on scalars in Numba, these cost
nothing. A function missing here is not part of the dialect.
"""

import math

from numba import njit

__all__ = [
    "abs",
    "clip",
    "cos",
    "exp",
    "log",
    "log1p",
    "maximum",
    "minimum",
    "pi",
    "power",
    "sign",
    "sin",
    "sqrt",
    "tanh",
    "where",
]

pi = math.pi


@njit(inline="always")
def where(condition, a, b):
    return a if condition else b


@njit(inline="always")
def maximum(a, b):
    return a if a > b or a != a else b


@njit(inline="always")
def minimum(a, b):
    return a if a < b or a != a else b


@njit(inline="always")
def clip(a, low, high):
    return minimum(maximum(a, low), high)


@njit(inline="always")
def sign(a):
    # as in NumPy, the sign of nan is nan: a broken signal must stay visible
    return 1.0 if a > 0.0 else (-1.0 if a < 0.0 else (0.0 if a == 0.0 else a))


@njit(inline="always")
def abs(a):
    return math.fabs(a)


@njit(inline="always")
def power(a, b):
    # the usual exponents without the 30 ns of a general power
    if b == 1.0:
        return a
    return a * a if b == 2.0 else a**b


@njit(inline="always")
def exp(a):
    return math.exp(a)


@njit(inline="always")
def log(a):
    return math.log(a)


@njit(inline="always")
def log1p(a):
    return math.log1p(a)


@njit(inline="always")
def sqrt(a):
    return math.sqrt(a)


@njit(inline="always")
def tanh(a):
    return math.tanh(a)


@njit(inline="always")
def sin(a):
    return math.sin(a)


@njit(inline="always")
def cos(a):
    return math.cos(a)
