r"""A nonlinear state-space network in continuous time: a linear model, and a perceptron that bends it.

.. math::

    \dot x = \omega\,[A x + B u + N(x, u; w)], \qquad y = C x

by one classical Runge-Kutta step over a sample, in which the inputs move on a straight line. Signals are scaled to the
order of one, and :math:`\omega` makes the states so too. Nothing is assumed of what a state is. Training starts from
the linear part; and a rate, in place of a map from sample to sample, leaves to the network only what does not hang on
the sampling.

References
----------
Suykens, De Moor, Vandewalle (1995), Nonlinear system identification using neural state space models, Int. J. Control
62(1), 129-152, doi:10.1080/00207179508921536; Schoukens (2021), Improved initialization of state-space artificial
neural networks, arXiv:2103.14516.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from hyloop.errors import BadInput, BadShape

__all__ = ["StateSpaceNetwork", "state_space_network"]


class StateSpaceNetwork(eqx.Module):
    """States that a linear model and a perceptron move together; made by `state_space_network`."""

    A: jax.Array
    B: jax.Array
    C: jax.Array
    network: eqx.nn.MLP
    rate: float = eqx.field(static=True)
    dt: float = eqx.field(static=True)

    @property
    def rest(self) -> jax.Array:
        """States and last inputs at the beginning: all zero."""
        return jnp.zeros(self.B.shape[0] + self.B.shape[1])

    def slope(self, x: jax.Array, u: jax.Array) -> jax.Array:
        """Rates of the states, over one sample."""
        z = jnp.concatenate([x, u])
        return self.dt * self.rate * (self.A @ x + self.B @ u + self.network(z))

    def step(self, x: jax.Array, u: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Advance by one sample: new states with the inputs behind them, and the outputs there."""
        n = self.A.shape[0]
        s, last = x[:n], x[n:]
        middle = 0.5 * (last + u)
        k1 = self.slope(s, last)
        k2 = self.slope(s + 0.5 * k1, middle)
        k3 = self.slope(s + 0.5 * k2, middle)
        k4 = self.slope(s + k3, u)
        s = s + (k1 + 2.0 * (k2 + k3) + k4) / 6.0
        return jnp.concatenate([s, u]), self.C @ s

    def __call__(self, u: jax.Array, x: jax.Array | None = None) -> tuple[Any, Any]:
        """Run over u (samples, inputs) from x: last state, outputs (samples, outputs)."""
        return jax.lax.scan(lambda x, u: self.step(x, u), self.rest if x is None else x, u)


def state_space_network(
    A: Any,
    B: Any,
    C: Any,
    *,
    width: int = 16,
    depth: int = 1,
    rate: float,
    dt: float,
    spread: float = 1.0,
    seed: int = 0,
) -> StateSpaceNetwork:
    """Make a state-space network around a linear model.

    Parameters
    ----------
    A, B, C
        Linear model of scaled signals, (n, n), (n, inputs) and (outputs, n), in time of 1/rate.
    width, depth
        Hidden layers of tanh units. Its last layer starts near zero, so an untrained one is nearly the linear model.
    rate
        1/s; the order of the fastest frequency in rad/s.
    dt
        Sampling interval in s.
    spread
        Factor on the starting weights of the first layer: how sharply the units bend.
    seed
        Of the weights.
    """
    A, B, C = (np.atleast_2d(np.asarray(matrix, dtype=float)) for matrix in (A, B, C))
    n, inputs = len(A), B.shape[1]
    if A.shape != (n, n) or B.shape != (n, inputs) or C.shape[1] != n:
        raise BadShape(
            f"state_space_network: A {A.shape}, B {B.shape} and C {C.shape} do not fit; give (n, n), (n, inputs) and "
            "(outputs, n)."
        )
    if not (rate > 0.0 and dt > 0.0 and spread > 0.0):
        raise BadInput(
            f"state_space_network: rate = {rate:g} 1/s, dt = {dt:g} s and spread = {spread:g} must be positive."
        )
    network = eqx.nn.MLP(n + inputs, n, width, depth, jax.nn.tanh, key=jax.random.PRNGKey(seed))
    first, last = network.layers[0], network.layers[-1]
    network = eqx.tree_at(
        lambda it: (it.layers[0].weight, it.layers[-1].weight, it.layers[-1].bias),
        network,
        (spread * first.weight, 0.01 * last.weight, jnp.zeros(n)),
    )
    return StateSpaceNetwork(jnp.asarray(A), jnp.asarray(B), jnp.asarray(C), network, float(rate), float(dt))
