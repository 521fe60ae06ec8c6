"""A dead time in front of a linear plant: its response, whole ticks, and what is refused."""

import numpy as np
import pytest

from hyloop.errors import BadInput, OutOfBounds
from hyloop.transfer import state_space, transfer_function

pytestmark = pytest.mark.slow  # compiles

DT, F = 1 / 1024, 6.0
B, A = [1.01], [1 / (2 * np.pi * 15) ** 2, 1.2 / (2 * np.pi * 15), 1.0]
ROUND_OFF = 1e-12


@pytest.mark.parametrize("tau", [0.012, 0.4 * DT, 1.7 * DT, 9 * DT])
def test_response_is_that_of_the_plant_times_the_dead_time(tau):
    t = DT * np.arange(8192)
    d = transfer_function(B, A, delay=tau).drive(DT, d=np.sin(2 * np.pi * F * t))["d"]
    late = slice(4096, None)
    waves = np.column_stack([np.cos(2 * np.pi * F * t), np.sin(2 * np.pi * F * t)])
    (c, s), *_ = np.linalg.lstsq(waves[late], d[late], rcond=None)
    x = np.pi * F * DT
    truth = (
        B[0] / np.polyval(A, 2j * np.pi * F) * np.exp(-2j * np.pi * F * tau) * (np.sin(x) / x) ** 2
    )  # straight lines
    # Lagrange's polynomial of third order errs by at most (ω Δt)⁴ · 3/128, less than one sided
    assert abs((s + 1j * c) / truth - 1.0) < (2 * np.pi * F * DT) ** 4


def test_whole_ticks_are_exact():
    command = np.random.default_rng(0).normal(size=300)
    early, late = (transfer_function(B, A, delay=k * DT).drive(DT, d=command)["d"] for k in (2, 9))
    np.testing.assert_allclose(late[7:], early[:-7], rtol=0.0, atol=ROUND_OFF * np.abs(early).max())
    np.testing.assert_array_equal(late[:9], 0.0)


def test_refused():
    with pytest.raises(OutOfBounds, match="delay"):
        transfer_function(B, A, delay=-1e-3)
    with pytest.raises(BadInput, match="at most 1024"):
        transfer_function(B, A, delay=2.0).drive(DT, d=np.zeros(3))
    two = -np.eye(2), np.eye(2), np.eye(2)
    with pytest.raises(BadInput, match="one axis"):
        state_space(*two, delay=0.01)
