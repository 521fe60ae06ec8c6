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


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.75])
def test_numerical_damping_is_that_of_the_textbook_matrix(rho):
    """Chung and Hulbert (1993): the generalized-α method for u'' + ω² u = 0; ζ = -ln|λ| / |ln λ| of its root λ."""
    alpha_m, alpha_f = (2 * rho - 1) / (rho + 1), rho / (rho + 1)
    gamma, beta = 0.5 - alpha_m + alpha_f, 0.25 * (1 - alpha_m + alpha_f) ** 2
    for x in (0.3, 1.0):
        left = np.array([[1, 0, -beta], [0, 1, -gamma], [(1 - alpha_f) * x**2, 0, 1 - alpha_m]])
        right = np.array([[1, 1, 0.5 - beta], [0, 1, 1 - gamma], [-alpha_f * x**2, 0, -alpha_m]])
        roots = np.linalg.eigvals(np.linalg.solve(left, right))
        root = np.log(roots[np.argmax(np.imag(roots))])
        expected = -root.real / abs(root)
        assert expected > 1e-5
        assert damping_error(generalized_alpha(rho), x) == pytest.approx(expected, rel=1e-6)
        assert period_error(generalized_alpha(rho), x) == pytest.approx(x / root.imag - 1, rel=1e-6)
