"""Intervals from tests with noise in the deformation contain the truth as often as they say: a small campaign.

`python -m benchmarks.coverage` is the large one, whose laws and tests these are.
"""

import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

pytestmark = pytest.mark.slow

SEEDS = range(500, 512)
ALPHA = 1e-4  # chance that a parameter with true coverage fails its test
ALL = 0.06  # of a mean over 12 runs of 17 parameters at two levels; those of one run are much alike: three deviations
sys.path.insert(0, str(Path(__file__).parents[2]))
campaign = import_module("benchmarks.coverage")


def shares(name, level, **settings):
    """Share of runs whose interval holds the truth, by parameter."""
    return np.mean(
        [[yes for yes, _ in campaign.held(name, campaign.fitted(name, level, seed, **settings))] for seed in SEEDS],
        axis=0,
    )


def test_intervals_hold_with_noise_in_the_deformation():
    least, every = binom.ppf(ALPHA, len(SEEDS), 0.95) / len(SEEDS), []
    for name in campaign.LAWS:
        for level in ("60", "50"):
            share = shares(name, level)
            assert np.all(share >= least), (name, level, share)
            every.append(share)
    assert 0.95 - ALL < np.mean(np.concatenate(every)) < 0.95 + ALL - 0.01  # not by being wide, either


def test_they_would_not_without_an_allowance():
    least = binom.ppf(ALPHA, len(SEEDS), 0.95) / len(SEEDS)
    assert shares("bilinear", "50", noisy_inputs=False)[0] < least
    assert shares("bouc_wen", "50", noisy_inputs=False)[1] < least
