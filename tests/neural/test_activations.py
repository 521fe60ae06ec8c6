"""The rational tanh and logistic function against double precision."""

import numpy as np

from hyloop.core.jit import jit
from hyloop.neural.activations import sigmoid, tanh
from hyloop.neural.lanes import load, store

# a fit good to a third of a unit in the last place, then about ten roundings and a division
TANH_ULPS = 6.0
SIGMOID = 2.5e-7  # absolute: half the error of tanh near 1, and a rounding of the sum


@jit
def both(x, t, s):
    for k in range(0, len(x), 16):
        store(t, k, tanh(load(x, k)))
        store(s, k, sigmoid(load(x, k)))


def evaluate(x):
    t, s = np.empty_like(x), np.empty_like(x)
    both(x, t, s)
    return t, s


def test_both_functions_are_good_to_a_few_units_in_the_last_place():
    x = np.concatenate([np.linspace(-20, 20, 160_000), np.geomspace(1e-30, 1.0, 16_000)]).astype(np.float32)
    t, s = evaluate(x)
    exact = np.tanh(x.astype(float))
    assert (np.abs(t - exact) / np.spacing(np.abs(exact).astype(np.float32))).max() < TANH_ULPS
    assert np.abs(s - 1 / (1 + np.exp(-x.astype(float)))).max() < SIGMOID


def test_infinity_saturates_and_nan_stays():
    t, s = evaluate(np.array([np.inf, -np.inf, np.nan, 0.0] * 4, np.float32))
    assert np.allclose(t[:2], [1, -1], rtol=1e-6) and np.allclose(s[:2], [1, 0], atol=1e-6)
    assert np.isnan(t[2]) and np.isnan(s[2]) and t[3] == 0.0 and s[3] == 0.5
