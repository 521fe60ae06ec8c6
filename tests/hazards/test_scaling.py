"""Scaling against a brute-force scan of the objective."""

import numpy as np
import pytest

from hyloop.errors import BadInput, BadShape, OutOfBounds
from hyloop.hazards import (
    asce7_spectrum,
    band_limited_noise,
    geometric_mean,
    response_spectrum,
    scale_factor,
    scale_pair,
)

SCAN = 2e-5  # half the spacing of the scan, relative
T = np.geomspace(0.2, 3.0, 30)
TARGET = asce7_spectrum(T, 9.0, 6.0)
WEIGHTS = np.linspace(1.0, 5.0, T.size)


@pytest.fixture(scope="module")
def pair():
    return band_limited_noise(0.5, 0.2, 10.0, 20.0, 0.01, 1), band_limited_noise(0.8, 0.2, 10.0, 18.0, 0.02, 2)


@pytest.mark.parametrize("fit", ["log", "linear"])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_the_factor_minimises_the_stated_objective(pair, fit, weights):
    scaled = scale_pair(*pair, T, TARGET, weights, fit=fit)
    mean = np.sqrt(np.prod([response_spectrum(m.a, m.dt, T).psa for m in pair], axis=0))
    factors = np.exp(np.arange(np.log(0.1), np.log(100.0), 2 * SCAN))
    w = np.ones(T.size) if weights is None else weights
    rows = factors[:, None] * mean
    residual = np.log(rows / TARGET) if fit == "log" else rows - TARGET
    objective = (w * residual**2).sum(1)
    best = np.argmin(objective)
    assert scaled.factor == pytest.approx(factors[best], rel=2 * SCAN)
    assert scaled.error == pytest.approx(np.sqrt(objective[best] / w.sum()), rel=1e-6)
    assert np.allclose(scaled.first.a, scaled.factor * pair[0].a, rtol=1e-12)
    assert np.allclose(scaled.second.a, scaled.factor * pair[1].a, rtol=1e-12)
    again = geometric_mean(*(response_spectrum(m.a, m.dt, T).psa for m in (scaled.first, scaled.second)))
    assert np.allclose(scaled.mean, again, rtol=1e-10)


def test_a_scaled_copy_of_the_target_comes_back():
    for fit in ("log", "linear"):
        assert scale_factor(TARGET / 2.5, TARGET, fit=fit) == pytest.approx(2.5)


def test_bad_input_is_refused(pair):
    with pytest.raises(BadShape, match="29 values for 30 periods"):
        scale_pair(*pair, T, TARGET[1:])
    with pytest.raises(OutOfBounds, match=r"target\[3\] = 0"):
        scale_pair(*pair, T, np.where(np.arange(30) == 3, 0.0, TARGET))
    with pytest.raises(OutOfBounds, match="weights"):
        scale_pair(*pair, T, TARGET, -WEIGHTS)
    with pytest.raises(BadInput, match=r"fit = 'cubic'.*'log', 'linear'"):
        scale_pair(*pair, T, TARGET, fit="cubic")
    with pytest.raises(OutOfBounds, match=r"psa\[0\] = 0"):
        scale_pair(pair[0].scaled(0.0), pair[1], T, TARGET)
