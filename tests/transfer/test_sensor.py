"""What a sensor shows: each fault against its closed form."""

import numpy as np
import pytest

from hyloop.transfer import sensor

DT = 0.01
T = DT * np.arange(400)
D, F = 0.02 * np.sin(3.0 * T), 5e4 * np.cos(3.0 * T)
ROUND_OFF = 1e-12  # relative: a few products and sums


def shown(**params):
    return sensor(**params).drive(DT, d=D, f=F)


def test_an_ideal_sensor_shows_what_is():
    ideal = shown()
    np.testing.assert_array_equal(ideal["d"], D)
    np.testing.assert_array_equal(ideal["f"], F)


def test_offset_drift_and_gain_are_those_of_the_formula():
    faulty = shown(offset_d=1e-3, offset_f=700.0, drift_f=80.0, gain_f=1.02)
    np.testing.assert_allclose(faulty["d"], D + 1e-3, rtol=ROUND_OFF)
    np.testing.assert_allclose(faulty["f"], 1.02 * F + 700.0 + 80.0 * T, rtol=ROUND_OFF, atol=1e-9)


@pytest.mark.parametrize("delay", [0.0, 1.0, 2.4, 64.0])
def test_a_late_force_is_that_of_an_earlier_time(delay):
    late = shown(delay_f=delay)["f"]
    np.testing.assert_allclose(late, np.interp(T - delay * DT, T, F), rtol=ROUND_OFF, atol=1e-9)


def test_noise_is_white_of_its_size_and_named_by_its_seed():
    noisy = [shown(noise_d=1e-4, noise_f=300.0, seed=float(seed)) for seed in (0, 0, 1)]
    error = noisy[0]["f"] - F
    assert np.array_equal(noisy[0]["f"], noisy[1]["f"]) and not np.array_equal(noisy[0]["f"], noisy[2]["f"])
    # 400 samples: standard error of a deviation 3.5 %, of a correlation 5 %; four of each
    assert error.std() == pytest.approx(300.0, rel=0.14) and abs(error.mean()) < 4 * 15.0
    assert abs(np.corrcoef(error[1:], error[:-1])[0, 1]) < 0.2
    assert abs(np.corrcoef(error, noisy[0]["d"] - D)[0, 1]) < 0.2
