"""Lognormal fragilities: closed forms, SciPy's own fits, and how often the bounds hold the truth."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import CensoredData, lognorm, norm, t

from hyloop.errors import BadInput
from hyloop.metrics.fragility import EXACT, FAILED, STANDS, fit_fragility, resampled

SOLVED = 1e-8  # of a maximum that Newton's method finds
SEARCHED = 2e-4  # of one that SciPy's simplex finds
MEDIAN, BETA = 7.3, 0.42  # of simulated truths


def drawn(count, seed=0):
    return MEDIAN * np.exp(BETA * np.random.default_rng(seed).normal(size=count))


def cut(values, highest):
    """What is known of them when nothing above a level is run."""
    return np.minimum(values, highest), np.where(values > highest, STANDS, EXACT)


def test_without_censoring_it_is_the_mean_of_logarithms():
    x = drawn(23)
    found = fit_fragility(x)
    assert found.median == pytest.approx(np.exp(np.log(x).mean()), rel=SOLVED)
    assert found.beta == pytest.approx(np.log(x).std(), rel=SOLVED)
    shape, _, scale = lognorm.fit(x, floc=0.0)
    assert (found.beta, found.median) == pytest.approx((shape, scale), rel=SEARCHED)
    # Student's interval of a mean
    y = np.log(x)
    wide = t.ppf(0.975, 22) * y.std(ddof=1) / np.sqrt(23)
    assert found.median_interval() == pytest.approx(np.exp([y.mean() - wide, y.mean() + wide]), rel=SOLVED)


def test_with_censoring_it_is_scipys_fit():
    x, kind = cut(drawn(40, 1), 9.0)
    assert 3 < np.sum(kind == STANDS) < 20
    found = fit_fragility(x, kind)
    shape, _, scale = lognorm.fit(CensoredData(x[kind == EXACT], right=x[kind == STANDS]), floc=0.0)
    assert (found.beta, found.median) == pytest.approx((shape, scale), rel=SEARCHED)
    kind = np.where(x < 5.0, FAILED, kind)  # some had failed at the lowest level already
    found = fit_fragility(np.maximum(x, 5.0), kind)
    data = CensoredData(x[kind == EXACT], right=x[kind == STANDS], left=np.full(np.sum(kind == FAILED), 5.0))
    shape, _, scale = lognorm.fit(data, floc=0.0)
    assert (found.beta, found.median) == pytest.approx((shape, scale), rel=SEARCHED)


def test_stripes_of_two_levels_pass_through_both_fractions():
    """Two unknowns and two fractions: the maximum likelihood is where both are met."""
    x, n, failed = np.array([4.0, 9.0]), 20, np.array([3, 13])
    found = fit_fragility(np.tile(x, 2), np.repeat([FAILED, STANDS], 2), np.concatenate([failed, n - failed]))
    assert found.probability(x) == pytest.approx(failed / n, rel=SOLVED)


def test_stripes_are_the_binomial_likelihood():
    x, n, failed = np.array([2.0, 4.0, 6.0, 9.0, 12.0]), 30, np.array([0, 2, 11, 21, 27])

    def loss(p):
        at = norm.cdf(np.log(x / np.exp(p[0])) / np.exp(p[1])).clip(1e-15, 1 - 1e-15)
        return -np.sum(failed * np.log(at) + (n - failed) * np.log1p(-at))

    best = minimize(loss, [np.log(6.0), np.log(0.5)], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12})
    found = fit_fragility(np.tile(x, 2), np.repeat([FAILED, STANDS], 5), np.concatenate([failed, n - failed]))
    assert (found.median, found.beta) == pytest.approx(np.exp(best.x), rel=SEARCHED)


def test_information_is_the_curvature_of_the_likelihood():
    """Bounds against those of a profile: the likelihood at the bound of one parameter, numerically."""
    x, kind = cut(drawn(400, 3), 9.0)
    found = fit_fragility(x, kind)

    def loss(p):
        z = (np.log(x) - p[0]) / np.exp(p[1])
        return -np.sum(np.where(kind == EXACT, norm.logpdf(z) - p[1], norm.logsf(z)))

    at, h = np.array([np.log(found.median), np.log(found.beta)]), 1e-4
    hessian = np.array(
        [
            [
                (loss(at + a + b) - loss(at + a - b) - loss(at - a + b) + loss(at - a - b)) / (4 * h * h)
                for b in h * np.eye(2)
            ]
            for a in h * np.eye(2)
        ]
    )
    deviation = np.sqrt(np.diag(np.linalg.inv(hessian)))
    low, high = found.median_interval(0.95)
    exact = np.sum(kind == EXACT)
    factor = t.ppf(0.975, exact - 1) * np.sqrt(exact / (exact - 1))
    assert np.log(high / low) / 2 == pytest.approx(factor * deviation[0], rel=1e-3)
    low, high = found.beta_interval(0.95)
    assert np.log(high / low) / 2 == pytest.approx(factor * deviation[1], rel=1e-3)


@pytest.mark.parametrize("highest", [np.inf, 9.0])
def test_bounds_hold_the_truth_as_often_as_they_say(highest):
    """22 records, 1000 sets; three standard deviations of a count of 950 are 2 %. Censored, theory is asymptotic."""
    held = np.zeros((1000, 3), bool)
    for k in range(len(held)):
        x, kind = cut(drawn(22, k), highest)
        found = fit_fragility(x, kind)
        ends = found.median_interval(0.95), found.beta_interval(0.95), [float(b) for b in found.band(5.0, 0.95)]
        held[k] = [
            low <= truth <= high
            for truth, (low, high) in zip((MEDIAN, BETA, norm.cdf(np.log(5.0 / MEDIAN) / BETA)), ends, strict=True)
        ]
    share = held.mean(axis=0)
    assert share[0] == pytest.approx(0.95, abs=0.021 if highest == np.inf else 0.03)
    assert np.all(share[1:] > 0.91) and np.all(share[1:] < 0.99)


def test_bootstrap_over_records_holds_the_truth_nearly_as_often():
    """Percentiles of 22 records lack what Student's t adds: some 93 % of 95."""
    held = np.zeros(300, bool)
    for k in range(len(held)):
        medians, _ = resampled(*cut(drawn(22, k), 9.0), samples=300, seed=k)
        low, high = np.nanquantile(medians, [0.025, 0.975])
        held[k] = low <= MEDIAN <= high
    assert 0.89 < held.mean() < 0.97


