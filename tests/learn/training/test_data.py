"""Splits by event, scaling, batches and learning rates."""

import numpy as np
import optax
import pytest

from hyloop.errors import BadInput, BadShape, OutOfBounds, UnknownName
from hyloop.learn.training import schedules
from hyloop.learn.training.batches import batches, count_updates, stack
from hyloop.neural.card import SCALINGS
from hyloop.neural.histories import History, Split, leave_one_out, split
from hyloop.neural.scaling import fit_signals, scaled, unscaled

SINGLE = 1e-5  # relative: Optax computes rates in single precision


def history(name, event, n=20, seed=0, dt=0.01):
    rng = np.random.default_rng([seed, *name.encode()])
    return History(name, event, dt, rng.normal(size=(n, 2)), rng.normal(size=(n, 1)))


@pytest.fixture
def tests():
    return [history(f"{event}_{k}", event, 20 + 3 * k) for event in ("kobe", "loma", "chi") for k in range(2)]


def names(histories):
    return [one.name for one in histories]


def test_an_event_stays_on_one_side(tests):
    parts = split(tests, ["lo*"], ["chi"])
    assert names(parts.train) == ["kobe_0", "kobe_1"]
    assert names(parts.validation) == ["loma_0", "loma_1"] and names(parts.test) == ["chi_0", "chi_1"]
    folds = list(leave_one_out(tests, ["loma"]))
    assert [names(fold.test) for fold in folds] == [["kobe_0", "kobe_1"], ["chi_0", "chi_1"]]
    assert all(names(fold.validation) == ["loma_0", "loma_1"] for fold in folds)


def test_splits_that_leak_are_refused(tests):
    with pytest.raises(BadInput, match="event 'loma' is for validation and for test"):
        split(tests, ["loma"], ["*o*"])
    copy = History("other", "other", 0.01, tests[0].inputs, tests[0].target)
    with pytest.raises(BadInput, match=r"'kobe_0' .train. and 'other' .validation. are the same record"):
        split([*tests, copy], ["other"])
    with pytest.raises(BadInput, match="none is left"):
        split(tests, ["*"])
    with pytest.raises(UnknownName, match="Did you mean 'kobe'"):
        split(tests, ["kobi"])
    with pytest.raises(BadInput, match="two histories are called 'kobe_0'"):
        split([*tests, tests[0]])
    with pytest.raises(BadInput, match="at least two events"):
        list(leave_one_out(tests, ["kobe", "chi"]))


def test_histories_that_cannot_be_learned_from_are_refused(tests):
    with pytest.raises(BadInput, match="'kobe_0' has 20 samples, at least 22"):
        split(tests, least=22)
    with pytest.raises(BadInput, match="Resample"):
        split([*tests, history("fast", "fast", dt=0.005)])
    with pytest.raises(BadInput, match=r"'kobe_0' has dt = 0\.01 s and 'fast' 0\.005 s\. Resample"):
        Split((tests[0],), (), (history("fast", "fast", dt=0.005),))
    with pytest.raises(BadInput, match="no histories"):
        split([])
    good = tests[0]
    holed = good.target.copy()
    holed[7, 0] = np.nan
    with pytest.raises(BadInput, match="target is nan at sample 7, channel 0"):
        History("holed", "kobe", 0.01, good.inputs, holed)
    with pytest.raises(BadShape, match="samples by channels"):
        History("flat", "kobe", 0.01, good.inputs, good.target[:, 0])
    with pytest.raises(BadShape, match="20 samples of inputs and 19"):
        History("short", "kobe", 0.01, good.inputs, good.target[1:])
    with pytest.raises(BadInput, match="dt = 0"):
        History("still", "kobe", 0.0, good.inputs, good.target)
    with pytest.raises(BadShape, match="has 2 inputs and 'narrow' 1"):
        split([*tests, History("narrow", "kobe", 0.01, good.inputs[:, :1], good.target[::-1])])


UNITS = {"d": "m", "v": "m/s"}


def test_scalings_do_what_they_are_called(tests):
    signals = {kind: fit_signals(tests, "inputs", UNITS, kind) for kind in SCALINGS}
    target = fit_signals(tests, "target", {"f": "N"}, "robust")
    x = np.concatenate([one.inputs for one in tests])
    z = {kind: np.concatenate([h.inputs for h in scaled(tests, s, target)]) for kind, s in signals.items()}
    np.testing.assert_allclose([z["min-max"].min(0), z["min-max"].max(0)], [[-1.0, -1.0], [1.0, 1.0]])
    lower, middle, upper = np.quantile(z["robust"], [0.25, 0.5, 0.75], axis=0)
    np.testing.assert_allclose([middle, upper - lower], [[0.0, 0.0], [1.0, 1.0]], atol=1e-14)
    np.testing.assert_allclose([z["standard"].mean(0), z["standard"].std(0)], [[0.0, 0.0], [1.0, 1.0]], atol=1e-14)
    np.testing.assert_array_equal(z["none"], x)
    for kind, found in signals.items():
        np.testing.assert_allclose(unscaled(z[kind], found), x)
        assert [(s.name, s.unit, s.low, s.high) for s in found] == [
            (name, unit, x[:, k].min(), x[:, k].max()) for k, (name, unit) in enumerate(UNITS.items())
        ]
    with pytest.raises(BadShape, match="2 inputs, but 1 names"):
        fit_signals(tests, "inputs", {"d": "m"}, "none")


