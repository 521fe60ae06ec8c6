"""Fits with exact derivatives: the Jacobian of a law's force over its parameters, by JAX."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from hyloop.core.block import Instance
from hyloop.errors import BadInput
from hyloop.identification import Fit, MeasuredTest, fit
from hyloop.identification.problem import Problem
from hyloop.learn.laws.jax_law import jax_law, rollout

__all__ = ["gradient_fit", "sensitivity"]


def gradient_fit(
    law: Instance,
    tests: MeasuredTest | Sequence[MeasuredTest],
    free: Mapping[str, tuple[float, float]] | Iterable[str],
    **settings: Any,
) -> Fit:
    """As `hyloop.identification.fit` by least squares, for a pure law, with exact derivatives instead of differences.

    Parameters
    ----------
    law, tests, free
        As for `fit`.
    **settings
        ``starts``, ``seed``, ``level`` and ``progress`` of `fit`.
    """
    if jnp.zeros(1).dtype != jnp.float64:
        raise BadInput(
            "gradient_fit: laws are computed in double precision, which JAX has switched off. Set JAX_ENABLE_X64=1 or "
            'call jax.config.update("jax_enable_x64", True) before the first use of JAX.'
        )
    return fit(law, tests, free, sensitivity=sensitivity, **settings)


def sensitivity(problem: Problem) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    r"""Make ``(p, x0) -> (samples, free)``: :math:`\partial f/\partial p` over all tests, one after another.

    A test that begins at the measured force has an initial state that depends on the parameters. Its derivative is
    that of one Newton step from the solution, :math:`x - (f(x, p) - F_0)/(\partial f/\partial x)`.
    """
    block = problem.law.block
    law, roll, out = jax_law(block), rollout(block), list(block.outputs).index("f")
    inputs = [jnp.asarray(np.column_stack([test.inputs[key] for key in block.inputs])) for test in problem.tests]

    def force(free, p, x, u, dt, first, j):
        p = p.at[problem.places].set(free)
        if j >= 0:

            def first_force(value):
                return law(x.at[j].set(value), u[0], dt, p)[0][out]

            slope = jax.lax.stop_gradient(jax.grad(first_force)(x[j]))
            x = x.at[j].add(-(first_force(x[j]) - first) / slope)
        return roll(x, u, dt, p)[0][:, out]

    # forward: few parameters, many samples
    derivative = jax.jit(jax.jacfwd(force), static_argnums=6)

    def columns(p: np.ndarray, x0: np.ndarray) -> np.ndarray:
        parts = [
            derivative(p[problem.places], p, x, u, test.dt, test.f[0], int(j))
            for x, u, test, j in zip(x0, inputs, problem.tests, problem.solved, strict=True)
        ]
        return np.concatenate([np.asarray(part) for part in parts])

    return columns
