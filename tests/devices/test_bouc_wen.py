"""Bouc-Wen against closed forms, an independent integration and OpenSees."""

import numpy as np
import pytest
from oracles.opensees import uniaxial
from scipy.integrate import solve_ivp

from hyloop.devices.bouc_wen import bouc_wen

ROUNDING = 1e-13  # relative
EXTRAPOLATED = 2e-5  # of the peak: what Richardson extrapolation leaves of OpenSees' first-order error
FINE = 1e-9  # of the peak: fourth order at increments of 0.005 d_y

K, ALPHA, D_Y = 2e7, 0.1, 4e-3
TURNS = np.array([1.1, -2.03, 4.0, -4.0, 3.07, -1.0, 2.5]) * D_Y


def device(**changes):
    return bouc_wen(**{"k": K, "alpha": ALPHA, "d_y": D_Y} | changes)


def branches(turns, step):
    """Samples from turn to turn, equal within each branch and at most `step` apart."""
    starts = np.concatenate([[0.0], turns[:-1]])
    for a, b in zip(starts, turns, strict=True):
        yield a, a + (b - a) * np.arange(1, (n := int(np.ceil(abs(b - a) / step - 1e-9))) + 1) / n


def integrated(instance, turns, step):
    """Deformations, and z by an adaptive integration that restarts at every reversal."""
    p = instance.params
    d, z, last = [], [], 0.0
    for a, samples in branches(turns, step):
        sign = np.sign(samples[-1] - a)

        def slope(_, z, sign=sign):
            return (p["A"] - np.abs(z) ** p["n"] * (p["gamma"] + p["beta"] * np.sign(z) * sign)) / p["d_y"]

        # steps short enough that the kink at z = 0 is met, and then refined
        out = solve_ivp(
            slope,
            (a, samples[-1]),
            [last],
            t_eval=samples,
            method="DOP853",
            rtol=1e-12,
            atol=1e-13,
            max_step=abs(samples[-1] - a) / 50,
        )
        d.extend(out.t)
        z.extend(out.y[0])
        last = z[-1]
    return np.array(d), np.array(z)


def force_of(instance, d, z):
    p = instance.params
    return p["alpha"] * p["k"] * d + (1 - p["alpha"]) * p["k"] * p["d_y"] * z


def relative_error(instance, turns, step):
    d, z = integrated(instance, turns, step)
    expected = force_of(instance, d, z)
    return np.max(np.abs(instance.drive(1.0, d=d)["f"] - expected)) / np.max(np.abs(expected))


@pytest.mark.parametrize("step", [0.01, 0.05])
@pytest.mark.parametrize("total", [1.0, 1.7])
def test_first_loading_is_exponential_for_n_1_and_tanh_for_n_2(step, total):
    A, beta = 1.2, 0.7
    gamma = total - beta
    d = np.arange(1, int(4 / step)) * step * D_Y
    closed = {
        1.0: A / total * (1 - np.exp(-total * d / D_Y)),
        2.0: np.sqrt(A / total) * np.tanh(np.sqrt(A * total) * d / D_Y),
    }
    for n, z in closed.items():
        got = device(A=A, beta=beta, gamma=gamma, n=n).drive(1.0, d=d)["z"]
        # the error constant of classical Runge-Kutta on this curve stays below 0.1
        np.testing.assert_allclose(got, z, rtol=0, atol=0.1 * step**4)


def test_is_of_fourth_order():
    errors = []
    for count in (40, 80, 160):
        d = np.arange(1, count + 1) / count * 2.0 * D_Y
        errors.append(np.max(np.abs(device(n=2.0).drive(1.0, d=d)["z"] - np.tanh(d / D_Y))))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    np.testing.assert_allclose(orders, 4.0, atol=0.1)


@pytest.mark.parametrize(
    "shape", [{"n": 2.0}, {"n": 3.5, "beta": 0.8, "gamma": -0.3}, {"n": 2.0, "beta": 0.1, "gamma": 0.9}]
)
def test_cycles_equal_an_adaptive_integration(shape):
    assert relative_error(device(**shape), TURNS, 0.005 * D_Y) <= FINE


