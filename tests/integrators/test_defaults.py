"""What a method does when nothing is said about it, as its page tells."""

import pytest

from hyloop.integrators import generalized_alpha, kr_alpha, mkr_alpha, newmark, newmark_explicit
from hyloop.integrators.spectral import spectral_radius


@pytest.mark.parametrize("family", [mkr_alpha, kr_alpha, generalized_alpha])
def test_high_modes_are_damped_to_three_quarters(family):
    assert spectral_radius(family(), 1e7) == pytest.approx(0.75, abs=1e-4)  # roots at infinity in round-off


def test_newmark_does_not_damp():
    for method in (newmark(), newmark_explicit()):
        assert spectral_radius(method, 1.5) == pytest.approx(1.0, abs=1e-12)
