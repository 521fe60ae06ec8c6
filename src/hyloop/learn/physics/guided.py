r"""A law guided by a network that listens: the physics-based OCP-NN, with any pure law as its physics layer.

.. math:: p_n = p^0 \cdot h(o_n), \qquad o_n = \mathrm{stack}(z_n), \qquad
          (y_n, x_{n+1}) = \mathrm{law}(x_n, u_n, \delta t, p_n)

The stack reads the scaled signals of the card: what is heard of a measured device, and the motion of its own place. The
law is driven by that motion alone, in physical units. See `hyloop.neural.guided` for the heads *h*.

It is called as a `Stack`, ``y, state = model(x, state)``, with scaled inputs and outputs, so that `train_network`'s
losses, `train` and `train_truncated` take it as they take a stack; ``model.rest(batch)`` is where it begins.

References
----------
Malik, Cao, Ricles, Downey (2025), Online cyber-physical neural network model for real-time hybrid simulation, Fig. 6.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from hyloop.core.block import Block, Instance
from hyloop.devices import lugre
from hyloop.errors import BadInput, BadShape, UnknownName
from hyloop.learn.laws.jax_law import jax_law
from hyloop.learn.networks.stack import Stack
from hyloop.learn.physics.friction import lugre_history
from hyloop.neural.architecture import Architecture
from hyloop.neural.card import Signal
from hyloop.neural.guided import Head, check_guided

__all__ = ["GuidedLaw", "guided_law"]


class GuidedLaw(eqx.Module):
    """A law and the stack that gives some of its parameters; made by `guided_law`, trained as a `Stack` is.

    ``y, state = model(x, state)`` takes scaled inputs (time, inputs) or (batch, time, inputs), those of the stack
    first, then those of the law that the stack does not read. With `by_level` one more column follows: the capacity of
    the device over that of the nominal parameters, which is known, and multiplies the parameters named there.
    """

    stack: Stack
    law: Block = eqx.field(static=True)
    base: tuple[float, ...] = eqx.field(static=True)  # nominal parameters
    begin: tuple[float, ...] = eqx.field(static=True)  # state at the beginning
    guided: tuple[tuple[int, Head], ...] = eqx.field(static=True)
    levelled: tuple[int, ...] = eqx.field(static=True)
    own: tuple[tuple[int, float, float], ...] = eqx.field(static=True)  # input of the law: column, centre, factor
    scales: tuple[tuple[float, float], ...] = eqx.field(static=True)  # centre and factor of every output
    dt: float = eqx.field(static=True)

    @property
    def architecture(self) -> Architecture:
        """That of the stack."""
        return self.stack.architecture

    @property
    def inputs(self) -> int:
        """Columns that a call wants."""
        extra = {column for column, _, _ in self.own if column >= self.architecture.inputs}
        return self.architecture.inputs + len(extra) + bool(self.levelled)

    def rest(self, batch: int) -> Any:
        """The state at rest: that of the stack, and of the law."""
        like = self.stack.tensors["0.W"].dtype
        return self.stack.rest(batch), tuple(jnp.full(batch, value, like) for value in self.begin)

    def parameters(self, x: Any, o: Any) -> list[Any]:
        """All parameters of the law at every sample, in its order, for inputs and outputs of the stack (..., n)."""
        p: list[Any] = [jnp.asarray(value, o.dtype) for value in self.base]
        for i in self.levelled:
            p[i] = p[i] * x[..., -1]
        for k, (i, head) in enumerate(self.guided):
            shifted = o[..., k] + head.shift
            if head.bounded:
                p[i] = p[i] * (head.low + (head.high - head.low) * jax.nn.sigmoid(shifted))
            else:
                p[i] = p[i] * jax.nn.softplus(shifted)
        return p

    def __call__(self, x: Any, state: Any = None, *, key: Any = None, path: str = "auto") -> tuple[jax.Array, Any]:
        x = jnp.asarray(x, self.stack.tensors["0.W"].dtype)
        if x.ndim not in (2, 3) or x.shape[-1] != self.inputs:
            raise BadShape(f"GuidedLaw: inputs must be (time, {self.inputs}) or with a batch before, got {x.shape}.")
        single = x.ndim == 2
        a = x[None] if single else x
        before, z = self.rest(len(a)) if state is None else state
        o, after = self.stack(a[..., : self.architecture.inputs], before, key=key, path=path)
        a, o = jnp.swapaxes(a, 0, 1), jnp.swapaxes(o, 0, 1)  # (time, batch, n)
        u = [a[..., column] / factor + centre for column, centre, factor in self.own]
        y, z = _roll(self.law, z, u, self.dt, self.parameters(a, o))
        scaled = [(one - centre) * factor for one, (centre, factor) in zip(y, self.scales, strict=True)]
        y = jnp.swapaxes(jnp.stack(scaled, axis=-1), 0, 1)
        return (y[0] if single else y), (after, z)


def _roll(law: Block, z: Any, u: list[Any], dt: float, p: list[Any]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Outputs of a law at all samples (time, batch), and its last state; LuGre takes no sample after the other."""
    if law is lugre:
        f, deflection = lugre_history(dict(zip(law.params, p, strict=True)), u[0], dt, z[0])
        return (f,), (deflection[-1],)
    shape = u[0].shape
    advance = jax_law(law)

    def step(x, now):
        u, p = now
        outputs, new = advance(x, u, dt, p)
        return tuple(jnp.broadcast_to(one, x[0].shape) for one in new), outputs

    last, outputs = jax.lax.scan(step, z, (u, [jnp.broadcast_to(one, shape) for one in p]))
    return outputs, last


