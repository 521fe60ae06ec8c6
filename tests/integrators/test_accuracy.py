"""Order and absolute error of every method, through the compiled loop, against closed forms."""

import numpy as np
import pytest
from analytic import harmonic_response, observed_orders

from hyloop.integrators import (
    central_difference,
    cr,
    generalized_alpha,
    kr_alpha,
    mkr_alpha,
    newmark,
    newmark_explicit,
    stabilized_central_difference,
)
from hyloop.loop import Loop
from hyloop.structure import Structure, rayleigh, shear_frame

METHODS = [
    newmark_explicit(),
    central_difference(),
    stabilized_central_difference(),
    cr(),
    kr_alpha(1.0),
    kr_alpha(0.5),
    mkr_alpha(1.0),
    mkr_alpha(0.75),
    mkr_alpha(0.5),
    mkr_alpha(0.0),
    mkr_alpha(0.5, form="plain"),
    newmark(),
    generalized_alpha(0.5),
]
ORDER = 2.0
ORDER_TOLERANCE = 0.1  # the order observed between the two finest steps
# at T/Δt of about 500 a second-order method with unit error constant errs by (2π/500)²/12 x phase, about 5e-4 x a few
ERROR_BOUND = 5e-3


def _frame() -> Structure:
    frame = shear_frame([2e4, 1.5e4, 1e4], [2e6, 1.6e6, 1.2e6])
    frame = Structure(frame.M, frame.K, loads=np.array([[0.0], [1e4], [0.0]]))
    return frame.with_damping(rayleigh(frame, 0.05))


def _errors(method, dt):
    frame, frequency, duration = _frame(), 7.0, 2.0
    u0, v0 = np.array([0.01, 0.02, -0.01]), np.array([0.1, -0.2, 0.3])
    times = np.arange(round(duration / dt) + 1) * dt
    excitation = np.column_stack([np.zeros_like(times), np.sin(frequency * times)])
    result = Loop(frame, method=method, dt=dt).run(excitation, u0=u0, v0=v0)
    coarse = slice(None, None, round(0.02 / dt))
    exact_u, exact_v = harmonic_response(frame.M, frame.C, frame.K, frame.loads[:, 0], frequency, u0, v0, times[coarse])
    u = np.array([result[f"u.{i}"][coarse] for i in (1, 2, 3)])
    v = np.array([result[f"v.{i}"][coarse] for i in (1, 2, 3)])
    return np.abs(u - exact_u).max() / np.abs(exact_u).max(), np.abs(v - exact_v).max() / np.abs(exact_v).max()


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
def test_second_order_in_displacement_and_velocity(method):
    # non-zero initial displacement, velocity and acceleration: a wrong start shows as order one
    steps = [0.02, 0.01, 0.005, 0.0025, 0.00125]
    errors = np.array([_errors(method, dt) for dt in steps])
    for column in (0, 1):
        orders = observed_orders(steps, errors[:, column])
        assert abs(orders[-1] - ORDER) < ORDER_TOLERANCE, orders
        assert errors[-1, column] < ERROR_BOUND, errors[:, column]


def test_a_device_outside_the_model_costs_an_order():
    """A C̃ that misses a damper makes a model-based method first order; one that knows it stays second order."""
    from hyloop.devices.linear import dashpot
    from hyloop.loop import Site

    frame = shear_frame([1e4], [1e6])
    c = 2 * 0.2 * np.sqrt(1e4 * 1e6)
    damped = frame.with_damping(np.array([[c]]))

    def error(build, dt):
        times = np.arange(round(1.0 / dt) + 1) * dt
        result = build(dt).run(np.zeros_like(times), u0=[0.01])
        exact, _ = harmonic_response(
            damped.M, damped.C, damped.K, np.zeros(1), 1.0, np.array([0.01]), np.zeros(1), times
        )
        return np.abs(result["u.1"] - exact[0]).max() / 0.01

    def known(dt):
        return Loop(damped, method=cr(), dt=dt)

    def unknown(dt):
        instance = dashpot(c=c)
        hidden = type(instance)(_without_linear(instance.block), instance.params, instance.initial)
        return Loop(frame, [Site("damper", frame.story(1), hidden)], method=cr(), dt=dt)

    steps = [0.004, 0.002, 0.001]
    assert abs(observed_orders(steps, [error(known, dt) for dt in steps])[-1] - 2.0) < ORDER_TOLERANCE
    assert abs(observed_orders(steps, [error(unknown, dt) for dt in steps])[-1] - 1.0) < ORDER_TOLERANCE


def _without_linear(block):
    from dataclasses import replace

    return replace(block, linear=None)
