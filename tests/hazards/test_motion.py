"""Ground motions against closed forms."""

import numpy as np
import pytest

from hyloop.errors import BadInput, BadShape, OutOfBounds
from hyloop.hazards import GroundMotion, response_spectrum

EXACT = 1e-12
STOP_BAND = 3e-4  # the filter is 80 dB down (1e-4), two edges of it overlap
PASS_BAND = 1e-3


def sine(f, duration, dt):
    return GroundMotion(np.sin(2 * np.pi * f * np.arange(round(duration / dt) + 1) * dt), dt, "sine")


def test_properties_and_a_copy_that_cannot_change():
    a = np.array([0.0, 1.0, -3.0])
    motion = GroundMotion(a, 0.5, "m", {"from": "here"})
    a[:] = 7.0
    assert motion.pga == 3.0 and motion.duration == 1.0 and len(motion) == 3
    assert np.array_equal(motion.time, [0.0, 0.5, 1.0])
    with pytest.raises(ValueError, match="read-only"):
        motion.a[0] = 1.0


@pytest.mark.parametrize(
    ("a", "dt", "error", "words"),
    [
        ([], 0.1, BadShape, "at least one"),
        ([[1.0, 2.0]], 0.1, BadShape, r"shape \(1, 2\)"),
        ([0.0, np.nan, np.inf], 0.1, BadShape, "2 value.*sample 1"),
        (["x"], 0.1, BadInput, "must be numbers"),
        ([1.0], 0.0, OutOfBounds, "dt = 0 must be positive"),
        ([1.0], -0.1, OutOfBounds, "dt"),
        ([1.0], np.nan, OutOfBounds, "dt"),
        ([1.0], "fast", BadInput, "dt = 'fast' is not a number"),
    ],
)
def test_bad_motions_are_refused(a, dt, error, words):
    with pytest.raises(error, match=words):
        GroundMotion(a, dt)


def test_integration_is_exact_for_linear_acceleration():
    t = np.arange(11) * 0.3
    motion = GroundMotion(2.0 + 5.0 * t, 0.3)
    assert np.allclose(motion.velocity(), 2.0 * t + 2.5 * t**2, rtol=EXACT)
    assert np.allclose(motion.displacement(), t**2 + 5.0 / 6.0 * t**3, rtol=EXACT)


def test_scaling_and_peak():
    motion = GroundMotion([1.0, -4.0], 0.1)
    assert motion.scaled(-2.0).scaled(3.0).meta["factor"] == -6.0
    assert np.array_equal(motion.scaled(-2.0).a, [-2.0, 8.0])
    assert motion.to_peak(9.81).pga == pytest.approx(9.81, rel=EXACT)
    with pytest.raises(BadInput, match="zero throughout"):
        GroundMotion([0.0, 0.0], 0.1).to_peak(1.0)
    with pytest.raises(OutOfBounds, match="factor = nan"):
        motion.scaled(np.nan)


def test_model_time_shifts_the_spectrum_by_the_root_of_the_length_scale(rng):
    """A model keeps accelerations, so psa of the compressed motion at T √λ is psa of the motion at T."""
    motion = GroundMotion(rng.normal(size=500), 0.02)
    model = motion.in_model_time(0.25)
    assert model.dt == 0.01 and model.meta["length_scale"] == 0.25
    T = np.array([0.2, 0.7, 2.0])
    assert np.allclose(
        response_spectrum(model.a, model.dt, T / 2).psa, response_spectrum(motion.a, motion.dt, T).psa, rtol=1e-10
    )


def test_upsampling_is_linear_interpolation():
    motion = GroundMotion([0.0, 1.0, -1.0], 0.1)
    assert np.allclose(motion.resampled(0.05).a, [0.0, 0.5, 1.0, 0.0, -1.0], atol=EXACT)
    assert motion.resampled(0.05).duration == pytest.approx(motion.duration)
    assert motion.resampled(0.1) is motion


@pytest.mark.parametrize("ratio", [2.0, 3.7])
def test_downsampling_keeps_what_fits_and_drops_what_would_fold(ratio):
    dt = 0.005
    inner = slice(40, -40)  # the record starts and ends abruptly; the filter reaches 32 samples
    low, high = 0.35 / (ratio * dt), 0.6 / (ratio * dt)  # below and above the new Nyquist frequency
    kept = sine(low, 4.0, dt).resampled(ratio * dt)
    assert kept.duration <= 4.0 + 1e-9 and kept.dt == ratio * dt
    assert np.abs(kept.a - np.sin(2 * np.pi * low * kept.time))[inner].max() < PASS_BAND
    dropped = sine(high, 4.0, dt).resampled(ratio * dt)
    assert np.abs(dropped.a[inner]).max() < STOP_BAND


def test_baseline_of_a_constant_offset():
    report = GroundMotion(np.full(101, 0.02), 0.1).baseline()
    assert report.end_velocity == pytest.approx(0.02 * 10.0)
    assert report.end_displacement == pytest.approx(0.5 * 0.02 * 10.0**2)
    assert report.drift == pytest.approx(1.0)
    assert GroundMotion([0.0, 0.0], 0.1).baseline().drift == 0.0


def test_polynomial_correction_removes_a_polynomial_exactly():
    """The fit is linear: whatever polynomial was added must leave the corrected motion unchanged."""
    motion = sine(1.0, 20.0, 0.01)
    tau = motion.time / 20.0
    bent = GroundMotion(motion.a + 0.03 - 0.05 * tau, 0.01)
    assert np.allclose(bent.corrected(order=1).a, motion.corrected(order=1).a, atol=EXACT)
    assert abs(bent.baseline().end_velocity) > 0.09  # (0.03 - 0.05/2) 20 s
    assert np.abs(bent.a - motion.a).max() > 0.02


def test_high_pass_keeps_the_motion_and_removes_slow_drift():
    motion = sine(2.0, 40.0, 0.01)
    taper = np.minimum(1.0, np.minimum(motion.time, 40.0 - motion.time) / 4.0)
    clean = GroundMotion(motion.a * taper, 0.01)
    # one full cycle: a drift that stops abruptly is itself a fast signal
    drifting = GroundMotion(clean.a + 0.05 * np.sin(2 * np.pi * 0.025 * motion.time), 0.01)
    fixed = drifting.corrected(order=1, high_pass=0.2)
    assert np.abs(drifting.displacement()).max() > 5.0
    assert np.abs(fixed.displacement()).max() < 0.01  # the clean motion has 0.006
    assert np.abs(fixed.a - clean.a).max() < 0.005


def test_correction_refuses_what_it_cannot_do():
    motion = sine(1.0, 1.0, 0.1)
    for order in (-1, 7, 1.5):
        with pytest.raises(OutOfBounds, match="order"):
            motion.corrected(order=order)
    with pytest.raises(OutOfBounds, match="below 5 Hz"):
        motion.corrected(high_pass=5.0)
    with pytest.raises(BadInput, match="too few"):
        GroundMotion([1.0, 2.0], 0.1).corrected(order=1)
