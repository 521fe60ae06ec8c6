"""Friction with backlash against its quasi-static closed form and an independent integration."""

from typing import Any

import numpy as np
import pytest
from analytic import observed_orders
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from hyloop.devices.backlash import friction_backlash

X0, K0, K1 = 0.005, 10e3, 150e3
SIGMA0, SIGMA1, FC, FS, VS = 40e3, 100.0, 1000.0, 1050.0, 0.01  # Table 2 of Coble et al.

QUASI_STATIC = 1e-4  # of the friction: micro-damping and internal steps at 1e-4 m/s, and interpolation
PLATEAU = 1e-6  # of the friction: what is left of the transient
INTEGRATION = 5e-5  # of the friction: first-order error of internal steps of 1e-5 s
ORDER_TOLERANCE = 0.1  # observed order over halvings of the internal step


def spring_extension(f):
    """Inverse of Eq. (16)."""
    return np.where(np.abs(f) <= K0 * X0, f / K0, np.sign(f) * X0 + (f - np.sign(f) * K0 * X0) / K1)


def test_slow_loop_is_the_closed_form():
    """With g constant the bristle is an exponential of the slip, so d(f) of each branch is known."""
    v, dt, reach = 1e-4, 0.1, 0.08
    up = np.arange(dt * v, reach, dt * v)
    d = np.concatenate([up, up[-1] - np.arange(dt * v, 2 * reach, dt * v)])
    f = friction_backlash(h_max=1e-3).drive(dt, d=d)["f"]
    g = FC + (FS - FC) * np.exp(-((v / VS) ** 2))
    rising, falling = f[: len(up)], f[len(up) :]

    def travel(f):  # 2 s + x_f from the virgin state
        return 2 * spring_extension(f) - g / SIGMA0 * np.log(1 - f / g)

    def back(f, f0):  # 2 s + x_f since the reversal at f0
        return 2 * (spring_extension(f) - spring_extension(f0)) + g / SIGMA0 * np.log((g + f) / (g + f0))

    below = 0.98 * g  # d(f) is steep in f beyond it
    fine = np.linspace(0.0, below, 20_001)
    inside = rising < below
    np.testing.assert_allclose(rising[inside], np.interp(up[inside], travel(fine), fine), atol=QUASI_STATIC * g)
    fine = np.linspace(-below, rising[-1], 40_001)
    inside = falling > -below
    d_back = np.interp(d[len(up) :][inside] - up[-1], back(fine, rising[-1]), fine)
    np.testing.assert_allclose(falling[inside], d_back, atol=2 * QUASI_STATIC * g)


@pytest.mark.parametrize("v", [-0.5, -0.02, 0.004, 0.5])
def test_plateau_is_the_stribeck_curve(v):
    dt, count = 1e-3, round(1.0 / abs(v) / 1e-3)
    run = friction_backlash(h_max=1e-3).drive(dt, d=v * dt * np.arange(1, count + 1))
    rho = FS / FC - 1
    viscous = SIGMA1 * rho * (3 + rho) / 2  # the least the docstring promises
    expected = np.sign(v) * (FC + (FS - FC) * np.exp(-((v / VS) ** 2))) + viscous * v
    assert run["f"][-1] == pytest.approx(expected, rel=PLATEAU)
    assert viscous == pytest.approx(7.6, abs=0.05)


@pytest.mark.parametrize("rho", [0.01, 0.05, 0.3, 1.0])
def test_the_viscous_floor_makes_the_slip_velocity_unique(rho):
    """Force over velocity at the worst bristle deflection, by brute force."""
    v = np.linspace(0, 10, 200_001)
    g = 1 + rho * np.exp(-(v**2))
    f = v * (1 - (1 + rho) / g) + rho * (3 + rho) / 2 * v
    assert np.all(np.diff(f) > 0)
    assert np.any(np.diff(v * (1 - (1 + rho) / g)) < 0)


SIGMA2 = 20.0  # above the floor, so that the oracle needs to know nothing of it


def _motion(t):
    return 0.15 * np.sin(2 * np.pi * 0.5 * t) + 0.03 * np.sin(2 * np.pi * 1.7 * t)


def _integrated(dt, count):
    """The same device as an ODE in the spring extension and z; the slip velocity solves the force balance."""

    def friction(v, z):
        g = FC + (FS - FC) * np.exp(-((v / VS) ** 2))
        return SIGMA0 * z + SIGMA1 * (v - SIGMA0 * abs(v) / g * z) + SIGMA2 * v

    def spring(s):
        if abs(s) <= X0:
            return K0 * s
        return K1 * s + np.sign(s) * (K0 - K1) * X0

    def rates(t, state, rate):
        s, z = state
        v: Any = brentq(lambda v: friction(v, z) - spring(s), -200.0, 200.0, xtol=1e-14)
        g = FC + (FS - FC) * np.exp(-((v / VS) ** 2))
        return [(rate - v) / 2, v - SIGMA0 * abs(v) / g * z]

    d = np.concatenate([[0.0], _motion(np.arange(1, count + 1) * dt)])
    state, forces = np.zeros(2), []
    for rate in np.diff(d) / dt:
        state = solve_ivp(rates, (0.0, dt), state, method="LSODA", args=(rate,), rtol=1e-7, atol=1e-11).y[:, -1]
        forces.append(spring(state[0]))
    return d[1:], np.array(forces)


def test_converges_to_an_independent_integration():
    dt, count = 0.01, 200
    d, exact = _integrated(dt, count)
    steps = np.array([8e-5, 4e-5, 2e-5, 1e-5])
    errors = [np.max(np.abs(friction_backlash(sigma2=SIGMA2, h_max=h).drive(dt, d=d)["f"] - exact)) / FC for h in steps]
    assert np.max(np.abs(exact)) > FC, "the device never slipped fully"
    assert errors[-1] < INTEGRATION
    assert observed_orders(steps, errors)[-1] == pytest.approx(1.0, abs=ORDER_TOLERANCE)


def test_forces_balance_and_the_internal_step_is_kept():
    """Force from the springs equals the force from the bristle, and a tick may have any length."""
    dt = 1 / 1024
    d = _motion(np.arange(1, 2000) * dt)
    run = friction_backlash(sigma1=0.0).drive(dt, d=d)
    np.testing.assert_allclose(run["f"], SIGMA0 * run["z"], atol=1e-9 * FC)  # Newton to round-off
    np.testing.assert_array_equal(run["d_last"], d)
    corners = np.interp(np.arange(1, 4 * 1999 + 1) / 4, np.arange(2000), np.concatenate([[0.0], d]))
    finer = friction_backlash(sigma1=0.0).drive(dt / 4, d=corners)["f"][3::4]
    np.testing.assert_allclose(run["f"], finer, atol=INTEGRATION * FC)


def test_linearisation_is_the_engaged_stiffness():
    """The steepest slope of a slow run from rest: springs and bristle in series outside the soft range."""
    device = friction_backlash()
    assert device.stiffness == pytest.approx(1 / (2 / K1 + 1 / SIGMA0), rel=1e-12)
    d = 1e-5 * np.arange(1, 2001)
    slope = np.gradient(friction_backlash(h_max=1e-3).drive(0.1, d=d)["f"], 1e-5)
    assert device.stiffness * 0.9 < np.max(slope) < device.stiffness
