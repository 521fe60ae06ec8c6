"""Compensators against theory: the inverse of known plants, their own recursions by NumPy, and their limits."""

import math

import numpy as np
import pytest
from scipy import signal

from hyloop.errors import BadInput
from hyloop.transfer import first_order_lag, transfer_function
from hyloop.transfer.compensators import (
    amb,
    ats,
    conditional_ats,
    extrapolation,
    inverse,
    phase_lead,
    pi_lead,
    unscented_inverse,
)
from hyloop.transfer.predefined import predefined_test

DT = 1 / 1024
T = DT * np.arange(8 * 1024)
ROUND_OFF = 1e-9  # relative: fourth differences of samples 1e-3 s apart lose six digits of sixteen
B = [1.02, 0.025, 2e-4]  # of a plant 1/(b0 + b1 s + b2 s²)
LIMITS = [(0.9, 1.1), (0.005, 0.05), (0.0, 1e-3)]
RATES = [0.5, 0.02, 4e-4]


def motion(seed=0):
    """Band-limited motion of 5 mm, from rest."""
    sos = signal.butter(3, [0.5, 5.0], "bandpass", fs=1 / DT, output="sos")
    d = np.asarray(signal.sosfilt(sos, np.random.default_rng(seed).standard_normal(len(T))))
    return 5e-3 * d / np.max(np.abs(d))


def plant(b=B):
    return transfer_function([1.0], b[::-1])


def coefficients(found, order):
    return np.column_stack([found[f"compensator.a{k}"] for k in range(order + 1)])


def filtered(u, x, order, cutoff):
    """Filtered command and derivatives of the filtered motion by SciPy: Tustin's rule, order + 1 low-passes."""
    w = 2 * np.pi * cutoff
    below = np.poly([-w] * (order + 1))
    columns = [
        signal.lfilter(*signal.bilinear([w ** (order + 1), *[0.0] * k], below, 1 / DT), x) for k in range(order + 1)
    ]
    return signal.lfilter(*signal.bilinear([w ** (order + 1)], below, 1 / DT), u), np.column_stack(columns)


# --- the fixed ones ---------------------------------------------------------------------------------------------


def test_derivatives_of_a_quartic_are_exact():
    t, a = T[:200], [0.9, 0.02, 3e-4, 2e-6]
    p = np.polynomial.Polynomial([1.0, -2.0, 5.0, 30.0, 40.0])
    expected = np.sum([value * (p.deriv(k) if k else p)(t) for k, value in enumerate(a)], axis=0)
    np.testing.assert_allclose(inverse(a, dt=DT).drive(DT, d=p(t))["d"][4:], expected[4:], rtol=1e-5)  # 1e-16/DT³


def test_over_the_ticks_of_a_step_derivatives_are_those_of_the_steps():
    d = motion()[::4]
    ramped = np.interp(np.arange(4 * len(d) - 3) / 4, np.arange(len(d)), d)
    fine = inverse(B, dt=DT, substeps=4).drive(DT, d=ramped)["d"][::4]
    np.testing.assert_allclose(fine, inverse(B, dt=4 * DT).drive(4 * DT, d=d)["d"], rtol=ROUND_OFF, atol=1e-15)


def test_an_exact_inverse_tracks_and_a_shorter_one_leaves_the_first_term_it_lacks():
    d = motion()
    exact = predefined_test(DT, d, compensator=inverse(B, dt=DT), actuator=plant())["actuator.d"]
    assert np.std(exact - d) < 1e-3 * np.std(d)
    short = predefined_test(DT, d, compensator=inverse(B[:2], dt=DT), actuator=plant())["actuator.d"]
    lacking = signal.lsim(([-B[2], 0.0, 0.0], B[::-1]), d, T)[1]
    np.testing.assert_allclose(short - d, lacking, atol=1e-3 * float(np.std(d)))


def test_extrapolation_has_the_weights_of_the_authors_and_is_exact_for_a_cubic():
    block = extrapolation(8 * DT, dt=DT)
    assert list(block.params.values()) == pytest.approx([4.0, -6.0, 4.0, -1.0])
    cubic = np.polynomial.Polynomial([0.1, 1.0, -2.0, 3.0])
    other = extrapolation(0.0103, dt=DT, spacing=0.004)
    np.testing.assert_allclose(other.drive(DT, d=cubic(T))["d"][12:], cubic(T[12:] + 0.0103), rtol=ROUND_OFF)


