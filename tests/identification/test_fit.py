"""`fit` and `profile`: methods agree, starts and weights count, bad input is refused."""

import numpy as np
import pytest

from hyloop.devices import bouc_wen, brfd_gap_slip, lugre, nonlinear_maxwell, nonlinear_viscous, spring
from hyloop.errors import BadInput, BadShape, OutOfBounds, UnknownName
from hyloop.identification import MeasuredTest, fit, predict, profile

DT = 1 / 256
SAME = 1e-5  # of a parameter: descents end at 1e-10 of the sum of squares
FREE = {"K": (1e6, 1e9), "C": (1e4, 1e7), "alpha": (0.1, 1.0)}


def motion(n=600):
    t = DT * np.arange(1, n + 1)
    return 6e-3 * (np.sin(2 * np.pi * 0.9 * t) + np.sin(2 * np.pi * 2.1 * t))


@pytest.fixture(scope="module")
def maxwell():
    """A law with a wrong start, and a test of the true one."""
    d, truth = motion(), nonlinear_maxwell(K=3e7, C=2e5, alpha=0.5)
    f = truth.drive(DT, d=d)["f"] + 200 * np.random.default_rng(0).normal(size=d.size)
    return nonlinear_maxwell(), MeasuredTest(DT, {"d": d}, f), truth


@pytest.mark.parametrize("method", ["least-squares", "particle-swarm"])
def test_every_method_finds_the_same_minimum_twice_to_the_bit(maxwell, method):
    law, test, truth = maxwell
    first, again = (fit(law, test, FREE, method, starts=4) for _ in range(2))
    assert first.z.tobytes() == again.z.tobytes() and first.costs == again.costs
    assert first.method == method
    for key, estimate in first.estimates.items():
        assert estimate.low < truth.params[key] < estimate.high
    assert first.law.params == {**law.params, **{k: e.value for k, e in first.estimates.items()}}
    direct = fit(truth, test, FREE, starts=1)
    for key, estimate in direct.estimates.items():
        assert first.estimates[key].value == pytest.approx(estimate.value, rel=SAME)


def test_two_tests_count_as_one_long_one(maxwell):
    law, test, _ = maxwell
    found = fit(law, [test, test], FREE, starts=4)
    one = fit(law, test, FREE, starts=4)
    assert found.rmse[0] == found.rmse[1] == pytest.approx(one.rmse[0], rel=SAME)
    ratio = [found.estimates[key].std / one.estimates[key].std for key in FREE]
    assert ratio == pytest.approx([np.sqrt(0.5)] * 3, rel=0.01)  # degrees of freedom differ a little


@pytest.mark.parametrize(
    ("law", "state"),
    [
        (lugre(), "z"),
        (bouc_wen(k=2e7, d_y=2e-3), "z"),
        (nonlinear_maxwell(K=3e7, C=2e5), "f_last"),
        (brfd_gap_slip(), "s"),
    ],
)
def test_a_record_may_begin_anywhere_at_rest(law, state):
    """A turning point in the middle of a test: velocity zero, force known, the state found from it."""
    n = 400
    d = np.concatenate([8e-3 * np.sin(np.pi / 2 * np.arange(n) / n), np.full(n, 8e-3)])
    d = np.concatenate([d, 8e-3 * np.cos(np.arange(n) * 0.02)])
    inputs = {"d": d, "v": np.diff(d, prepend=0.0) / DT, "a": np.zeros(d.size)}
    f = law.drive(DT, **{key: inputs[key] for key in law.block.inputs})["f"]
    cut = slice(2 * n - 2, None)
    rest = MeasuredTest(DT, {key: signal[cut] for key, signal in inputs.items()}, f[cut], start=state)
    whole = MeasuredTest(DT, inputs, f)
    assert np.abs(predict(law, whole) - f).max() == 0.0
    assert np.abs(predict(law, rest) - f[cut]).max() < 1e-6 * np.abs(f).max()


def test_initial_values_by_name():
    law = lugre()
    v = 0.05 * np.sin(np.arange(300) * 0.05)
    exact = law.block(initial={"z": 1e-3}).drive(DT, v=v)["f"]
    assert np.array_equal(predict(law, MeasuredTest(DT, {"v": v}, exact, start={"z": 1e-3})), exact)


def test_samples_without_weight_do_not_count(maxwell):
    law, test, _ = maxwell
    spoiled, weight = test.f.copy(), np.ones(test.f.size)
    spoiled[100:140] += 1e5
    weight[100:140] = 0.0
    found = fit(law, MeasuredTest(DT, test.inputs, spoiled, weight=weight), FREE, starts=4)
    assert found.rmse[0] == pytest.approx(200, rel=0.1)
    assert fit(law, MeasuredTest(DT, test.inputs, spoiled), FREE, starts=4).rmse[0] > 1e4


def test_the_profile_of_a_linear_law_is_a_straight_line():
    d = motion()
    f = 1e6 * d + 100 * np.random.default_rng(2).normal(size=d.size)
    found = fit(spring(k=1e6), MeasuredTest(DT, {"d": d}, f), {"k": (8e5, 1.2e6)}, starts=1)
    shape, estimate = profile(found, "k"), found.estimates["k"]
    assert shape.distance == pytest.approx((shape.values - estimate.value) / estimate.std, abs=1e-4)
    assert (shape.low, shape.high) == pytest.approx((estimate.low, estimate.high), rel=1e-6)


