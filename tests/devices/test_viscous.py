"""Nonlinear viscous dampers against closed forms, an independent integration and OpenSees."""

import numpy as np
import pytest
from analytic import observed_orders
from oracles.opensees import opensees
from scipy.integrate import solve_ivp
from scipy.special import gamma

from hyloop.devices.viscous import nonlinear_maxwell, nonlinear_viscous

K, C, ALPHA = 1.02e8, 708e3, 0.457  # Table 2 of the tall-building paper, in SI units

QUADRATURE = 1e-6  # of the energy of a cycle: 20 000 samples
EXACT = 1e-12  # of the force: a few operations in double precision
ORDER_TOLERANCE = 0.1  # observed order over halvings of the step
FIRST_ORDER = 5e-3  # of the peak: error of the explicit step at 1/1024 s in the characterisation test
OPENSEES = 8e-4  # of the peak: error of the explicit step at 1/8192 s and of velocities by differences in OpenSees
SETTLED = 1e-6  # of the steady force
LOST = 0.04  # of the steady force: the two-cycle at 470 kN, just beyond the limit, already spans twice this


@pytest.mark.parametrize("alpha", [0.3, ALPHA, 1.0, 1.8])
def test_energy_of_a_cycle_is_the_closed_form(alpha):
    X, w, n = 0.075, 2 * np.pi * 0.5, 20_000
    t = np.arange(n) * 2 * np.pi / w / n
    v = X * w * np.cos(w * t)
    f = nonlinear_viscous(C=C, alpha=alpha, v_lin=1e-6).drive(t[1], v=v)["f"]
    energy = np.sum(f * v) * t[1]
    expected = 2 ** (2 + alpha) * gamma(1 + alpha / 2) ** 2 / gamma(2 + alpha) * C * w**alpha * X ** (1 + alpha)
    assert energy == pytest.approx(expected, rel=QUADRATURE)


def test_power_law_above_and_line_below_the_linear_speed():
    device = nonlinear_viscous(C=C, alpha=ALPHA, v_lin=1e-2)
    v = np.array([-0.4, -0.05, -1e-2, -3e-3, 0.0, 1e-5, 1e-2, 0.2])
    f = device.drive(1e-3, v=v)["f"]
    fast = np.abs(v) >= 1e-2
    np.testing.assert_allclose(f[fast], (np.sign(v) * C * np.abs(v) ** ALPHA)[fast], rtol=EXACT)
    np.testing.assert_allclose(f[~fast], (C * 1e-2**ALPHA * v / 1e-2)[~fast], rtol=EXACT)
    assert device.damping == pytest.approx(C * 1e-2 ** (ALPHA - 1), rel=EXACT)


W, SIZE, DURATION = np.pi, 0.075, 3.0  # the 75 mm, 0.5 Hz characterisation test


def motion(t):
    """Deformation and velocity, rising smoothly from rest."""
    rise, slope = (1 - np.cos(np.pi * t)) / 2, np.pi * np.sin(np.pi * t) / 2
    rise, slope = np.where(t < 1, rise, 1.0), np.where(t < 1, slope, 0.0)
    return SIZE * rise * np.sin(W * t), SIZE * (slope * np.sin(W * t) + rise * W * np.cos(W * t))


def integrated(t):
    """The Maxwell damper by an implicit Runge-Kutta method of high accuracy."""

    def rate(s, f):
        return K * (motion(s)[1] - np.sign(f) * (np.abs(f) / C) ** (1 / ALPHA))

    return solve_ivp(rate, (0.0, t[-1]), [0.0], method="Radau", rtol=1e-9, atol=1e-2, t_eval=t, max_step=0.02).y[0]


def explicit(t):
    return nonlinear_maxwell().drive(t[0], d=motion(t)[0])["f"]


def test_maxwell_converges_to_an_independent_integration():
    steps, errors = np.array([1 / 512, 1 / 1024, 1 / 2048, 1 / 4096]), []
    for dt in steps:
        t = np.arange(1, round(DURATION / dt) + 1) * dt
        exact = integrated(t)
        errors.append(np.max(np.abs(explicit(t) - exact)) / np.max(np.abs(exact)))
    assert errors[1] < FIRST_ORDER
    assert observed_orders(steps, errors)[-1] == pytest.approx(1.0, abs=ORDER_TOLERANCE)


