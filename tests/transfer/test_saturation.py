"""Limits of actuators: never exceeded, and told while they act."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyloop.errors import OutOfBounds
from hyloop.transfer import delay, first_order_lag, second_order_lag, servo_hydraulic, transfer_function

DT = 1 / 1024
ROUND_OFF = 1e-12  # relative: a difference of two positions, divided by the tick
LINEAR = transfer_function([0.2, 30.0, 900.0], [1.0, 45.0, 900.0])
MAKE = {
    "delay": lambda **limits: delay(tau=0.0034, **limits),
    "first order": lambda **limits: first_order_lag(tau=0.01, **limits),
    "second order": lambda **limits: second_order_lag(frequency=30.0, damping=0.2, **limits),
    "plant": lambda **limits: LINEAR.block(memory=LINEAR.memory, **limits),
}
limit = st.floats(1e-3, 10.0)


@pytest.mark.parametrize("name", MAKE)
@settings(max_examples=30, deadline=None)
@given(stroke=limit, velocity=limit, rate=limit, seed=st.integers(0, 2**31), size=st.floats(1e-3, 10.0))
def test_nothing_is_exceeded(name, stroke, velocity, rate, seed, size):
    d = size * np.cumsum(np.random.default_rng(seed).normal(size=200))
    r = MAKE[name](stroke=stroke, velocity=velocity, rate=rate).drive(DT, d=d)
    assert np.abs(r["d"]).max() <= stroke
    assert np.abs(r["v"]).max() <= velocity
    moved = np.abs(np.diff(np.concatenate([[0.0], r["d"]])))
    assert moved.max() <= velocity * DT * (1 + ROUND_OFF) + ROUND_OFF * stroke
    flags = r["saturated"].astype(int)
    assert ((flags & 1 > 0) <= (np.abs(r["d"]) == stroke)).all()
    assert set(np.unique(flags)) <= set(range(8))


@pytest.mark.parametrize("name", MAKE)
def test_limits_that_are_not_reached_change_nothing(name, rng):
    d = 1e-3 * np.cumsum(rng.normal(size=200))
    free, wide = (MAKE[name](**limits).drive(DT, d=d) for limits in ({}, {"stroke": 1e3, "velocity": 1e6, "rate": 1e6}))
    assert all(np.array_equal(free[key], wide[key]) for key in ("d", "v", "a"))
    assert not free["saturated"].any()


def test_each_limit_has_its_flag():
    jump = np.full(400, 0.02)
    last = {
        key: set(np.unique(MAKE["first order"](**limits).drive(DT, d=jump)["saturated"]))
        for key, limits in {"stroke": {"stroke": 0.01}, "velocity": {"velocity": 0.2}, "rate": {"rate": 0.5}}.items()
    }
    assert last == {"stroke": {0.0, 1.0}, "velocity": {0.0, 2.0}, "rate": {0.0, 4.0}}


def test_a_command_within_its_rate_is_a_ramp():
    r = delay(tau=0.0, rate=0.1).drive(DT, d=np.full(400, 0.02))
    np.testing.assert_allclose(r["d"], np.minimum(0.1 * DT * np.arange(1, 401), 0.02), rtol=ROUND_OFF)


@settings(max_examples=30, deadline=None)
@given(
    stroke=st.floats(1e-3, 0.02),
    velocity=st.floats(0.01, 1.0),
    valve=st.floats(0.01, 1.0),
    force=st.floats(100.0, 2e4),
    outside=st.sampled_from([0.0, 1.0]),
    seed=st.integers(0, 2**31),
)
def test_the_servo_hydraulic_actuator_keeps_all_its_limits(stroke, velocity, valve, force, outside, seed):
    rng = np.random.default_rng(seed)
    d = 2e-3 * np.cumsum(rng.normal(size=400))
    actuator = servo_hydraulic(
        stroke=stroke, velocity=velocity, valve_velocity=valve, force_limit=force, external=outside
    )
    r = actuator.drive(1 / 4096, d=d, f=2e3 * rng.normal(size=400))
    assert np.abs(r["d"]).max() <= stroke and np.abs(r["v"]).max() <= velocity
    assert np.abs(r["f"]).max() <= force and np.abs(r["opening"]).max() <= 1.0 + ROUND_OFF
    assert np.isfinite(r["a"]).all()


@pytest.mark.parametrize("key", ["stroke", "velocity", "rate"])
def test_negative_limits_are_refused(key):
    with pytest.raises(OutOfBounds, match=f"delay.{key} = -1"):
        delay(**{key: -1.0})
