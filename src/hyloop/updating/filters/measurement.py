"""A device law as the measurement model of a filter."""

from collections.abc import Callable
from typing import Any

from numba import njit

from hyloop.core.block import Block, rebind

__all__ = ["measurement"]

law: Any = None  # bound by `measurement`; as a closure variable it would enter Numba's cache key


def measurement(block: Block) -> Callable:
    """Compile ``measure(x, u, dt, p, x_new, y) -> f``: the force after one tick from the state `x`, which it keeps.

    The law is compiled into its caller, not called through its address: a filter is itself a block, whose state and
    parameters go into snapshots, and an address is of no use in the process that restores one.
    """
    nx, ny, f = len(block.state), len(block.outputs), list(block.outputs).index("f")

    def inplace(x, u, dt, p, x_new, y):
        for i in range(nx):
            x_new[i] = x[i]
        law(x_new, u, dt, p, y[:ny])
        return y[f]

    def pure(x, u, dt, p, x_new, y):
        outputs, new = law(x, u, dt, p)
        for i in range(nx):
            x_new[i] = new[i]
        return outputs[f]

    def stateless(x, u, dt, p, x_new, y):
        outputs, _ = law(x, u, dt, p)
        return outputs[f]

    function = (pure if nx else stateless) if block.pure else inplace
    return njit(nogil=True, error_model="numpy")(rebind(function, law=block.compiled))
