"""LuGre against its closed forms, an independent integration, and the published device."""

import numpy as np
import pytest
from analytic import observed_orders
from hypothesis import given
from hypothesis import strategies as st
from oracles.brfd import RATE, earthquakes
from scipy.integrate import solve_ivp

from hyloop.devices.lugre import lugre, lugre_elastoplastic, lugre_exact, lugre_level

LAWS = pytest.mark.parametrize("law", [lugre, lugre_exact], ids=lambda law: law.name)
ALL = pytest.mark.parametrize("law", [lugre, lugre_exact, lugre_elastoplastic], ids=lambda law: law.name)

ROUND_OFF = 1e-12  # of the force: a few operations in double precision
ORDER_TOLERANCE = 0.1  # observed order over three halvings of the step
INTEGRATION = 2e-2  # of the peak: first-order error at 1/4096 s where the velocity changes by 1.3 % a step
BASELINE = 0.2  # N: the table gives tenths

TABLE_1 = {
    "sigma0": 6442.5e3,
    "sigma1": 29.61e3,
    "sigma2": 0.0,
    "Fc_neg": 19.75e3,
    "Fc_pos": 22.91e3,
    "Fs_neg": 21.93e3,
    "Fs_pos": 24.43e3,
    "vs": 0.025,
}


def stribeck(v, P):
    """Steady force at velocity v, written out by direction."""
    if v > 0:
        return P["Fc_pos"] + (P["Fs_pos"] - P["Fc_pos"]) * np.exp(-((v / P["vs"]) ** 2))
    return -P["Fc_neg"] - (P["Fs_neg"] - P["Fc_neg"]) * np.exp(-((v / P["vs"]) ** 2))


@ALL
@pytest.mark.parametrize("v", [-0.3, -0.02, -0.002, 0.002, 0.02, 0.3])
def test_steady_force_is_the_stribeck_curve(law, v):
    P = TABLE_1 | {"sigma2": 1500.0}
    travel = 50.0 * P["Fs_pos"] / P["sigma0"]  # e^-50 of the transient is left
    f = law(**P).drive(travel / abs(v) / 500, v=np.full(20_000, v))["f"]
    assert f[-1] == pytest.approx(stribeck(v, P) + P["sigma2"] * v, rel=ROUND_OFF)


def yielding(z, v, P, hold):
    """The share of LuGre's slip: none while bristles hold (Dupont et al.), all of it in LuGre."""
    if hold is None:
        return 1.0
    bent = P["sigma0"] * abs(z) / abs(stribeck(v, P))
    if z * v <= 0.0 and bent <= 1.0:
        return 0.0
    return 0.5 * (1.0 + np.sin(np.pi * (np.clip((bent - hold) / (1.0 - hold), 0.0, 1.0) - 0.5)))


def _against_solve_ivp(law, dt):
    P, hold = TABLE_1, 0.7 if law is lugre_elastoplastic else None
    w, size, duration = 2 * np.pi * 1.0, 0.05, 1.5

    def velocity(t):
        return size * np.sin(w * t) * (1.0 + 0.5 * np.sin(0.7 * w * t))

    def rate(t, z):
        v = velocity(t)
        return v - yielding(float(np.squeeze(z)), v, P, hold) * P["sigma0"] * abs(v) / abs(stribeck(v, P)) * z

    t = np.arange(1, round(duration / dt) + 1) * dt
    z = solve_ivp(rate, (0.0, duration), [0.0], method="LSODA", rtol=1e-10, atol=1e-14, t_eval=t, max_step=0.01).y[0]
    exact = P["sigma0"] * z + P["sigma1"] * np.array([rate(ti, zi) for ti, zi in zip(t, z, strict=True)])
    return np.max(np.abs(law().drive(dt, v=velocity(t))["f"] - exact)) / np.max(np.abs(exact))


@ALL
def test_converges_to_an_independent_integration(law):
    steps = np.array([1 / 512, 1 / 1024, 1 / 2048, 1 / 4096])
    if law is lugre_elastoplastic:  # a step must not leap over the stretch between holding and sliding
        steps /= 8
    errors = [_against_solve_ivp(law, dt) for dt in steps]
    assert errors[-1] < INTEGRATION
    assert observed_orders(steps, errors)[-1] == pytest.approx(1.0, abs=ORDER_TOLERANCE)


