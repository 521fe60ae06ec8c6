"""A device law as the measurement model of a filter: what of it is followed, and its force after one tick."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from numba import carray

from hyloop.core.block import Block, rebind
from hyloop.core.jit import verb
from hyloop.core.memory import laid_out

__all__ = ["Followed", "Settings", "finite", "fix", "followed", "measurement", "move_on", "settings"]

law: Any = None  # bound by `measurement`; as a closure variable it would enter Numba's cache key


class Followed(NamedTuple):
    """A law and what is followed of it, all in numbers, so that Numba's cache finds a function with it in its closure."""

    n: int  # free parameters
    fixed: int  # other parameters
    states: int
    inputs: int
    order: tuple[int, ...]  # where the free parameters stand among all of the law, then the others
    bounds: int  # rule for the free parameters
    each: int  # settings of a free parameter: scale, bounds and, where it walks at random, its walk


class Settings(NamedTuple):
    """Where the parameters of a filter's block begin."""

    fixed: int  # parameters of the law that are not free
    own: int  # of the filter itself
    free: int  # of every free parameter
    walks: int  # process noise of every filtered state


def followed(block: Block, free: tuple[int, ...], bounds: int, walk: bool = True) -> Followed:
    """The parameters of `block` at the positions `free` are followed; with `walk` each has a random walk."""
    n_p = len(block.params)
    order = (*free, *(k for k in range(n_p) if k not in free))
    return Followed(len(free), n_p - len(free), len(block.state), len(block.inputs), order, bounds, 4 if walk else 3)


def settings(law: Followed, own: Any) -> Settings:
    """Lay out the parameters of a filter with the NamedTuple `own` for its own ones."""
    sizes = {"fixed": law.fixed, "own": len(own._fields), "free": law.n * law.each, "walks": 0}
    return laid_out(Settings, sizes)[0]


def measurement(block: Block) -> Callable:
    """Compile ``measure(x, u, dt, p, x_new, y) -> f``: the force after one tick from the state `x`, which it keeps.

    All but `u` are pointers. The law is compiled into its caller, not called through its address: a filter is itself a
    block, whose state and parameters go into snapshots, and an address is of no use in the process that restores one.
    """
    nx, n_p, ny, f = len(block.state), len(block.params), len(block.outputs), list(block.outputs).index("f")

    def inplace(x, u, dt, p, x_new, y):
        for i in range(nx):
            x_new[i] = x[i]
        law(carray(x_new, (nx,)), u, dt, carray(p, (n_p,)), carray(y, (ny,)))
        return y[f]

    def pure(x, u, dt, p, x_new, y):
        outputs, new = law(carray(x, (nx,)), u, dt, carray(p, (n_p,)))
        for i in range(nx):
            x_new[i] = new[i]
        return outputs[f]

    def stateless(x, u, dt, p, x_new, y):
        outputs, _ = law(carray(x, (nx,)), u, dt, carray(p, (n_p,)))
        return outputs[f]

    function = (pure if nx else stateless) if block.pure else inplace
    return verb(rebind(function, law=block.compiled))


@verb
def fix(law, params, fixed):
    """Put the parameters that are not free to their places among those of the law."""
    for k in range(law.fixed):
        params[law.order[law.n + k]] = fixed[k]


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
