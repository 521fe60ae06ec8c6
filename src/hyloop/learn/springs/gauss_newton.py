r"""Least squares through a simulation: forward sensitivities and Levenberg-Marquardt with a ridge.

.. math:: \min_\theta \sum_i |r_i(\theta)|^2 + \rho\, |R\theta - c|^2

The recurrence and its derivative run side by side, and J^T J and J^T r are summed up while they run: no history of J is
kept, and the horizon is a number of the run, so that a growing horizon needs no further compilation.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from hyloop.core.levenberg_marquardt import Nielsen, minimise, together

__all__ = ["Minimum", "levenberg_marquardt", "normal_equations"]

FIRST_DAMPING = 1e-3  # of the diagonal


def normal_equations(build: Callable, advance: Callable, begin: Callable, theta, inputs, measured, weight, n):
    """Sum of squares, J'r and J'J of a recurrence over its first n samples of time.

    Parameters
    ----------
    build : callable
        ``build(theta) -> model``, whatever a step needs of the parameters, a tree of arrays; made once, with its
        derivative, so that a factorisation in it costs nothing in a step.
    advance : callable
        ``advance(model, x, input) -> (x, outputs)`` for one history.
    begin : callable
        ``begin(model) -> x`` for all histories, stacked.
    theta : (p,)
        Parameters.
    inputs : tree of (steps, histories, ...)
        What drives the histories.
    measured : (steps, histories, outputs)
        What the outputs should be.
    weight : (outputs,)
        Factor of each output.
    n : int or traced integer
        Horizon.
    """
    p = theta.size

    def along(function, primals, tangents):
        return jax.vmap(lambda *tangents: jax.jvp(function, primals, tangents), out_axes=(None, 0))(*tangents)

    model, dmodel = along(build, (theta,), (jnp.eye(p),))

    def tick(i, carry):
        x, dx, cost, gradient, curvature = carry
        driving = jax.tree.map(lambda a: jax.lax.dynamic_index_in_dim(a, i, keepdims=False), inputs)
        target = jax.lax.dynamic_index_in_dim(measured, i, keepdims=False)

        def step(model, x):
            return jax.vmap(lambda x, entry: advance(model, x, entry))(x, driving)

        (x, y), (dx, dy) = along(step, (model, x), (dmodel, dx))
        r, J = (weight * (y - target)).ravel(), (weight * dy).reshape(p, -1)
        return x, dx, cost + r @ r, gradient + J @ r, curvature + J @ J.T

    x, dx = along(begin, (model,), (dmodel,))
    start = (x, dx, jnp.zeros(()), jnp.zeros(p), jnp.zeros((p, p)))
    return jax.lax.fori_loop(0, n, tick, start)[2:]


class Minimum(NamedTuple):
    """Where a descent ended."""

    theta: np.ndarray
    squares: float  # of the residuals alone
    iterations: int
    converged: bool


def levenberg_marquardt(
    evaluate: Callable[[np.ndarray], tuple[Any, Any, Any]],
    theta: np.ndarray,
    prior: np.ndarray,
    centre: np.ndarray,
    ridge: float,
    *,
    iterations: int = 30,
    tolerance: float = 1e-6,
) -> Minimum:
    """Descend from `theta`; a step to where the residuals are not finite is refused like one that climbs.

    Parameters
    ----------
    evaluate : callable
        ``evaluate(theta) -> (sum of squares, J'r, J'J)``.
    prior, centre : (rows, p), (rows,)
        R and c of the ridge.
    ridge : float
        Its weight ρ: the variance of the residuals if the rows of R have unit variance.
    iterations : int
        Largest number of evaluations after the first.
    tolerance : float
        Descent ends when a step promises less than this part of the cost.
    """

    def halves(theta):
        squares, gradient, curvature = (np.asarray(part) for part in evaluate(theta))
        return float(squares) / 2, gradient, curvature

    def around_centre(theta):
        off = prior @ theta - centre
        return ridge * off @ off / 2, ridge * prior.T @ off, ridge * prior.T @ prior

    found = minimise(
        *together(halves), theta, Nielsen(FIRST_DAMPING), prior=around_centre, trials=iterations, tolerance=tolerance
    )
    return Minimum(found.theta, 2 * found.cost, found.trials, found.converged)
