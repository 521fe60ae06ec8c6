"""Tracking of actuators against closed forms: a sine with a known gain and delay."""

import numpy as np
import pytest
from scipy.signal import butter, sosfiltfilt

from hyloop import metrics
from hyloop.errors import BadInput, BadShape, OutOfBounds

DT = 1 / 1024
T = DT * np.arange(20 * 1024)
ROUND_OFF = 1e-9
# the Hilbert transform of a history that is cut off errs at its ends, by about one part in the cycles it has
ENDS = 1e-3
INSIDE = slice(5 * 1024, 15 * 1024)
WITHIN = 1e-4  # relative to the amplitude, away from the ends


def sine(f, gain=1.0, delay=0.0):
    return 2e-3 * gain * np.sin(2 * np.pi * f * (T - delay))


@pytest.mark.parametrize("f", [1.0, 3.0, 10.0])
@pytest.mark.parametrize(("gain", "delay"), [(0.95, 5e-3), (1.08, -2e-3), (1.0, 0.02), (0.9, 0.0)])
def test_a_late_sine(f, gain, delay):
    found = metrics.tracking(sine(f), sine(f, gain, delay), DT)
    assert found.frequency == pytest.approx(f, rel=ENDS * 10)
    assert found.gain == pytest.approx(gain, abs=ENDS)
    assert found.delay == pytest.approx(delay, abs=ENDS / f)
    np.testing.assert_allclose(found.gains[INSIDE], gain, atol=WITHIN)
    np.testing.assert_allclose(found.delays[INSIDE], delay, atol=WITHIN / f)


def test_errors_of_a_late_sine():
    """|1 - g exp(-jωτ)| of the amplitude, over whole cycles."""
    f, gain, delay = 2.0, 0.97, 8e-3
    found = metrics.tracking(sine(f), sine(f, gain, delay), DT)
    error = abs(1.0 - gain * np.exp(-2j * np.pi * f * delay))
    assert found.nrms == pytest.approx(error, rel=1e-6)
    assert found.nrmse == pytest.approx(error / (2.0 * np.sqrt(2.0)), rel=1e-4)  # samples miss the peak by a little
    assert found.peak == pytest.approx(error, rel=1e-4)


@pytest.mark.parametrize("phase", [0.3, -0.2, 0.0])
def test_the_indicator_grows_with_the_phase_lag(phase):
    """Area of a step: ½ g X² sin(ωΔt) sin(φ), whatever the sample."""
    f, gain = 3.0, 0.9
    late = phase / (2 * np.pi * f)
    step = 0.5 * gain * 2e-3**2 * np.sin(2 * np.pi * f * DT) * np.sin(phase)
    found = metrics.tracking_indicator(sine(f), sine(f, gain, late))
    np.testing.assert_allclose(found, step * np.arange(len(T)), atol=ROUND_OFF * 4e-6 * len(T))


def test_a_delay_that_changes():
    """Late by 4 ms in the first half and by 12 ms in the second."""
    delay = np.where(T < 10.0, 4e-3, 12e-3)
    found = metrics.tracking(sine(4.0), sine(4.0, 1.0, delay), DT, window=1.0)
    assert found.delays[4 * 1024] == pytest.approx(4e-3, abs=1e-5)
    assert found.delays[16 * 1024] == pytest.approx(12e-3, abs=1e-5)
    assert 4e-3 < found.delays[10 * 1024] < 12e-3


def test_a_wide_band_and_a_quiet_end():
    rng = np.random.default_rng(0)
    x = sosfiltfilt(butter(2, [0.5, 5.0], "band", fs=1024, output="sos"), rng.normal(size=len(T)))
    x = 1e-2 * x / x.std() * np.exp(-(((T - 8.0) / 3.0) ** 2))
    late = 12
    found = metrics.tracking(x, 0.97 * np.roll(x, late), DT)
    assert found.delay == pytest.approx(late * DT, rel=0.01)  # a mean over the band
    assert found.gain == pytest.approx(0.97, rel=0.01)
    told = np.isfinite(found.delays)
    assert told[8 * 1024] and not told[-100:].any()
    np.testing.assert_allclose(found.delays[told], late * DT, rtol=0.05)
    assert metrics.delay(x, np.roll(x, late), DT) == pytest.approx(late * DT, abs=1e-6)


def test_what_cannot_be_told_is_refused():
    with pytest.raises(BadShape, match="same times"):
        metrics.tracking(sine(1.0), sine(1.0)[:-1], DT)
    with pytest.raises(BadInput, match="range of wanted"):
        metrics.tracking(np.zeros(100), np.ones(100), DT)
    with pytest.raises(OutOfBounds, match="dt"):
        metrics.tracking(sine(1.0), sine(1.0), 0.0)
    with pytest.raises(OutOfBounds, match="window"):
        metrics.tracking(sine(1.0), sine(1.0), DT, window=100.0)