def test_elastic_bristles_hold_a_force_that_lugre_forgets():
    """Vibrations of 10 mm/s under half the sliding force: held for ever; LuGre lets it creep away."""
    dt, share = 1 / 1024, 0.5
    v = 0.01 * np.sin(2 * np.pi * 10.0 * np.arange(1, 60 * 1024 + 1) * dt)
    begin = {"z": share * TABLE_1["Fc_neg"] / TABLE_1["sigma0"]}
    held, lost = (law(initial=begin).drive(dt, v=v) for law in (lugre_elastoplastic, lugre))
    ripple = 0.01 / (2 * np.pi * 10.0)  # m, the motion itself
    np.testing.assert_allclose(held["z"], begin["z"] + np.cumsum(v) * dt, rtol=0, atol=ROUND_OFF)
    assert abs(lost["z"][-1024:].mean()) < 0.1 * begin["z"] < held["z"].min() + 2 * ripple


def test_the_two_forms_converge_to_each_other():
    gaps, steps = [], np.array([1 / 512, 1 / 1024, 1 / 2048, 1 / 4096])
    for dt in steps:
        v = 0.08 * np.sin(2 * np.pi * np.arange(1, round(2 / dt) + 1) * dt)
        first, second = (law().drive(dt, v=v)["f"] for law in (lugre, lugre_exact))
        gaps.append(np.max(np.abs(first - second)) / np.max(np.abs(first)))
    assert gaps[-1] < INTEGRATION
    assert observed_orders(steps, gaps)[-1] == pytest.approx(1.0, abs=ORDER_TOLERANCE)


@pytest.mark.parametrize("v", [-0.1, 1e-6, 0.02])
def test_exponential_form_is_exact_for_a_held_velocity(v):
    g, y0, duration = stribeck(v, TABLE_1), 7e3, 0.5
    for count in (1, 10, 1000):
        y = lugre_exact(initial={"y": y0}).drive(duration / count, v=np.full(count, v))["y"][-1]
        assert y == pytest.approx(g + (y0 - g) * np.exp(-TABLE_1["sigma0"] * v * duration / g), rel=ROUND_OFF)


@ALL
@given(seed=st.integers(0, 10**6), dt=st.sampled_from([1e-5, 1e-3, 0.1, 10.0]), size=st.sampled_from([1e-4, 0.1, 50.0]))
def test_the_bristle_is_bounded_for_any_step_and_velocity(law, seed, dt, size):
    v = size * np.random.default_rng(seed).normal(size=200)
    run = law().drive(dt, v=v)
    y = run["y"] if "y" in run else TABLE_1["sigma0"] * run["z"]
    assert np.max(np.abs(y)) <= TABLE_1["Fs_pos"] * (1.0 + ROUND_OFF)


def test_defaults_and_levels_are_the_published_table():
    assert lugre().params == lugre_exact().params == TABLE_1
    assert lugre_level() == pytest.approx(TABLE_1, rel=ROUND_OFF)
    v = 0.1 * np.sin(np.arange(2000) / 100)
    full, part = (lugre(**lugre_level(level)).drive(1e-3, v=v)["f"] for level in (23e3, 13e3))
    np.testing.assert_allclose(part, full * 13 / 23, rtol=0, atol=ROUND_OFF * 25e3)


def test_linearisation_is_that_of_small_motion():
    device = lugre()
    v, dt = 1e-9, 1e-4
    run = device.drive(dt, v=np.full(50, v))
    d = v * dt * np.arange(1, 51)
    np.testing.assert_allclose(run["f"], device.stiffness * d + device.damping * v, rtol=1e-5)


def test_measured_earthquakes_give_the_published_baseline():
    """Table 4 of Coble et al. on drum-rim velocity, free running from the first force; RMSE over the paper's segments.

    The paper's own row (1306 1892 2041 2970 3131 3341 N) chooses the direction by the measured force; a free run does
    not know it and gives the values below.
    """
    expected = {
        "DuzceDBE": 1286.9,
        "DuzceMCE": 1926.4,
        "ImperialValleyDBE": 2051.8,
        "ImperialValleyMCE": 2961.5,
        "KocaeliDBE": 3030.4,
        "KocaeliMCE": 3240.2,
    }
    table_4 = {
        "Fc_neg": 19763.0,
        "Fc_pos": 14261.0,
        "Fs_neg": 20392.0,
        "Fs_pos": 14281.0,
        "vs": 0.01,
        "sigma0": 2047e3,
        "sigma1": 24845.0,
        "sigma2": 0.0,
    }
    arm = 4 * 0.0254  # m; the drum rim lies 1.5 times as far out
    for name, test in earthquakes().items():
        v_rim = 1.5 * test.v / np.sqrt(1.0 - (test.d / arm) ** 2)
        f = lugre_exact(initial={"y": test.F[0]}, **table_4).drive(1 / RATE, v=v_rim)["f"]
        assert test.rmse(f) == pytest.approx(expected[name], abs=BASELINE), name
