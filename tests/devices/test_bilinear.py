"""The bilinear law against closed forms and OpenSees."""

import numpy as np
import pytest
from oracles.opensees import uniaxial

from hyloop.devices.bilinear import bilinear

ROUNDING = 1e-12  # of the peak: sums of thousands of increments in two different orders

K, F_Y, ALPHA = 2e7, 3e5, 0.05
D_Y = F_Y / K


def drive(d, **changes):
    return bilinear(**{"k": K, "alpha": ALPHA, "f_y": F_Y} | changes).drive(1.0, d=np.asarray(d))


def test_first_loading_has_a_corner_at_yield():
    d = np.linspace(0.0, 6.0, 61) * D_Y
    expected = np.where(d <= D_Y, K * d, F_Y + ALPHA * K * (d - D_Y))
    np.testing.assert_allclose(drive(d)["f"], expected, rtol=0, atol=ROUNDING * expected.max())


@pytest.mark.parametrize("ductility", [2.0, 5.0])
def test_cycle_energy_is_the_parallelogram(ductility):
    # samples a quarter of d_y apart meet every corner of the loop, where trapezoids are exact
    n = int(4 * ductility)
    once = np.concatenate([np.arange(n, -n, -1), np.arange(-n, n)]) * D_Y / 4
    d = np.concatenate([once, once, once[:1]])
    f = drive(d)["f"]
    last = slice(len(once), None)
    energy = np.sum(0.5 * (f[last][1:] + f[last][:-1]) * np.diff(d[last]))
    # a strength (1 - α) f_y slides over d_max - d_y, four times
    expected = 4.0 * (1.0 - ALPHA) * F_Y * (ductility - 1.0) * D_Y
    np.testing.assert_allclose(energy, expected, rtol=ROUNDING)


@pytest.mark.parametrize(("seed", "alpha"), [(0, 0.05), (1, 0.0), (2, 0.3)])
def test_equals_steel01_of_opensees(seed, alpha):
    d = np.cumsum(np.random.default_rng(seed).normal(size=3000)) * 0.4 * D_Y
    expected = uniaxial("Steel01", (F_Y, K, alpha), d)
    assert np.ptp(d) > 10 * D_Y
    np.testing.assert_allclose(drive(d, alpha=alpha)["f"], expected, rtol=0, atol=ROUNDING * np.abs(expected).max())


def test_only_turning_points_matter():
    turns = np.array([0.0, 3.0, -2.0, 1.5, 0.2, 4.0, -4.0]) * D_Y
    fine = np.interp(np.arange(0, 600) / 99.9, np.arange(7), turns)
    reached = drive(np.concatenate([fine, turns[-1:]]))["f"][-1]
    np.testing.assert_allclose(drive(turns)["f"][-1], reached, rtol=ROUNDING)


def test_without_hardening_loss_it_is_a_spring():
    d = np.array([1.0, -7.0, 20.0]) * D_Y
    np.testing.assert_allclose(drive(d, alpha=1.0)["f"], K * d, rtol=ROUNDING)


def test_declared_stiffness_is_that_of_first_loading():
    instance = bilinear(k=K, alpha=ALPHA, f_y=F_Y)
    assert instance.stiffness == pytest.approx(drive([1e-3 * D_Y])["f"][0] / (1e-3 * D_Y), rel=ROUNDING)
    assert instance.damping == 0.0