def test_maxwell_is_the_printed_update_in_its_stable_range():
    t = np.arange(1, 3073) / 1024
    d, f, printed = np.concatenate([[0.0], motion(t)[0]]), 0.0, []
    for k in range(len(t)):
        f = f - K / 1024 * (abs(f) / C) ** (1 / ALPHA) * np.sign(f) + K * (d[k + 1] - d[k])
        printed.append(f)
    np.testing.assert_allclose(explicit(t), printed, rtol=0, atol=EXACT * np.max(np.abs(printed)))


def viscous_damper(d, v, dt):
    """Force of OpenSees' ViscousDamper in a unit-length truss whose end is moved."""
    ops = opensees()
    ops.wipe()
    ops.model("basic", "-ndm", 1, "-ndf", 1)
    for tag in (1, 2, 3):
        ops.node(tag, float(tag - 1))
    ops.fix(1, 1)
    ops.uniaxialMaterial("ViscousDamper", 1, K, C, ALPHA, 0.0, 1, 1e-8, 1e-10, 25)
    ops.element("truss", 1, 1, 2, 1.0, 1)
    # the solver wants at least one free degree of freedom: an idle oscillator
    ops.uniaxialMaterial("Elastic", 2, 1.0)
    ops.element("truss", 2, 1, 3, 1.0, 2)
    ops.mass(3, 1.0)
    for tag, values in ((1, d), (2, v), (3, np.gradient(v, dt))):
        ops.timeSeries("Path", tag, "-dt", dt, "-values", *values)
    ops.pattern("MultipleSupport", 1)
    ops.groundMotion(1, "Plain", "-disp", 1, "-vel", 2, "-accel", 3)
    ops.imposedMotion(2, 1, 1)
    ops.constraints("Transformation")
    ops.numberer("Plain")
    ops.system("BandGen")
    ops.test("NormDispIncr", 1e-12, 20)
    ops.algorithm("Newton")
    ops.integrator("Newmark", 0.5, 0.25)
    ops.analysis("Transient")
    f = np.empty(len(d) - 1)
    for i in range(len(f)):
        assert ops.analyze(1, dt) == 0
        f[i] = ops.eleResponse(1, "axialForce")[0]
    ops.wipe()
    return f


def test_maxwell_agrees_with_opensees():
    dt = 1 / 8192
    t = np.arange(1, round(DURATION / dt) + 1) * dt
    d, v = motion(np.concatenate([[0.0], t[7::8]]))
    theirs = viscous_damper(d, v, 8 * dt)
    ours = explicit(t)[7::8]
    assert np.max(np.abs(ours - theirs)) < OPENSEES * np.max(np.abs(theirs))


def _steady(dt, force):
    """Last forces under the constant velocity that the dashpot meets with `force`."""
    v = (force / C) ** (1 / ALPHA)
    return nonlinear_maxwell().drive(dt, d=v * dt * np.arange(1, 2001))["f"][-20:]


@pytest.mark.parametrize(
    ("dt", "force", "stable"),
    [(1 / 1024, 600e3, True), (11 / 1024, 440e3, True), (11 / 1024, 470e3, False), (11 / 1024, 600e3, False)],
)
def test_maxwell_is_stable_up_to_the_published_step_only(dt, force, stable):
    """K dt v^(1 - alpha) < 2 alpha C: at 11/1024 s up to 454 kN, at 1/1024 s beyond the 600 kN capacity."""
    v = (force / C) ** (1 / ALPHA)
    assert (K * dt * v ** (1 - ALPHA) < 2 * ALPHA * C) == stable
    f = _steady(dt, force)
    if stable:
        np.testing.assert_allclose(f, force, rtol=SETTLED)
    else:
        assert np.max(np.abs(f - force)) > LOST * force
        assert np.max(np.abs(f)) <= K * v * dt + force


def test_maxwell_spring_and_relaxation():
    device = nonlinear_maxwell()
    assert (device.stiffness, device.params) == (K, {"K": K, "C": C, "alpha": ALPHA})
    d = np.full(4000, 1e-3)
    f = device.drive(1e-4, d=d)["f"]
    assert f[0] == pytest.approx(K * 1e-3, rel=EXACT)
    # f' = -K (f/C)^(1/alpha) has the solution f^(1 - 1/alpha) = f0^(1 - 1/alpha) + (1/alpha - 1) K t / C^(1/alpha)
    m = 1 / ALPHA - 1
    exact = (f[0] ** -m + m * K * 1e-4 * np.arange(4000) / C ** (1 / ALPHA)) ** (-1 / m)
    assert np.max(np.abs(f - exact)) < FIRST_ORDER * f[0]