def test_phase_lead_is_tustins_filter_and_begins_settled():
    num, den = [50.8, 50.8 * 168.6], [1.0, 8570.0]
    b, a = signal.bilinear(num, den, 1 / DT)
    d = 0.3 + motion()
    expected, _ = signal.lfilter(b, a, d, zi=signal.lfilter_zi(b, a) * d[0])
    np.testing.assert_allclose(phase_lead(num, den, dt=DT).drive(DT, d=d)["d"], expected, rtol=ROUND_OFF)


def test_pi_compares_what_was_measured_with_the_target_of_that_tick():
    d, d_m = motion(), motion(1)
    found = pi_lead(2.0, 95.0, [1.0], [0.01, 1.0], dt=DT).drive(DT, d=d, d_m=d_m)["d"]
    target = phase_lead([1.0], [0.01, 1.0], dt=DT).drive(DT, d=d)["d"]
    error = np.concatenate([target[:1], target[:-1]]) - d_m
    expected = 2.0 * error + 95.0 * np.cumsum(DT / 2 * (error + np.concatenate([error[:1], error[:-1]])))
    np.testing.assert_allclose(found, expected, rtol=ROUND_OFF, atol=1e-12)


# --- those that adapt -------------------------------------------------------------------------------------------

ADAPTIVE = {
    "ats": ats([1.0, 0.015, 1e-4], dt=DT),
    "conditional": conditional_ats([1.0, 0.015, 1e-4], dt=DT, noise=1e-7),
    "amb": amb([1.0, 0.015, 1e-4], dt=DT, speed=500.0),
    "unscented": unscented_inverse(dt=DT, noise=1e-8, error=1e-4),
}
# In a record of eight seconds least squares find the plant; descent along the gradient gets near, and the filter, which
# looks for a third-order term that is not there, too. Coefficients, and what is left of the motion in the second half,
# of which the seeds alone would leave 0.23.
NEAR = {"ats": 2e-3, "conditional": 2e-3, "amb": 0.2, "unscented": 0.05}
LEFT = {"ats": 5e-3, "conditional": 5e-3, "amb": 0.03, "unscented": 5e-3}


@pytest.mark.parametrize("name", ADAPTIVE)
def test_the_inverse_of_a_plant_of_second_order_is_found(name):
    d = motion()
    found = predefined_test(DT, d, compensator=ADAPTIVE[name], actuator=plant())
    np.testing.assert_allclose(coefficients(found, 2)[-1], B, rtol=NEAR[name])
    assert np.std((found["actuator.d"] - d)[4096:]) < LEFT[name] * np.std(d)


def test_of_a_lag_the_delay_is_found():
    found = predefined_test(DT, motion(), compensator=ats([1.0, 0.02], dt=DT), actuator=first_order_lag(tau=0.013))
    np.testing.assert_allclose(coefficients(found, 1)[-1], [1.0, 0.013], rtol=1e-3)


def test_the_third_order_of_three_lags_is_found():
    b = np.poly([-120.0] * 3)[::-1] / 120.0**3
    # without noise the filter may trust what it sees
    block = unscented_inverse(dt=DT, noise=1e-8, error=1e-4)
    found = predefined_test(DT, motion(), compensator=block, actuator=plant(list(b)))
    np.testing.assert_allclose(coefficients(found, 3)[-1], b, rtol=0.03)
    assert found["compensator.delay"][-1] == pytest.approx(0.025, rel=5e-3)