def test_bootstrap_draws_the_same_records_for_the_same_seed():
    x = drawn(20)
    one, two = resampled(x, seed=4)[0], resampled(1.1 * x, seed=4)[0]
    assert two / one == pytest.approx(1.1, rel=SOLVED)  # in pairs a common factor has no spread
    assert np.std(resampled(x, seed=5)[0] / one) > 0.01


def test_groups_are_drawn_within_themselves():
    """Stripes of 20: every sample has 20 of each level, so with one fraction of 0 and one of 1 no sample has a fit."""
    x, kind, level = np.repeat([2.0, 4.0], 20), np.repeat([STANDS, FAILED], 20), np.repeat([0, 1], 20)
    medians, _ = resampled(x, kind, samples=50, groups=level)
    assert np.isnan(medians).all()


@pytest.mark.parametrize(
    "x, kind",
    [
        ([5.0, 6.0, 7.0], [STANDS] * 3),
        ([5.0, 6.0], [FAILED] * 2),
        ([5.0, 5.0, 5.0], [EXACT] * 3),
        ([2.0, 2.0, 3.0, 3.0], [STANDS, STANDS, FAILED, FAILED]),
        ([2.0, 2.0, 2.0, 3.0, 3.0, 3.0], [FAILED, FAILED, STANDS, STANDS, STANDS, FAILED]),  # fewer at the higher
    ],
)
def test_what_has_no_fit_is_refused(x, kind):
    with pytest.raises(BadInput, match="no lognormal fragility"):
        fit_fragility(x, kind)


@pytest.mark.parametrize("x", [[], [1.0, -2.0], [np.inf], [[1.0]]])
def test_bad_intensities_are_refused(x):
    with pytest.raises(BadInput, match="intensities"):
        fit_fragility(x)
