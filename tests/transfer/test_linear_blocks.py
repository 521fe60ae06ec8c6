"""Linear actuators in the time domain: their frequency response is that of their transfer function."""

import numpy as np
import pytest
from scipy.signal import cont2discrete, dlsim

from hyloop.core import Instance
from hyloop.errors import BadInput, BadShape, UnknownName
from hyloop.transfer import (
    Plant,
    delay,
    first_order_lag,
    second_order_lag,
    servo_hydraulic,
    state_space,
    transfer_function,
    transfer_matrix,
    zeros_poles,
)

DT, HERTZ = 1 / 1024, (3.0, 20.0, 150.0)
SETTLED = 4096  # ticks: 4 s, after which transients of all plants below are less than 1e-12
FITTED = 1024  # whole periods of all three frequencies
RESPONSE = 1e-6  # as the issue demands; what is seen is round-off of 1e-10 and less
OTHER_TICK = 1e-9  # of the peak: two ways of the same exact recurrence, some thousand products long
W, Z = 2 * np.pi * 15.0, 0.6
POLES, ZEROS = (-40.0, -60.0, -50 + 63j, -50 - 63j), (-120.0,)
GAIN = float(np.real(np.prod(POLES)) / 120.0)
DEN = np.real(np.poly(POLES))
# proper, with a part of the command that comes through at once
LEAD = ([0.2, 30.0, 900.0], [1.0, 45.0, 900.0])


def matrices(numerator, denominator):
    """Observer form, written out here: another realisation than that of the block."""
    den = np.asarray(denominator, float) / denominator[0]
    n = len(den) - 1
    num = np.concatenate([np.zeros(n + 1 - len(numerator)), np.asarray(numerator, float) / denominator[0]])
    A = np.eye(n, k=1)
    A[:, 0] = -den[1:]
    return A, (num[1:] - num[0] * den[1:])[:, None], np.eye(1, n), np.array([[num[0]]])


def expected(numerator, denominator, hold, hertz):
    """The transfer function discretised by SciPy, on the unit circle."""
    A, B, C, D, _ = cont2discrete(matrices(numerator, denominator), DT, method={"line": "foh", "step": "zoh"}[hold])
    z = np.exp(2j * np.pi * np.array(hertz) * DT)
    return np.array([(C @ np.linalg.solve(one * np.eye(len(A)) - A, B) + D)[0, 0] for one in z])


def response(actuator: Instance, hertz, key="d"):
    """Drive with a sine, wait, and fit sine and cosine."""
    found = []
    for frequency in hertz:
        t = DT * np.arange(1, SETTLED + FITTED + 1)
        given = {name: np.zeros_like(t) for name in actuator.block.inputs} | {"d": np.sin(2 * np.pi * frequency * t)}
        y = actuator.drive(DT, **given)[key][-FITTED:]
        late = t[-FITTED:]
        found.append(2.0 * np.mean(y * np.exp(-2j * np.pi * frequency * late)) * 1j)
    return np.array(found)


# the benchmark's polynomial, as printed in Silva et al. (2020), with its nominal numbers
A1B0, A2, A3, B1, B2, ME, CE, KE = 2.13e13, 4.23e6, 3.3, 425.0, 1.0e5, 29.1, 114.6, 1.19e6
SILVA = (
    [A1B0],
    [
        ME,
        CE + ME * A3 + ME * B1,
        (KE + CE * A3 + A2) + (CE + ME * A3) * B1 + ME * B2,
        KE * A3 + (KE + CE * A3 + A2) * B1 + (CE + ME * A3) * B2,
        KE * A3 * B1 + (KE + CE * A3 + A2) * B2,
        KE * A3 * B2 + A1B0,
    ],
)
CASES = {
    "first order": (first_order_lag(tau=0.012, gain=1.1), ([1.1], [0.012, 1.0]), "line"),
    "second order": (second_order_lag(frequency=15.0, damping=Z), ([W * W], [1.0, 2 * Z * W, W * W]), "line"),
    "overdamped": (second_order_lag(frequency=15.0, damping=3.0), ([W * W], [1.0, 6 * W, W * W]), "line"),
    "critical": (second_order_lag(frequency=15.0, damping=1.0), ([W * W], [1.0, 2 * W, W * W]), "line"),
    "coefficients": (transfer_function(*LEAD), LEAD, "line"),
    "zeros and poles": (zeros_poles(ZEROS, POLES), ([GAIN, 120.0 * GAIN], DEN), "line"),
    "held": (zeros_poles(ZEROS, POLES, hold="step"), ([GAIN, 120.0 * GAIN], DEN), "step"),
    "matrices": (
        state_space([[0, 1], [-W * W, -2 * Z * W]], [[0], [W * W]], [[1, 0]]),
        ([W * W], [1.0, 2 * Z * W, W * W]),
        "line",
    ),
    "servo-hydraulic": (servo_hydraulic(), SILVA, "step"),
}


@pytest.mark.parametrize("name", CASES)
def test_the_response_is_that_of_the_transfer_function(name):
    actuator, polynomials, hold = CASES[name]
    theirs = expected(*polynomials, hold, HERTZ)
    ours = response(actuator, HERTZ)
    assert np.abs(ours / theirs - 1.0).max() < RESPONSE


