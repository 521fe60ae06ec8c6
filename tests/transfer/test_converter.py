"""Sensors with a converter: low-pass, steps, a rate of their own, lost and frozen samples, each against theory."""

import numpy as np
import pytest
from scipy.signal import cont2discrete, dlsim

from hyloop.errors import BadInput
from hyloop.transfer import sensor

DT = 1e-3
T = DT * np.arange(20000)
F = 5e4 * np.sin(2 * np.pi * 1.7 * T) + 2e4 * np.sin(2 * np.pi * 5.3 * T)
D = 1e-6 * F
SIGMAS = 4.0  # standard errors; the numbers are the same in every run


def shown(**params):
    return sensor(**params).drive(DT, d=D, f=F)


def test_the_deformation_has_gain_drift_and_delay_as_the_force():
    np.testing.assert_allclose(shown(gain_d=0.98, drift_d=1e-4, offset_d=2e-3)["d"], 0.98 * D + 1e-4 * T + 2e-3)
    np.testing.assert_allclose(shown(delay_d=3.5)["d"], np.interp(T - 3.5 * DT, T, D), atol=1e-12)


def test_the_low_pass_is_that_of_scipy():
    """Before the first sample stands the first sample."""
    w = 2 * np.pi * 30.0
    discrete = cont2discrete(tuple(np.array([[one]]) for one in (-w, w, 1.0, 0.0)), DT, method="foh")
    start = F + 3e4
    expected = dlsim(discrete, start - start[0])[1][:, 0] + start[0]
    r = sensor(lowpass_d=30.0, lowpass_f=30.0).drive(DT, d=D, f=start)
    assert np.abs(r["f"] - expected).max() < 1e-11 * np.abs(expected).max()
    assert np.abs(r["d"] - 1e-6 * (dlsim(discrete, F)[1][:, 0])).max() < 1e-11 * np.abs(D).max()


def test_a_converter_has_steps_and_a_range():
    bits, reach = 10.0, 6e4
    step = 2 * reach / 2**bits
    f = shown(bits=bits, range_f=reach, range_d=0.08)["f"]
    counts = f / step
    np.testing.assert_allclose(counts, np.round(counts), atol=1e-9)
    assert counts.min() == -(2 ** (bits - 1)) and counts.max() == 2 ** (bits - 1) - 1  # the peaks are cut off
    inside = np.abs(F) < reach - step
    error = (f - F)[inside]
    assert np.abs(error).max() <= 0.5 * step * (1 + 1e-9)
    # uniform over a step (Widrow): variance step²/12; of n independent errors it is known to sqrt(4/(5 n))
    assert error.var() == pytest.approx(step**2 / 12, rel=SIGMAS * np.sqrt(0.8 / len(error)))
    assert np.array_equal(shown(range_f=reach)["f"], np.clip(F, -reach, reach))


def test_noise_is_white_and_of_its_size():
    r = shown(noise_d=1e-4, noise_f=300.0, seed=5.0)
    n = len(T)
    for error, size in ((r["d"] - D, 1e-4), (r["f"] - F, 300.0)):
        z = error / size
        moments = [z.mean(), (z**2).mean() - 1.0, (z**3).mean(), (z**4).mean() - 3.0]
        # standard errors of the moments of n normal numbers
        for moment, spread in zip(moments, np.sqrt(np.array([1.0, 2.0, 15.0, 96.0]) / n), strict=True):
            assert abs(moment) < SIGMAS * spread
        lags = [np.mean(z[lag:] * z[:-lag]) for lag in range(1, 20)]
        assert np.abs(lags).max() < SIGMAS / np.sqrt(n)


def test_a_slower_sensor_samples_and_holds():
    f = shown(rate=250.0)["f"]
    assert np.array_equal(f, np.repeat(F[::4], 4))
    f = shown(rate=300.0)["f"]  # no whole number of ticks: samples at the first tick after each of its own
    taken = np.flatnonzero(np.diff(f)) + 1
    np.testing.assert_array_equal(taken[:50], np.ceil(np.arange(1, 51) / 300.0 / DT - 1e-6).astype(int))
    assert np.array_equal(shown(rate=1000.0)["f"], F)


def test_lost_samples_hold_the_last_value():
    share = 0.1
    f = shown(dropout=share, seed=3.0)["f"]
    lost = f != F
    assert lost.mean() == pytest.approx(share, abs=SIGMAS * np.sqrt(share * (1 - share) / len(T)))
    assert np.array_equal(f[1:][lost[1:]], f[:-1][lost[1:]])
    # losses are independent: after one the next is as likely as ever
    again = lost[1:][lost[:-1]].mean()
    assert again == pytest.approx(share, abs=SIGMAS * np.sqrt(share * (1 - share) / lost.sum()))
    assert np.array_equal(f, shown(dropout=share, seed=3.0)["f"])
    assert not np.array_equal(f, shown(dropout=share, seed=4.0)["f"])


def test_a_frozen_sensor_stands_still_for_its_time():
    f = shown(freeze_at=2.0, freeze_for=0.5)["f"]
    held = (T >= 2.0 - 1e-9) & (T < 2.5 - 1e-9)
    assert np.array_equal(f[~held], F[~held]) and (f[held] == F[1999]).all()
    assert (shown(freeze_at=2.0)["f"][2000:] == F[1999]).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rate": 2000.0}, "rate = 2000 Hz is above the controller's 1000 Hz.* Give at most 1000 Hz"),
        ({"bits": 16.0}, "bits = 16 needs a range"),
        ({"bits": 7.5, "range_f": 1.0}, "bits = 7.5 must be a whole number"),
    ],
)
def test_refused(settings, message):
    with pytest.raises(BadInput, match=message):
        shown(**settings)
