"""State-space networks: against a linear model with a closed form, learned from a simulated one, and in the loop."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.signal import lsim

from hyloop.errors import BadInput, BadShape
from hyloop.learn import follow, freeze, state_space_network
from hyloop.learn.physics.recurrent_fit import History
from hyloop.neural import Card, Signal, load_network

DT, RATE = 1 / 512, 2 * np.pi * 5
A, B, C = np.array([[0.0, 1.0], [-1.0, -0.1]]), np.array([[0.0], [1.0]]), np.array([[1.0, 0.0]])
ROUND_OFF = 1e-12  # relative: the same sums in float64, with another tanh
FOURTH_ORDER = 3e-6  # relative: (RATE DT)^4 / 120 = 1.2e-7 for a radian, over the 20 radians of a damping of 5 %
LEARNED = 0.05  # of the error before training
SIGNALS = (Signal("u", "N", 2.0, 0.5, -5.0, 5.0),), (Signal("y", "m", 0.1, 50.0),)


def excitation(n=600):
    t = DT * np.arange(n)
    return np.sin(2 * np.pi * 4 * t) * np.sin(2 * np.pi * 0.7 * t)


def network(seed=0, scale=0.3, **rest):
    """One that bends: random weights in the place of the silent ones."""
    made = state_space_network(A, B, C, width=5, rate=RATE, dt=DT, seed=seed, **rest)
    last = made.network.layers[-1]
    key = jax.random.PRNGKey(seed + 100)
    loud = scale * jax.random.normal(key, last.weight.shape), jnp.array([0.02, -0.01])
    return eqx.tree_at(lambda it: (it.network.layers[-1].weight, it.network.layers[-1].bias), made, loud)


def run(model, u):
    return np.asarray(eqx.filter_jit(lambda model, u: model(u)[1])(model, u[:, None]))[:, 0]


def test_a_silent_network_is_the_linear_model():
    made = state_space_network(A, B, C, rate=RATE, dt=DT)
    silent = eqx.tree_at(lambda it: it.network.layers[-1].weight, made, replace_fn=jnp.zeros_like)
    u = excitation()
    ramped = np.concatenate([[0.0], u])  # the first sample is reached from rest on a straight line
    _, y, _ = lsim((RATE * A, RATE * B, C, [[0.0]]), ramped, DT * np.arange(len(ramped)))
    assert run(silent, u) == pytest.approx(y[1:], abs=FOURTH_ORDER * np.abs(y).max())
    assert np.abs(run(made, u) - y[1:]).max() < 0.05 * np.abs(y).max()  # untrained: nearly so


def test_a_network_finds_the_one_that_made_the_record():
    u = excitation(2048)
    truth, start = network(0, scale=0.1), network(0, scale=0.0)
    y = run(truth, u)
    history = History(u[:, None], y, np.ones(len(u)), np.zeros(1))

    def step(model, x, u):
        x, y = model.step(x, u)
        return x, y[0]

    found = follow(start, step, lambda model, _: model.rest, [history], iterations=20)
    before, after = (np.sqrt(np.mean((run(model, u) - y) ** 2)) for model in (start, found.model))
    assert before > 1e-2 * y.std() and after < LEARNED * before


def test_in_the_loop_it_is_what_was_trained(tmp_path):
    model, u = network(3), 2.0 + 4.0 * excitation()
    frozen = freeze(model, Card(*SIGNALS))
    first = model.step(jnp.concatenate([jnp.zeros(2), jnp.asarray([-1.0])]), jnp.asarray([(u[0] - 2.0) * 0.5]))
    scaled = (u - 2.0) * 0.5
    _, y = eqx.filter_jit(lambda m, u: m(u, jnp.array([0.0, 0.0, -1.0])))(model, scaled[:, None])  # -1: no force
    expected = np.asarray(y)[:, 0] / 50.0 + 0.1
    assert expected[0] == pytest.approx(float(first[1][0]) / 50.0 + 0.1)
    found = frozen.device().drive(DT, u=u)
    assert found["y"] == pytest.approx(expected, abs=ROUND_OFF * np.abs(expected).max())
    assert found["outside"][-1] == np.sum((u < -5.0) | (u > 5.0)) > 0
    frozen.save(tmp_path / "net.safetensors")
    again = load_network(tmp_path / "net.safetensors")
    assert np.array_equal(again.device().drive(DT, u=u)["y"], found["y"])
    with pytest.raises(BadInput, match="trained at 512 Hz"):
        again.device().drive(2 * DT, u=u)


def test_what_does_not_fit_is_refused():
    with pytest.raises(BadShape, match="do not fit"):
        state_space_network(A, np.ones((3, 1)), C, rate=RATE, dt=DT)
    with pytest.raises(BadInput, match="must be positive"):
        state_space_network(A, B, C, rate=-1.0, dt=DT)
    with pytest.raises(BadInput, match="the layer was made with"):
        freeze(network(), Card(*SIGNALS, dt=2 * DT))
    with pytest.raises(BadShape, match="do not fit a card"):
        freeze(network(), Card((*SIGNALS[0], Signal("v", "m/s")), SIGNALS[1]))
    with pytest.raises(BadShape, match="not finite"):
        freeze(eqx.tree_at(lambda it: it.A, network(), jnp.full((2, 2), jnp.nan)), Card(*SIGNALS))
