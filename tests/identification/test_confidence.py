"""Covariance against closed forms; parameters that the tests say nothing about."""

import numpy as np
import pytest
from scipy.optimize import curve_fit
from scipy.signal import lfilter

from hyloop.devices import bouc_wen, dashpot, lugre, nonlinear_viscous, spring
from hyloop.identification import MeasuredTest, fit

DT = 0.01
SPREAD = 0.15  # of a standard deviation estimated from a few hundred effective samples, averaged over ten runs
SAME = 1e-4  # of a standard deviation: differences in the Jacobians


def test_a_constant_deformation_measures_the_mean_of_coloured_noise():
    """The stiffness is then the mean force; its variance is the spectrum of the noise at zero over n."""
    n, rho, sigma = 4000, 0.9, 50.0
    stds = []
    for seed in range(10):
        white = np.random.default_rng(seed).normal(size=n + 500)
        noise = sigma * np.sqrt(1 - rho**2) * lfilter([1.0], [1.0, -rho], white)[500:]
        found = fit(spring(k=1e3), MeasuredTest(DT, {"d": np.ones(n)}, 1e3 + noise), {"k": (100.0, 5e3)}, starts=1)
        assert found.estimates["k"].value == pytest.approx(np.mean(1e3 + noise), rel=1e-6)
        stds.append(found.estimates["k"].std)
    exact = sigma * np.sqrt((1 + rho) / (1 - rho) / n)
    assert np.mean(stds) == pytest.approx(exact, rel=SPREAD)


def test_white_noise_gives_the_covariance_of_scipy():
    rng = np.random.default_rng(3)
    v = 0.2 * np.sin(np.arange(600) * 0.05)
    law = nonlinear_viscous(C=2e5, alpha=0.4)

    def force(v, C, alpha):
        return C * v * np.maximum(np.abs(v), 1e-3) ** (alpha - 1)

    f = force(v, 2e5, 0.4) + 500 * rng.normal(size=v.size)
    found = fit(law, MeasuredTest(DT, {"v": v}, f), {"C": (1e5, 5e5), "alpha": (0.1, 1.0)}, starts=1)
    best, cov = curve_fit(force, v, f, p0=(2e5, 0.4), ftol=1e-14, xtol=1e-14)
    assert [e.value for e in found.estimates.values()] == pytest.approx(best, rel=1e-6)
    slopes = [span.slope(z) for span, z in zip(found.problem.free.values(), found.z, strict=True)]
    assert found.confidence.white * slopes == pytest.approx(np.sqrt(np.diag(cov)), rel=SAME)
    assert found.confidence.correlation[0, 1] == pytest.approx(cov[0, 1] / np.sqrt(cov[0, 0] * cov[1, 1]), abs=0.02)


def test_residuals_that_grow_where_the_parameter_matters_widen_its_interval():
    """Noise proportional to the speed: White's sandwich in closed form, not the mean variance."""
    rng = np.random.default_rng(5)
    v = 0.2 * np.sin(np.arange(4000) * 0.01)
    f = 1e4 * v + 2e3 * v * rng.normal(size=v.size)
    found = fit(dashpot(c=1e4), MeasuredTest(DT, {"v": v}, f), {"c": (1e3, 1e5)}, starts=1)
    exact = 2e3 * np.sqrt(np.sum(v**4)) / np.sum(v**2)
    usual = 2e3 * np.sqrt(np.mean(v**2) / np.sum(v**2))
    assert usual < 0.85 * exact
    assert found.estimates["c"].std == pytest.approx(exact, rel=SPREAD)


def _lugre_test(v):
    law = lugre()
    f = law.drive(DT, v=v)["f"] + 50 * np.random.default_rng(0).normal(size=v.size)
    return law, MeasuredTest(DT, {"v": v}, f)


def test_a_side_that_was_never_reached_is_not_observable():
    law, test = _lugre_test(0.05 * (1 + np.sin(np.arange(800) * 0.03)))
    found = fit(law, test, ["sigma0", "Fc_pos", "Fc_neg"], starts=1)
    assert found.unobservable == ["Fc_neg"]
    assert "does not depend on it" in found.estimates["Fc_neg"].remark
    assert np.isnan(found.estimates["Fc_neg"].low) and np.isnan(found.estimates["Fc_neg"].std)
    assert found.estimates["Fc_pos"].low < law.params["Fc_pos"] < found.estimates["Fc_pos"].high


def test_a_record_at_rest_says_nothing():
    test = MeasuredTest(DT, {"v": np.zeros(200)}, np.zeros(200))
    found = fit(lugre(), test, ["sigma0", "Fc_pos"], starts=2)
    assert found.unobservable == ["sigma0", "Fc_pos"]
    assert {e.remark for e in found.estimates.values()} == {"not observable: the force does not depend on it"}
    assert np.isnan(found.nrmse[0])


def test_parameters_that_undo_each_other_are_named():
    """Bouc-Wen without hardening has two scales too many: that of z, and that shared by k and the rest."""
    law = bouc_wen(k=2e7, d_y=2e-3, alpha=0.0)
    d = 8e-3 * np.sin(np.arange(600) * 0.03) * np.linspace(0.3, 1.0, 600)
    test = MeasuredTest(DT, {"d": d}, law.drive(DT, d=d)["f"] + 50 * np.random.default_rng(0).normal(size=d.size))
    together = ["k", "d_y", "A", "beta", "gamma"]
    limits = {key: (law.params[key] / 5, law.params[key] * 5) for key in [*together, "n"]} | {"n": (1.0, 6.0)}
    found = fit(law, test, limits, starts=1)
    assert found.unobservable == together
    assert found.estimates["k"].remark == "not observable: a change is undone by d_y, A, beta, gamma"
    assert found.estimates["n"].low < 2.0 < found.estimates["n"].high
    less = fit(law, test, {key: limits[key] for key in limits if key != "A"}, starts=1)
    assert less.unobservable == ["d_y", "beta", "gamma"]
    assert less.estimates["k"].low < 2e7 < less.estimates["k"].high
    assert not fit(law, test, {key: limits[key] for key in limits if key not in ("A", "d_y")}, starts=1).unobservable


def test_a_parameter_on_its_bound_has_no_interval():
    law, test = _lugre_test(0.1 * np.sin(np.arange(800) * 0.03))
    low = law.block(**(law.params | {"Fc_pos": 15e3}))
    found = fit(low, test, {"Fc_pos": (1e4, 2e4), "sigma0": (1e6, 1e8)}, starts=1)
    assert "upper bound" in found.estimates["Fc_pos"].remark
    assert found.unobservable == ["Fc_pos"]
    alone = fit(low, test, {"Fc_pos": (1e4, 2e4)}, starts=1)
    assert alone.unobservable == ["Fc_pos"] and alone.estimates["Fc_pos"].value == pytest.approx(2e4, rel=1e-3)


def test_too_much_noise_makes_a_parameter_unobservable():
    law, test = _lugre_test(0.1 * np.sin(np.arange(800) * 0.03))
    noisy = MeasuredTest(DT, test.inputs, test.f + 3e4 * np.random.default_rng(1).normal(size=test.f.size))
    found = fit(law, noisy, {"sigma1": (1e4, 5e4)}, starts=1)
    assert found.unobservable == ["sigma1"]
