"""Networks trained by recipe: they learn, they freeze to the same numbers, and a seed means the same bits."""

from dataclasses import replace

import numpy as np
import pytest

from hyloop.errors import BadInput, UnknownName
from hyloop.learn import freeze
from hyloop.learn.training.networks import Recipe, make_optimiser, predict, train_network
from hyloop.learn.training.train import Trained
from hyloop.neural.architecture import mlp, recurrent
from hyloop.neural.card import Card, Signal
from hyloop.neural.histories import History, Split

pytestmark = pytest.mark.slow

FROZEN = 1e-5  # float32 by two compilers
RECIPE = Recipe(epochs=12, batch=3, window=50, dropout=0.1, rate=2e-2, clip=1.0)
NETWORK = recurrent(1, 1, width=6, depth=1)


def history(k):
    """A first-order lag of a random signal, lengths all different."""
    rng = np.random.default_rng(k)
    x = np.cumsum(rng.normal(size=100 + 10 * k)) * 0.1
    x -= x.mean()
    y = np.zeros_like(x)
    for i in range(1, len(x)):
        y[i] = 0.8 * y[i - 1] + 0.2 * x[i - 1]
    return History(f"h{k}", f"e{k}", 0.01, x[:, None], y[:, None])


@pytest.fixture(scope="module")
def parts():
    histories = [history(k) for k in range(7)]
    return Split(tuple(histories[:5]), (histories[5],), (histories[6],))


@pytest.fixture(scope="module")
def trained(parts) -> Trained:
    return train_network(NETWORK, parts, RECIPE, seed=2)


def bits(trained):
    return [np.asarray(value).tobytes() for value in trained.model.tensors.values()]


def test_it_learns_and_is_frozen_as_it_is(parts, trained):
    """Validation is the mean square error of the free run, dropout off, so it can be had from the frozen network."""
    shown = parts.validation[0]
    frozen = freeze(trained.model, Card((Signal("x", "-"),), (Signal("y", "-"),), dt=0.01))
    y = frozen.drive(0.01, x=shown.inputs[:, 0])["y"]
    size = np.abs(y).max()
    np.testing.assert_allclose(predict(trained.model, shown)[:, 0], y, atol=FROZEN * size)
    mse = np.mean((y - shown.target[:, 0]) ** 2)
    assert trained.history.validation[trained.best_epoch - 1] == pytest.approx(mse, rel=10 * FROZEN)
    assert mse == pytest.approx(trained.history.validation.min(), rel=10 * FROZEN)
    assert mse < 0.1 * np.var(shown.target)  # a tenth of what the mean alone would leave


def test_one_seed_one_result_and_resumed_the_same(parts, trained, tmp_path):
    assert bits(train_network(NETWORK, parts, RECIPE, seed=2)) == bits(trained)
    file = tmp_path / "checkpoint.safetensors"
    train_network(NETWORK, parts, replace(RECIPE, epochs=5), seed=2, checkpoint=file)
    resumed = train_network(NETWORK, parts, RECIPE, seed=2, checkpoint=file, resume=True)
    assert bits(resumed) == bits(trained)
    assert (resumed.history.updates == trained.history.updates).all()
    with pytest.raises(BadInput, match="another settings"):
        train_network(NETWORK, parts, replace(RECIPE, rate=1e-2), seed=2, checkpoint=file, resume=True)


def test_test_events_and_other_seeds(parts, trained):
    """Test events change nothing; another seed changes starting weights and order."""
    without = train_network(NETWORK, Split(parts.train, parts.validation), replace(RECIPE, epochs=1), seed=2)
    other = train_network(NETWORK, parts, replace(RECIPE, epochs=1), seed=3)
    n = len(without.history.updates)
    assert (without.history.updates == trained.history.updates[:n]).all()
    assert other.history.updates[0] != trained.history.updates[0]


def test_a_network_without_memory_has_no_windows(parts):
    with pytest.raises(BadInput, match="no memory"):
        train_network(mlp(1), parts, RECIPE)


def test_unknown_schedule():
    with pytest.raises(UnknownName, match="Did you mean 'cosine'"):
        make_optimiser(replace(RECIPE, schedule="cosines"), 100, 10)
