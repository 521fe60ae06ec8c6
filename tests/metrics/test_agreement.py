"""Metrics of agreement against numbers worked out by hand and against the tables of the papers."""

import numpy as np
import pytest
from oracles.brfd import earthquakes

from hyloop import metrics
from hyloop.errors import BadInput, BadShape, UnknownName

ROUND_OFF = 1e-14  # a handful of additions

# measured, predicted: errors 1, 0, -1, 2; sum of squares 6; mean 1; sum y^2 = 30; about the mean 26; y.p = 18; p.p = 12
Y, P = [1.0, 2.0, -3.0, 4.0], [0.0, 2.0, -2.0, 2.0]
BY_HAND = {
    "rmse": (6 / 4) ** 0.5,
    "nrmse": (6 / 4) ** 0.5 / 7,
    "mae": 4 / 4,
    "mre": 1 / 4,
    "r2": 1 - 6 / 26,
    "rrse": (6 / 26) ** 0.5,
    "snr": 10 * np.log10(30 / 6),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_by_hand(name):
    assert getattr(metrics, name)(Y, P) == pytest.approx(BY_HAND[name], rel=ROUND_OFF)


def test_trac_by_hand():
    """y.p = 0 + 4 + 6 + 8 = 18 and p.p = 0 + 4 + 4 + 4 = 12."""
    assert metrics.trac(Y, P) == pytest.approx(18**2 / (30 * 12), rel=ROUND_OFF)
    assert metrics.trac(Y, [-2 * y for y in Y]) == pytest.approx(1.0, rel=ROUND_OFF)


def test_pearson_by_hand():
    """Means 1 and 0.5: products of deviations 0, 1.5, 10, 4.5; sums of squares 26 and 11."""
    assert metrics.pearson_r(Y, P) == pytest.approx(16 / (26 * 11) ** 0.5, rel=ROUND_OFF)
    assert metrics.pearson_r(Y, [3 - 2 * y for y in Y]) == pytest.approx(-1.0, rel=ROUND_OFF)


@pytest.mark.parametrize(("by", "scale"), [("range", 7.0), ("peak", 4.0), ("rms", 7.5**0.5), ("std", 6.5**0.5)])
def test_normalisations(by, scale):
    assert metrics.nrmse(Y, P, by=by) == pytest.approx(1.5**0.5 / scale, rel=ROUND_OFF)


def test_running_rmsd_by_hand():
    """Squared errors 1, 0, 1, 4 and squares 1, 4, 9, 16, summed up."""
    expected = np.sqrt([1 / 1, 1 / 5, 2 / 14, 6 / 30])
    np.testing.assert_allclose(metrics.running_rmsd(Y, P), expected, rtol=ROUND_OFF)
    assert metrics.running_rmsd(Y, P)[-1] == pytest.approx(metrics.nrmse(Y, P, by="rms"), rel=ROUND_OFF)
    np.testing.assert_array_equal(metrics.running_rmsd([0, 0, 1], [0, 1, 1]), [0, np.inf, 1])


def test_perfect_prediction():
    assert metrics.snr(Y, Y) == np.inf
    assert metrics.r2(Y, Y) == 1.0 and metrics.rrse(Y, Y) == metrics.nrmse(Y, Y) == metrics.mre(Y, Y) == 0.0
    assert metrics.trac(Y, Y) == pytest.approx(1.0, rel=ROUND_OFF)


# Coble et al. (2024), Tables 8 and 11 to 15: SNR in dB, RMSE in N, RRSE and NRMSE of the LuGre and the physics-ML model
COBLE = {
    "DuzceDBE": [(3.30, 1306.36, 0.6930, 0.0554), (10.98, 539.62, 0.2862, 0.0229)],
    "DuzceMCE": [(4.20, 1892.02, 0.6340, 0.0484), (3.58, 2031.00, 0.6805, 0.0519)],
    "ImperialValleyDBE": [(7.13, 2040.92, 0.4404, 0.0582), (9.67, 1524.07, 0.3289, 0.0435)],
    "ImperialValleyMCE": [(6.00, 2969.81, 0.5075, 0.0755), (8.45, 2239.42, 0.3827, 0.0570)],
    "KocaeliDBE": [(3.17, 3131.42, 0.7939, 0.1208), (8.20, 1754.26, 0.4447, 0.0677)],
    "KocaeliMCE": [(5.00, 3340.78, 0.6284, 0.0937), (9.82, 1917.32, 0.3607, 0.0538)],
}
PRINTED_DIGITS, PRINTED_DB = 0.6e-4, 0.006  # half a unit in the last digit printed, and single-precision forces


def test_definitions_are_those_behind_the_tables_of_coble():
    """The measured forces and the RMSE printed give the SNR, RRSE and NRMSE printed.

    An error of constant size has any RMSE one likes; the other three depend on the prediction through the RMSE only. So
    this settles what the paper leaves open or misprints: the mean is removed in RRSE but not in SNR, and NRMSE is
    relative to the range.
    """
    for name, test in earthquakes().items():
        measured = test.F[test.judged]
        for snr, rmse, rrse, nrmse in COBLE[name]:
            predicted = measured + rmse
            assert metrics.rmse(measured, predicted) == pytest.approx(rmse, rel=1e-9)
            assert metrics.snr(measured, predicted) == pytest.approx(snr, abs=PRINTED_DB)
            assert metrics.rrse(measured, predicted) == pytest.approx(rrse, abs=PRINTED_DIGITS)
            assert metrics.nrmse(measured, predicted) == pytest.approx(nrmse, abs=PRINTED_DIGITS)


REFUSED = {
    "lengths differ": (lambda f: f([1.0, 2.0], [1.0]), BadShape, "measured has 2 samples, predicted 1"),
    "a matrix": (lambda f: f(np.ones((2, 2)), np.ones((2, 2))), BadShape, r"vector.*\(2, 2\)"),
    "nothing": (lambda f: f([], []), BadShape, "at least 1 sample"),
    "nan": (lambda f: f([1.0, 2.0], [1.0, np.nan]), BadShape, "predicted: 1 of 2 samples.*index 1"),
    "words": (lambda f: f(["a", "b"], [1.0, 2.0]), BadShape, "vector of numbers"),
}
AGREEMENT = [*BY_HAND, "trac", "pearson_r", "running_rmsd"]


@pytest.mark.parametrize("name", AGREEMENT)
@pytest.mark.parametrize("case", REFUSED)
def test_refused(name, case):
    ask, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        ask(getattr(metrics, name))


@pytest.mark.parametrize("name", ["nrmse", "mre", "r2", "rrse", "trac", "snr", "pearson_r"])
def test_undefined_for_a_zero_history(name):
    with pytest.raises(BadInput, match=r"undefined.*Use rmse"):
        getattr(metrics, name)([0.0, 0.0], [1.0, 2.0])


def test_unknown_normalisation():
    with pytest.raises(UnknownName, match="Did you mean 'range'"):
        metrics.nrmse(Y, P, by="ranges")
