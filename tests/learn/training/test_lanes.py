"""Training in lanes: every sample once and in order, states carried and put to rest, resumed bit for bit."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from hyloop.errors import BadInput, OutOfBounds
from hyloop.learn.networks.stack import Stack
from hyloop.learn.training.lanes import LaneBatch, Stage, _mean_square, lanes, train_lanes
from hyloop.neural.architecture import recurrent

WINDOW = 8


def numbered(lengths):
    """Histories of given lengths whose input is the number of the history and of the sample."""

    def draw(rng):
        number = int(rng.integers(len(lengths)))
        samples = np.arange(lengths[number], dtype=float)
        inputs = np.column_stack([np.full_like(samples, number), samples])
        return inputs, samples[:, None]

    return draw


def test_a_lane_runs_through_whole_histories_in_order():
    lengths = (20, 33, 8, 15)
    batches = list(lanes(numbered(lengths), 3, [Stage(2, WINDOW)], updates=60, seed=4)(1))
    assert len(batches) == 60
    for lane in range(3):
        histories = []  # the samples seen of each, one after another
        for batch in batches:
            size = int(batch.weight[lane].sum())
            rows = batch.inputs[lane, :size]
            assert batch.weight[lane, :size].all()
            assert (batch.inputs[lane, size:] == rows[-1]).all()
            np.testing.assert_array_equal(batch.target[lane, :size, 0], rows[:, 1])
            if batch.fresh[lane]:
                histories.append([])
            histories[-1] += [tuple(row) for row in rows]
        for seen in histories:
            number = int(seen[0][0])
            assert seen == [(number, k) for k in range(len(seen))]
        for seen in histories[1:-1]:  # the first is cut, so that lanes are out of step, and the last by the epoch's end
            assert len(seen) == lengths[int(seen[0][0])]


def test_lanes_are_out_of_step():
    batches = list(lanes(numbered([80] * 4), 8, [Stage(1, WINDOW)], updates=30)(0))
    together = [batch.fresh.sum() for batch in batches[1:]]
    assert max(together) < 8, "all lanes begin again in the same update"


def test_windows_grow_and_draws_hang_on_seed_and_epoch_alone():
    data = lanes(numbered([50, 60]), 2, [Stage(1, 4), Stage(2, 16)], updates=3, seed=5)
    assert [next(iter(data(epoch))).weight.shape[1] for epoch in range(3)] == [4, 16, 16]
    first, again = list(data(1)), list(data(1))
    for one, two in zip(first, again, strict=True):
        for a, b in zip(one, two, strict=True):
            np.testing.assert_array_equal(a, b)
    assert any((a.inputs != b.inputs).any() for a, b in zip(first, data(2), strict=True))


def test_a_fresh_lane_begins_at_rest_and_another_goes_on():
    model = Stack(recurrent(1, width=4, depth=1), key=jax.random.key(0))
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, 6, 1)).astype(np.float32)
    state = jax.tree.map(lambda a: a + 0.3, model.rest(2))
    fresh = np.array([True, False])
    one = np.ones((2, 6), np.float32)
    y_rest, _ = model(x[:1])
    y_on, after = model(x[1:], jax.tree.map(lambda a: a[1:], state))
    batch = LaneBatch(x, np.concatenate([y_rest, y_on]), one, fresh)
    loss, last = _mean_square(model, state, batch, None)
    assert float(loss) < 1e-12  # float32
    for mine, theirs in zip(jax.tree.leaves(last), jax.tree.leaves(after), strict=True):
        np.testing.assert_allclose(mine[1:], theirs, rtol=1e-6)


def test_samples_behind_the_end_do_not_count():
    model = Stack(recurrent(1, width=4, depth=1), key=jax.random.key(1))
    data = lanes(lambda rng: (np.ones((5, 1)), np.full((5, 1), 2.0)), 1, [Stage(1, 8)], updates=1)
    batch = next(iter(data(0)))
    loss, _ = _mean_square(model, model.rest(1), batch, None)
    y, _ = model(np.ones((5, 1), np.float32))
    assert float(loss) == pytest.approx(float(jnp.mean((y - 2.0) ** 2)), rel=1e-5)


def echo(rng):
    x = rng.normal(size=(64, 1))
    return x, 0.5 * x + 0.3 * np.roll(x, 1, axis=0)


def trained(folder, epochs, **more):
    model = Stack(recurrent(1, width=8, depth=1), key=jax.random.key(2))
    data = lanes(echo, 4, [Stage(3, 16)], updates=5, seed=1)
    return train_lanes(model, data, epochs=epochs, optimiser=OPTIMISER, checkpoint=folder / "c.safetensors", **more)


OPTIMISER = optax.adam(1e-2)


def test_a_training_resumes_bit_for_bit(tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    whole = trained(tmp_path / "one", 3)
    trained(tmp_path / "two", 1)
    resumed = trained(tmp_path / "two", 3, resume=True)
    for a, b in zip(jax.tree.leaves(whole.model), jax.tree.leaves(resumed.model), strict=True):
        np.testing.assert_array_equal(a, b)
    assert len(whole.history.updates) == 15
    assert np.mean(whole.history.updates[-5:]) < np.mean(whole.history.updates[:5])


def test_what_cannot_be_trained_on_is_refused():
    with pytest.raises(OutOfBounds, match="count = 0"):
        lanes(echo, 0, [Stage(1, 8)], updates=1)
    with pytest.raises(OutOfBounds, match="updates"):
        lanes(echo, 1, [], updates=1)
    unequal = lanes(lambda rng: (np.ones((4, 1)), np.ones((3, 1))), 1, [Stage(1, 2)], updates=1)
    with pytest.raises(BadInput, match="4 samples of inputs and 3"):
        list(unequal(0))
    holes = lanes(lambda rng: (np.full((4, 1), np.nan), np.ones((4, 1))), 1, [Stage(1, 2)], updates=1)
    model = Stack(recurrent(1, width=4, depth=1), key=jax.random.key(0))
    with pytest.raises(BadInput, match="nan"):
        train_lanes(model, holes, epochs=1, optimiser=OPTIMISER)


def test_histories_shorter_than_a_window_fill_lanes():
    batches = list(itertools.islice(lanes(numbered([3]), 2, [Stage(1, WINDOW)], updates=4)(0), 4))
    assert all(batch.fresh.all() and (batch.weight.sum(axis=1) == 3).all() for batch in batches)
