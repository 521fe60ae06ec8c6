"""Noise found in a signal, and Whittaker's smoother against dense algebra; corners stay sharp."""

from functools import cache

import numpy as np
import pytest
from scipy.signal import sawtooth
from scipy.stats import multivariate_normal

from hyloop.identification.smoothing import Smoother, noise_of, smoother

N, DT = 2000, 1 / 256
T = DT * np.arange(N)
SIGMA = 1e-5
FOUND = 0.2  # of the noise: five standard deviations of a median over 2000 differences that know of each other
EXACT = 1e-9  # of the amplitude
SAME = 1e-9  # of a signal: two ways to solve one system
LEFT = 0.15  # of a standard deviation of 1800 samples, of which some 200 are independent: three of its own
CLOSE = 0.1  # of log λ: twice what the search stops at

MOTIONS = {
    "harmonics": 7e-3 * np.sin(2 * np.pi * 0.5 * T) + 7e-3 * np.sin(2 * np.pi * 2.3 * T),
    "triangle": 1e-2 * sawtooth(2 * np.pi * T + np.pi / 2, 0.5),
    "steps": 1e-2 * np.sign(np.sin(2 * np.pi * 0.7 * T + 0.1)),
}


def noise(seed, n=N):
    return SIGMA * np.random.default_rng(seed).normal(size=n)


@pytest.mark.parametrize("name", MOTIONS)
def test_noise_is_found_whatever_the_motion(name):
    motion = MOTIONS[name]
    assert noise_of(motion) < EXACT * np.ptp(motion)
    found = [noise_of(motion + noise(seed)) for seed in range(5)]
    assert found == pytest.approx([SIGMA] * 5, rel=FOUND)


def _dense(n, order=4):
    return np.diff(np.eye(n), order, axis=0)


def test_it_is_the_penalised_least_squares_of_whittaker():
    n = 120
    y = MOTIONS["harmonics"][:n] + noise(0, n)
    made = smoother(y, SIGMA)
    assert made is not None and len(made.parts) == 1
    D = _dense(n)
    assert made(y) == pytest.approx(np.linalg.solve(np.eye(n) + made.weight * D.T @ D, y), abs=SAME * np.ptp(y))
    assert made(y) == pytest.approx(MOTIONS["harmonics"][:n], abs=4 * SIGMA)


def test_a_cubic_passes_unchanged():
    made = smoother(MOTIONS["harmonics"] + noise(1), SIGMA)
    assert made is not None
    cubic = 1e-2 * (T / T[-1] - 0.3) ** 3
    assert made(cubic) == pytest.approx(cubic, abs=SAME * np.ptp(cubic))


def test_its_weight_is_the_most_likely_one():
    n = 150
    y = MOTIONS["harmonics"][:n] + noise(2, n)
    made, D = smoother(y, SIGMA), _dense(n)
    assert made is not None
    logs = np.log(made.weight) + np.linspace(-3.0, 3.0, 121)
    density = [
        multivariate_normal.logpdf(D @ y, cov=SIGMA**2 * (D @ D.T + np.exp(-log) * np.eye(n - 4))) for log in logs
    ]
    assert abs(logs[int(np.argmax(density))] - np.log(made.weight)) < CLOSE


@pytest.mark.parametrize("seed", range(5))
def test_a_smooth_motion_is_not_cut_and_keeps_the_noise_that_the_transfer_function_passes(seed):
    """1/(1 + λ (2 sin ω/2)^8), far from the ends."""
    y = MOTIONS["harmonics"] + noise(seed)
    made = smoother(y, noise_of(y))
    assert made is not None and len(made.parts) == 1
    passed = 1.0 / (1.0 + made.weight * (2.0 * np.sin(np.linspace(0.0, np.pi, 4001) / 2.0)) ** 8)
    left = np.sqrt(np.mean(passed**2))
    assert np.std((made(y) - MOTIONS["harmonics"])[100:-100]) == pytest.approx(left * SIGMA, rel=LEFT)
    assert left < 0.4


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", ["triangle", "steps"])
def test_corners_and_jumps_are_kept(name, seed):
    motion, y = MOTIONS[name], MOTIONS[name] + noise(seed)
    made = smoother(y, noise_of(y))
    assert made is not None
    turns = np.flatnonzero(np.abs(np.diff(motion, 2)) > 1e-2 * np.abs(np.diff(motion)).max())
    assert len(made.parts) > 1 and made(y) == pytest.approx(motion, abs=5 * SIGMA)
    assert np.std(made(y) - motion) < SIGMA / 2
    # one that knows of no corners rounds them
    assert np.abs(_uncut(1e6)(y) - motion)[turns].max() > 20 * SIGMA


@cache
def _uncut(weight):
    """A smoother of one part, its factor from dense algebra in lower bands."""
    D = _dense(N)
    L = np.linalg.cholesky(np.eye(N - 4) + weight * D @ D.T)
    return Smoother(weight, ((slice(0, N), np.array([np.append(np.diag(L, -k), np.zeros(k)) for k in range(5)])),))


def test_a_motion_that_turns_at_every_sample_is_not_smoothed():
    zigzag = 1e-2 * (-1.0) ** np.arange(400) * np.random.default_rng(0).uniform(0.2, 1.0, 400)
    made = smoother(zigzag, SIGMA)
    assert made is None or np.abs(made(zigzag) - zigzag).max() < SIGMA
