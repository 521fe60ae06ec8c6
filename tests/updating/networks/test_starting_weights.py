"""Starting weights by the rule of Nguyen and Widrow (1990): 0.7 H^(1/n) long, with biases up to that length."""

import numpy as np
import pytest

from hyloop.neural.perceptron import random_weights, weight_count


@pytest.mark.parametrize(("inputs", "width", "depth"), [(6, 10, 3), (2, 40, 1)])
def test_rows_have_the_length_of_the_rule(inputs, width, depth):
    w = random_weights(np.random.default_rng(3), inputs, width, depth)
    assert len(w) == weight_count(inputs, width, depth)
    first = w[: width * (inputs + 1)].reshape(width, inputs + 1)
    length = 0.7 * width ** (1 / inputs)
    assert np.linalg.norm(first[:, :-1], axis=1) == pytest.approx(np.full(width, length), rel=1e-12)
    assert np.abs(first[:, -1]).max() <= length and np.ptp(first[:, -1]) > length  # spread over both signs
    if depth > 1:
        second = w[width * (inputs + 1) :][: width * (width + 1)].reshape(width, width + 1)
        length = 0.7 * width ** (1 / width)
        assert np.linalg.norm(second[:, :-1], axis=1) == pytest.approx(np.full(width, length), rel=1e-12)
        assert np.abs(second[:, -1]).max() <= length
    assert np.abs(w[-width - 1 :]).max() <= 0.5
