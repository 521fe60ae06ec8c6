"""Pure laws under JAX: the same source as in the loop, differentiable.

JAX computes in single precision unless told otherwise before its first array: set the environment variable
``JAX_ENABLE_X64=1`` or call ``jax.config.update("jax_enable_x64", True)``.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp

from hyloop.core.block import Block, Instance, rebind
from hyloop.errors import BadInput

__all__ = ["jax_drive", "jax_law", "rollout"]


def jax_law(block: Block) -> Callable:
    """The law ``law(x, u, dt, p) -> (outputs, new state)`` of a pure block with ``np`` bound to `jax.numpy`."""
    if not block.pure:
        raise BadInput(
            f"{block.name}: only a pure law (made with `block`) can be differentiated; this one is written in place "
            "for Numba alone. Choose a pure law."
        )
    return rebind(block.function, np=jnp)


@cache
def rollout(block: Block) -> Callable:
    """Make ``roll(x, u, dt, p) -> (y, states)``, the law scanned over samples, compiled and differentiable.

    Shapes are x (states,), u (samples, inputs), p (parameters,), y (samples, outputs) and states (samples, states).
    """
    law = jax_law(block)

    @jax.jit
    def roll(x, u, dt, p):
        def step(x, u):
            outputs, new = law(x, u, dt, p)
            x = jnp.stack(new) if block.state else x
            return x, (jnp.stack(outputs), x)

        return jax.lax.scan(step, x, u)[1]

    return roll


def jax_drive(instance: Instance, dt: float, **signals: Any) -> dict[str, jax.Array]:
    """Drive a law open loop under JAX; takes and returns what `Instance.drive` does, in double precision.

    Parameters
    ----------
    dt : float
        Sampling interval in s.
    **signals
        One array for each input of the block, all of the same length.
    """
    if jnp.zeros(1).dtype != jnp.float64:
        raise BadInput(
            "jax_drive: laws are computed in double precision, which JAX has switched off. Set JAX_ENABLE_X64=1 or "
            'call jax.config.update("jax_enable_x64", True) before the first use of JAX.'
        )
    block = instance.block
    x = jnp.array(list(instance.initial.values()), dtype=float)
    p = jnp.array(list(instance.params.values()), dtype=float)
    u = jnp.stack([jnp.asarray(signal, dtype=float) for signal in block.ordered(signals)], axis=1)
    y, states = rollout(block)(x, u, dt, p)
    return {key: y[:, i] for i, key in enumerate(block.outputs)} | {
        key: states[:, i] for i, key in enumerate(block.state)
    }
