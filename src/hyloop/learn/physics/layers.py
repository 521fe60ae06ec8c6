r"""Physics layers: a pure law as a recurrent layer whose parameters come from a network at every sample.

.. math::

    p_n = p^0 \cdot R^{\tanh N(x_n, u_n; w)}, \qquad (y_n, x_{n+1}) = \mathrm{law}(x_n, u_n, \delta t, p_n)

The law is the one of the compiled loop, so what it guarantees for any admissible parameters (bounded state, friction
that opposes motion) holds whatever the network says; and the factor of a parameter cannot leave :math:`[1/R, R]`.
Three ways to run a layer: sample by sample, in chunks that are computed again on the way back (`rolled`), and, where
the state enters linearly and the parameters do not depend on it, all samples at once (`linear_recurrence`).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from hyloop.core.block import Block, Instance
from hyloop.errors import BadInput, BadShape, UnknownName
from hyloop.learn.laws.jax_law import jax_law

__all__ = ["PhysicsLayer", "linear_recurrence", "physics_layer", "rolled"]


class PhysicsLayer(eqx.Module):
    """A law with learned parameters; made by `physics_layer`, trained as any Equinox module.

    Attributes
    ----------
    network
        From scaled features to one number for each parameter of `by_sample`; None where there are none.
    log_factors
        Natural logarithms of the factors on the parameters of `constant`.
    shifts
        Added to the parameters of `shifted`, as multiples of their scales.
    """

    network: Any
    log_factors: jax.Array
    shifts: jax.Array
    law: Block = eqx.field(static=True)
    base: tuple[float, ...] = eqx.field(static=True)  # parameters as given
    rest: tuple[float, ...] = eqx.field(static=True)  # initial state as given
    by_sample: tuple[int, ...] = eqx.field(static=True)
    constant: tuple[int, ...] = eqx.field(static=True)
    shifted: tuple[tuple[int, float], ...] = eqx.field(static=True)  # where, scale
    features: tuple[tuple[bool, int, float], ...] = eqx.field(static=True)  # is a state, where, scale
    reach: float = eqx.field(static=True)
    dt: float = eqx.field(static=True)

    def parameters(self, x: jax.Array, u: jax.Array) -> list[jax.Array]:
        """All parameters of the law at state x and input u, in its order."""
        p = [jnp.asarray(value) for value in self.base]
        for k, i in enumerate(self.constant):
            p[i] = p[i] * jnp.exp(self.log_factors[k])
        for k, (i, scale) in enumerate(self.shifted):
            p[i] = p[i] + scale * self.shifts[k]
        if self.by_sample:
            z = jnp.stack([(x if state else u)[i] / scale for state, i, scale in self.features])
            factor = jnp.exp(np.log(self.reach) * jnp.tanh(self.network(z)))
            for k, i in enumerate(self.by_sample):
                p[i] = p[i] * factor[k]
        return p

    def step(self, x: jax.Array, u: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Advance by one sample: new state (states,), outputs (outputs,)."""
        outputs, new = jax_law(self.law)(x, u, self.dt, self.parameters(x, u))
        return jnp.stack(new), jnp.stack(outputs)

    def __call__(self, u: jax.Array, x: jax.Array | None = None, chunk: int | None = None) -> tuple[Any, Any]:
        """Run over u (samples, inputs) from state x: last state, outputs (samples, outputs). See `rolled` for chunk."""
        x = jnp.asarray(self.rest) if x is None else x
        return rolled(self.step, x, u, chunk)


