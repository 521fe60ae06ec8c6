"""The virtual viscous damper: a Maxwell damper where nothing drifts or rubs, and what drift and friction add."""

import numpy as np
import pytest

from hyloop.devices import nonlinear_maxwell, viscous_specimen

DT = 1 / 1024
LAG = 0.01  # relative: with a relaxation time of 0.1 s the force is 0.1 s of the drift, 0.8 %, behind it
LAST_BIT = 1e-12  # relative: the same operations in another function
T = np.arange(0, 8, DT)
D = 0.06 * np.sin(2 * np.pi * 0.4 * T) + 0.01 * np.sin(2 * np.pi * 2.1 * T)


def test_without_drift_and_friction_it_is_a_maxwell_damper():
    own = {"K": 0.8e8, "C": 650e3, "alpha": 0.5}
    assert viscous_specimen(**own).drive(DT, d=D)["f"] == pytest.approx(
        nonlinear_maxwell(**own).drive(DT, d=D)["f"], rel=LAST_BIT
    )


def test_friction_is_added_with_the_sign_of_the_velocity():
    plain = nonlinear_maxwell().drive(DT, d=D)["f"]
    rubbed = viscous_specimen(friction=20e3, v_s=1e-3).drive(DT, d=D)["f"]
    v = np.diff(D, prepend=0.0) / DT
    assert rubbed - plain == pytest.approx(20e3 * np.tanh(v / 1e-3), abs=1e-6)


@pytest.mark.parametrize(("key", "end"), [("K_end", 0.7), ("C_end", 0.6), ("alpha_end", 1.2)])
def test_after_the_drift_it_is_a_damper_with_the_parameters_at_its_end(key, end):
    drifted = viscous_specimen(**{key: end}, drift_time=2.0).drive(DT, d=D)["f"]
    name = key.removesuffix("_end")
    arrived = nonlinear_maxwell(**{name: end * nonlinear_maxwell.params[name].default}).drive(DT, d=D)["f"]
    late = T > 5.0  # some relaxation times after the end of the drift
    assert drifted[late] == pytest.approx(arrived[late], abs=1e-3 * np.abs(arrived).max())
    assert not np.allclose(drifted[:1024], arrived[:1024], atol=5e-3 * np.abs(arrived).max())


def test_half_way_through_the_drift_half_of_it_is_there():
    slow = 0.002 * T  # steady motion: the force is C v^alpha, whatever K is
    f = viscous_specimen(C_end=0.5, drift_time=T[-1] + DT).drive(DT, d=slow)["f"]
    half = len(T) // 2
    assert f[half] == pytest.approx(0.75 * 708e3 * 0.002**0.457, rel=LAG)
