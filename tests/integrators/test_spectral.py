"""Spectral radius, period error and energy of every method against theory."""

import numpy as np
import pytest

from hyloop.errors import OutOfBounds, UnknownName, UnstableStep
from hyloop.integrators import (
    central_difference,
    cr,
    generalized_alpha,
    kr_alpha,
    mkr_alpha,
    newmark,
    newmark_explicit,
    stabilized_central_difference,
)
from hyloop.integrators.spectral import damping_error, period_error, spectral_radius
from hyloop.loop import Loop
from hyloop.structure import Structure, condense, shear_frame

RANGE = np.logspace(-2, 4, 61)
RHO = [0.0, 0.25, 0.5, 0.75, 0.9]
ROUND_OFF = 1e-9
# roots of modulus one pair up at -1 for large ωΔt; a double root is only known to the square root of round-off
DOUBLE_ROOT = 1e-5


def _generalized_alpha_polynomial(rho, x):
    """Characteristic polynomial of the generalized-α method from its textbook equations (undamped)."""
    alpha_m, alpha_f = (2 * rho - 1) / (rho + 1), rho / (rho + 1)
    gamma, beta = 0.5 - alpha_m + alpha_f, 0.25 * (1 - alpha_m + alpha_f) ** 2
    # unknowns (u', v', a') in terms of (u, v, a) with Δt = 1, ω = x
    left = np.array([[1, 0, -beta], [0, 1, -gamma], [(1 - alpha_f) * x**2, 0, 1 - alpha_m]])
    right = np.array([[1, 1, 0.5 - beta], [0, 1, 1 - gamma], [-alpha_f * x**2, 0, -alpha_m]])
    return np.abs(np.linalg.eigvals(np.linalg.solve(left, right)))


@pytest.mark.parametrize("rho", RHO)
def test_kr_alpha_and_generalized_alpha_have_the_textbook_spectral_radius(rho):
    for x in RANGE:
        theory = _generalized_alpha_polynomial(rho, x).max()
        # a triple root (rho = 0, infinite frequency) is known only to the cube root of round-off
        assert spectral_radius(kr_alpha(rho), x) == pytest.approx(theory, abs=2e-5)
        assert spectral_radius(generalized_alpha(rho), x) == pytest.approx(theory, abs=2e-5)


@pytest.mark.parametrize("rho", [0.25, 0.5, 0.75, 0.9])
@pytest.mark.parametrize("family", [kr_alpha, mkr_alpha, generalized_alpha], ids=lambda f: f.__name__)
def test_radius_at_infinite_frequency_is_rho(family, rho):
    assert spectral_radius(family(rho), 1e7) == pytest.approx(rho, abs=1e-4)


@pytest.mark.parametrize(
    "method",
    [cr(), newmark(), stabilized_central_difference(), *[f(r) for f in (kr_alpha, mkr_alpha) for r in (*RHO, 1.0)]],
    ids=lambda m: m.name,
)
def test_unconditional_stability(method):
    for zeta in (0.0, 0.05, 0.5):
        assert max(spectral_radius(method, x, zeta) for x in RANGE) <= 1.0 + DOUBLE_ROOT


@pytest.mark.parametrize("method", [central_difference(), newmark_explicit()], ids=lambda m: m.name)
def test_limit_of_the_conditionally_stable_methods(method):
    assert spectral_radius(method, 1.999) <= 1.0 + ROUND_OFF
    assert spectral_radius(method, 2.01) > 1.05
    frame = shear_frame([1.0], [100.0])
    Loop(frame, method=method, dt=0.2)
    with pytest.raises(UnstableStep, match=r"dt must not exceed 0\.2 s"):
        Loop(frame, method=method, dt=0.2001)


def test_period_error_against_closed_forms():
    for x in np.linspace(0.05, 1.9, 12):
        average = x / np.arccos((1 - x**2 / 4) / (1 + x**2 / 4)) - 1
        central = x / np.arccos(1 - x**2 / 2) - 1
        alpha = np.tanh(x / 4) / 4
        scaled = x**2 / (1 + alpha * x**2)
        stabilized = x / np.arccos(1 - scaled / 2) - 1
        for method in (cr(), newmark(), kr_alpha(1.0), mkr_alpha(1.0)):
            assert period_error(method, x) == pytest.approx(average, abs=ROUND_OFF)
        for method in (central_difference(), newmark_explicit()):
            assert period_error(method, x) == pytest.approx(central, abs=ROUND_OFF)
        assert period_error(stabilized_central_difference(), x) == pytest.approx(stabilized, abs=ROUND_OFF)


