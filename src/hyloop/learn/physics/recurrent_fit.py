r"""Levenberg-Marquardt through a device model: every weight of a recurrent model at once, with exact derivatives.

A recurrent model :math:`x_{n+1}, y_n = \mathrm{step}(\theta, x_n, u_n)` has sensitivities that obey a recurrence
*linear* in them, whatever the model,

.. math::

    S_{n+1} = A_n S_n + B_n, \qquad \frac{\partial y_n}{\partial\theta} = C_n S_n + D_n, \qquad
    S_0 = \frac{\partial x_0}{\partial\theta}

with the local derivatives :math:`A = \partial x^+/\partial x`, :math:`B = \partial x^+/\partial\theta`,
:math:`C = \partial y/\partial x`, :math:`D = \partial y/\partial\theta`. Those of all samples are independent of each
other, so they are computed side by side once the states are known; only the small products above run one after another.
For a model of few states and some hundred weights this costs little more than the simulation.
(`hyloop.learn.springs`, for a structure with many states and few parameters, carries tangents along instead.)
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from hyloop.core.levenberg_marquardt import Factors, minimise
from hyloop.errors import BadInput, BadShape

__all__ = ["Descent", "Equations", "History", "follow", "local_equations"]

_CHUNK = 512  # samples whose local derivatives are held at once: a few MB, which stays in the cache
_LENGTH = 4096  # histories are padded to multiples of this: a compilation takes longer than some passes over nothing
_RAISE, _LOWER = 4.0, 0.3  # damping after a step that failed, and after one that did what was predicted
_TRUST = 0.25  # part of what was predicted
_DAMPING_MOST = 1e12


class History(NamedTuple):
    """A measured history: inputs (samples, inputs), output (samples,), weight of each residual (samples,), start data.

    A weight of 0 leaves a sample out of the fit but not out of the simulation; `start` is whatever the model's initial
    state is found from.
    """

    u: Any
    y: Any
    weight: Any
    start: Any


class Descent(NamedTuple):
    """Result of `follow`: the model, the cost after each iteration, and how many steps were taken."""

    model: Any
    costs: np.ndarray
    steps: int


class Equations(NamedTuple):
    """``cost(theta, history)`` and ``normal(theta, history) -> (cost, J^T r, J^T J)``, both compiled."""

    cost: Callable
    normal: Callable


def local_equations(model: Any, step: Callable, start: Callable, every: int = 1) -> Equations:
    r"""Compile what a fit needs; one set serves every model of the same structure.

    Parameters
    ----------
    model
        Equinox module or any pytree, of which only the structure matters; `theta` are all its floating-point arrays.
    step
        ``step(model, x, u) -> (new x, y)`` with x (states,) and a scalar y.
    start
        ``start(model, data) -> x``, the initial state from `History.start`; differentiated too.
    every
        Only every n-th residual counts (the others must have weight zero); a divisor of 512.

    Notes
    -----
    The cost is :math:`\frac12 \sum (w_n (y_n - \hat y_n))^2`. A history must have a multiple of 512 samples; only one
    such chunk of local derivatives exists at a time.
    """
    _, unravel = _flat(model)

    def flat_step(theta, x, u):
        return step(unravel(theta), x, u)

    def flat_start(theta, data):
        return start(unravel(theta), data)

    @jax.jit
    def cost(theta, history):
        model = unravel(theta)

        def tick(x, sample):
            u, y, w = sample
            x, y_hat = step(model, x, u)
            return x, (w * (y_hat - y)) ** 2

        return 0.5 * jnp.sum(jax.lax.scan(tick, start(model, history.start), tuple(history[:3]))[1])

    local = jax.vmap(jax.jacrev(flat_step, argnums=(0, 1)), in_axes=(None, 0, 0))

    @jax.jit
    def normal(theta, history):
        n = len(history.y) // _CHUNK
        chunks = jax.tree.map(lambda a: a.reshape(n, _CHUNK, *a.shape[1:]), tuple(history[:3]))

        def advance(x, u):
            new, y_hat = flat_step(theta, x, u)
            return new, (x, y_hat)

        def tangent(S, terms):
            A, B, C, D = terms
            return A @ S + B, C @ S + D

        def chunk(carry, samples):
            x, S, c, g, H = carry
            u, y, w = samples
            x, (xs, y_hat) = jax.lax.scan(advance, x, u)
            (B, A), (D, C) = local(theta, xs, u)
            S, J = jax.lax.scan(tangent, S, (A, B, C, D))
            r, J = (w * (y_hat - y))[::every], (w[:, None] * J)[::every]
            return (x, S, c + 0.5 * r @ r, g + J.T @ r, H + J.T @ J), None

        x, S = flat_start(theta, history.start), jax.jacrev(flat_start)(theta, history.start)
        zero = jnp.zeros(len(theta))
        return jax.lax.scan(chunk, (x, S, 0.0, zero, jnp.outer(zero, zero)), chunks)[0][2:]

    return Equations(cost, normal)


def follow(
    model: Any,
    step: Callable,
    start: Callable,
    histories: Sequence[History],
    *,
    iterations: int,
    prior: Any = None,
    damping: float = 1e-2,
    equations: Equations | None = None,
    progress: Callable[[int, float], None] | None = None,
) -> Descent:
    r"""Fit every number in `model` so that it follows the histories, free-running, each from its own start.

    Parameters
    ----------
    model
        Equinox module or any pytree, whose floating-point arrays are fitted. Scale them to the order of one.
    step, start
        As for `local_equations`.
    histories
        What was measured; whole histories, of any lengths.
    iterations
        Steps tried, at most.
    prior
        Pytree like `model`: precision :math:`\Lambda` of a normal prior around the model given, which adds
        :math:`\frac12 (\theta - \theta_0)^T \Lambda (\theta - \theta_0)` to the cost. None: no prior.
    damping
        At the start, relative to the diagonal of :math:`J^T J + \Lambda` (Marquardt's scaling).
    equations
        From `local_equations` for the same structure of model, step and start, to save their compilation.
    progress
        Called with the iteration and the cost.

    References
    ----------
    Marquardt (1963), doi:10.1137/0111030; Nocedal and Wright (2006), Numerical Optimization, section 10.3.
    """
    if not histories:
        raise BadInput("follow: there is no history. Give at least one.")
    if jnp.zeros(1).dtype != jnp.float64:
        raise BadInput(
            'follow works in double precision: call jax.config.update("jax_enable_x64", True) before the '
            "first use of JAX."
        )
    flat, unravel = _flat(model)
    theta, origin = np.asarray(flat, dtype=float), np.asarray(flat, dtype=float)
    precision = np.zeros(len(theta)) if prior is None else np.asarray(_flat(prior)[0], dtype=float)
    if precision.shape != theta.shape:
        raise BadShape(f"the prior has {precision.size} numbers, the model {theta.size}. Give one for each.")
    cost, normal = equations or local_equations(model, step, start)
    # few lengths: each is compiled once
    padded = [_padded(history, len(history.y) + -len(history.y) % _LENGTH) for history in histories]

    def total(theta):
        return sum(float(cost(theta, h)) for h in padded)

    def equations_of_all(theta):
        parts = [normal(theta, h) for h in padded]
        return sum(np.asarray(p[1]) for p in parts), sum(np.asarray(p[2]) for p in parts)

    def around_origin(theta):
        away = theta - origin
        return 0.5 * float(precision @ away**2), precision * away, np.diag(precision)

    found = minimise(
        total,
        equations_of_all,
        theta,
        Factors(damping, _RAISE, _LOWER, trust=_TRUST),
        prior=around_origin,
        solve=np.linalg.solve,
        trials=iterations,
        largest=_DAMPING_MOST,
        watch=lambda trials, steps, cost: progress(trials - 1, cost) if progress is not None else None,
    )
    if not np.isfinite(found.costs[0]):
        raise BadInput("follow: the model diverges on these histories before any fit. Start elsewhere.")
    return Descent(unravel(jnp.asarray(found.theta)), found.costs, found.steps)


def _flat(model: Any) -> tuple[jax.Array, Callable]:
    """The floating-point arrays of a model as one vector, and the way back; the rest of the model is constant."""
    arrays, rest = eqx.partition(model, eqx.is_inexact_array)
    flat, unravel = ravel_pytree(arrays)
    return flat, lambda theta: eqx.combine(unravel(theta), rest)


def _padded(history: History, length: int) -> History:
    """Repeat the last sample up to a length, with no weight."""
    u, y, w = (np.asarray(a, dtype=float) for a in history[:3])
    if not (len(u) == len(y) == len(w)) or len(y) < 1:
        raise BadShape(f"a history has {len(u)} inputs, {len(y)} outputs and {len(w)} weights; all must be as many.")
    if not all(np.isfinite(a).all() for a in (u, y, w)):
        raise BadInput("a history has values that are not numbers. Cut them out, or fill them, before the fit.")
    more = length - len(y)
    u, y = (np.concatenate([a, np.repeat(a[-1:], more, axis=0)]) for a in (u, y))
    return History(u, y, np.concatenate([w, np.zeros(more)]), history.start)
