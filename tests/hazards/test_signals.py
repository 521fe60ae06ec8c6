"""Test signals against their definitions."""

import numpy as np
import pytest

from hyloop.errors import BadInput, OutOfBounds
from hyloop.hazards import band_limited_noise, harmonic, sweep


def test_harmonic():
    motion = harmonic(2.0, 3.0, 1.0, 0.01, phase=0.5)
    assert len(motion) == 101
    assert np.allclose(motion.a, 2.0 * np.sin(6 * np.pi * motion.time + 0.5))


@pytest.mark.parametrize("law", ["log", "linear"])
@pytest.mark.parametrize(("start", "end"), [(0.5, 8.0), (8.0, 0.5), (2.0, 2.0)])
def test_zero_crossings_of_a_sweep_follow_its_frequency(law, start, end):
    """Each upward crossing completes a cycle: the time between two is one over the frequency halfway."""
    motion = sweep(1.0, start, end, 60.0, 1e-3, law)
    i = np.flatnonzero((motion.a[:-1] < 0.0) & (motion.a[1:] >= 0.0))
    crossing = motion.time[i] - motion.a[i] * motion.dt / (motion.a[i + 1] - motion.a[i])
    middle = 0.5 * (crossing[1:] + crossing[:-1]) / 60.0
    f = start + (end - start) * middle if law == "linear" else start * (end / start) ** middle
    assert np.allclose(np.diff(crossing) * f, 1.0, atol=0.02)  # a cycle bends the frequency a little at the slow end
    assert crossing.size > 60


def test_noise_has_its_band_its_rms_and_its_seed():
    motion = band_limited_noise(0.7, 2.0, 5.0, 40.0, 0.01, 11)
    power = np.abs(np.fft.rfft(motion.a)) ** 2
    f = np.fft.rfftfreq(len(motion), motion.dt)
    outside = (f < 2.0) | (f > 5.0)
    assert power[outside].sum() < 1e-20 * power.sum()
    low, high = power[(f >= 2.0) & (f < 3.5)].sum(), power[(f >= 3.5) & (f <= 5.0)].sum()
    assert 0.6 < low / high < 1.6  # flat: 60 bins in each half, so the ratio scatters by a fifth
    assert np.sqrt(np.mean(motion.a**2)) == pytest.approx(0.7)
    assert motion.a.tobytes() == band_limited_noise(0.7, 2.0, 5.0, 40.0, 0.01, 11).a.tobytes()
    assert not np.array_equal(motion.a, band_limited_noise(0.7, 2.0, 5.0, 40.0, 0.01, 12).a)


def test_bad_input_is_refused():
    with pytest.raises(OutOfBounds, match="half the sampling rate, 50 Hz"):
        harmonic(1.0, 50.0, 1.0, 0.01)
    with pytest.raises(OutOfBounds, match="shorter than one step"):
        harmonic(1.0, 1.0, 0.001, 0.01)
    with pytest.raises(OutOfBounds, match="phase"):
        harmonic(1.0, 1.0, 1.0, 0.01, phase=np.inf)
    with pytest.raises(BadInput, match="law = 'cubic'"):
        sweep(1.0, 1.0, 2.0, 1.0, 0.01, "cubic")
    with pytest.raises(BadInput, match="no frequency bin"):
        band_limited_noise(1.0, 1.01, 1.02, 2.0, 0.01, 0)
    with pytest.raises(BadInput, match="no frequency bin"):
        band_limited_noise(1.0, 5.0, 2.0, 2.0, 0.01, 0)
