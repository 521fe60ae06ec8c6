"""Noise in the measured motion: its effect against closed forms, when it is left alone, when intervals are refused."""

from dataclasses import replace

import numpy as np
import pytest

from hyloop.devices import bilinear, lugre, nonlinear_maxwell, spring
from hyloop.errors import OutOfBounds, UnknownName
from hyloop.identification import MeasuredTest, fit
from hyloop.identification.noisy_inputs import motion_of, spread_of
from hyloop.identification.problem import Problem
from hyloop.identification.ranges import ranges

DT, N = 1 / 256, 1000
T = DT * np.arange(N)
D = 7e-3 * np.sum([np.sin(2 * np.pi * f * T) for f in (0.5, 1.1, 2.3)], axis=0)
K, LIMITS = 2e7, {"k": (1e7, 4e7)}
DRAWN = (
    0.25  # relative: five standard deviations of a variance from 200 draws are 0.5; of one sum over 1000 samples less
)
FORCE = 40.0  # N


def _signals(d):
    return {"d": d, "v": np.gradient(d, DT)}


def _bilinear(size, seed=1, **more):
    law, rng = bilinear(k=K, alpha=0.05, f_y=4e4), np.random.default_rng(seed)
    f = law.drive(DT, d=D)["f"] + FORCE * rng.normal(size=N)
    return law, MeasuredTest(DT, _signals(D + size * rng.normal(size=N)), f, **more)


FREE = {"k": (5e6, 8e7), "alpha": (0.0125, 0.2), "f_y": (1e4, 1.6e5)}


def test_spread_and_shift_of_a_spring_are_those_of_the_book():
    """f = k d with noise of σ in d: M = k² σ² Σ J²; least squares sees k Σd² / Σ(d+e)² (attenuation, Fuller 1.1)."""
    size = 0.1 * np.std(D)
    law, test = spring(k=K), MeasuredTest(DT, {"d": D}, K * D, noise={"d": size})
    problem = Problem(law, [test], ranges(law, LIMITS, ""))
    z = problem.start()
    J = problem.jacobian(z)
    spread = spread_of(problem, z, J, [motion_of(test, law.block)], seed=0)
    assert spread.meat[0, 0] == pytest.approx(K**2 * size**2 * float(J[:, 0] @ J[:, 0]), rel=DRAWN)
    assert np.mean(spread.power) == pytest.approx(K**2 * size**2, rel=0.02)
    slope = problem.free["k"].slope(float(z[0]))
    attenuation = -K * size**2 / (np.mean(D**2) + size**2)
    assert spread.shift[0] * slope == pytest.approx(attenuation, rel=0.05)


def test_exact_motion_is_fitted_as_before_and_costs_as_before(monkeypatch):
    law, test = _bilinear(0.0)
    calls, force = [], Problem.force
    monkeypatch.setattr(Problem, "force", lambda self, z: calls.append(1) or force(self, z))
    before = fit(law, test, FREE, starts=1, noisy_inputs=False)
    plain = len(calls)
    after = fit(law, test, FREE, starts=1)
    assert len(calls) == 2 * plain  # exact to round-off: nothing is drawn
    assert after.z.tobytes() == before.z.tobytes() and after.estimates == before.estimates
    assert before.input_noise is None
    assert after.input_noise is not None and not after.input_noise.matters and after.input_noise.sizes == ({},)


def test_noise_too_small_to_matter_is_seen_and_left_alone(monkeypatch):
    law, test = _bilinear(2e-8)
    before = fit(law, test, FREE, starts=1, noisy_inputs=False)
    calls, force = [], Problem.force
    monkeypatch.setattr(Problem, "force", lambda self, z: calls.append(1) or force(self, z))
    after = fit(law, test, FREE, starts=1)
    assert after.estimates == before.estimates and after.tests[0] is test
    assert after.input_noise is not None and not after.input_noise.matters
    assert after.input_noise.sizes[0]["d"] == pytest.approx(2e-8, rel=0.3)
    assert len(calls) <= before.evaluations + 20  # 12 probes and a few


def test_noise_that_moves_the_stiffness_is_taken_away():
    law, test = _bilinear(3e-5)
    as_recorded = fit(law, test, FREE, starts=1, noisy_inputs=False).estimates["k"]
    assert not as_recorded.low <= K <= as_recorded.high
    found = fit(law, test, FREE, starts=1)
    noise = found.input_noise
    assert noise is not None and noise.matters
    assert noise.largest("d") == pytest.approx(3e-5, rel=0.3) and noise.left[0]["d"] < 0.4
    assert found.estimates["k"].low < K < found.estimates["k"].high
    assert abs(found.estimates["k"].value - K) < 0.3 * abs(as_recorded.value - K)
    assert all(0.0 < share <= 1.0 for share in noise.share.values())
    assert found.force_noise[0] == pytest.approx(FORCE, rel=0.5)
    again = fit(law, test, FREE, starts=1)
    assert again.z.tobytes() == found.z.tobytes() and again.estimates == found.estimates


def test_noise_that_is_stated_goes_before_the_estimate():
    law, test = _bilinear(3e-5)
    exact = fit(law, replace(test, noise={"d": 0.0}), FREE, starts=1)
    assert exact.input_noise is not None and exact.input_noise.sizes == ({},)
    assert exact.estimates == fit(law, test, FREE, starts=1, noisy_inputs=False).estimates
    stated = fit(law, replace(test, noise={"d": 4e-5}), FREE, starts=1)
    assert stated.input_noise is not None and stated.input_noise.sizes == ({"d": 4e-5},)


def test_no_interval_where_the_noise_moves_a_parameter_further_than_it_spreads():
    """A motion as rough as its noise cannot be smoothed, and attenuation then is sure: no interval is true."""
    rng = np.random.default_rng(4)
    d = 5e-3 * rng.normal(size=N)
    f = K * d + FORCE * rng.normal(size=N)
    test = MeasuredTest(DT, {"d": d + 2.5e-3 * rng.normal(size=N)}, f, noise={"d": 2.5e-3})
    found = fit(spring(k=K), test, LIMITS, starts=1)
    assert found.unobservable == ["k"] and "noise in the measured motion moves it" in found.estimates["k"].remark
    wrong = fit(spring(k=K), test, LIMITS, starts=1, noisy_inputs=False).estimates["k"]
    assert not wrong.low <= K <= wrong.high


def test_a_velocity_made_from_the_deformation_has_its_noise():
    law = lugre()
    d = D + 1e-5 * np.random.default_rng(0).normal(size=N)
    made = motion_of(MeasuredTest(DT, _signals(d), D), law.block)
    assert made.derived == ("v",) and list(made.noise) == ["d"]
    smooth = made.smoothed().test.inputs
    assert np.array_equal(smooth["v"], np.gradient(smooth["d"], DT))
    own = _signals(d)["v"] + 1e-2 * np.random.default_rng(1).normal(size=N)
    measured = motion_of(MeasuredTest(DT, {"d": d, "v": own}, D), law.block)
    assert measured.derived == () and list(measured.noise) == ["v"]
    assert list(motion_of(MeasuredTest(DT, _signals(d), D), nonlinear_maxwell().block).noise) == ["d"]


def test_noise_that_cannot_be_is_refused():
    with pytest.raises(UnknownName, match="noise"):
        MeasuredTest(DT, {"d": D}, D, noise={"w": 1e-6})
    with pytest.raises(OutOfBounds, match="not negative"):
        MeasuredTest(DT, {"d": D}, D, noise={"d": -1e-6})
