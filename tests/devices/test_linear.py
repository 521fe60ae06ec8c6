"""Spring and dashpot against their closed forms."""

import numpy as np

from hyloop.devices.linear import dashpot, spring

ROUNDING = 1e-14  # relative: one multiplication
QUADRATURE = 1e-12  # relative: equal weights over a full period are exact for a product of two sines

W, AMPLITUDE, COUNT = 2.0 * np.pi * 0.8, 0.03, 400
T = np.arange(COUNT) * 2.0 * np.pi / W / COUNT
D, V = AMPLITUDE * np.sin(W * T), W * AMPLITUDE * np.cos(W * T)


def test_spring_is_proportional_to_deformation():
    force = spring(k=3e6).drive(T[1], d=D)["f"]
    np.testing.assert_allclose(force, 3e6 * D, rtol=ROUNDING)


def test_spring_gives_back_all_energy():
    force = spring(k=3e6).drive(T[1], d=D)["f"]
    assert abs(np.mean(force * V)) <= QUADRATURE * 3e6 * AMPLITUDE**2 * W


def test_dashpot_dissipates_the_ellipse():
    force = dashpot(c=2e5).drive(T[1], v=V)["f"]
    energy = np.sum(force * V) * T[1]
    np.testing.assert_allclose(energy, np.pi * 2e5 * W * AMPLITUDE**2, rtol=QUADRATURE)


def test_declared_stiffness_and_damping():
    assert (spring(k=3e6).stiffness, spring(k=3e6).damping) == (3e6, 0.0)
    assert (dashpot(c=2e5).stiffness, dashpot(c=2e5).damping) == (0.0, 2e5)
