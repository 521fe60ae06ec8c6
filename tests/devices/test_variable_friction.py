"""Commanded friction against the closed form of Dahl's law, and what letting the clamp go does."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from hyloop.devices import variable_friction

TICK = 1.0 / 1024.0
EXACT = 1e-12  # of the level: a history of exponentials
CLAMPED = {"mu": 0.3, "k": 2e6, "tau": 0.01}


def test_first_loading_is_the_closed_form():
    d = np.linspace(0.0, 0.05, 500)[1:]
    f = variable_friction(N=40e3, **CLAMPED).drive(TICK, d=d)["f"]
    np.testing.assert_allclose(f, 12e3 * (1.0 - np.exp(-2e6 * d / 12e3)), rtol=0, atol=EXACT * 12e3)


def test_a_constant_command_gives_the_same_path_at_any_rate():
    d = 0.02 * np.sin(np.linspace(0.0, 12.0, 800))
    device = variable_friction(N=40e3, **CLAMPED)
    assert np.array_equal(device.drive(TICK, d=d)["f"], device.drive(100.0 * TICK, d=d)["f"])


def test_the_clamp_closes_with_its_time_constant():
    device = variable_friction(N=40e3, initial={"clamp": 0.0}, **CLAMPED)
    t = TICK * np.arange(1, 400)
    run = device.drive(TICK, d=0.3 * t)
    np.testing.assert_allclose(run["N_clamp"], 40e3 * (1.0 - np.exp(-t / 0.01)), rtol=1e-9)

    def slope(t, f):
        return 2e6 * 0.3 * (1.0 - f / (0.3 * max(40e3 * (1.0 - np.exp(-t / 0.01)), 1e-9)))

    exact = solve_ivp(slope, (0.0, t[-1]), [0.0], method="Radau", t_eval=t, rtol=1e-8, atol=1e-3).y[0]
    assert np.max(np.abs(run["f"] - exact)[20:]) <= 0.02 * 12e3  # the clamp of a tick is that of its end: first order
    assert (run["f"] <= 0.3 * run["N_clamp"] * (1 + EXACT)).all()


def test_a_device_that_is_let_go_slides_and_gives_no_energy_back_through_its_clamp():
    """Any command: what comes out is never more than what went in and was stored, f²/2k at most."""
    rng = np.random.default_rng(3)
    law, x, work, last = variable_friction.function, np.zeros(3), 0.0, 0.0
    p = np.array(list(variable_friction(**CLAMPED).params.values()))
    d = 0.02 * np.cumsum(rng.normal(size=4000)) / 60.0
    for now in d:
        p[0] = rng.choice([0.0, 40e3, 1e5])
        before = x[2]
        (f, clamp), x = law(x, (now,), TICK, p)
        assert abs(f) <= 0.3 * clamp * (1 + EXACT) + 1e-9
        work, last = work + 0.5 * (f + last) * (now - before), f
        # trapezoids of a way with corners: half of k times the square of an increment for each sample
        assert work >= -1e-3 * 3e4 * 0.02
    assert work > 0.0


@pytest.mark.parametrize(("asked", "given"), [(-1.0, 0.0), (3e5, 1e5)])
def test_the_command_is_held_within_what_the_clamp_can_give(asked, given):
    p = np.array(list(variable_friction(tau=0.0).params.values()))
    p[0] = asked
    (_, clamp), _ = variable_friction.function(np.zeros(3), (1e-3,), TICK, p)
    assert clamp == pytest.approx(given, abs=1e-9)
