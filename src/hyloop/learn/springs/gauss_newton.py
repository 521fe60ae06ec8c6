r"""Least squares through a simulation: forward sensitivities and Levenberg-Marquardt.

.. math:: \min_\theta \sum_i |r_i(\theta)|^2 + \rho\, |R\theta - c|^2, \qquad
    (J^T J + \rho R^T R + \lambda D)\,\delta = -J^T r - \rho R^T (R\theta - c)

The recurrence and its derivative run side by side, and J^T J and J^T r are summed up while they run: no history of J is
kept, and the horizon is a number of the run, so that a growing horizon needs no further compilation.

References
----------
Levenberg (1944); Marquardt (1963), doi:10.1137/0111030; Madsen, Nielsen, Tingleff (2004), Methods for Non-Linear Least
Squares Problems, section 3.2 (damping).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

__all__ = ["Minimum", "levenberg_marquardt", "normal_equations"]

FIRST_DAMPING = 1e-3  # of the diagonal
LARGEST_DAMPING = 1e10  # beyond it a step changes nothing


def normal_equations(advance: Callable, begin: Callable, theta, inputs, measured, weight, n):
    """Sum of squares, J'r and J'J of a recurrence over its first n samples of time.

    Parameters
    ----------
    advance : callable
        ``advance(theta, x, input) -> (x, outputs)`` for one history.
    begin : callable
        ``begin(theta) -> x`` for all histories, stacked.
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
    directions = jnp.eye(p)

    def tick(i, carry):
        x, dx, cost, gradient, curvature = carry
        driving = jax.tree.map(lambda a: jax.lax.dynamic_index_in_dim(a, i, keepdims=False), inputs)
        target = jax.lax.dynamic_index_in_dim(measured, i, keepdims=False)

        def step(theta, x):
            return jax.vmap(lambda x, entry: advance(theta, x, entry))(x, driving)

        (x, y), (dx, dy) = jax.vmap(
            lambda direction, dx: jax.jvp(step, (theta, x), (direction, dx)), out_axes=(None, 0)
        )(directions, dx)
        r, J = (weight * (y - target)).ravel(), (weight * dy).reshape(p, -1)
        return x, dx, cost + r @ r, gradient + J @ r, curvature + J @ J.T

    x, dx = jax.vmap(lambda direction: jax.jvp(begin, (theta,), (direction,)), out_axes=(None, 0))(directions)
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

    def total(theta):
        cost, gradient, curvature = (np.asarray(part) for part in evaluate(theta))
        off = prior @ theta - centre
        return (
            float(cost),
            float(cost) + ridge * off @ off,
            gradient + ridge * prior.T @ off,
            curvature + ridge * prior.T @ prior,
        )

    squares, cost, gradient, curvature = total(theta)
    damping, growth, done, converged = FIRST_DAMPING, 2.0, 0, False
    while done < iterations and damping < LARGEST_DAMPING and np.isfinite(cost):
        diagonal = np.maximum(np.diag(curvature), 1e-12 * np.diag(curvature).max())
        try:
            step = -cho_solve(cho_factor(curvature + np.diag(damping * diagonal)), gradient)
        except LinAlgError:
            damping, growth = damping * growth, growth * 2
            continue
        promised = -(step @ gradient) - step @ curvature @ step / 2  # half of what the quadratic model gains
        if promised <= tolerance * cost / 2:
            converged = True
            break
        trial = total(theta + step)
        done += 1
        gain = (cost - trial[1]) / (2 * promised)
        if np.isfinite(trial[1]) and gain > 0.0:
            theta = theta + step
            squares, cost, gradient, curvature = trial
            damping, growth = damping * max(1 / 3, 1 - (2 * gain - 1) ** 3), 2.0
        else:
            damping, growth = damping * growth, growth * 2
    return Minimum(theta, squares, done, converged)
