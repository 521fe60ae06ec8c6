"""Truncated backpropagation against a textbook recurrence in NumPy."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from hyloop.errors import BadShape, OutOfBounds
from hyloop.learn.training.train import train
from hyloop.learn.training.truncated import train_truncated

ROUND_OFF = 1e-10  # relative: sums of dozens of samples, some updates
RATE = optax.sgd(0.05)


def roll(model, h, x):
    def step(h, u):
        h = model["a"] * h + model["b"] * u
        return h, h

    return jax.lax.scan(step, h, x.T)  # samples first


def loss(model, h, batch, key):
    x, y = batch
    h, out = roll(model, h, x)
    return jnp.mean((out.T - y) ** 2), h


def rest(model, batch):
    return jnp.zeros(len(batch[0]))


@pytest.fixture(scope="module")
def batch():
    rng = np.random.default_rng(2)
    return rng.normal(size=(2, 36)), rng.normal(size=(2, 36))


def textbook(batch, window, epochs):
    """Forward sensitivities dh/da, dh/db that begin at zero in every window, while h goes on."""
    x, y = batch
    a, b, losses = 0.5, 1.0, []
    for _ in range(epochs):
        h = np.zeros(2)
        for begin in range(0, x.shape[1], window):
            ha, hb, ga, gb, total = np.zeros(2), np.zeros(2), 0.0, 0.0, 0.0
            part = range(begin, min(begin + window, x.shape[1]))
            for t in part:
                ha, hb = h + a * ha, x[:, t] + a * hb
                h = a * h + b * x[:, t]
                e = h - y[:, t]
                total, ga, gb = total + np.sum(e**2), ga + np.sum(2 * e * ha), gb + np.sum(2 * e * hb)
            n = 2 * len(part)
            losses.append(total / n)
            a, b = a - 0.05 * ga / n, b - 0.05 * gb / n
    return a, b, losses


@pytest.mark.parametrize("window", [9, 10, 36])
def test_windows_carry_the_state_and_cut_the_gradient(batch, window):
    """Windows that fit, a shorter last one, and the whole history."""
    model = {"a": jnp.array(0.5), "b": jnp.array(1.0)}
    found = train_truncated(model, loss, [batch], window=window, start=rest, optimiser=RATE, epochs=3)
    a, b, losses = textbook(batch, window, 3)
    np.testing.assert_allclose(found.history.updates, losses, rtol=ROUND_OFF)
    np.testing.assert_allclose([found.model["a"], found.model["b"]], [a, b], rtol=ROUND_OFF)


def test_one_window_is_ordinary_training(batch):
    model = {"a": jnp.array(0.5), "b": jnp.array(1.0)}
    one = train_truncated(model, loss, [batch], window=36, start=rest, optimiser=RATE, epochs=3)
    other = train(model, lambda m, b, key: loss(m, rest(m, b), b, key)[0], [batch], optimiser=RATE, epochs=3)
    np.testing.assert_allclose(one.history.updates, other.history.updates, rtol=ROUND_OFF)


def test_resumed_equals_uninterrupted_bit_for_bit(batch, tmp_path):
    model = {"a": jnp.array(0.5), "b": jnp.array(1.0)}
    settings = {"window": 9, "start": rest, "optimiser": RATE}
    whole = train_truncated(model, loss, [batch], epochs=4, **settings)
    file = tmp_path / "training.safetensors"
    train_truncated(model, loss, [batch], epochs=2, checkpoint=file, **settings)
    resumed = train_truncated(model, loss, [batch], epochs=4, checkpoint=file, resume=True, **settings)
    assert (whole.history.updates == resumed.history.updates).all()
    assert all(whole.model[key] == resumed.model[key] for key in model)


def test_bad_input_is_refused(batch):
    model = {"a": jnp.array(0.5), "b": jnp.array(1.0)}
    settings = {"start": rest, "optimiser": RATE, "epochs": 1}
    with pytest.raises(OutOfBounds, match="window = 0"):
        train_truncated(model, loss, [batch], window=0, **settings)
    with pytest.raises(BadShape, match="histories by samples"):
        train_truncated(model, loss, [(batch[0], batch[1][:, :5])], window=9, **settings)
