"""The trainer against plain NumPy, and against itself: same seed, same bits; resumed, same bits."""

import re

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from hyloop.errors import BadInput, BadShape, OutOfBounds, RunFailed
from hyloop.learn.training.ensembles import train_ensemble
from hyloop.learn.training.train import mean_loss, train

ROUND_OFF = 1e-12  # relative, some dozen updates in double precision
RATE = 1e-2


class Line(eqx.Module):
    """y = x w, with dropout on x and a constant that is not trained."""

    w: jax.Array
    dropout: eqx.nn.Dropout
    unit: np.ndarray


def line(p=0.0, n=3):
    return Line(jnp.zeros(n), eqx.nn.Dropout(p), np.ones(n))


def squares(model, batch, key):
    x, y = batch
    return jnp.mean((model.dropout(x, key=key) @ (model.w * model.unit) - y) ** 2)


@pytest.fixture(scope="module")
def batches():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(4, 20, 3))
    return list(zip(x, x @ [1.0, -2.0, 0.5] + 0.1 * rng.normal(size=(4, 20)), strict=True))


ADAM = optax.adam(RATE)  # one object for all tests, so that the update is compiled once


def run(batches, epochs=6, p=0.3, seed=3, **more):
    settings = {"validate": mean_loss(squares, batches[3:])} | more
    return train(line(p), squares, batches[:3], optimiser=ADAM, epochs=epochs, seed=seed, **settings)


def same(a, b):
    return (
        (np.asarray(a.model.w) == np.asarray(b.model.w)).all()
        and all((getattr(a.history, k) == getattr(b.history, k)).all() for k in ("updates", "train", "validation"))
        and a.best_epoch == b.best_epoch
    )


def test_adam_equals_the_textbook_update(batches):
    w, m, s, losses = np.zeros(3), np.zeros(3), np.zeros(3), []
    for k in range(12):
        x, y = batches[k % 3]
        e = x @ w - y
        losses.append(np.mean(e**2))
        g = 2.0 * x.T @ e / len(e)
        m, s = 0.9 * m + 0.1 * g, 0.999 * s + 0.001 * g**2
        w = w - RATE * (m / (1 - 0.9 ** (k + 1))) / (np.sqrt(s / (1 - 0.999 ** (k + 1))) + 1e-8)
    trained = run(batches, epochs=4, p=0.0, validate=None)
    np.testing.assert_allclose(trained.model.w, w, rtol=ROUND_OFF)
    np.testing.assert_allclose(trained.history.updates, losses, rtol=ROUND_OFF)
    np.testing.assert_allclose(trained.history.train, np.mean(np.reshape(losses, (4, 3)), axis=1), rtol=ROUND_OFF)
    assert trained.best_epoch == 4 and trained.history.validation.size == 0
    assert (trained.model.unit == 1.0).all()  # a NumPy array is a constant


def test_training_finds_the_least_squares_solution(batches):
    x, y = (np.concatenate(part) for part in zip(*batches, strict=True))
    trained = train(line(), squares, [(x, y)], optimiser=optax.adam(optax.cosine_decay_schedule(0.1, 400)), epochs=400)
    np.testing.assert_allclose(trained.model.w, np.linalg.lstsq(x, y)[0], atol=1e-6)


def test_one_seed_gives_the_same_bits_and_another_seed_others(batches):
    assert same(run(batches), run(batches))
    assert not same(run(batches), run(batches, seed=4))


@pytest.mark.parametrize("stop", [1, 3, 6])
def test_resumed_equals_uninterrupted_bit_for_bit(batches, tmp_path, stop):
    file = tmp_path / "there" / "training.safetensors"
    run(batches, epochs=stop, checkpoint=file)
    resumed = run(batches, checkpoint=file, resume=True)
    assert same(resumed, run(batches))
    assert same(resumed, run(batches, checkpoint=file, resume=True))  # a finished training comes back as it was
    assert [path.name for path in file.parent.iterdir()] == [file.name]  # nothing half-written is left


def test_checkpoint_after_a_death_is_the_last_whole_epoch(batches, tmp_path):
    """Death inside an epoch, with a checkpoint after every second one."""
    file = tmp_path / "training.safetensors"

    def dies(epoch):
        if epoch == 5:
            yield batches[0]
            raise KeyboardInterrupt
        yield from batches[:3]

    settings = {"optimiser": ADAM, "epochs": 6, "seed": 3, "validate": mean_loss(squares, batches[3:])}
    with pytest.raises(KeyboardInterrupt):
        train(line(0.3), squares, dies, checkpoint=file, checkpoint_every=2, **settings)
    heard = []
    resumed = run(batches, checkpoint=file, resume=True, progress=heard.append)
    assert [report.epoch for report in heard] == [5, 6]
    assert same(resumed, run(batches))


def test_validation_has_no_dropout(batches):
    x, y = batches[3]
    model = eqx.tree_at(lambda m: m.w, line(0.5), jnp.array([1.0, 2.0, 3.0]))
    expected = np.mean((x @ [1.0, 2.0, 3.0] - y) ** 2)
    assert mean_loss(squares, batches[3:])(model) == pytest.approx(expected, rel=ROUND_OFF)


