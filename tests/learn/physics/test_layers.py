"""Physics layers against the compiled law, a plain NumPy recurrence, and finite differences."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from hyloop.devices import bouc_wen, brfd_gap_slip, dashpot, lugre, lugre_exact
from hyloop.errors import BadInput, BadShape, UnknownName
from hyloop.learn.physics.friction import augmented_lugre, lugre_parallel
from hyloop.learn.physics.layers import linear_recurrence, physics_layer, rolled

DT = 1 / 256
ROUND_OFF = 1e-10  # relative to the largest force: the same formulas in another order, over some hundred samples
DIFFERENCES = 2e-6  # relative: central differences with a step of 1e-5 of numbers of the order of one
SAMPLES = 120
T = DT * np.arange(SAMPLES)
V = 0.08 * np.sin(2 * np.pi * 3 * T) + 0.03 * np.cos(2 * np.pi * 7 * T)


def flat_loss(layer, u, chunk=None):
    """A smooth scalar of every output, as a function of all learned numbers in one vector."""
    arrays, rest = eqx.partition(layer, eqx.is_inexact_array)
    flat, unravel = ravel_pytree(arrays)

    def loss(theta):
        y = eqx.combine(unravel(theta), rest)(u, chunk=chunk)[1][:, 0]
        return jnp.mean((y / 1e4 - jnp.cos(jnp.arange(len(y)))) ** 2)

    return loss, flat


def brace_layer():
    """Every way to learn a parameter at once: from a network that sees state and input, by a factor, by a shift."""
    layer = physics_layer(
        bouc_wen(k=2e7, d_y=1e-3),
        ("k", "beta"),
        features={"z": 1.0, "d": 5e-3},
        constant=("d_y",),
        shifted={"alpha": 0.1},
        width=4,
        depth=1,
        reach=2.0,
        dt=DT,
        seed=3,
    )
    layer = eqx.tree_at(lambda l: l.network.layers[-1].weight, layer, replace_fn=lambda w: 50 * w)
    return layer, np.cumsum(V)[:, None] * DT


def lugre_layer(learned=("Fc_pos", "sigma1")):
    layer = augmented_lugre(lugre_exact(), dt=DT, learned=learned, width=4, activation=jax.nn.tanh, seed=1)
    layer = eqx.tree_at(lambda l: l.network.layers[-1].weight, layer, replace_fn=lambda w: 80 * w)
    return layer, V[:, None]


@pytest.mark.slow
@pytest.mark.parametrize("make", [brace_layer, lugre_layer])
def test_gradients_equal_finite_differences(make):
    loss, flat = flat_loss(*make())
    exact = jax.jit(jax.grad(loss))(flat)
    loss, h = jax.jit(loss), 1e-5
    for i in range(0, len(flat), 3):  # a third of them: every array has some
        e = h * jnp.eye(len(flat))[i]
        difference = (loss(flat + e) - loss(flat - e)) / (2 * h)
        assert float(exact[i]) == pytest.approx(float(difference), abs=DIFFERENCES * float(jnp.abs(exact).max()))


@pytest.mark.slow
def test_chunks_that_are_computed_again_change_nothing():
    layer, u = lugre_layer(learned=())
    loss, flat = flat_loss(layer, u)
    chunked, _ = flat_loss(layer, u, chunk=12)
    value, gradient = jax.jit(jax.value_and_grad(chunked))(flat)
    same, expected = jax.jit(jax.value_and_grad(loss))(flat)
    assert float(value) == pytest.approx(float(same), rel=ROUND_OFF)
    expected = np.asarray(expected)
    assert np.asarray(gradient) == pytest.approx(expected, abs=ROUND_OFF * np.abs(expected).max())
    with pytest.raises(BadShape, match="choose a divisor"):
        rolled(layer.step, jnp.zeros(1), u, 7)


def test_without_a_network_a_layer_is_the_compiled_law():
    layer = physics_layer(lugre_exact(), constant=("sigma0",), dt=DT)
    f = np.asarray(layer(V[:, None])[1][:, 0])
    expected = lugre_exact().drive(DT, v=V)["f"]
    assert f == pytest.approx(expected, abs=ROUND_OFF * np.abs(expected).max())


def test_augmented_lugre_is_equations_8_to_12():
    """Written out in NumPy, network and all."""
    layer, u = lugre_layer(learned=())
    p = {key: spec.default for key, spec in lugre_exact.params.items()}
    weights = [(np.asarray(l.weight), np.asarray(l.bias)) for l in layer.network.layers]
    y, forces, stiffness = 0.0, [], []
    for v in V:
        z = np.array([y / p["Fs_pos"], v / 0.1])
        for W, b in weights[:-1]:
            z = np.tanh(W @ z + b)
        sigma0 = p["sigma0"] * 20.0 ** np.tanh(weights[-1][0] @ z + weights[-1][1])[0]  # Eq. (12)
        side = "pos" if v > 0 else "neg"
        g = p[f"Fc_{side}"] + (p[f"Fs_{side}"] - p[f"Fc_{side}"]) * np.exp(-((v / p["vs"]) ** 2))
        k = np.exp(-sigma0 * abs(v) / g * DT)  # Eq. (11)
        y = np.sign(v) * g * (1 - k) + k * y  # Eqs. (8) and (10)
        forces.append((1 - p["sigma1"] * abs(v) / g) * y + (p["sigma1"] + p["sigma2"]) * v)  # Eq. (9)
        stiffness.append(sigma0)
    assert np.ptp(stiffness) > 0.5 * p["sigma0"]  # the network does something
    f = np.asarray(layer(u)[1][:, 0])
    assert f == pytest.approx(np.array(forces), abs=1e-8 * np.abs(forces).max())  # series of (1 - e^-r)/r in the law


def test_the_state_is_bounded_whatever_the_network_says():
    layer, u = lugre_layer(learned=())
    wild = eqx.tree_at(lambda l: l.network.layers[-1].weight, layer, replace_fn=lambda w: 1e6 * w)
    states = rolled(lambda x, u: (wild.step(x, u)[0],) * 2, jnp.zeros(1), u)[1]
    assert float(jnp.abs(states).max()) <= layer.law.params["Fs_pos"].default * (1 + ROUND_OFF)


def test_a_symmetric_stiffness_is_the_same_both_ways():
    layer = augmented_lugre(lugre_exact(), dt=DT, symmetric=True, activation=jax.nn.tanh, seed=1)
    y, v = jnp.array([7e3]), jnp.array([-0.03])
    assert float(layer.parameters(y, v)[0]) == float(layer.parameters(-y, -v)[0])
    assert float(layer.parameters(y, v)[0]) != float(layer.parameters(y, -v)[0])


def test_a_linear_recurrence_in_parallel():
    rng = np.random.default_rng(0)
    a, b, x = rng.uniform(-1, 1, (32, 3)), rng.normal(size=(32, 3)), np.array([1.0, -2.0, 0.5])
    expected, at = [], x
    for a_n, b_n in zip(a, b, strict=True):
        at = a_n * at + b_n
        expected.append(at)
    found = np.asarray(jax.jit(linear_recurrence)(a, b, x))
    assert found == pytest.approx(np.array(expected))


def test_lugre_in_parallel_is_lugre_one_after_another():
    law = lugre(sigma2=300.0)
    expected = law.drive(DT, v=V[:32])["f"]
    parallel = jax.jit(lugre_parallel, static_argnums=2)
    f = np.asarray(parallel(law.params, jnp.array(V[:32]), DT))
    assert f == pytest.approx(expected, abs=ROUND_OFF * np.abs(expected).max())
    by_sample = law.params | {"sigma0": law.params["sigma0"] * (1 + 0.5 * np.sin(T[:32]))}
    layer, z, forces = lugre.function, (0.0,), []
    for v, sigma0 in zip(V[:32], by_sample["sigma0"], strict=True):
        (out,), z = layer(z, (v,), DT, (sigma0, *list(law.params.values())[1:]))
        forces.append(float(out))
    f = np.asarray(parallel(by_sample, jnp.array(V[:32]), DT))
    assert f == pytest.approx(np.array(forces), abs=ROUND_OFF * np.abs(forces).max())


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"law": brfd_gap_slip()}, BadInput, "only a pure law"),
        ({"law": dashpot()}, BadInput, "no state"),
        ({"constant": ("stiffness",)}, UnknownName, "stiffness"),
        ({"constant": ("sigma2",)}, BadInput, "shift it"),
        ({"by_sample": ("sigma0",), "constant": ("sigma0",), "features": {"v": 1.0}}, BadInput, "learned twice"),
        ({"by_sample": ("sigma0",)}, BadInput, "give both or none"),
        ({"by_sample": ("sigma0",), "features": {"w": 1.0}}, UnknownName, "w"),
        ({"by_sample": ("sigma0",), "features": {"v": 0.0}}, BadInput, "must be positive"),
        ({"reach": 1.0}, BadInput, "reach"),
    ],
)
def test_bad_layers_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        physics_layer(**{"law": lugre_exact(), "dt": DT} | arguments)


def test_bad_laws_of_friction_are_refused():
    with pytest.raises(BadInput, match="lugre_exact"):
        augmented_lugre(lugre(), dt=DT)
    with pytest.raises(BadInput, match="sigma0 is missing"):
        lugre_parallel({}, jnp.zeros(3), DT)
