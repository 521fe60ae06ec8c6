"""Load histories: arithmetic, steps, ramps, and the harmonic load of half-power tests."""

import numpy as np
import pytest

from hyloop.errors import BadInput, BadShape, OutOfBounds
from hyloop.hazards import LoadHistory, harmonic_load

ROUNDING = 1e-12  # relative, of a few products
FILTER = 2e-4  # of a constant, through a filter that is 80 dB down in its stop band
PASSED = 2e-3  # of a sine in the pass band, away from the ends


def test_two_histories_add_by_degree_of_freedom_and_the_shorter_is_followed_by_zeros():
    one = LoadHistory([[1.0, 2.0], [3.0, 4.0]], 0.1, ("a", "b"))
    other = LoadHistory([[10.0, 20.0]] * 3, 0.1, ("b", "c"), "other")
    both = one + other
    assert both.at == ("a", "b", "c")
    assert both.values.tolist() == [[1.0, 12.0, 20.0], [3.0, 14.0, 20.0], [0.0, 10.0, 20.0]]
    with pytest.raises(BadInput, match=r"resampled\(dt\)"):
        one + LoadHistory([[1.0]], 0.2, ("a",))
    assert one.__add__(3.0) is NotImplemented


def test_scaling_and_ramps():
    load = LoadHistory(np.full(11, 8.0), 1.0, "top").scaled(0.5)
    assert load.meta["factor"] == 0.5
    ramped = load.ramped(4.0, 2.0)
    assert ramped.values[:, 0].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 4.0, 4.0, 4.0, 4.0, 2.0, 0.0]
    assert load.ramped().values.tolist() == load.values.tolist()
    with pytest.raises(OutOfBounds, match="exceed the 10 s"):
        load.ramped(6.0, 5.0)
    with pytest.raises(OutOfBounds, match="not negative"):
        load.ramped(-1.0)


def test_a_smaller_step_lies_on_lines_and_a_larger_one_keeps_a_mean_from_the_first_sample_on():
    load = LoadHistory([[0.0, 5.0], [1.0, 5.0], [0.0, 5.0]], 0.2, ("a", "b"))
    fine = load.resampled(0.1)
    np.testing.assert_allclose(fine.values[:, 0], [0.0, 0.5, 1.0, 0.5, 0.0], atol=ROUNDING)
    assert load.resampled(0.2) is load
    t = np.arange(4001) * 0.01
    coarse = LoadHistory(np.column_stack([np.full(t.size, 7.0), np.sin(2 * np.pi * t)]), 0.01, ("a", "b")).resampled(
        0.025
    )
    np.testing.assert_allclose(coarse.values[:, 0], 7.0, rtol=FILTER)
    inside = slice(64, -64)
    np.testing.assert_allclose(coarse.values[inside, 1], np.sin(2 * np.pi * coarse.time)[inside], atol=PASSED)


def test_harmonic_load_has_whole_cycles_under_its_ramps():
    load = harmonic_load({"roof.uz": 3.0, "roof.ry": -6.0}, 0.5, 0.01)  # 2, 10 and 3 cycles of 2 s
    assert load.duration == pytest.approx(30.0)
    np.testing.assert_allclose(load.values[:, 1], -2.0 * load.values[:, 0], rtol=ROUNDING)
    t, F = load.time, load.values[:, 0]
    constant = (t >= 4.0) & (t <= 24.0)
    np.testing.assert_allclose(F[constant], 3.0 * np.sin(np.pi * t[constant]), atol=ROUNDING)
    assert F[50] == pytest.approx(3.0 * 0.5 / 4.0)  # first peak, an eighth of the way up
    assert F[2450] == pytest.approx(3.0 * (1.0 - 0.5 / 6.0))  # first peak on the way down
    assert abs(F[-1]) < ROUNDING


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"values": [[1.0, 2.0]]}, BadShape, r"shape \(1, 2\) for 1 degree"),
        ({"values": [1.0, np.nan]}, BadShape, "sample 1 of 'a'"),
        ({"values": ["x"]}, BadInput, "must be numbers"),
        ({"values": [[1.0, 2.0]], "at": ("a", "a")}, BadInput, "different names"),
        ({"dt": 0.0}, OutOfBounds, "dt = 0 must be positive"),
    ],
)
def test_what_is_no_history_is_refused(given, error, said):
    with pytest.raises(error, match=said):
        LoadHistory(**({"values": [1.0], "dt": 0.1, "at": ("a",)} | given))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"frequency_hz": 60.0}, "half the sampling rate"),
        ({"cycles": (0, 0, 0)}, "not all zero"),
        ({"cycles": (1.5, 1, 1)}, "whole numbers"),
    ],
)
def test_what_is_no_harmonic_load_is_refused(given, said):
    with pytest.raises(OutOfBounds, match=said):
        harmonic_load(**({"at": {"a": 1.0}, "frequency_hz": 1.0, "dt": 0.01} | given))