def test_sums_over_the_window_are_those_of_numpy_after_many_rounds():
    """A window of 100 rows has been written eighty times round."""
    d, window, cutoff = motion(), 0.4, 30.0
    noise = 1e-5 * np.random.default_rng(1).standard_normal(len(d))
    found = ats([1.0, 0.02, 1e-4], dt=DT, window=window, cutoff=cutoff, every=4).drive(DT, d=d, d_m=d + noise)
    sent = np.concatenate([[(d + noise)[0]], found["d"][:-1]])
    u, X = filtered(sent - sent[0], d + noise - sent[0], 2, cutoff)
    u, X = u + sent[0], X + np.array([sent[0], 0.0, 0.0])
    last = 4 * ((len(d) - 1) // 4)  # of which the first was the second tick
    rows = np.arange(last, last - 4 * round(window / (4 * DT)), -4)
    expected = np.linalg.lstsq(X[rows], u[rows], rcond=None)[0]
    np.testing.assert_allclose([found[f"a{k}"][-1] for k in range(3)], expected, rtol=1e-6)


def test_the_recursion_is_least_squares_with_forgetting():
    d, d_m = motion(), motion() + 1e-5 * np.random.default_rng(2).standard_normal(len(T))
    seeds, spread, noise, memory = np.array([1.0, 0.02]), np.array([0.01, 2e-3]), 2e-4, 5.0
    block = conditional_ats(list(seeds), dt=DT, scales=list(spread), noise=noise, memory=memory, cutoff=30.0)
    found = block.drive(DT, d=d, d_m=d_m)
    sent = np.concatenate([[d_m[0]], found["d"][:-1]])
    u, X = filtered(sent - sent[0], d_m - sent[0], 1, 30.0)
    u, X = (u + sent[0])[1:], (X + np.array([sent[0], 0.0]))[1:]
    weight = np.exp(-DT * np.arange(len(u))[::-1] / memory)
    keep = math.exp(-DT * len(u) / memory)  # of the prior
    A = X.T @ (X * weight[:, None]) / noise**2 + keep * np.diag(spread**-2.0)
    b = X.T @ (u * weight) / noise**2 + keep * seeds / spread**2
    np.testing.assert_allclose([found["a0"][-1], found["a1"][-1]], np.linalg.solve(A, b), rtol=1e-6)


def test_a_gradient_step_never_overshoots():
    """However large the gain: after the step the model says what was sent."""
    d, d_m = motion()[:3], np.array([0.0, 1e-3, 2e-3])
    block = amb([1.0, 0.02], dt=DT, speed=1e20, cutoff=50.0)
    found = block.drive(DT, d=d, d_m=d_m)
    u, X = filtered(np.concatenate([[0.0], found["d"][:-1]]), d_m, 1, 50.0)
    for k in (1, 2):
        assert X[k] @ [found["a0"][k], found["a1"][k]] == pytest.approx(u[k], rel=1e-6)


LIMITED = {
    "ats": ats([1.0, 0.02, 2e-4], dt=DT, limits=LIMITS, rates=RATES),
    "conditional": conditional_ats([1.0, 0.02, 2e-4], dt=DT, limits=LIMITS, rates=RATES),
    "amb": amb([1.0, 0.02, 2e-4], dt=DT, limits=LIMITS, rates=RATES, speed=1e3),
}


@pytest.mark.parametrize("name", LIMITED)
def test_limits_of_value_and_rate_are_never_exceeded(name):
    """Measured is noise that has nothing to do with the command."""
    d_m = 1e-3 * np.random.default_rng(3).standard_normal(len(T))
    found = LIMITED[name].drive(DT, d=motion(), d_m=d_m)
    for k, ((low, high), rate) in enumerate(zip(LIMITS, RATES, strict=True)):
        a = found[f"a{k}"]
        assert low <= a.min() and a.max() <= high and np.ptp(a) > 0.0
        assert np.max(np.abs(np.diff(a))) <= rate * DT * (1.0 + 1e-9)


def test_the_bounded_filter_stays_inside_its_bounds():
    d_m = 1e-3 * np.random.default_rng(3).standard_normal(len(T))
    found = unscented_inverse((0.01, 0.02, 0.03), dt=DT, noise=1e-6).drive(DT, d=motion(), d_m=d_m)
    assert found["delay"].min() >= 0.01 and found["delay"].max() <= 0.03 and np.ptp(found["delay"]) > 0.0
    assert found["a0"].min() >= 0.9 and found["a0"].max() <= 1.1


QUIET = {
    "ats": ats([1.0, 0.02, 2e-4], dt=DT, threshold=6e-3),
    "conditional": conditional_ats([1.0, 0.02, 2e-4], dt=DT, threshold=6e-3),
    "satisfied": conditional_ats([1.0, 0.02, 2e-4], dt=DT, tolerance=1e3),
    "amb": amb([1.0, 0.02, 2e-4], dt=DT, threshold=6e-3),
    "unscented": unscented_inverse((0.01, 0.02, 0.03), dt=DT, threshold=7e-3),
}


@pytest.mark.parametrize("name", QUIET)
def test_quiet_motions_and_lost_samples_change_nothing(name):
    d = motion()
    lost = np.where(np.arange(len(d)) > 5, np.nan, 0.0)
    free = {**ADAPTIVE, "satisfied": ADAPTIVE["conditional"]}[name]
    for block, d_m in ((QUIET[name], 0.9 * d), (free, lost)):
        found = block.drive(DT, d=d, d_m=d_m)
        assert np.ptp(found["a1"]) == 0.0 and np.isfinite(found["d"]).all()


def test_coefficients_with_equal_limits_are_held_and_the_others_found_with_them():
    limits = [(1.02, 1.02), (0.0, 0.1), (2e-4, 2e-4)]
    found = predefined_test(DT, motion(), compensator=ats([1.02, 0.01, 2e-4], dt=DT, limits=limits), actuator=plant())
    np.testing.assert_allclose(coefficients(found, 2)[-1], B, rtol=1e-3)


def test_a_sine_does_not_tell_three_coefficients_apart():
    d = 5e-3 * np.sin(20.0 * T)
    x = d[4096:]  # filters have settled
    found = ats([1.0, 0.02, 2e-4], dt=DT, window=2 * math.pi / 20.0).drive(DT, d=x, d_m=x)
    assert np.isfinite(found["d"]).all() and np.ptp(found["adapting"]) == 1.0


REFUSED = {
    "outside its limits": lambda: ats([1.0, 0.05], dt=DT, limits=[(0.8, 1.2), (0.0, 0.03)]),
    "coefficients need as many limits": lambda: ats([1.0, 0.05], dt=DT, limits=[(0.8, 1.2)]),
    "need at least 6": lambda: ats([1.0, 0.02, 1e-4], dt=DT, window=0.004),
    "threshold = -1": lambda: ats([1.0, 0.02], dt=DT, threshold=-1.0),
    "must not be negative; 0 always": lambda: amb([1.0, 0.02], dt=DT, threshold=-1.0),
    "tolerance = -2": lambda: conditional_ats([1.0, 0.02], dt=DT, tolerance=-2.0),
    "rate of a1": lambda: ats([1.0, 0.02], dt=DT, rates=[1.0, -1.0]),
    "give 2 to 4": lambda: inverse([1.0], dt=DT),
    "quarter of the 1024": lambda: ats([1.0, 0.02], dt=DT, cutoff=400.0),
    "substeps = 0": lambda: inverse([1.0, 0.02], dt=DT, substeps=0),
    "dt = 0": lambda: extrapolation(0.02, dt=0.0),
    "closer than a tick": lambda: extrapolation(0.0001, dt=DT),
    "delay = -1": lambda: extrapolation(-1.0, dt=DT),
    "not proper": lambda: phase_lead([1.0, 2.0, 3.0], [1.0, 2.0], dt=DT),
    "does not settle": lambda: phase_lead([1.0], [1.0, 0.0], dt=DT),
    "kp = -1": lambda: pi_lead(-1.0, 0.0, [1.0], [1.0, 1.0], dt=DT),
    "positive scales": lambda: amb([1.0, 0.0], dt=DT),
    "state its spread": lambda: conditional_ats([1.0, 0.02, 0.0], dt=DT),
    "speed = 0": lambda: amb([1.0, 0.02], dt=DT, speed=0.0),
    "every = 0": lambda: ats([1.0, 0.02], dt=DT, every=0),
    "start inside": lambda: unscented_inverse((0.01, 0.05, 0.03), dt=DT),
    "lowest delay": lambda: unscented_inverse((0.0, 0.02, 0.03), dt=DT),
    "drift = 0": lambda: unscented_inverse(dt=DT, drift=0.0),
    "shape has 3 rows": lambda: unscented_inverse(dt=DT, shape=((0.0, 0.1, 0.2),) * 3),
    "memory = 0": lambda: conditional_ats([1.0, 0.02], dt=DT, memory=0.0),
    "made for 1024 ticks": lambda: ats([1.0, 0.02], dt=DT).drive(2 * DT, d=motion(), d_m=motion()),
    "finite history": lambda: predefined_test(DT, [math.nan], actuator=plant()),
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_cannot_work_is_refused(message):
    with pytest.raises(BadInput, match=message):
        REFUSED[message]()


@pytest.mark.parametrize(("kind", "printed"), [("earthquake", 0.13), ("slow", 0.04)])
def test_tall_building_settings_track_as_well_as_printed(kind, printed):
    """Al-Subaihawi et al. (2024), section 11, with the largest delays, the shortest, and each kind of rig."""
    from benchmarks.ats_tracking import rigs, tracking

    for tau in (0.013, 0.027):
        assert max(tracking(kind, rig, seed=0) for rig in rigs(tau).values()) < printed
