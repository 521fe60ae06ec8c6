"""Networks that learn: the architectures of `hyloop.neural` as Equinox modules."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from hyloop.errors import BadInput, BadShape, OutOfBounds
from hyloop.learn.networks.lstm import lstm, lstms, product
from hyloop.neural.architecture import Architecture, Layer
from hyloop.neural.frozen import FrozenNetwork
from hyloop.neural.stack import FrozenStack

__all__ = ["Stack", "thaw"]

_DENSE = {"linear": lambda a: a, "tanh": jnp.tanh, "relu": jax.nn.relu}


class Stack(eqx.Module):
    """A network of an `Architecture`, with weights as its leaves.

    ``y, state = stack(x, state)`` takes scaled inputs (time, inputs), or (batch, time, inputs), and returns outputs of
    the same leading shape with the state after the last sample, from which the next window can go on. Without a state
    it starts from rest.

    Parameters
    ----------
    architecture : Architecture
        Its layers.
    key : jax key
        Source of the starting weights: Glorot's uniform ones for inputs, orthogonal ones for the recurrent part, zero
        biases but one for the forget gate.
    dropout : float
        Part of the outputs of every layer but the last that is left out in training: when a call is given a key.
    dtype
        float32, in which networks are frozen, or float64 to check gradients.

    References
    ----------
    Glorot, Bengio (2010), AISTATS 9; Jozefowicz et al. (2015), ICML 37 (forget bias).
    """

    architecture: Architecture = eqx.field(static=True)
    dropout: float = eqx.field(static=True)
    tensors: dict[str, jax.Array]

    def __init__(self, architecture: Architecture, *, key: Any, dropout: float = 0.0, dtype: Any = jnp.float32) -> None:
        if not 0.0 <= dropout < 1.0:
            raise OutOfBounds(f"Stack: dropout = {dropout} must be in [0, 1).")
        self.architecture, self.dropout = architecture, float(dropout)
        keys = jax.random.split(key, len(architecture.layers))
        self.tensors = {
            f"{k}.{name}": value
            for k, layer in enumerate(architecture.layers)
            for name, value in _starting_weights(layer, keys[k], dtype).items()
        }

    def rest(self, batch: int) -> list[Any]:
        """The state at rest of every layer: (h, c) of an LSTM, h of a GRU, nothing otherwise."""
        zero = [jnp.zeros((batch, layer.width), self.tensors["0.W"].dtype) for layer in self.architecture.layers]
        return [
            {"lstm": (h, h), "gru": h}.get(layer.kind, ())
            for layer, h in zip(self.architecture.layers, zero, strict=True)
        ]

    def __call__(self, x: Any, state: Any = None, *, key: Any = None, path: str = "auto") -> tuple[jax.Array, Any]:
        x = jnp.asarray(x, self.tensors["0.W"].dtype)
        if x.ndim not in (2, 3) or x.shape[-1] != self.architecture.inputs:
            raise BadShape(
                f"Stack: inputs must be (time, {self.architecture.inputs}) or (batch, time, "
                f"{self.architecture.inputs}), got {x.shape}."
            )
        a = x[:, None] if x.ndim == 2 else jnp.swapaxes(x, 0, 1)  # (time, batch, inputs)
        old, new, k = iter(self.rest(a.shape[1]) if state is None else state), [], 0
        for i, stage in enumerate(self.architecture.stages):
            weights = [{name: self.tensors[f"{k + j}.{name}"] for name in one.shapes} for j, one in enumerate(stage)]
            read = [a[..., layer.reads[0] : layer.reads[1]] for layer in stage]
            before = [next(old) for _ in stage]
            if all(layer.kind == "lstm" for layer in stage):
                found = lstms(read, weights, before, path)
            else:
                found = [_apply(*each, path) for each in zip(stage, weights, read, before, strict=True)]
            outputs = [h for h, _ in found]
            new += [after for _, after in found]
            k += len(stage)
            a = jnp.concatenate(outputs, axis=-1) if len(outputs) > 1 else outputs[0]
            if key is not None and self.dropout > 0.0 and i + 1 < len(self.architecture.stages):
                key, draw = jax.random.split(key)
                a = jnp.where(jax.random.bernoulli(draw, 1.0 - self.dropout, a.shape), a / (1.0 - self.dropout), 0.0)
        return (a[:, 0] if x.ndim == 2 else jnp.swapaxes(a, 0, 1)), new


def _apply(layer: Layer, weights: dict[str, Any], x: Any, state: Any, path: str) -> tuple[Any, Any]:
    if layer.kind == "lstm":
        return lstm(x, weights, state, path)
    if layer.kind == "gru":
        return _gru(x, weights, state)
    return _DENSE[layer.kind](product(x, weights["W"]) + weights["b"]), ()


def _gru(x: Any, weights: dict[str, Any], h: Any) -> tuple[Any, Any]:
    def step(h, z):
        r, u, n = jnp.split(z, 3, axis=-1)
        hr, hu, hn = jnp.split(product(h, weights["U"]), 3, axis=-1)
        r, u = jax.nn.sigmoid(r + hr), jax.nn.sigmoid(u + hu)
        n = jnp.tanh(n + r * (hn + weights["r"]))
        h = n + u * (h - n)
        return h, h

    last, hs = jax.lax.scan(step, h, product(x, weights["W"]) + weights["b"])
    return hs, last


def _starting_weights(layer: Layer, key: Any, dtype: Any) -> dict[str, Any]:
    shapes, (one, two) = layer.shapes, jax.random.split(key)
    weights = {name: jnp.zeros(shape, dtype) for name, shape in shapes.items()}
    weights["W"] = jax.nn.initializers.glorot_uniform()(one, shapes["W"], dtype)
    if layer.recurrent:
        weights["U"] = jax.nn.initializers.orthogonal()(two, shapes["U"], dtype)
    if layer.kind == "lstm":
        weights["b"] = weights["b"].at[layer.width : 2 * layer.width].set(1.0)
    return weights


def thaw(network: FrozenNetwork, dropout: float = 0.0) -> Stack:
    """A network that can learn on, with the weights of a frozen one, which must be a stack of layers."""
    if not isinstance(network, FrozenStack):
        raise BadInput(f"thaw: a {network.model} model cannot learn on; only a stack of layers can.")
    stack = Stack(network.architecture, key=jax.random.key(0), dropout=dropout)
    weights = {name: jnp.asarray(value, jnp.float32) for name, value in network.tensors.items()}
    return eqx.tree_at(lambda s: s.tensors, stack, weights)