def guided_law(
    law: Instance,
    guided: Mapping[str, Head] | Sequence[str],
    architecture: Architecture,
    inputs: Sequence[Signal],
    outputs: Sequence[Signal],
    *,
    dt: float,
    by_level: Sequence[str] = (),
    dropout: float = 0.0,
    key: Any,
    dtype: Any = jnp.float32,
) -> GuidedLaw:
    """Make a law the physics layer of a network that listens.

    Parameters
    ----------
    law
        A pure law with a state, with its nominal parameters, such as ``lugre(**lugre_level(18e3))``.
    guided
        Parameters that the network gives, each with its `Head`; names alone have unbounded heads.
    architecture
        The stack: its first inputs are `inputs`, one output for each guided parameter.
    inputs, outputs
        Signals with their scaling, as the columns of training data have it: those of the stack, then those of the law
        that the stack does not read. Outputs are those of the law.
    dt
        Sampling interval in s.
    by_level
        Parameters that grow with the capacity of the device. The last column of the inputs is then the capacity over
        the nominal one; once frozen, the parameters at a site are given instead.
    dropout, key, dtype
        Of the `Stack`. The weights of its last layer begin ten times smaller, so that an untrained model is nearly the
        plain law.
    """
    where, block = f"guided_law({law.block.name})", law.block
    heads = dict(guided) if isinstance(guided, Mapping) else {name: Head() for name in guided}
    check_guided(block, law.params, heads, architecture, where)
    if law.initial != block(**law.params).initial:
        raise BadInput(
            f"{where}: the law begins at a state of its own; leave initial out, a site would not know of it."
        )
    names, columns = list(block.params), [signal.name for signal in inputs]
    for name in by_level:
        if name not in names:
            raise UnknownName("parameter", name, names, where=where)
    missing = [name for name in block.inputs if name not in columns]
    if missing:
        raise BadInput(f"{where}: the law needs {', '.join(missing)}, which is none of the inputs; add its signal.")
    if len(columns) < architecture.inputs or set(columns[architecture.inputs :]) - set(block.inputs):
        raise BadShape(
            f"{where}: the stack reads the first {architecture.inputs} of {', '.join(columns)}; name no others."
        )
    if [signal.name for signal in outputs] != list(block.outputs):
        raise BadInput(f"{where}: outputs must be {', '.join(block.outputs)}, in this order.")
    stack = Stack(architecture, key=key, dropout=dropout, dtype=dtype)
    last = len(architecture.layers) - 1
    stack = eqx.tree_at(lambda s: s.tensors[f"{last}.W"], stack, replace_fn=lambda w: 0.1 * w)
    own = [(columns.index(name), inputs[columns.index(name)]) for name in block.inputs]
    return GuidedLaw(
        stack,
        block,
        tuple(law.params.values()),
        tuple(law.initial.values()),
        tuple((names.index(name), head) for name, head in heads.items()),
        tuple(names.index(name) for name in by_level),
        tuple((column, signal.centre, signal.factor) for column, signal in own),
        tuple((signal.centre, signal.factor) for signal in outputs),
        float(dt),
    )
