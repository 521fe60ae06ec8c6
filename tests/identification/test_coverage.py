"""Laws recovered from noisy tests: the intervals contain the truth as often as they say."""

from functools import cache

import numpy as np
import pytest
from scipy.signal import lfilter
from scipy.stats import binom

from hyloop.devices import bouc_wen, brfd_gap_slip, lugre, nonlinear_maxwell
from hyloop.identification import MeasuredTest, fit

pytestmark = pytest.mark.slow

DT = 1 / 256
SAMPLES = 800
SEEDS = 40
ALPHA = 1e-4  # chance that a parameter with true coverage fails its test
AVERAGE = 0.035  # three standard deviations of a mean over 40 runs of 19 parameters, some of them correlated
FEW = 0.75  # share of intervals for white residuals that may hold when the noise is coloured

LAWS = {
    "lugre": (
        lugre(sigma0=4e6, sigma1=2e4, Fc_pos=12e3, Fs_pos=16e3, Fc_neg=14e3, Fs_neg=18e3, vs=0.04),
        ("sigma0", "sigma1", "Fc_pos", "Fs_pos", "Fc_neg", "vs"),
        200.0,
    ),
    "bouc_wen": (
        bouc_wen(k=2e7, d_y=2e-3, alpha=0.08, beta=0.6, gamma=0.4, n=1.6),
        ("k", "d_y", "alpha", "gamma", "n"),
        600.0,
    ),
    "nonlinear_maxwell": (nonlinear_maxwell(K=2e7, C=2e5, alpha=0.5), ("K", "C", "alpha"), 500.0),
    "brfd_gap_slip": (brfd_gap_slip(), ("kp", "gn", "Fc_pos", "Fc_neg", "c"), 150.0),
}


def motion():
    """Three harmonics from rest, large enough to slip to both sides."""
    t = DT * np.arange(1, SAMPLES + 1)
    d = sum(7e-3 * np.sin(2 * np.pi * f * t) for f in (0.5, 1.1, 2.3))
    v = np.gradient(d, DT)
    return {"d": d, "v": v, "a": np.gradient(v, DT)}


def noise(seed, size, rho):
    """Normal noise with correlation rho between neighbours."""
    white = np.random.default_rng(seed).normal(size=SAMPLES + 300)
    return size * np.sqrt(1 - rho**2) * lfilter([1.0], [1.0, -rho], white)[300:]


def bounds(law, names):
    spec = law.block.params
    return {k: (max(law.params[k] / 4, spec[k].low), min(law.params[k] * 4, spec[k].high)) for k in names}


@cache
def coverage(name, rho):
    """Share of runs whose interval holds the truth, by parameter; and of those that suppose white residuals."""
    law, names, size = LAWS[name]
    clean, inputs = law.drive(DT, **{k: motion()[k] for k in law.block.inputs})["f"], motion()
    held, white = np.zeros(len(names)), np.zeros(len(names))
    for seed in range(SEEDS):
        test = MeasuredTest(DT, inputs, clean + noise(seed, size, rho))
        found = fit(law, test, bounds(law, names), starts=1, tolerance=1e-8)
        held += [e.low <= law.params[k] <= e.high for k, e in found.estimates.items()]
        white += np.abs(found.problem.start() - found.z) <= found.confidence.quantile * found.confidence.white
    return held / SEEDS, white / SEEDS


@pytest.mark.parametrize(("name", "rho"), [*((name, 0.8) for name in LAWS), ("lugre", 0.0), ("nonlinear_maxwell", 0.0)])
def test_intervals_hold_as_often_as_they_say(name, rho):
    held, white = coverage(name, rho)
    assert np.all(held >= binom.ppf(ALPHA, SEEDS, 0.95) / SEEDS), held
    if rho:  # the usual covariance would not have passed
        assert np.mean(white) < FEW


def test_intervals_are_neither_narrow_nor_wide():
    """Over all parameters of all laws together, where chance averages out."""
    held = np.concatenate([coverage(name, 0.8)[0] for name in LAWS])
    assert 0.95 - AVERAGE < np.mean(held) < 0.95 + AVERAGE


@pytest.mark.parametrize("name", LAWS)
def test_many_starts_find_the_truth_from_a_wrong_one(name):
    law, names, size = LAWS[name]
    clean, limits = law.drive(DT, **{k: motion()[k] for k in law.block.inputs})["f"], bounds(law, names)
    # one corner of the box after the other, so that every parameter is far off
    wrong = {
        k: low + 0.02 * (high - low) if i % 2 else low + 0.9 * (high - low)
        for i, (k, (low, high)) in enumerate(limits.items())
    }
    device = law.block(initial=law.initial, **(law.params | wrong))
    found = fit(device, MeasuredTest(DT, motion(), clean + noise(7, size, 0.0)), limits, starts=6)
    assert found.converged
    assert found.rmse[0] == pytest.approx(size, rel=0.1)
    for key, estimate in found.estimates.items():
        # six standard deviations: the fit of the truth and no other minimum
        assert abs(estimate.value - law.params[key]) < 6 * estimate.std, key
