"""Response spectra against closed forms and against eqsig on real records; the design spectrum by hand."""

import numpy as np
import pytest
from oracles.data import data_path

from hyloop.errors import BadShape, OutOfBounds
from hyloop.hazards import GroundMotion, asce7_spectrum, read_record, response_spectrum

CUBIC = 5e-5  # a cubic through a twentieth of a period of a sinusoid is within 3e-5 of it
PEER = 1e-3  # what is asked for; the peer itself misses up to 5e-4 between its samples
RECORDS = [
    "imperial-valley-1940-el-centro-array-9_180",
    "cape-mendocino-rio-dell-overpass_2",
    "northridge-canyon-country-wlc_2",
    "kobe-nishi-akashi_1",
    "landers-coolwater_1",
]


@pytest.mark.parametrize("damping", [0.0, 0.05, 0.3])
@pytest.mark.parametrize("steps", [0.7, 9.0, 400.0])
def test_step_load(damping, steps):
    """sd = A/ω² (1 + exp(-πζ/√(1-ζ²))), for long and short steps alike."""
    T, A = 1.3, 2.5
    ground = np.full(int(3 * steps) + 4, A)
    spectrum = response_spectrum(ground, T / steps, [T], damping)
    overshoot = np.exp(-np.pi * damping / np.sqrt(1 - damping**2))
    omega = 2 * np.pi / T
    assert spectrum.sd[0] == pytest.approx(A / omega**2 * (1 + overshoot), rel=CUBIC)
    assert spectrum.psv[0] == pytest.approx(omega * spectrum.sd[0])
    assert spectrum.psa[0] == pytest.approx(omega**2 * spectrum.sd[0])


@pytest.mark.parametrize("damping", [0.02, 0.05, 0.2])
def test_resonance(damping):
    """Steady state: psa = A/2ζ and total acceleration A √(1 + 4ζ²)/2ζ."""
    T, A = 0.8, 1.5
    t = np.arange(80 * 400) * T / 400
    spectrum = response_spectrum(A * np.sin(2 * np.pi * t / T), T / 400, [T], damping)
    assert spectrum.psa[0] == pytest.approx(A / (2 * damping), rel=1e-4)  # the polygon is 2e-5 below the sine
    assert spectrum.sa[0] == pytest.approx(A / (2 * damping) * np.sqrt(1 + 4 * damping**2), rel=1e-4)


def test_undamped_at_half_the_frequency():
    """u ~ sin x - ½ sin 2x, whose peak is 3√3/4 at x = 2π/3; sa = psa without damping."""
    T, n = 1.0, 1000
    t = np.arange(4 * n) * 2 * T / n
    spectrum = response_spectrum(np.sin(np.pi * t / T), 2 * T / n, [T], 0.0)
    assert spectrum.psa[0] == pytest.approx(3 * np.sqrt(3) / 4 / (1 - 0.25), rel=CUBIC)
    assert spectrum.sa[0] == pytest.approx(spectrum.psa[0], rel=CUBIC)


def test_limits_at_both_ends(rng):
    """T = 0 and T → 0 give the peak ground acceleration, T → ∞ the peak ground displacement."""
    motion = GroundMotion(np.convolve(rng.normal(size=600), np.hanning(20)), 0.01).corrected()
    spectrum = response_spectrum(motion.a, motion.dt, [0.0, 1e-3, 1e5])
    assert spectrum.psa[0] == spectrum.sa[0] == motion.pga and spectrum.sd[0] == 0.0
    assert spectrum.psa[1] == pytest.approx(motion.pga, rel=1e-3)
    assert spectrum.sd[2] == pytest.approx(motion.baseline().peak_displacement, rel=1e-3)


def test_peaks_between_samples_are_found(rng):
    """The record and its linear interpolation are the same excitation, so their spectra are the same."""
    motion = GroundMotion(rng.normal(size=400), 0.02)
    fine = motion.resampled(0.02 / 50)
    T = np.geomspace(0.01, 3.0, 25)
    coarse, exact = response_spectrum(motion.a, motion.dt, T), response_spectrum(fine.a, fine.dt, T)
    assert np.allclose(coarse.sd, exact.sd, rtol=2 * CUBIC)
    assert np.allclose(coarse.sa, exact.sa, rtol=2 * CUBIC)


@pytest.mark.slow
@pytest.mark.parametrize("name", RECORDS)
def test_real_records_agree_with_eqsig(name):
    peer = pytest.importorskip("eqsig.sdof")
    motion = read_record(data_path("ground_motions", f"{name}.AT2"))
    T = np.geomspace(0.05, 8.0, 40)
    fine = motion.resampled(motion.dt / np.ceil(motion.dt / 0.0005))  # eqsig looks only at its own samples
    u, _, total = peer.response_series(fine.a, fine.dt, T, 0.05)
    ours = response_spectrum(motion.a, motion.dt, T)
    assert np.allclose(ours.sd, np.abs(u).max(1), rtol=PEER)
    assert np.allclose(ours.sa, np.abs(total).max(1), rtol=PEER)


def test_bad_input_is_refused():
    for damping in (-0.1, 1.0, np.nan):
        with pytest.raises(OutOfBounds, match="damping"):
            response_spectrum([1.0, 0.0], 0.01, [1.0], damping)
    with pytest.raises(OutOfBounds, match="periods include -1"):
        response_spectrum([1.0, 0.0], 0.01, [1.0, -1.0])
    with pytest.raises(BadShape, match="not finite"):
        response_spectrum([1.0, np.nan], 0.01, [1.0])


def test_asce7_by_hand():
    """SDS = 10, SD1 = 6: T0 = 0.12 s, TS = 0.6 s."""
    T = [0.0, 0.06, 0.12, 0.3, 0.6, 1.0, 2.0, 8.0, 16.0]
    assert np.allclose(asce7_spectrum(T, 10.0, 6.0), [4.0, 7.0, 10.0, 10.0, 10.0, 6.0, 3.0, 0.75, 0.1875], rtol=1e-12)
    assert asce7_spectrum([8.0], 10.0, 6.0, tl=4.0)[0] == pytest.approx(6.0 * 4.0 / 64.0)
    with pytest.raises(OutOfBounds, match="exceeds tl"):
        asce7_spectrum([1.0], 1.0, 6.0, tl=4.0)
    with pytest.raises(OutOfBounds, match="sds"):
        asce7_spectrum([1.0], 0.0, 6.0)
