"""The law of the study and the same law with a network: what is free, what the network sees, and both as blocks."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from hyloop.data.mr_damper import tests
from hyloop.devices import mr_eyring
from hyloop.learn.freezing import freeze
from hyloop.learn.physics.layers import physics_layer
from hyloop.neural.card import Card, Signal

from .records import TICK

CONSTANT = ("k_e", "F_0", "F_1", "v_e", "k_y", "Y_0", "Y_1", "gap", "i_h", "m", "k_0")
SHIFTED = {"f_0": 10.0}  # N
# chosen on the sines alone, see README.md
BY_SAMPLE = ("v_e", "Y_1")
FEATURES = {"S": 500.0, "coil": 1.0, "e": 0.3e-3}  # N, A, m
WIDTH, DEPTH, REACH = 6, 1, 5.0
PRECISION = 1e-3  # of the weights, where the cost is half the sum of squared errors over ranges
ITERATIONS = 8
DATA = "Sine tests of an MR damper, UTFSM (Quiroz, Fermandois group; MIT licence)"


def law_layer(params=None):
    """The law, all twelve numbers free."""
    return physics_layer(mr_eyring(**(params or {})), constant=CONSTANT, shifted=SHIFTED, dt=TICK)


def with_network(params, seed):
    """The law with a network that is nearly silent at first; the law's other numbers stay free."""
    return physics_layer(
        mr_eyring(**params),
        BY_SAMPLE,
        features=FEATURES,
        constant=tuple(name for name in CONSTANT if name not in BY_SAMPLE),
        shifted=SHIFTED,
        width=WIDTH,
        depth=DEPTH,
        reach=REACH,
        dt=TICK,
        seed=seed,
    )


def precision(layer):
    """A prior on the weights of the network alone, around its silent start."""
    arrays = eqx.filter(layer, eqx.is_inexact_array)
    prior = jax.tree.map(lambda a: jnp.zeros(a.shape), arrays)
    weights = jax.tree.map(lambda a: jnp.full(a.shape, PRECISION), arrays.network)
    return eqx.tree_at(lambda it: it.network, prior, weights)


def parameters(layer) -> dict[str, float]:
    """Parameters of a law without a network."""
    values = layer.parameters(jnp.asarray(layer.rest), jnp.zeros(1))
    return {key: float(value) for key, value in zip(layer.law.params, values, strict=True)}


def frozen(layer, seed=0, **metrics):
    """The layer as a block of the loop, with its card; the current stays a parameter of the block."""
    published = tests("sine_*").values()
    currents = np.array([test.current for test in published])
    card = Card(
        (Signal.of("d", "m", [test.d for test in published], "none"),),
        (Signal.of("f", "N", [test.f for test in published], "none"), Signal.of("i_coil", "A", currents, "none")),
        data=DATA,
        seed=seed,
        metrics=metrics,
    )
    return freeze(layer, card)
