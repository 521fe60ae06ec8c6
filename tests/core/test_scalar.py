"""The functions of the dialect are those of NumPy, also for powers taken by a shortcut and for what is not a number."""

import numpy as np
import pytest

from hyloop.core import scalar

NUMBERS = [-2.5, -1.0, -0.0, 0.0, 0.3, 1.0, 2.0, 7.25, np.inf, -np.inf, np.nan]
ROUND_OFF = 1e-15  # relative: two libraries of elementary functions


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, -1.0, -2.0])
def test_power(exponent):
    for a in (0.1, 0.9, 1.0, 3.0, 12.5):
        assert scalar.power(a, exponent) == pytest.approx(np.power(a, exponent), rel=ROUND_OFF)


@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_the_larger_and_the_smaller_of_two_keep_what_is_not_a_number(name):
    for a in NUMBERS:
        for b in NUMBERS:
            np.testing.assert_equal(getattr(scalar, name)(a, b), getattr(np, name)(a, b))


def test_functions_of_one_number():
    for name in ("sign", "abs"):
        for a in NUMBERS:
            np.testing.assert_equal(getattr(scalar, name)(a), getattr(np, name)(a))
    for name in ("exp", "log", "log1p", "sqrt", "tanh", "sin", "cos"):
        for a in (0.2, 0.9, 1.0, 3.7):
            assert getattr(scalar, name)(a) == pytest.approx(getattr(np, name)(a), rel=ROUND_OFF)
    assert scalar.pi == np.pi


def test_clip_and_where():
    for a in (-3.0, -1.0, 0.5, 2.0, 9.0):
        assert scalar.clip(a, -1.0, 2.0) == np.clip(a, -1.0, 2.0)
        assert scalar.where(a > 0.0, 1.0, -1.0) == np.where(a > 0.0, 1.0, -1.0)