def physics_layer(
    law: Instance,
    by_sample: Sequence[str] = (),
    *,
    features: Mapping[str, float] | None = None,
    constant: Sequence[str] = (),
    shifted: Mapping[str, float] | None = None,
    width: int = 16,
    depth: int = 2,
    activation: Callable = jax.nn.tanh,
    reach: float = 10.0,
    dt: float,
    seed: int = 0,
) -> PhysicsLayer:
    """Make a law a layer.

    Parameters
    ----------
    law
        A pure law with its parameters, which the learned factors multiply.
    by_sample
        Parameters that a network gives at every sample.
    features
        What the network sees: states and inputs of the law, each with the value it is divided by.
    constant
        Positive parameters learned as constants, through the logarithm of a factor.
    shifted
        Parameters of either sign learned as constants: what is added, in multiples of the scale given here.
    width, depth, activation
        Hidden layers of the network. Its last layer starts near zero, so an untrained layer is nearly the plain law.
    reach
        A parameter stays within 1/reach and reach times its given value; more than 1.
    dt
        Sampling interval in s.
    seed
        Of the weights.
    """
    where, block = f"physics_layer({law.block.name})", law.block
    jax_law(block)  # a law in place has no gradient: said here, not in the first step
    if not block.state:
        raise BadInput(f"{where}: the law has no state, so there is nothing to recur. Use a network on its inputs.")
    names, features, shifted = list(block.params), dict(features or {}), dict(shifted or {})
    for name in (*by_sample, *constant, *shifted):
        if name not in names:
            raise UnknownName("parameter", name, names, where=where)
        if law.params[name] == 0.0 and name not in shifted:
            raise BadInput(f"{where}: {name} is 0, and a factor cannot change that. Give it a value, or shift it.")
    twice = [name for name in names if [*by_sample, *constant, *shifted].count(name) > 1]
    if twice:
        raise BadInput(f"{where}: {twice[0]} is learned twice. Name it once in by_sample, constant or shifted.")
    if bool(by_sample) != bool(features):
        raise BadInput(f"{where}: parameters by_sample and features for their network go together; give both or none.")
    signals = {key: (True, i) for i, key in enumerate(block.state)}
    signals |= {key: (False, i) for i, key in enumerate(block.inputs)}
    for key, scale in features.items():
        if key not in signals:
            raise UnknownName("feature", key, signals, where=where)
        if not scale > 0.0:
            raise BadInput(f"{where}: the scale of {key} is {scale:g}; it must be positive.")
    if not reach > 1.0 or not dt > 0.0:
        raise BadInput(f"{where}: reach = {reach:g} must be more than 1 and dt = {dt:g} s positive.")
    network = None
    if by_sample:
        network = eqx.nn.MLP(len(features), len(by_sample), width, depth, activation, key=jax.random.PRNGKey(seed))
        last = network.layers[-1]
        small = (0.01 * last.weight, jnp.zeros(len(by_sample)))
        network = eqx.tree_at(lambda n: (n.layers[-1].weight, n.layers[-1].bias), network, small)
    return PhysicsLayer(
        network,
        jnp.zeros(len(constant)),
        jnp.zeros(len(shifted)),
        block,
        tuple(law.params.values()),
        tuple(law.initial.values()),
        tuple(names.index(name) for name in by_sample),
        tuple(names.index(name) for name in constant),
        tuple((names.index(name), float(scale)) for name, scale in shifted.items()),
        tuple((*signals[key], float(scale)) for key, scale in features.items()),
        float(reach),
        float(dt),
    )


def rolled(step: Callable, x: Any, u: Any, chunk: int | None = None) -> tuple[Any, Any]:
    """Scan ``step(x, u) -> (new x, y)`` over samples: last x, all y.

    With `chunk`, gradients keep the state at the head of every chunk only and compute what lies between again on the
    way back: for N samples memory is of the order N/chunk + chunk, least at chunk = sqrt(N), for one more forward pass.
    """

    def tick(x, u):  # JAX wants a function it can hash; the method of a layer that is being differentiated is not one
        return step(x, u)

    if chunk is None:
        return jax.lax.scan(tick, x, u)
    n = jax.tree.leaves(u)[0].shape[0]
    if chunk < 1 or n % chunk:
        raise BadShape(f"{n} samples cannot be cut into chunks of {chunk}; choose a divisor.")
    pieces = jax.tree.map(lambda a: a.reshape(n // chunk, chunk, *a.shape[1:]), u)
    x, y = jax.lax.scan(jax.checkpoint(lambda x, piece: jax.lax.scan(tick, x, piece)), x, pieces)
    return x, jax.tree.map(lambda a: a.reshape(n, *a.shape[2:]), y)


def linear_recurrence(a: jax.Array, b: jax.Array, x0: jax.Array) -> jax.Array:
    r"""All :math:`x_{n+1} = a_n x_n + b_n` from :math:`x_0`, for diagonal a, along the first axis.

    Pairs of steps combine into one, :math:`(a, b) \circ (a', b') = (a'a, a'b + b')`, and that is associative: a
    parallel scan takes of the order of log N rounds. On one core it does more arithmetic than a plain scan, but none of
    its per-sample overhead.

    References
    ----------
    Blelloch (1990), Prefix sums and their applications, section 1.4.
    """

    def joined(first, second):
        return second[0] * first[0], second[0] * first[1] + second[1]

    decay, gain = jax.lax.associative_scan(joined, (a, b))
    return decay * x0 + gain
