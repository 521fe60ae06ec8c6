"""What a method does when nothing is said about it, as its page tells."""

import numpy as np
import pytest

from hyloop.integrators import (
    generalized_alpha,
    kr_alpha,
    mkr_alpha,
    newmark,
    newmark_explicit,
    stabilized_central_difference,
)
from hyloop.integrators.spectral import spectral_radius
from hyloop.loop import Loop
from hyloop.structure import Structure


@pytest.mark.parametrize("family", [mkr_alpha, kr_alpha, generalized_alpha])
def test_high_modes_are_damped_to_three_quarters(family):
    assert spectral_radius(family(), 1e7) == pytest.approx(0.75, abs=1e-4)  # roots at infinity in round-off


def test_newmark_does_not_damp():
    for method in (newmark(), newmark_explicit()):
        assert spectral_radius(method, 1.5) == pytest.approx(1.0, abs=1e-12)


def test_the_added_mass_of_scd_goes_with_the_step():
    """Free vibration u0 cos(n Ω) with 2 (1 - cos Ω) = x²/(1 + α x²), x = ωΔt, α = tanh(x/4)/4."""
    omega = 12.0
    for dt in (0.02, 0.2, 0.6):
        x = omega * dt
        alpha = np.tanh(x / 4) / 4
        angle = np.arccos(1 - x**2 / (1 + alpha * x**2) / 2)
        loop = Loop(Structure([1.0], [[omega**2]]), method=stabilized_central_difference(), dt=dt)
        found = loop.run(np.zeros(60), u0=[0.01])["u.1"]
        assert found == pytest.approx(0.01 * np.cos(np.arange(60) * angle), abs=1e-12)