def test_early_stopping_keeps_the_best_epoch(batches):
    script = [5.0, 3.0, 4.0, np.nan, 2.0, 6.0, 7.0, 8.0, 1.0]
    values, seen = iter(script), []

    def validate(model):
        seen.append(np.array(model.w))
        return next(values)

    trained = run(batches, epochs=9, validate=validate, patience=3)
    assert trained.best_epoch == 5
    np.testing.assert_array_equal(trained.history.validation, [5.0, 3.0, 4.0, np.inf, 2.0, 6.0, 7.0, 8.0])
    np.testing.assert_array_equal(trained.model.w, seen[4])


def test_progress_tells_loss_and_remaining_time(batches):
    heard = []
    trained = run(batches, progress=heard.append)
    assert [report.epoch for report in heard] == [1, 2, 3, 4, 5, 6]
    assert [report.loss for report in heard] == trained.history.train.tolist()
    assert [report.validation for report in heard] == trained.history.validation.tolist()
    assert heard[2].remaining == pytest.approx(heard[2].elapsed)  # half of six epochs are done
    assert heard[-1].remaining == 0.0


def test_ensemble_reports_mean_and_spread(batches):
    ensemble = train_ensemble(lambda seed: run(batches, seed=seed), [1, 2, 3])
    spread = ensemble.spread(lambda model: float(model.w[0]))
    alone = [float(run(batches, seed=seed).model.w[0]) for seed in (1, 2, 3)]
    assert spread.values == tuple(alone)
    assert spread.mean == pytest.approx(np.mean(alone))
    assert spread.std == pytest.approx(np.sqrt(np.sum((alone - np.mean(alone)) ** 2) / 2.0))
    with pytest.raises(BadInput, match="different numbers"):
        train_ensemble(lambda seed: run(batches, seed=seed), [1, 1])


def test_bad_data_are_refused_before_training(batches):
    def never(*_):
        raise AssertionError("trained")

    bad = [(x.copy(), y.copy()) for x, y in batches]
    bad[2][0][4, 1] = np.nan
    for data in (bad, lambda epoch: bad):
        with pytest.raises(BadInput, match=re.escape("batch 3[0] is nan at (4, 1)")):
            train(line(), never, data, optimiser=ADAM, epochs=1)
    with pytest.raises(BadInput, match="no batches"):
        train(line(), never, [], optimiser=ADAM, epochs=1)
    with pytest.raises(BadShape, match="empty"):
        train(line(), never, [(np.zeros((0, 3)), np.zeros(0))], optimiser=ADAM, epochs=1)
    with pytest.raises(BadInput, match="is inf"):
        mean_loss(never, [np.array([np.inf])])


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"epochs": 0}, "epochs = 0"),
        ({"seed": -1}, "seed = -1"),
        ({"patience": 0}, "patience = 0"),
        ({"patience": 3, "validate": None}, "validation events only"),
        ({"checkpoint_every": 0}, "checkpoint_every = 0"),
        ({"resume": True}, "name the checkpoint"),
    ],
)
def test_bad_settings_are_refused(batches, settings, says):
    with pytest.raises((OutOfBounds, BadInput), match=says):
        run(batches, **settings)


def test_a_checkpoint_of_something_else_is_refused(batches, tmp_path):
    file = tmp_path / "training.safetensors"
    again = {"checkpoint": file, "resume": True}
    with pytest.raises(BadInput, match="no readable checkpoint"):
        run(batches, **again)
    run(batches, epochs=2, checkpoint=file)
    with pytest.raises(BadInput, match="another seed: 3, now 4"):
        run(batches, seed=4, **again)
    with pytest.raises(BadInput, match="another settings: , now rate 2"):
        run(batches, identity="rate 2", **again)
    with pytest.raises(BadInput, match="another data"):
        run([(x, y + 1e-12) for x, y in batches], **again)
    settings = {"epochs": 6, "seed": 3, **again}
    with pytest.raises(BadInput, match="another model or optimiser"):
        train(line(), squares, batches[:3], optimiser=optax.sgd(RATE), **settings)
    with pytest.raises(BadInput, match=re.escape("'model.w' is float64 (3,) in the checkpoint and float64 (4,)")):
        train(line(n=4), squares, batches[:3], optimiser=ADAM, **settings)
    data = file.read_bytes()
    file.write_bytes(data[: len(data) // 2])
    with pytest.raises(BadInput, match="no readable checkpoint"):
        run(batches, **again)


def test_a_loss_that_is_not_finite_stops_with_what_there_is(batches):
    """The gradient of x^2 with a rate far beyond 2 / curvature grows without end."""
    with pytest.raises(RunFailed, match="not finite") as caught:
        train(line(), squares, batches[:3], optimiser=optax.sgd(1e30), epochs=50)
    assert caught.value.reason == "non-finite"
    assert np.isfinite(caught.value.result.history.updates).all()