def test_a_profile_fits_the_others_again(maxwell):
    law, test, truth = maxwell
    found = fit(law, test, FREE, starts=4)
    shape = profile(found, "K", points=5)
    middle = len(shape.values) // 2
    assert shape.values[middle] == found.estimates["K"].value and shape.distance[middle] == 0.0
    assert np.all(np.diff(shape.distance) > 0.0) and shape.low < truth.params["K"] < shape.high
    held = fit(law.block(**(found.law.params | {"K": shape.values[0]})), test, ["C", "alpha"], starts=1)
    assert shape.rmse[0] == pytest.approx(held.rmse[0], rel=SAME)


def test_a_flat_profile_has_no_ends():
    v = 0.05 * (1 + np.sin(np.arange(500) * 0.03))
    f = lugre().drive(DT, v=v)["f"] + 10 * np.random.default_rng(0).normal(size=v.size)
    shape = profile(fit(lugre(), MeasuredTest(DT, {"v": v}, f), ["Fc_neg", "Fc_pos"], starts=1), "Fc_neg", points=3)
    assert np.isnan(shape.low) and np.isnan(shape.high)
    assert np.abs(shape.distance).max() < 0.1 * shape.limit


def test_a_law_without_answer_is_left_behind():
    """Parameters for which the force overflows must not stop a search."""
    v = 0.3 * np.sin(np.arange(300) * 0.05)
    f = nonlinear_viscous(C=2e5, alpha=0.5).drive(DT, v=v)["f"]
    found = fit(nonlinear_viscous(C=1e300), MeasuredTest(DT, {"v": v}, f), {"C": (1e3, 1e305)}, starts=6)
    assert found.estimates["C"].value == pytest.approx(2e5 * 0.3**0.043, rel=0.5)


def _test(**changes):
    n = 100
    given = {"dt": DT, "inputs": {"v": np.sin(np.arange(n))}, "f": np.cos(np.arange(n))} | changes
    return MeasuredTest(**given)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"f": np.r_[1.0, np.nan, np.ones(98)]}, BadShape, "f is not finite in 1 sample"),
        ({"inputs": {"v": np.full(100, np.inf)}}, BadShape, "v is not finite"),
        ({"inputs": {"v": np.ones(99)}}, BadShape, "99 samples and f has 100"),
        ({"f": np.ones((10, 10))}, BadShape, "one-dimensional"),
        ({"f": np.ones(4), "inputs": {"v": np.ones(4)}}, BadInput, "4 samples; at least 8"),
        ({"dt": 0.0}, OutOfBounds, "dt = 0.0"),
        ({"weight": -1.0}, OutOfBounds, "weights"),
        ({"weight": np.ones(5)}, BadShape, "weight has shape"),
        ({"weight": 0.0}, OutOfBounds, "not all zero"),
    ],
)
def test_bad_tests_are_refused(changes, error, message):
    with pytest.raises(error, match=message):
        _test(**changes)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"free": ["sigma"]}, UnknownName, "Did you mean 'sigma"),
        ({"free": []}, BadInput, "at least one free parameter"),
        ({"free": {"vs": (0.1, 1.0)}}, OutOfBounds, "starts at 0.025, outside its bounds"),
        ({"free": {"vs": (1.0, 0.1)}}, OutOfBounds, "in order"),
        ({"free": {"vs": (-1.0, 0.1)}}, OutOfBounds, "inside those of the law"),
        ({"free": {"vs": 3.0}}, BadInput, "must be a pair"),
        ({"free": ["sigma2"]}, BadInput, "no range can be guessed"),
        ({"tests": []}, BadInput, "at least one test"),
        ({"tests": _test(inputs={"d": np.ones(100)})}, BadInput, "lacks the input v"),
        ({"tests": _test(start="q")}, UnknownName, "state 'q'"),
        ({"tests": _test(start={"q": 1.0})}, UnknownName, "state 'q'"),
        ({"tests": _test(weight=np.r_[np.ones(5), np.zeros(95)])}, BadInput, "5 samples count and 3 parameters"),
        ({"method": "simplex"}, UnknownName, "method 'simplex'"),
        ({"method": "gradient"}, BadInput, "gradient_fit"),
        ({"level": 95}, OutOfBounds, "level = 95"),
        ({"starts": 0}, OutOfBounds, "starts = 0"),
    ],
)
def test_bad_fits_are_refused(arguments, error, message):
    given = {"law": lugre(), "tests": _test(), "free": ["sigma0", "sigma1", "vs"]} | arguments
    with pytest.raises(error, match=message):
        fit(**given)


def test_a_force_the_law_cannot_have_is_refused():
    d = np.linspace(0.0, 1e-2, 100)
    with pytest.raises(BadInput, match="no value of the state 'z' gives the first measured force"):
        fit(bouc_wen(), MeasuredTest(DT, {"d": d}, np.full(100, 1e9), start="z"), ["k"])
