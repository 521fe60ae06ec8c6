"""From what was trained to what runs in the loop: `freeze`, whatever was trained.

The loop calculates in float64 (stacks of layers in float32) and allocates nothing; what leaves here is equal to what
was trained, sample by sample, but for round-off.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, overload

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from hyloop.core.tick import same_tick
from hyloop.errors import BadInput
from hyloop.learn.networks.stack import Stack
from hyloop.learn.networks.state_space import StateSpaceNetwork
from hyloop.learn.physics.friction import Even
from hyloop.learn.physics.guided import GuidedLaw
from hyloop.learn.physics.layers import PhysicsLayer
from hyloop.learn.springs.elastic import BrokenLine, CubicSpline, Curve, NetworkSpring, perceptron, spline
from hyloop.learn.springs.hysteresis import KnownLaw, LearnedSlope, NetworkReturn, StopOperators
from hyloop.neural.card import Card
from hyloop.neural.dense import UNITS, Perceptron
from hyloop.neural.frozen import FrozenNetwork
from hyloop.neural.guided import FrozenGuidedLaw
from hyloop.neural.law import FrozenLaw
from hyloop.neural.spring import FrozenSpring
from hyloop.neural.stack import FrozenStack
from hyloop.neural.state_space import FrozenStateSpace

__all__ = ["freeze"]

_UNITS: dict[Any, str] = {jnp.tanh: "tanh", jax.nn.tanh: "tanh", jax.nn.relu: "relu"}


@overload
def freeze(trained: Stack, card: Card) -> FrozenStack: ...
@overload
def freeze(trained: StateSpaceNetwork, card: Card) -> FrozenStateSpace: ...
@overload
def freeze(trained: PhysicsLayer | KnownLaw, card: Card) -> FrozenLaw: ...
@overload
def freeze(trained: GuidedLaw, card: Card) -> FrozenGuidedLaw: ...
@overload
def freeze(trained: Any, card: Card) -> FrozenNetwork: ...
def freeze(trained: Any, card: Card) -> FrozenNetwork:
    """What was trained, with its present weights, as a block of the loop with a file.

    Parameters
    ----------
    trained
        A `Stack`, a `StateSpaceNetwork`, a `PhysicsLayer` (also `augmented_lugre`), a `GuidedLaw`, or a learned spring:
        `CubicSpline`, `BrokenLine`, `NetworkSpring`, `StopOperators`, `LearnedSlope`, `NetworkReturn`, `KnownLaw`.
    card : Card
        Its signals, and what it was trained on. Laws and springs work with physical values, so that their signals have
        no scaling: ``Signal.of("d", "m", values, "none")``; of a guided law the inputs of its stack have. The dt of a
        layer with a network, and of a state-space network, is taken from there.
    """
    for kind, make in _MAKERS.items():
        if isinstance(trained, kind):
            return make(trained, card)
    known = ", ".join(kind.__name__ for kind in _MAKERS)
    raise BadInput(f"freeze: cannot freeze a {type(trained).__name__}; what can be frozen is {known}.")


def _stack(stack: Stack, card: Card) -> FrozenStack:
    tensors = {name: np.asarray(value, np.float32) for name, value in stack.tensors.items()}
    return FrozenStack(stack.architecture, tensors, card)


def _state_space(trained: StateSpaceNetwork, card: Card) -> FrozenStateSpace:
    _check_dt(card, trained.dt)
    A, B, C = (np.asarray(matrix, dtype=float) for matrix in (trained.A, trained.B, trained.C))
    return FrozenStateSpace(A, B, C, trained.rate, _mlp(trained.network), replace(card, dt=trained.dt))


def _check_dt(card: Card, dt: float) -> None:
    if card.dt and not same_tick(card.dt, dt):
        raise BadInput(
            f"freeze: the card says dt = {card.dt!r} s, the layer was made with {dt!r} s. Leave it out there."
        )


def _layer(layer: PhysicsLayer, card: Card) -> FrozenLaw:
    names, states, inputs = list(layer.law.params), list(layer.law.state), list(layer.law.inputs)
    _check_dt(card, layer.dt)
    values = _constants(layer)
    rest = np.array(layer.rest)
    if not layer.by_sample:
        return FrozenLaw(layer.law, values, rest, card)
    even = isinstance(layer.network, Even)
    return FrozenLaw(
        layer.law,
        values,
        rest,
        replace(card, dt=layer.dt),
        tuple(names[i] for i in layer.by_sample),
        {(states if state else inputs)[i]: scale for state, i, scale in layer.features},
        _mlp(layer.network.network if even else layer.network),
        even,
        layer.reach,
    )


def _guided(model: GuidedLaw, card: Card) -> FrozenGuidedLaw:
    """Inputs of the card are scaled as those of the training; outputs are physical, whatever their scaling there."""
    if card.dt and not same_tick(card.dt, model.dt):
        raise BadInput(
            f"freeze: the card says dt = {card.dt!r} s, the law was guided with {model.dt!r} s. Leave it out there."
        )
    names = list(model.law.params)
    outputs = tuple(replace(signal, centre=0.0, factor=1.0) for signal in card.outputs)
    tensors = {name: np.asarray(value, np.float32) for name, value in model.stack.tensors.items()}
    heads = {names[i]: head for i, head in model.guided}
    card = replace(card, dt=model.dt, outputs=outputs)
    frozen = FrozenGuidedLaw(model.law, np.array(model.base), heads, model.architecture, tensors, card)
    for key, (column, centre, factor) in zip(model.law.inputs, model.own, strict=True):
        signal = card.inputs[column]
        if (signal.name, signal.centre, signal.factor) != (key, centre, factor):
            raise BadInput(f"freeze: {key} was in another place or scaled otherwise when the law was guided.")
    return frozen


def _constants(layer: PhysicsLayer) -> np.ndarray:
    """All parameters with what was learned for all samples, as `PhysicsLayer.parameters` makes them."""
    values = np.array(layer.base)
    values[list(layer.constant)] *= np.exp(np.asarray(layer.log_factors, dtype=float))
    for (i, scale), shift in zip(layer.shifted, np.asarray(layer.shifts, dtype=float), strict=True):
        values[i] += scale * shift
    return values


def _mlp(network: Any) -> Perceptron:
    if not isinstance(network, eqx.nn.MLP):
        raise BadInput(f"freeze: the network of the layer is a {type(network).__name__}; only an MLP can be frozen.")
    unit = _UNITS.get(network.activation)
    if unit is None:
        name = getattr(network.activation, "__name__", network.activation)
        raise BadInput(
            f"freeze: the units of the network are {name}; the loop has {' and '.join(UNITS)}. Train with one of them."
        )
    return Perceptron(tuple(_pair(layer.weight, layer.bias) for layer in network.layers), unit)


def _pair(weight: Any, bias: Any) -> tuple[np.ndarray, np.ndarray]:
    return np.asarray(weight, dtype=float), np.asarray(bias, dtype=float)


def _spline(law: CubicSpline, card: Card) -> FrozenSpring:
    first, spacing, force = map(float, law.scale)
    offset = float(spline(law.theta, -law.scale[0] / law.scale[1]))
    numbers = {"force": force, **_ends(law), "first": first, "spacing": spacing, "offset": offset}
    return FrozenSpring("spline", numbers, {"c": _numbers(law.theta)}, card)


def _line(law: BrokenLine, card: Card) -> FrozenSpring:
    length, force = map(float, law.scale)
    numbers = {"force": force, **_ends(law), "length": length, "slope": float(law.theta["slope"])}
    return FrozenSpring("broken line", numbers, {key: _numbers(law.theta[key]) for key in ("jump", "knot")}, card)


def _network(law: NetworkSpring, card: Card) -> FrozenSpring:
    length, force = map(float, law.scale)
    offset = float(perceptron(law.theta, jnp.zeros(1)))
    numbers = {"force": force, **_ends(law), "length": length, "offset": offset}
    return FrozenSpring("network", numbers, {}, card, Perceptron(tuple(_pair(*each) for each in law.theta), "tanh"))


def _stops(law: StopOperators, card: Card) -> FrozenSpring:
    (length, force), (low, high) = map(float, law.scale), map(float, law.reach)
    numbers = {"force": force, "low": low, "high": high, "length": length, "k": float(law.theta["k"])}
    return FrozenSpring("stop operators", numbers, {"w": _numbers(law.theta["w"]), "r": _numbers(law.r)}, card)


def _slope(law: LearnedSlope, card: Card) -> FrozenSpring:
    length, force = map(float, law.scale)
    numbers = {"force": force, "length": length, "k": float(law.theta["k"])}
    return FrozenSpring("slope", numbers, {"phi": _numbers(law.theta["phi"])}, card)


def _return(law: NetworkReturn, card: Card) -> FrozenSpring:
    length, force, increment = map(float, law.scale)
    network = Perceptron(tuple(_pair(*each) for each in law.theta["layers"]), "relu" if law.relu else "tanh")
    numbers = {"force": force, "length": length, "increment": increment}
    return FrozenSpring("return", numbers, {"linear": _numbers(law.theta["linear"])}, card, network)


def _known(law: KnownLaw, card: Card) -> FrozenLaw:
    instance = law.instance
    return FrozenLaw(
        instance.block, np.array(list(instance.params.values())), np.array(list(instance.initial.values())), card
    )


def _curve(law: Curve, card: Card) -> FrozenSpring:
    raise BadInput(
        "freeze: a Curve is a function written in JAX with nothing learned in it, which no file can hold and no loop "
        "can compile. Write it as a device law (CONTRIBUTING.md), or fit a CubicSpline to it."
    )


def _numbers(values: Any) -> np.ndarray:
    return np.asarray(values, dtype=float)


def _ends(law: Any) -> dict[str, float]:
    """Ends of the curve, and the slopes with which it goes on beyond them: the derivative out there is exact."""
    low, high = map(float, law.reach)
    slope = jax.grad(lambda d: law(law.rest(), d)[0])
    beyond = high - low
    return {
        "low": low,
        "high": high,
        "slope_low": float(slope(jnp.asarray(low - beyond))),
        "slope_high": float(slope(jnp.asarray(high + beyond))),
    }


_MAKERS: dict[type, Callable[[Any, Card], FrozenNetwork]] = {
    Stack: _stack,
    StateSpaceNetwork: _state_space,
    PhysicsLayer: _layer,
    GuidedLaw: _guided,
    CubicSpline: _spline,
    BrokenLine: _line,
    NetworkSpring: _network,
    StopOperators: _stops,
    LearnedSlope: _slope,
    NetworkReturn: _return,
    KnownLaw: _known,
    Curve: _curve,
}
