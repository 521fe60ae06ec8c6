"""A device law as the measurement model of a filter: what of it is followed, and its force after one tick."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from numba import carray

from hyloop.core.block import Block, rebind
from hyloop.core.jit import verb
from hyloop.core.memory import laid_out

__all__ = ["Settings", "finite", "fix", "free_first", "measurement", "move_on", "settings"]

law: Any = None  # bound by `measurement`; as a closure variable it would enter Numba's cache key


class Settings(NamedTuple):
    """Where the parameters of a filter's block begin."""

    fixed: int  # parameters of the law that are not free
    own: int  # of the filter itself
    free: int  # of every free parameter: `Carried` or `Scaled`
    walks: int  # process noise of every filtered state


def free_first(block: Block, free: tuple[int, ...]) -> tuple[int, ...]:
    """Positions of all parameters of a law: those at `free`, then the others."""
    return (*free, *(k for k in range(len(block.params)) if k not in free))


def settings(block: Block, n: int, own: Any, each: Any) -> Settings:
    """Lay out the parameters of a filter: NamedTuples say what its own are, and those of each of `n` free ones."""
    sizes = {"fixed": len(block.params) - n, "own": len(own._fields), "free": n * len(each._fields), "walks": 0}
    return laid_out(Settings, sizes)[0]


def measurement(block: Block) -> Callable:
    """Compile ``measure(x, u, dt, p, x_new, y) -> f``: the force after one tick from the state `x`, which it keeps.

    The vectors are pointers. The law is compiled into its caller, not called through its address: a filter is itself a
    block, whose state and parameters go into snapshots, and an address is of no use in the process that restores one.
    """
    nx, nu, n_p, ny = len(block.state), len(block.inputs), len(block.params), len(block.outputs)
    f = list(block.outputs).index("f")

    def inplace(x, u, dt, p, x_new, y):
        for i in range(nx):
            x_new[i] = x[i]
        law(carray(x_new, (nx,)), carray(u, (nu,)), dt, carray(p, (n_p,)), carray(y, (ny,)))
        return y[f]

    def pure(x, u, dt, p, x_new, y):
        outputs, new = law(carray(x, (nx,)), carray(u, (nu,)), dt, carray(p, (n_p,)))
        for i in range(nx):
            x_new[i] = new[i]
        return outputs[f]

    def stateless(x, u, dt, p, x_new, y):
        outputs, _ = law(carray(x, (nx,)), carray(u, (nu,)), dt, carray(p, (n_p,)))
        return outputs[f]

    function = (pure if nx else stateless) if block.pure else inplace
    return verb(rebind(function, law=block.compiled))


@verb
def fix(n, order, params, fixed):
    """Put the parameters that are not free to their places among those of the law, where `n` are free."""
    for k in range(len(order) - n):
        params[order[n + k]] = fixed[k]


@verb
def finite(x, n):
    """Whether the first `n` numbers are finite."""
    whole = True
    for k in range(n):
        whole = whole and math.isfinite(x[k])
    return whole


@verb
def move_on(state, new, n):
    """Take over the new state of a device, if it is whole: a broken input must not break the device for good."""
    if finite(new, n):
        for k in range(n):
            state[k] = new[k]