def test_a_delay_of_whole_ticks_is_exact_and_one_between_has_the_response_of_its_polynomial():
    w = 2 * np.pi * np.array(HERTZ)
    assert np.abs(response(delay(tau=12 * DT), HERTZ) / np.exp(-1j * w * 12 * DT) - 1.0).max() < RESPONSE
    # Lagrange's weights of order 3 for 12.4 ticks, through the samples of 11, 12, 13 and 14 ticks ago
    x, nodes = 1.4, np.arange(4)
    weights = [np.prod([(x - m) / (j - m) for m in nodes if m != j]) for j in nodes]
    theirs = sum(h * np.exp(-1j * w * (11 + j) * DT) for j, h in zip(nodes, weights, strict=True))
    assert np.abs(response(delay(tau=12.4 * DT), HERTZ) / theirs - 1.0).max() < RESPONSE


@pytest.mark.parametrize("name", ["first order", "second order", "coefficients", "zeros and poles"])
def test_a_line_between_ticks_is_followed_exactly_whatever_the_tick(name, rng):
    """Eight short ticks along a straight line are one long one, in d and, where the plant has them, in v and a."""
    actuator, _, _ = CASES[name]
    coarse = np.cumsum(rng.normal(size=300)) * 1e-3
    fine = np.interp(np.arange(1, 2401) / 8.0, np.arange(301), [0.0, *coarse])
    one, many = actuator.drive(8 * DT, d=coarse), actuator.drive(DT, d=fine)
    # what comes through at once has no velocity, and what follows the slope of the command no acceleration of its own
    known = {"coefficients": "d"}.get(name, "dva")
    for key in known:
        peak = np.abs(one[key]).max()
        assert np.abs(one[key] - many[key][7::8]).max() < OTHER_TICK * peak, key


def test_velocity_and_acceleration_are_derivatives():
    t = DT * np.arange(1, SETTLED + 1)
    d = np.sin(2 * np.pi * 2.0 * t)
    # centred differences of a 2 Hz sine are off by (ω dt)²/6 = 3e-5, backward ones by ω dt/2 = 6e-3; the velocity of a
    # first-order lag bends at every tick, and its acceleration is that before the bend, off by dt/(2 τ)
    close = dict.fromkeys(("second order", "coefficients", "zeros and poles"), 7e-3) | {"first order": DT / 0.024}
    for name, tolerance in close.items():
        r = CASES[name][0].drive(DT, d=d)
        for key, of in (("v", "d"), ("a", "v")):
            slope = np.gradient(r[of], DT)[2000:-1]
            assert np.abs(r[key][2000:-1] - slope).max() < tolerance * np.abs(slope).max(), (name, key)


def test_several_axes_disturb_each_other_as_the_matrix_says(rng):
    second = ([3600.0], [1.0, 80.0, 3600.0])
    entries = [[([40.0], [1.0, 40.0]), ([3.0], [1.0, 50.0])], [([-2.0], [1.0, 30.0]), second]]
    plant = transfer_matrix([[Plant.from_coefficients(*entry) for entry in row] for row in entries])
    u = np.cumsum(rng.normal(size=(2, 800)), axis=1) * 1e-3
    together = plant.drive(DT, d1=u[0], d2=u[1])
    for i, row in enumerate(entries):
        alone = 0.0
        for entry, one in zip(row, u, strict=True):
            discrete = cont2discrete(matrices(*entry), DT, method="foh")
            alone = alone + dlsim(discrete, np.concatenate([[0.0], one]))[1][1:, 0]
        assert np.abs(together[f"d{i + 1}"] - alone).max() < OTHER_TICK * np.abs(alone).max()
    assert set(plant.block.outputs) == {"d1", "v1", "a1", "d2", "v2", "a2", "saturated"}


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda: transfer_function([1.0], [1.0, -2.0]), BadInput, "the plant is unstable: a pole lies at 2"),
        (lambda: zeros_poles([], [-1 + 2j, -1 - 2j, 0.0], 1.0), BadInput, "unstable: a pole lies at 0"),
        (lambda: state_space([[0.0, 1.0], [4.0, 0.0]], [[0.0], [1.0]], [[1.0, 0.0]]), BadInput, "unstable"),
        (lambda: transfer_function([1.0, 0.0, 1.0], [1.0, 1.0]), BadInput, "not proper: a numerator of degree 2"),
        (lambda: zeros_poles([-1.0, -2.0], [-3.0], 1.0), BadInput, "not proper: 2 zeros and 1 poles"),
        (lambda: zeros_poles([], [-50 + 63j, -50 - 62j], 1.0), BadInput, "has no conjugate"),
        (lambda: zeros_poles([0.0], [-1.0, -2.0]), BadInput, "slow motions vanish; give the gain"),
        (lambda: transfer_function([1.0], [0.0, 0.0]), BadInput, "denominator is zero"),
        (lambda: transfer_function([0.0], [1.0, 1.0]), BadInput, "nothing would ever move"),
        (lambda: transfer_function([np.nan], [1.0, 1.0]), BadShape, "finite numbers"),
        (lambda: state_space([[-1.0]], [[1.0], [2.0]], [[1.0]]), BadShape, "B is 2 x 1, wanted 1 x 1"),
        (lambda: transfer_function([1.0], [1.0, 1.0], hold="ramp"), UnknownName, "unknown hold 'ramp'"),
        (lambda: transfer_function([1.0], [1.0, 1.0], stroke=-0.1), BadInput, "outside its bounds"),
    ],
)
def test_refused(make, kind, message):
    with pytest.raises(kind, match=message):
        make()
