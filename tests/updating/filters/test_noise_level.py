"""The noise of a force found while it is measured: against the noise that was put there, and in a filter."""

import numpy as np
import pytest

from hyloop.devices import bilinear
from hyloop.updating import noise_level

DT, N = 1 / 1024, 8192
WITHIN = 0.2  # of the noise: steps of 2 % wander by some five of them about a median
THIRD = 0.6745 * np.sqrt(20.0)


def force():
    """A hysteretic force with corners."""
    t = DT * np.arange(N)
    d = 0.03 * np.sin(2.0 * np.pi * 0.7 * t) + 0.01 * np.sin(2.0 * np.pi * 2.3 * t)
    return bilinear(k=1e7, f_y=1e5).drive(DT, d=d)["f"]


@pytest.mark.parametrize("sigma", [20.0, 500.0])
def test_white_noise_is_found_within_a_second(sigma):
    noisy = force() + sigma * np.random.default_rng(1).normal(size=N)
    found = noise_level(model_error=0.0).drive(DT, f_m=noisy)["noise"]
    assert found[1024:].mean() == pytest.approx(sigma, rel=0.1)
    assert np.abs(found[1024:] / sigma - 1.0).max() < 4 * WITHIN
    # the same median from all samples at once
    assert found[1024:].mean() == pytest.approx(np.median(np.abs(np.diff(noisy, 3))) / THIRD, rel=0.1)


def test_it_follows_a_noise_that_grows():
    sigma = np.where(np.arange(N) < N // 2, 50.0, 400.0)
    found = noise_level(model_error=0.0).drive(DT, f_m=force() + sigma * np.random.default_rng(2).normal(size=N))
    for half, wanted in ((slice(1024, N // 2), 50.0), (slice(N // 2 + 1024, N), 400.0)):
        assert found["noise"][half].mean() == pytest.approx(wanted, rel=0.1)


def test_the_error_of_the_law_is_a_part_of_the_largest_force_so_far():
    f = force()
    found = noise_level(model_error=0.05).drive(DT, f_m=f)["noise"]
    expected = 0.05 * np.maximum.accumulate(np.abs(f))
    assert (found >= expected).all()
    # a noise-free force of corners has third differences of a few N in most ticks
    np.testing.assert_allclose(found[1024:], expected[1024:], rtol=0.01)


def test_broken_samples_and_silence_leave_a_positive_noise():
    f = force() + 100.0 * np.random.default_rng(3).normal(size=N)
    broken = f.copy()
    broken[3000:3010] = np.nan
    found = noise_level().drive(DT, f_m=broken)["noise"]
    assert np.isfinite(found).all()
    assert noise_level().drive(DT, f_m=np.zeros(50))["noise"].min() > 0.0
