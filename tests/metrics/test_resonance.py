"""Damping from resonance curves: the closed form of one mode, its bandwidth, and what is refused."""

import numpy as np
import pytest

from hyloop.errors import BadInput, BadShape, OutOfBounds
from hyloop.metrics import fit_resonance, half_power, phase_damping, sine_amplitude

EXACT = 1e-9  # relative: a fit to the curve it is made for
INTERPOLATED = 2e-3  # relative: 41 points over the band, joined by cubics


def curve(f, fn=2.0, zeta=0.05, size=1.0, others=0.0):
    r = f / fn
    return size / (1 - r**2 + 2j * zeta * r) + others


@pytest.mark.parametrize("zeta", [0.005, 0.02, 0.05, 0.1, 0.3])
def test_the_fit_finds_the_mode_and_what_others_add(zeta):
    f = np.linspace(1 - 3 * zeta if zeta < 0.2 else 0.4, 1 + 3 * zeta, 15) * 2.0
    found = fit_resonance(f, curve(f, 2.0, zeta, 0.3 - 0.1j, 0.02))
    assert (found.frequency, found.damping) == pytest.approx((2.0, zeta), rel=EXACT)
    assert found.size == pytest.approx(0.3 - 0.1j, rel=1e-6) and found.others == pytest.approx(0.02, rel=1e-5)
    assert found.error < EXACT
    assert found.at(f) == pytest.approx(curve(f, 2.0, zeta, 0.3 - 0.1j, 0.02), rel=1e-6)


@pytest.mark.parametrize("zeta", [0.01, 0.05, 0.1, 0.2])
def test_the_bandwidth_is_that_of_the_series(zeta):
    f = np.linspace(max(1 - 3 * zeta, 0.3), 1 + 3 * zeta, 41) * 2.0
    found = half_power(f, np.abs(curve(f, 2.0, zeta)))
    # |U| peaks at r² = 1 - 2ζ²; half the power is at r² = 1 - 2ζ² ± 2ζ√(1 - ζ²)
    peak, side = 1 - 2 * zeta**2, 2 * zeta * np.sqrt(1 - zeta**2)
    low, high = 2.0 * np.sqrt([peak - side, peak + side])
    assert (found.low, found.high) == pytest.approx((low, high), rel=INTERPOLATED * zeta)
    assert found.damping == pytest.approx((high - low) / (4.0 * np.sqrt(peak)), rel=INTERPOLATED)
    # what the documentation says of it
    said = {0.05: 0.0503, 0.1: 0.102, 0.2: 0.218}
    assert zeta not in said or found.damping == pytest.approx(said[zeta], rel=5e-3)


def test_the_phase_tells_the_damping_of_every_amplitude():
    f, fn = np.linspace(1.5, 2.5, 11), 2.0
    zeta = np.linspace(0.02, 0.2, 11)
    U = 0.3 / (1 - (f / fn) ** 2 + 2j * zeta * f / fn)
    assert phase_damping(f, U) == pytest.approx(zeta, rel=EXACT)
    assert phase_damping(f, -U) == pytest.approx(zeta, rel=EXACT)  # a channel that counts the other way


def test_a_band_that_was_not_measured_is_not_told():
    f = np.linspace(1.9, 2.4, 20)
    found = half_power(f, np.abs(curve(f)))
    assert np.isnan(found.low) and np.isfinite(found.high) and np.isnan(found.damping)


def test_amplitude_and_phase_of_a_sine():
    t = np.arange(731) / 256
    signal = 0.3 * np.sin(2 * np.pi * 1.3 * t - 0.7) + 0.05
    assert sine_amplitude(t, signal, 1.3) == pytest.approx(0.3 * np.exp(-0.7j), rel=EXACT)


def test_refused():
    f = np.linspace(1.0, 3.0, 9)
    for kind, said, given in (
        (BadShape, "9 frequencies and 8", (f, np.ones(8))),
        (OutOfBounds, "different", (np.ones(9), np.ones(9))),
        (BadInput, "zero", (f, np.zeros(9))),
    ):
        with pytest.raises(kind, match=said):
            half_power(*given)
    with pytest.raises(BadShape, match="at least 5"):
        fit_resonance(f[:4], curve(f[:4]))
