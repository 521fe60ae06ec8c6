"""Rigs from noisy records: what is found is the truth, the intervals hold it, and what tells nothing is refused."""

import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from scipy.signal import csd, welch

from hyloop.errors import BadInput, BadShape, OutOfBounds
from hyloop.identification.rig import Structure, identify_rig
from hyloop.identification.rig.model import coefficients, sections, value_and_slopes
from hyloop.identification.rig.spectra import command_noise, response

sys.path.insert(0, str(Path(__file__).parents[2]))
rigs = import_module("benchmarks.rigs")
RIGS, SIGNALS, errors, held, record, simulated, true_delay, true_response = (
    rigs.RIGS,
    rigs.SIGNALS,
    rigs.errors,
    rigs.held,
    rigs.record,
    rigs.simulated,
    rigs.true_delay,
    rigs.true_response,
)

NOISE = 16e-6  # m, of the benchmark's displacement sensor
GAIN, PHASE = 1.0, 1.0  # % and degrees, in the trusted band
FIRST, SERVO = "first order, 8 ms dead time", "servo-hydraulic benchmark"
# of 40 intervals of 95 % that hold: fewer have a probability below 1e-4
LEAST = 31
ROUND_OFF = 1e-9


@pytest.fixture(scope="module")
def recorded():
    return record(FIRST, "noise", 1, 20.0, 20.0, NOISE, False)


@pytest.fixture(scope="module")
def found(recorded):
    return identify_rig(*recorded)


