"""The compiled matrix exponential beside that of SciPy, and the recurrences made of it."""

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.signal import cont2discrete

from hyloop.core.exponential import exponential, held_input

ROUND_OFF = 1e-12  # of the largest entry: a squaring doubles what the one before it has lost, some ten times


@pytest.mark.parametrize("size", [0.01, 1.0, 30.0])
def test_it_is_the_exponential(rng, size):
    for n in (1, 2, 5, 9):
        A = rng.normal(size=(n, n)) * size / n
        expected = expm(A)
        assert np.abs(exponential(A) - expected).max() < ROUND_OFF * np.abs(expected).max()


def test_units_of_the_states_cost_no_digits(rng):
    """States in μm and in kN: D⁻¹ A D has the exponential D⁻¹ e^A D, entry by entry."""
    A, D = rng.normal(size=(5, 5)), np.array([1e-9, 1e6, 1.0, 1e12, 1e-3])
    expected = expm(A) / D[:, None] * D[None, :]
    np.testing.assert_allclose(exponential(A / D[:, None] * D[None, :]), expected, rtol=ROUND_OFF)


@pytest.mark.parametrize(("line", "method"), [(True, "foh"), (False, "zoh")])
def test_recurrences_are_those_of_scipy(rng, line, method):
    A, B, C, dt = rng.normal(size=(4, 4)) - 3.0 * np.eye(4), rng.normal(size=(4, 2)), rng.normal(size=(3, 4)), 0.05
    Phi, G0, G1 = held_input(A, B, dt, line)
    Ad, Bd, Cd, Dd, _ = cont2discrete((A, B, C, np.zeros((3, 2))), dt, method=method)
    # the states of SciPy are shifted by the part of the input that acts at once: the transfer functions must agree
    for z in np.exp(1j * np.array([0.1, 1.0, 3.0])):
        ours = C @ np.linalg.solve(z * np.eye(4) - Phi, G0 + z * G1)
        theirs = Cd @ np.linalg.solve(z * np.eye(4) - Ad, Bd) + Dd
        np.testing.assert_allclose(ours, theirs, rtol=1e-10)