def test_period_and_damping_error_vanish_with_the_square_and_cube():
    for method in (mkr_alpha(0.5), kr_alpha(0.5)):
        ratio = period_error(method, 0.02) / period_error(method, 0.01)
        assert ratio == pytest.approx(4.0, rel=0.02)
        assert damping_error(method, 0.04) / damping_error(method, 0.02) == pytest.approx(8.0, rel=0.05)


@pytest.mark.parametrize("method", [cr(), mkr_alpha(1.0), kr_alpha(1.0), newmark()], ids=lambda m: m.name)
def test_no_numerical_damping_conserves_energy(method):
    frame = shear_frame([1.0, 1.0, 1.0], [100.0, 80.0, 60.0])
    dt, steps = 0.05, 20000
    result = Loop(frame, method=method, dt=dt).run(np.zeros(steps), u0=[0.1, -0.2, 0.3])
    u = np.array([result[f"u.{i}"] for i in (1, 2, 3)])
    # the half-step velocity (u[i+1] - u[i])/Δt has the conserved energy of the average acceleration method:
    # kinetic with the difference, potential with the mean displacement
    rate, mean = np.diff(u) / dt, (u[:, 1:] + u[:, :-1]) / 2
    energy = 0.5 * np.einsum("it,ij,jt->t", rate, frame.M, rate) + 0.5 * np.einsum("it,ij,jt->t", mean, frame.K, mean)
    assert np.ptp(energy) / energy[0] < 1e-9


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.75, 1.0])
def test_plain_and_recast_forms_agree_to_round_off(rho, rng):
    frame = shear_frame([1e4, 2e4, 1e4], [2e7, 1e7, 3e7], gravity=[1e5] * 3, heights=[3.0] * 3)
    from hyloop.structure import rayleigh

    frame = frame.with_damping(rayleigh(frame, 0.05))
    excitation = rng.normal(size=3000)
    plain = Loop(frame, method=mkr_alpha(rho, form="plain"), dt=0.01).run(excitation, v0=[0.1, 0.0, -0.1])
    recast = Loop(frame, method=mkr_alpha(rho), dt=0.01).run(excitation, v0=[0.1, 0.0, -0.1])
    for channel in ("u.1", "u.3", "v.2"):
        scale = np.abs(plain[channel]).max()
        assert np.abs(plain[channel] - recast[channel]).max() / scale < 1e-11


def test_stabilised_central_difference_runs_far_beyond_the_limit(rng):
    frame = shear_frame([1.0, 1.0], [1e4, 1e8])
    omega = frame.modes().omega[-1]
    dt = 20.0 / omega
    with pytest.raises(UnstableStep):
        Loop(frame, method=central_difference(), dt=dt)
    ground = rng.normal(size=20000)
    result, other = (Loop(frame, method=m, dt=dt).run(ground) for m in (stabilized_central_difference(), newmark()))
    # the slow mode has ωΔt = 0.1: two methods of second order differ by some (ωΔt)², in white noise
    assert np.abs(result["u.2"] - other["u.2"]).max() < 0.01 * np.abs(other["u.2"]).max()


def test_massless_degrees_of_freedom_are_condensed_by_the_recast_form(rng):
    """MKR-α on a model with a massless joint equals the condensed model."""
    K = np.array([[3e4, -2e4, 0.0], [-2e4, 3.5e4, -1.5e4], [0.0, -1.5e4, 1.5e4]])
    full = Structure([20.0, 0.0, 10.0], K, names=["a", "joint", "b"])
    small, _ = condense(full, ["a", "b"])
    excitation = rng.normal(size=1000)
    a = Loop(full, method=mkr_alpha(0.75), dt=0.01).run(excitation)
    b = Loop(small, method=mkr_alpha(0.75), dt=0.01).run(excitation)
    assert np.abs(a["u.b"] - b["u.b"]).max() / np.abs(b["u.b"]).max() < 1e-10


def test_bad_settings_are_refused():
    with pytest.raises(OutOfBounds, match="rho_inf"):
        mkr_alpha(1.2)
    with pytest.raises(UnknownName, match="recast"):
        mkr_alpha(0.5, form="recats")
    with pytest.raises(OutOfBounds, match="gamma"):
        newmark_explicit(0.3)
    with pytest.raises(OutOfBounds, match="beta"):
        newmark(0.5, 0.1)
    for dt in (0.0, -0.01, np.nan):
        with pytest.raises(OutOfBounds, match="step must be positive"):
            Loop(shear_frame([1.0], [1.0]), method=cr(), dt=dt)