# the accuracy the docstring promises, increments in d_y
@pytest.mark.parametrize(
    ("n", "step", "promised"),
    [(2.0, 0.02, 3e-8), (2.0, 0.2, 3e-5), (2.0, 1.0, 2e-2), (1.0, 0.02, 1e-5), (1.0, 0.2, 5e-4), (1.0, 1.0, 7e-3)],
)
def test_documented_accuracy(n, step, promised):
    assert relative_error(device(n=n, alpha=0.05), TURNS, step * D_Y) <= promised


@pytest.mark.parametrize("shape", [(1.0, 0.5, 0.5, 1.0), (1.0, 0.3, 0.4, 2.0), (2.5, 0.9, -0.4, 3.0)])
def test_ultimate_z_is_closed_form(shape):
    A, beta, gamma, n = shape
    d = np.arange(1, 2001) * 0.05 * D_Y
    run = device(A=A, beta=beta, gamma=gamma, n=n).drive(1.0, d=d)
    assert run["z"][-1] == pytest.approx((A / (beta + gamma)) ** (1 / n), rel=ROUNDING)
    assert np.all(np.diff(run["z"]) >= 0.0)


@pytest.mark.parametrize("n", [1.0, 2.0, 20.0])
def test_any_increment_leaves_z_bounded_and_moving_with_d(n):
    rng = np.random.default_rng(4)
    step = rng.choice([-1.0, 1.0], 400) * 10.0 ** rng.uniform(-3, 6, 400) * D_Y
    run = device(n=n).drive(1.0, d=np.cumsum(step))
    z = np.concatenate([[0.0], run["z"]])
    assert np.max(np.abs(z)) <= 1.0 + ROUNDING
    assert np.all(np.diff(z) * np.sign(np.diff(np.cumsum(step), prepend=0.0)) >= -ROUNDING)


def test_converges_to_boucwen_of_opensees():
    beta, gamma, n = 0.6, 0.4, 1.5
    # OpenSees has z in units of deformation
    material = (ALPHA, K, n, gamma / D_Y**n, beta / D_Y**n, 1.0, 0.0, 0.0, 0.0, 1e-15, 100)
    coarse = np.concatenate([samples for _, samples in branches(TURNS, 4e-3 * D_Y)])
    fine = np.interp(np.arange(1, 2 * len(coarse) + 1) / 2, np.arange(len(coarse) + 1), np.concatenate([[0.0], coarse]))
    first = uniaxial("BoucWen", material, coarse)
    second = uniaxial("BoucWen", material, fine)[1::2]
    force = device(beta=beta, gamma=gamma, n=n).drive(1.0, d=coarse)["f"]
    peak = np.abs(force).max()
    # backward Euler there: its error halves with the step, and extrapolation removes it
    assert np.max(np.abs(first - force)) / np.max(np.abs(second - force)) == pytest.approx(2.0, abs=0.1)
    np.testing.assert_allclose(2 * second - first, force, rtol=0, atol=EXTRAPOLATED * peak)


def test_declared_stiffness_is_that_of_first_loading():
    instance = device(A=1.3)
    d = 1e-9 * D_Y
    assert instance.stiffness == pytest.approx(instance.drive(1.0, d=np.array([d]))["f"][0] / d, rel=ROUNDING)


def test_by_default_the_virgin_curve_is_the_hyperbolic_tangent():
    """n = 2, A = 1, β = γ = 1/2: dz/dd = (1 - z²)/d_y; the tick integrates to fourth order."""
    d = np.linspace(0.0, 0.02, 2001)[1:]
    k, alpha, d_y = 1e7, 0.05, 5e-3
    expected = alpha * k * d + (1 - alpha) * k * d_y * np.tanh(d / d_y)
    assert bouc_wen().drive(1.0, d=d)["f"] == pytest.approx(expected, rel=1e-9)
