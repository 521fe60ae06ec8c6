"""The MR damper by Eyring flow against SciPy and closed forms."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from hyloop.devices import command_of, mr_eyring

DT = 1e-3
SOLVER = 1e-8  # of the largest force: tolerance of SciPy's solver over 300 ticks
ROUND_OFF = 1e-12
STEADY = 1e-9  # relative: after hundreds of relaxation times


def grown(p, i):
    return i ** p["m"] / (i ** p["m"] + p["i_h"] ** p["m"])


def test_flow_is_exact_for_straight_lines():
    law = mr_eyring(i=0.6, tau=0.0)
    p = law.params
    t = DT * np.arange(300)
    d = 8e-3 * np.sin(2 * np.pi * 5.0 * t)
    F, S = p["F_0"] + p["F_1"] * grown(p, 0.6), [0.0]
    for v in np.diff(d) / DT:

        def rate(_, S, v=v):
            return p["k_e"] * (v - p["v_e"] * np.sinh(S / F))

        S.append(solve_ivp(rate, (0, DT), S[-1:], method="LSODA", rtol=1e-11, atol=1e-9).y[0, -1])
    found = law.drive(DT, d=d)["S"]
    assert found == pytest.approx(np.array(S), abs=SOLVER * np.abs(S).max())


def test_the_step_does_not_matter_on_a_straight_line():
    law = mr_eyring(i=0.4, tau=0.0)
    d = 0.02 * DT * np.arange(401)
    assert law.drive(DT, d=d)["f"][::8] == pytest.approx(law.drive(8 * DT, d=d[::8])["f"], abs=1e-9)


@pytest.mark.parametrize("i", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("v", [2e-4, 0.05, -0.02])
def test_steady_flow(i, v):
    law = mr_eyring(i=i, k_0=0.0, f_0=7.0)
    p = law.params
    f = law.drive(DT, d=v * DT * np.arange(40000))["f"][-1]
    F, Y = p["F_0"] + p["F_1"] * grown(p, i), p["Y_0"] + p["Y_1"] * grown(p, i)
    assert f == pytest.approx(F * np.arcsinh(v / p["v_e"]) + np.sign(v) * Y + 7.0, rel=STEADY)


def test_friction_engages_behind_the_gap():
    """With next to no flow force the loop is that of a friction spring with play."""
    law = mr_eyring(i=0.0, F_0=1e-3, k_0=0.0, k_y=1e6, Y_0=100.0, gap=0.5e-3)
    d = np.concatenate([np.linspace(0, 2e-3, 500), np.linspace(2e-3, -2e-3, 1000)[1:]])
    f = law.drive(DT, d=d)["f"]

    def at(way):  # back from the turning point
        return f[499 + round(way / 4e-3 * 999)]

    slack = 0.02  # N; the flow force
    step = 1e6 * 4e-3 / 999  # N, of the friction in a tick
    assert f[499] == pytest.approx(100.0, abs=slack)
    assert at(0.05e-3) == pytest.approx(50.0, abs=step)
    assert at(0.35e-3) == pytest.approx(0.0, abs=slack)
    assert at(0.65e-3) == pytest.approx(-50.0, abs=step)
    assert at(1e-3) == pytest.approx(-100.0, abs=slack)


def test_no_energy_comes_out_of_a_cycle():
    law = mr_eyring(i=0.7)
    t = DT * np.arange(4000)
    for hertz in (0.5, 5.0):
        for amplitude in (1e-5, 1e-4, 5e-3):
            d = amplitude * np.sin(2 * np.pi * hertz * t)
            f = law.drive(DT, d=d)["f"]
            work = np.sum(0.5 * (f[2001:] + f[2000:-1]) * np.diff(d[2000:]))
            assert work > 0.0


def test_any_step_is_bounded():
    law = mr_eyring(i=1.0)
    p = law.params
    d = np.random.default_rng(1).normal(0.0, 0.01, 500)
    f = law.drive(0.05, d=d)["f"] - p["k_0"] * d
    most = (p["F_0"] + p["F_1"]) * np.arcsinh(np.abs(np.diff(d)).max() / 0.05 / p["v_e"]) + p["Y_0"] + p["Y_1"]
    assert np.isfinite(f).all() and np.abs(f).max() < most


def test_the_coil_follows_its_command():
    law = mr_eyring(i=0.5, tau=0.01, i_max=0.4)
    assert command_of(law).most == 0.4
    assert law.drive(DT, d=np.zeros(3))["i_coil"] == pytest.approx(0.4)  # has carried what the driver gives, for long
    late = type(law)(law.block, law.params, {**law.initial, "coil": 0.0})
    t = DT * np.arange(1, 31)
    assert late.drive(DT, d=np.zeros(30))["i_coil"] == pytest.approx(0.4 * (1 - np.exp(-t / 0.01)), rel=ROUND_OFF)