def test_scaling_knows_training_events_only(tests):
    """Outliers in the events set aside change nothing."""
    parts = split(tests, ["loma"], ["chi"])
    wild = [History(h.name, h.event, h.dt, 1e6 * h.inputs, h.target) if h.event != "kobe" else h for h in tests]
    assert fit_signals(split(wild, ["loma"], ["chi"]).train, "inputs", UNITS, "min-max") == fit_signals(
        parts.train, "inputs", UNITS, "min-max"
    )


@pytest.mark.parametrize("window", [None, 8])
def test_every_history_is_in_one_batch_of_an_epoch(tests, window):
    of_epoch = batches(tests, 4, seed=5, window=window, dtype=np.float64)
    seen = {}
    for epoch in (0, 1):
        found = of_epoch(epoch)
        assert [batch.inputs.shape[0] for batch in found] == [4, 4]
        order = []
        for batch in found:
            for x, y, w in zip(*batch, strict=True):
                n = int(w.sum())
                assert (w[:n] == 1).all() and not x[n:].any() and not y[n:].any()
                if n:
                    (match,) = (k for k, one in enumerate(tests) if len(one) == n and (one.inputs == x[:n]).all())
                    np.testing.assert_array_equal(tests[match].target, y[:n])
                    order.append(match)
            assert batch.weight.shape[1] == (23 if window is None else 24)
            if window is not None:  # no window without a sample
                assert batch.weight.reshape(4, -1, window).any(axis=(0, 2)).all()
        assert sorted(order) == list(range(6))
        seen[epoch] = order
        per_batch = 1 if window is None else batch.weight.shape[1] // window
        assert count_updates(tests, 4, epochs=1, seed=5, window=window) == per_batch * len(found)
    assert seen[0] != seen[1]
    for one, two in zip(of_epoch(1), batches(tests, 4, seed=5, window=window, dtype=np.float64)(1), strict=True):
        assert all((a == b).all() for a, b in zip(one, two, strict=True))
    assert batches(tests, 4)(0)[0].inputs.dtype == np.float32 and stack(tests).inputs.shape == (6, 23, 2)


def test_bad_batches_are_refused(tests):
    with pytest.raises(OutOfBounds, match="size = 0"):
        batches(tests, 0)
    with pytest.raises(OutOfBounds, match="window = 0"):
        batches(tests, 1, window=0)


def test_learning_rates_are_those_of_the_papers():
    rate = schedules.staircase(1e-3, updates_per_epoch=5)
    for epoch in (0, 9, 10, 99, 313):
        expected = 1e-3 * 0.99 ** (epoch // 10)
        assert [float(rate(5 * epoch + k)) for k in (0, 4)] == pytest.approx([expected] * 2, rel=SINGLE)
    rate = schedules.cosine(3e-3, 120, warmup=20, final=1e-5)
    for k in (0, 5, 20, 70, 120, 500):
        t = min(max(k - 20, 0) / 100, 1.0)
        expected = 3e-3 * k / 20 if k < 20 else 1e-5 + (3e-3 - 1e-5) * (1 + np.cos(np.pi * t)) / 2
        assert float(rate(k)) == pytest.approx(expected, rel=SINGLE)
    assert float(schedules.constant(1e-4)(1000)) == pytest.approx(1e-4, rel=SINGLE)


def test_clipping_and_decay():
    """Two textbook steps on w = 2: with a gradient of norm 30 clipped to 1; with no gradient, decay alone."""
    w = np.array([2.0, 2.0])
    rule = optax.chain(schedules.adam(schedules.constant(0.1), clip=1.0))
    _, (_, state) = (s := rule.init(w)), rule.update(np.array([18.0, 24.0]), s, w)
    moments = optax.tree_utils.tree_get(state, "mu")
    np.testing.assert_allclose(moments, [0.1 * 0.6, 0.1 * 0.8], rtol=SINGLE)  # 1 - beta1 times the clipped gradient
    rule = schedules.adam(schedules.constant(0.1), weight_decay=0.01)
    change, _ = rule.update(np.zeros(2), rule.init(w), w)
    np.testing.assert_allclose(change, -0.1 * 0.01 * w, rtol=SINGLE)


@pytest.mark.parametrize(
    "make",
    [
        lambda: schedules.constant(0.0),
        lambda: schedules.staircase(1e-3, 5, factor=1.1),
        lambda: schedules.cosine(1e-3, 50, warmup=50),
        lambda: schedules.cosine(1e-3, 50, final=1.0),
        lambda: schedules.adam(schedules.constant(1e-3), clip=0.0),
        lambda: schedules.adam(schedules.constant(1e-3), weight_decay=-1.0),
    ],
)
def test_bad_rates_are_refused(make):
    with pytest.raises(OutOfBounds):
        make()