def test_the_oracle_has_the_response_it_claims():
    """The simulated truth against its transfer function, at one frequency."""
    f, t = 7.0, np.arange(4 * 8192) / 8192
    whole = slice(len(t) // 2, None)
    waves = np.column_stack([np.cos(2 * np.pi * f * t), np.sin(2 * np.pi * f * t)])
    for name, ((b, a, ticks), _) in RIGS.items():
        y = simulated(b, a, np.sin(2 * np.pi * f * t))
        (c, s), *_ = np.linalg.lstsq(waves[whole], y[whole], rcond=None)
        G = (s + 1j * c) * np.exp(-2j * np.pi * f * ticks / 8192)
        # a straight line between samples instead of a sine: (ω Δt)²/12 = 2.4e-6
        assert abs(G / true_response(name, np.array([f]))[0] - 1.0) < 5e-6


@pytest.mark.slow
@pytest.mark.parametrize("signal", SIGNALS)
@pytest.mark.parametrize("name", RIGS)
def test_gain_and_phase_are_right_in_the_trusted_band(name, signal):
    rig = identify_rig(*record(name, signal, 5, 40.0, 25.0, NOISE, False))
    gain, phase = errors(rig, name)
    assert gain < GAIN and phase < PHASE
    assert rig.trusted[0] == 0.0 and rig.trusted[1] > 20.0
    assert rig.delay.value == pytest.approx(true_delay(name), abs=5e-5)
    assert rig.noise.value == pytest.approx(NOISE, rel=0.02)
    assert not rig.missed


def test_a_lag_and_a_dead_time_are_told_apart(found):
    (_, a, ticks), kind = RIGS[FIRST]
    assert found.kind == kind
    assert found.dead_time.low <= ticks / 8192 <= found.dead_time.high
    assert found.dead_time.high - found.dead_time.low < 1e-4
    assert found.denominator[1] == pytest.approx(a[0], rel=0.01)
    assert found.gain.value == pytest.approx(0.98, rel=1e-3)


@pytest.mark.slow
def test_intervals_hold_the_truth():
    """Gain and delay of 20 records each; `python -m benchmarks.rigs` counts many more."""
    told = []
    for seed in range(20):
        rig = identify_rig(*record(FIRST, "noise", seed, 12.0, 20.0, 5e-5, False), structure=RIGS[FIRST][1])
        answer = held(rig, FIRST, 5e-5)
        told += [*answer["gain"], *answer["delay"]]
    assert sum(told) >= LEAST


@pytest.mark.slow
def test_coloured_noise_and_little_motion():
    """Noise of a tenth of the motion, most of it slow: wider intervals, and still the truth in them."""
    rig = identify_rig(*record(SERVO, "noise", 2, 40.0, 25.0, 1e-4, True))
    gain, phase = errors(rig, SERVO)
    assert gain < GAIN and phase < PHASE
    assert rig.delay.low - 1e-4 <= true_delay(SERVO) <= rig.delay.high + 1e-4


def test_the_response_without_a_model_agrees_with_welch(recorded):
    """Welch's H1, whose segments are long enough here that the delay hardly biases it."""
    u, y, dt = recorded
    own = response(u, y, dt, (1.0, 15.0))
    how = {"fs": 1 / dt, "nperseg": 4096, "noverlap": 2048}
    f, uu = welch(u, **how)
    G = csd(u, y, **how)[1] / uu
    there = np.interp(own.f, f, G.real) + 1j * np.interp(own.f, f, G.imag)
    truth = true_response(FIRST, own.f)
    assert np.max(np.abs(there / truth - 1)) < 0.05
    assert np.max(np.abs(own.G / truth - 1)) < 0.01
    z = np.abs(own.G - truth) ** 2 / own.variance
    assert 0.5 < np.mean(z) < 2.0  # windows overlap, so that few of them are independent
    assert own.coherence.min() > 0.99


def test_derivatives_against_differences():
    kind, s = Structure(3, 2, True), 1j * np.array([0.1, 0.7, 2.0])
    theta = np.array([0.9, 0.3, -0.5, -1.2, 0.4, 0.2, 0.05])
    G, slopes = value_and_slopes(kind, theta, s)
    for k in range(kind.size):
        step = np.zeros(kind.size)
        step[k] = 1e-6
        change = value_and_slopes(kind, theta + step, s)[0] - value_and_slopes(kind, theta - step, s)[0]
        np.testing.assert_allclose(slopes[k], change / 2e-6, rtol=1e-6, atol=1e-9)
    b, a, tau = coefficients(kind, theta)
    np.testing.assert_allclose(np.polyval(b[::-1], s) / np.polyval(a[::-1], s) * np.exp(-s * tau), G, rtol=ROUND_OFF)
    again = sections(kind, b, a, tau)
    np.testing.assert_allclose(value_and_slopes(kind, again, s)[0], G, rtol=ROUND_OFF)


def test_an_unstable_start_is_mirrored():
    kind = Structure(2, 0, False)
    theta = sections(kind, np.ones(1), np.array([1.0, -0.2, 1.0]), 0.0)  # poles on the right
    _, a, _ = coefficients(kind, theta)
    np.testing.assert_allclose(a, [1.0, 0.2, 1.0], rtol=ROUND_OFF)


def test_a_hold_is_taken_off(recorded):
    """A command held for 2 ms is late by 1 ms; the rig behind the hold is not."""
    u, _, dt = recorded
    every = 2
    stairs = np.repeat(u[::every], every)[: len(u)]
    y = simulated([0.98], [0.010, 1.0], np.repeat(stairs, 8))[::8]
    y += 1e-6 * np.random.default_rng(0).normal(size=len(u))
    # the controller records command and motion at its own rate
    how = (stairs[::every], y[::every], every * dt)
    part = identify_rig(*how, hold=every * dt, band=(0.2, 20.0))
    assert part.delay.value == pytest.approx(0.010, abs=5e-5)
    whole = identify_rig(*how, band=(0.2, 20.0))
    assert whole.delay.value == pytest.approx(0.010 + 0.5 * every * dt, abs=5e-5)


def test_the_motion_is_that_of_the_rig(found, recorded):
    u, y, dt = recorded
    left = (y - found.motion(u, dt))[500:-500]
    assert np.std(left) == pytest.approx(NOISE, rel=0.05)
    assert found.error == pytest.approx(np.std(left) / np.std(y), rel=0.05)


def test_noise_in_the_command_is_noticed(recorded):
    u, y, dt = recorded
    rng = np.random.default_rng(3)
    loud = identify_rig(u + 2e-5 * rng.normal(size=len(u)), y, dt)
    quiet = identify_rig(u, y, dt)
    assert loud.lost > 0.005 > quiet.lost
    assert loud.trusted[1] < quiet.trusted[1]
    # white noise of variance s² over one of known density
    at = np.array([5.0])
    known = command_noise(u + 2e-5 * rng.normal(size=len(u)), dt, 60.0, at)
    density = np.interp(at, *welch(u, fs=1 / dt, nperseg=4096))
    assert known == pytest.approx(2 * (2e-5) ** 2 * dt / density, rel=0.5)


def test_what_tells_nothing_is_refused(recorded):
    u, y, dt = recorded
    rng = np.random.default_rng(0)
    with pytest.raises(BadInput, match="swapped"):
        identify_rig(y, u, dt)
    with pytest.raises(BadInput, match="too short"):
        identify_rig(u[:400], y[:400], dt)
    with pytest.raises(BadInput, match="too short"):
        identify_rig(u[:700], y[:700], dt)
    with pytest.raises(BadShape, match="sampled together"):
        identify_rig(u, y[::2], dt)
    with pytest.raises(BadInput, match="does not follow"):
        identify_rig(u, rng.normal(size=len(u)), dt)
    with pytest.raises(BadInput, match="throughout"):
        identify_rig(np.zeros(len(u)), y, dt)
    with pytest.raises(BadShape, match="not finite"):
        identify_rig(u, np.where(np.arange(len(y)) == 7, np.nan, y), dt)
    with pytest.raises(BadInput, match="all of the band"):
        identify_rig(u, y, dt, band=(0.5, 300.0))
    with pytest.raises(OutOfBounds, match="fewer than the poles"):
        Structure(1, 1, True)
    with pytest.raises(OutOfBounds, match="poles = -1"):
        Structure(-1, 0, True)
    with pytest.raises(OutOfBounds, match="dt"):
        identify_rig(u, y, 0.0)


def test_a_sine_and_a_gap_are_refused(recorded):
    _, _, dt = recorded
    t = dt * np.arange(20 * 1024)
    rng = np.random.default_rng(0)
    sine = 5e-3 * np.sin(2 * np.pi * 3.0 * t)
    with pytest.raises(BadInput, match="excites"):
        identify_rig(sine, np.roll(sine, 8) + NOISE * rng.normal(size=len(t)), dt)
    lines = np.fft.rfftfreq(len(t), dt)
    inside = ((lines > 0.5) & (lines < 4.0)) | ((lines > 9.0) & (lines < 20.0))
    u = np.fft.irfft(inside * np.exp(2j * np.pi * rng.random(len(lines))), len(t))
    u *= 2e-3 / u.std()
    y = np.roll(u, 8) + NOISE * rng.normal(size=len(t))
    with pytest.raises(BadInput, match="nothing between"):
        identify_rig(u, y, dt, band=(1.0, 18.0))
