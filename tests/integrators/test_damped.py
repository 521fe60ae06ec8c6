"""The analysis of methods with physical damping: small steps give the damped oscillator itself."""

import numpy as np
import pytest

from hyloop.integrators import central_difference, cr, generalized_alpha, mkr_alpha, newmark, newmark_explicit
from hyloop.integrators.spectral import damping_error, period_error, spectral_radius

METHODS = [newmark(), generalized_alpha(0.5), newmark_explicit(), central_difference(), cr(), mkr_alpha(0.5)]
STEP = 0.01  # ωΔt
SECOND_ORDER = STEP**2  # error constants of all these methods are below one


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
@pytest.mark.parametrize("zeta", [0.02, 0.3])
def test_small_steps_give_the_damped_oscillator(method, zeta):
    """Roots exp(-ζωΔt ± i ωΔt √(1-ζ²)): radius, period and damping ratio."""
    assert spectral_radius(method, STEP, zeta) == pytest.approx(np.exp(-zeta * STEP), abs=STEP * SECOND_ORDER)
    assert abs(period_error(method, STEP, zeta)) < SECOND_ORDER
    assert abs(damping_error(method, STEP, zeta)) < SECOND_ORDER
