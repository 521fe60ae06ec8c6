"""Conformal bands: exact on exchangeable data, valid for runs whose samples hang together, and refusals."""

import numpy as np
import pytest
from scipy.signal import lfilter
from scipy.stats import expon, norm

from hyloop.errors import BadInput, BadShape, OutOfBounds
from hyloop.metrics import calibrate, compare_bands, constant_width, coverage_by_run, width_by_run

DRAWS = 4000
NOISE = 4.0  # standard errors of the mean over the draws


@pytest.mark.parametrize("n", [9, 19, 30, 57])
@pytest.mark.parametrize("size", [norm, expon])
def test_split_conformal_is_exact_on_exchangeable_data(n, size):
    """One sample in each run: the mean coverage lies in [c, c + 1/(n+1)], and the true distribution gives it."""
    rng, wanted = np.random.default_rng(n), 0.9
    found = np.empty(DRAWS)
    for k in range(DRAWS):
        errors, scores = size.rvs(size=n, random_state=rng), rng.uniform(0.5, 2.0, n)
        q = calibrate([[e] for e in errors * scores], [[s] for s in scores], wanted)
        found[k] = 1.0 - 2.0 * norm.sf(q) if size is norm else expon.cdf(q)
    error = NOISE * found.std() / np.sqrt(DRAWS)
    assert wanted - error <= found.mean() <= wanted + 1.0 / (n + 1) + error
    # q is the order statistic of rank ceil((n+1) c), whose mean coverage is known
    assert found.mean() == pytest.approx(np.ceil((n + 1) * wanted - 1e-9) / (n + 1), abs=error)


def run(rng, samples):
    """Samples that hang together, of a size that is the run's own."""
    scale, score = rng.lognormal(0.0, 0.4), 0.5 + rng.random(samples)
    return scale * score * lfilter([1.0], [1.0, -0.98], rng.normal(size=samples)) * np.sqrt(1 - 0.98**2), score


def test_a_new_run_is_covered_although_samples_hang_together():
    rng, wanted, trials, runs = np.random.default_rng(5), 0.9, 600, 19
    allowed, pooled = np.empty(trials), np.empty(trials)
    for k in range(trials):
        errors, scores = zip(*(run(rng, int(rng.integers(100, 400))) for _ in range(runs)), strict=True)
        error, score = run(rng, 300)
        allowed[k] = coverage_by_run([error], [score], calibrate(errors, scores, wanted))[0]
        pooled[k] = coverage_by_run([error], [score], calibrate(errors, scores, wanted, finite="samples"))[0]
    noise = NOISE * allowed.std() / np.sqrt(trials)
    assert wanted - noise < allowed.mean() < wanted + 2.0 / (runs + 1) + noise
    assert pooled.mean() < allowed.mean()  # nothing allows for the number of runs


def test_pooled_coverage_of_the_calibration_runs_is_what_was_asked_for(rng):
    errors, scores = zip(*(run(rng, n) for n in (100, 200, 400, 800)), strict=True)
    for wanted in (0.5, 0.8, 0.9, 0.99):
        q = calibrate(errors, scores, wanted, finite="samples")
        reached = coverage_by_run(errors, scores, q).mean()
        assert wanted <= reached <= wanted + 1.0 / (4 * 100)  # one sample of the shortest run
        below = coverage_by_run(errors, scores, np.nextafter(q, 0.0)).mean()
        assert below < wanted


def test_runs_weigh_the_same_whatever_their_length():
    errors, ones = [np.full(1000, 1.0), np.full(10, 5.0), np.full(10, 5.0)], [np.ones(1000), np.ones(10), np.ones(10)]
    assert calibrate(errors, ones, 0.3, finite="samples") == 1.0
    assert calibrate(errors, ones, 0.5, finite="samples") == 5.0


def test_a_score_that_knows_the_errors_gives_a_narrower_band(rng):
    scores = [0.2 + 3.0 * rng.random(4000) ** 3 for _ in range(12)]
    errors = [s * rng.normal(size=len(s)) for s in scores]
    q = calibrate(errors[:6], scores[:6], 0.9, finite="samples")
    good = compare_bands(q, errors[6:], scores[6:])
    assert abs(good.pooled - 0.9) < 0.01 and good.narrower < 0.8
    assert good.by_run.shape == (6,) and good.pooled == pytest.approx(good.by_run.mean())
    ones = [np.ones(4000)] * 12
    flat = compare_bands(calibrate(errors[:6], ones[:6], 0.9, finite="samples"), errors[6:], ones[6:])
    assert flat.narrower == pytest.approx(1.0, rel=1e-3)  # the constant band itself, but for one sample
    np.testing.assert_allclose(width_by_run(scores, 2.0), [4.0 * s.mean() for s in scores])
    assert constant_width([[1.0, -2.0, 3.0, -4.0]], 0.75) == 6.0


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: calibrate([[1.0]] * 8, [[1.0]] * 8, 0.9), BadInput, "8 runs are too few .* at least 9"),
        (lambda: calibrate([[1.0]], [[1.0]], 1.0), OutOfBounds, "between 0 and 1"),
        (lambda: calibrate([[1.0]], [[0.0]], 0.5, finite="samples"), OutOfBounds, "run 1 must be positive"),
        (lambda: calibrate([[1.0]], [[1.0], [2.0]], 0.5), BadShape, "1 runs of errors and 2"),
        (lambda: calibrate([], [], 0.5), BadShape, "0 runs"),
        (lambda: calibrate([[np.nan]], [[1.0]], 0.5), BadShape, "not finite"),
        (lambda: calibrate([[1.0]], [[1.0]], 0.5, finite="all"), BadInput, "'runs' or 'samples'"),
    ],
)
def test_what_cannot_be_calibrated_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()
