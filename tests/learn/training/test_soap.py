"""SOAP: Adam for vectors, and for matrices a step that does not hang on how their coordinates are turned."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from hyloop.errors import OutOfBounds
from hyloop.learn.training.schedules import constant, cosine
from hyloop.learn.training.soap import soap

ROUND_OFF = 2e-5  # float32 over some hundred updates


def descend(loss, start, rule, updates):
    """Losses of so many updates from a start."""

    @jax.jit
    def step(w, state):
        value, gradient = jax.value_and_grad(loss)(w)
        change, state = rule.update(gradient, state, w)
        return optax.apply_updates(w, change), state, value

    state, found = rule.init(start), []
    for _ in range(updates):
        start, state, value = step(start, state)
        found.append(float(value))
    return start, np.array(found)


def test_vectors_are_left_to_adam():
    target = jnp.array([1.0, -2.0, 0.5])
    start = jnp.zeros(3)
    mine, _ = descend(lambda w: jnp.sum((w - target) ** 2), start, soap(constant(0.05)), 50)
    theirs, _ = descend(lambda w: jnp.sum((w - target) ** 2), start, optax.adam(0.05, 0.95, 0.95), 50)
    np.testing.assert_allclose(mine, theirs, atol=ROUND_OFF)


def orthogonal(rng, n):
    return jnp.asarray(np.linalg.qr(rng.normal(size=(n, n)))[0], jnp.float32)


def stretched(left, right):
    """A quadratic bowl, a thousand times steeper in some turned directions than in others."""
    rows = jnp.geomspace(1.0, 30.0, left.shape[0])[:, None]
    columns = jnp.geomspace(1.0, 30.0, right.shape[0])[None, :]
    return lambda w: jnp.mean((rows * (left.T @ w @ right - 1.0) * columns) ** 2) / 900.0


def test_turned_coordinates_cost_nothing_and_adam_pays_for_them():
    rng = np.random.default_rng(3)
    left, right = orthogonal(rng, 6), orthogonal(rng, 9)
    start, updates = jnp.zeros((6, 9)), 300
    rate = cosine(0.05, updates)
    straight = stretched(jnp.eye(6), jnp.eye(9))
    turned = stretched(left, right)
    _, mine = descend(straight, start, soap(rate), updates)
    _, mine_turned = descend(turned, start, soap(rate), updates)
    _, adam_turned = descend(turned, start, optax.adam(rate), updates)
    assert mine_turned[-1] < 3.0 * mine[-1] + 1e-6
    assert mine_turned[-1] < 0.1 * adam_turned[-1]


def test_steps_turn_with_the_coordinates():
    # the first update makes the bases: in them its gradient is diagonal but for round-off, whose sign Adam would take
    rng = np.random.default_rng(1)
    left, right = orthogonal(rng, 5), orthogonal(rng, 5)
    gradients = [jnp.asarray(rng.normal(size=(5, 5)), jnp.float32) for _ in range(6)]
    rule = soap(constant(1.0), every=3)
    plain, turned = (rule.init(jnp.zeros((5, 5))) for _ in range(2))
    for k, G in enumerate(gradients):
        step, plain = rule.update(G, plain)
        other, turned = rule.update(left @ G @ right, turned)
        if k > 0:
            np.testing.assert_allclose(other, left @ step @ right, atol=1e-2)  # bases of float32 have three digits


def test_clipped_gradients_and_settings_out_of_range():
    rule = soap(constant(0.1), clip=1.0)
    w = jnp.ones((3, 3))
    step, _ = rule.update(1e6 * w, rule.init(w))
    assert np.isfinite(step).all()
    with pytest.raises(OutOfBounds, match="beta = 1"):
        soap(constant(0.1), beta=1.0)
    with pytest.raises(OutOfBounds, match="every = 0"):
        soap(constant(0.1), every=0)
