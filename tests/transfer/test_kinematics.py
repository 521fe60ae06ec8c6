"""Velocity out of samples of the deformation: against SciPy, against closed forms, and what noise makes of it."""

import numpy as np
import pytest
from scipy import signal

from hyloop.transfer import kinematics, sensor

DT, CUTOFF = 1 / 1024, 50.0
OMEGA = 2.0 * np.pi * CUTOFF
LAG = np.sqrt(2.0) / OMEGA  # s, of a slow motion
T = DT * np.arange(4096)
ROUND_OFF = 1e-9  # relative, after thousands of recursions
SETTLED = T > 0.2  # s: the filter's own motion has faded by exp(-2 pi 50 0.2 / sqrt 2) = 1e-19


def derived(d, dt=DT, cutoff=CUTOFF):
    return kinematics(cutoff=cutoff).drive(dt, d=d)


@pytest.mark.parametrize("cutoff", [5.0, 50.0, 256.0])
def test_it_is_the_filter_that_scipy_discretises(cutoff):
    d = np.cumsum(np.random.default_rng(1).normal(size=len(T))) * 1e-4
    omega = 2.0 * np.pi * cutoff
    A, B = np.array([[0.0, 1.0], [-(omega**2), -np.sqrt(2.0) * omega]]), np.array([[0.0], [omega**2]])
    Ad, Bd, *_ = signal.cont2discrete((A, B, np.eye(2), np.zeros((2, 1))), DT, method="zoh")
    state, expected = np.zeros(2), []
    for w in np.diff(d, prepend=d[0]) / DT:
        state = Ad @ state + Bd[:, 0] * w
        expected.append(state)
    v = np.array(expected)[:, 0]
    a = np.diff(v, prepend=0.0) / DT
    found = derived(d, cutoff=cutoff)
    np.testing.assert_allclose(found["v"], v, rtol=0, atol=ROUND_OFF * np.abs(v).max())
    np.testing.assert_allclose(found["a"], a, rtol=0, atol=ROUND_OFF * np.abs(a).max())
    np.testing.assert_array_equal(found["d"], d)


def test_a_steady_acceleration_comes_late_by_the_closed_form():
    found = derived(0.5 * 3.0 * T**2)
    # held differences of a parabola have the mean of their tick: what is left is the ripple of the staircase
    ripple = 3.0 * DT / 2
    np.testing.assert_allclose(found["v"][SETTLED], 3.0 * (T - LAG)[SETTLED], rtol=0, atol=ripple)
    np.testing.assert_allclose(found["a"][SETTLED], 3.0, rtol=1e-6)


@pytest.mark.parametrize("frequency", [1.0, 8.0, 40.0])
def test_a_sine_is_that_of_the_continuous_filter(frequency):
    w = 2.0 * np.pi * frequency
    found = derived(0.01 * np.sin(w * T))
    H = OMEGA**2 / (OMEGA**2 - w**2 + 1j * np.sqrt(2.0) * OMEGA * w)
    # straight lines between samples lower the amplitude by sinc^2: (w dt)^2 / 12, 0.5 % at 40 Hz
    chord = (w * DT) ** 2 / 12
    for key, order, late in (("v", 1, 0.0), ("a", 2, DT / 2)):
        exact = 0.01 * np.imag((1j * w) ** order * H * np.exp(1j * w * (T - late)))
        aliases = chord + 1e-3  # of the staircase, damped twice
        assert np.abs(found[key] - exact)[SETTLED].max() < 3.0 * aliases * np.abs(exact).max()


def test_noise_is_damped_and_the_first_sample_is_no_blow():
    noise, d = 1e-5, np.full(len(T), 0.03)
    shown = sensor(noise_d=noise).drive(DT, d=d, f=d)["d"]
    v = derived(shown)["v"]
    assert derived(d)["v"].any() == 0.0
    # white noise of standard deviation s through the differences and the filter, by SciPy's own impulse response
    impulse = derived(np.eye(1, 2048, 1)[0])["v"]
    assert v[SETTLED].std() == pytest.approx(noise * np.sqrt(np.sum(impulse**2)), rel=0.1)
    assert v[SETTLED].std() < 0.1 * np.sqrt(2.0) * noise / DT  # that of plain differences
