"""Giuffré-Menegotto-Pinto steel against its closed form, its differential equation and OpenSees."""

import numpy as np
import pytest
from oracles.opensees import opensees, uniaxial
from scipy.integrate import solve_ivp

from hyloop.devices.steel import giuffre_menegotto_pinto, menegotto_pinto_step

PEER = 1e-10  # of the peak: the same formulas in another order of operations, over thousands of steps
INTEGRATION = 1e-9  # of the peak: tolerance given to the reference integration, with a margin
ROUNDING = 1e-13  # relative

K, F_Y = 2e7, 3e5
D_Y = F_Y / K
SHAPES = {
    "default": {},
    "soft knee": {"b": 0.1, "R0": 5.0, "cR1": 0.9, "cR2": 0.3},
    "isotropic": {"a1": 0.1, "a2": 3.0, "a3": 0.2, "a4": 2.0},
    "one-sided": {"b": 0.0, "a1": 0.0, "a2": 1.0, "a3": 0.05, "a4": 5.0},
}


def steel(**changes):
    return giuffre_menegotto_pinto(k=K, f_y=F_Y, **changes)


def walk(seed, count=3000):
    return np.cumsum(np.random.default_rng(seed).normal(size=count)) * 0.4 * D_Y


def parameters(instance):
    order = ("f_y", "k", "b", "R0", "cR1", "cR2", "a1", "a2", "a3", "a4")
    return tuple(instance.params[key] for key in order)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", [0, 1])
def test_equals_steel02_of_opensees(shape, seed):
    instance, d = steel(**SHAPES[shape]), walk(seed)
    expected = uniaxial("Steel02", parameters(instance), d)
    assert np.ptp(d) > 10 * D_Y
    np.testing.assert_allclose(instance.drive(1.0, d=d)["f"], expected, rtol=0, atol=PEER * np.abs(expected).max())


@pytest.mark.parametrize("shape", SHAPES)
def test_tangent_equals_that_of_opensees(shape):
    ops, instance, d = opensees(), steel(**SHAPES[shape]), walk(2, 500)
    x = np.array(list(instance.initial.values()))
    p = np.array(list(instance.params.values()))
    ops.wipe()
    ops.uniaxialMaterial("Steel02", 1, *parameters(instance))
    ops.testUniaxialMaterial(1)
    for value in d:
        ops.setStrain(float(value))
        assert menegotto_pinto_step(x, value, p)[1] == pytest.approx(ops.getTangent(), rel=0, abs=PEER * K)
    ops.wipe()


def test_first_loading_is_the_closed_curve():
    b, R0 = 0.03, 12.0
    d = np.linspace(0.0, 8.0, 81) * D_Y
    expected = b * K * d + (1 - b) * K * d / (1 + (d / D_Y) ** R0) ** (1 / R0)
    for sign in (1.0, -1.0):
        force = steel(b=b, R0=R0).drive(1.0, d=sign * d)["f"]
        np.testing.assert_allclose(force, sign * expected, rtol=0, atol=ROUNDING * expected[-1])


def test_first_loading_solves_the_differential_equation():
    # y = ρ (1 + ρ^R)^(-1/R) is the solution of y' = (1 - y^R)^(1 + 1/R) from y = 0
    b, R0 = 0.03, 4.0
    ratio = np.linspace(0.1, 3.0, 30)
    curve = solve_ivp(
        lambda _, y: (1.0 - y**R0) ** (1 + 1 / R0), (0.0, 3.0), [0.0], t_eval=ratio, rtol=1e-12, atol=1e-12
    )
    expected = F_Y * (b * ratio + (1 - b) * curve.y[0])
    force = steel(b=b, R0=R0).drive(1.0, d=ratio * D_Y)["f"]
    np.testing.assert_allclose(force, expected, rtol=0, atol=INTEGRATION * F_Y)


def test_far_along_the_asymptote_nothing_overflows():
    d = 1e12 * D_Y
    force = steel(b=0.01).drive(1.0, d=np.array([d]))["f"][0]
    assert force == pytest.approx(F_Y + 0.01 * K * (d - D_Y), rel=ROUNDING)


@pytest.mark.parametrize("back", [0.0, 1e-16, 1e-14, 1e-9])
def test_a_reversal_of_rounding_size_does_no_harm(back):
    top = 50.0 * D_Y
    d = np.array([top, top * (1 - back), top, 60.0 * D_Y])
    force = steel().drive(1.0, d=d)["f"]
    straight = steel().drive(1.0, d=d[[0, 3]])["f"]
    assert force[3] == pytest.approx(straight[1], rel=ROUNDING)


def test_a_pause_changes_nothing():
    d = walk(3, 200)
    paused = np.repeat(d, 3)
    np.testing.assert_array_equal(steel().drive(1.0, d=paused)["f"][::3], steel().drive(1.0, d=d)["f"])
    np.testing.assert_array_equal(steel().drive(1.0, d=np.zeros(3))["f"], 0.0)


def test_declared_stiffness_is_that_of_first_loading():
    d = 1e-6 * D_Y
    assert steel().stiffness == pytest.approx(steel().drive(1.0, d=np.array([d]))["f"][0] / d, rel=ROUNDING)


def test_numbers_not_given_are_those_of_the_manual():
    """Steel02 in the OpenSees manual: R0 of 10 to 20, cR1 = 0.925, cR2 = 0.15, a2 = a4 = 1."""
    instance, d = steel(b=0.02, a1=0.03, a3=0.05), walk(3)
    expected = uniaxial("Steel02", (F_Y, K, 0.02, 20.0, 0.925, 0.15, 0.03, 1.0, 0.05, 1.0), d)
    np.testing.assert_allclose(instance.drive(1.0, d=d)["f"], expected, rtol=0, atol=PEER * np.abs(expected).max())
