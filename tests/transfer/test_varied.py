"""A plant that is a little stronger or slower: the same motion as of a plant built so."""

from dataclasses import replace

import numpy as np
import pytest

from hyloop import Loop, Site, shear_frame
from hyloop.devices import spring
from hyloop.errors import BadInput
from hyloop.integrators import cr
from hyloop.transfer import first_order_lag, second_order_lag, transfer_function, zeros_poles
from hyloop.transfer.varied import is_plant, varied

NUMERATOR, DENOMINATOR = np.array([0.02, 1.0]), np.array([2e-6, 3e-4, 0.02, 1.0])
GAIN, TIME = 1.1, 0.8
ROUND_OFF = 1e-10  # of a motion of 1 mm: coefficients are scaled in another order


def scaled(coefficients):
    """Coefficients in s of G(θ s)."""
    return coefficients * TIME ** np.arange(len(coefficients) - 1.0, -1.0, -1.0)


@pytest.mark.parametrize("late", [0.0, 0.01])
def test_gain_and_time(late):
    usual = transfer_function(NUMERATOR, DENOMINATOR, delay=late)
    wanted = transfer_function(GAIN * scaled(NUMERATOR), scaled(DENOMINATOR), delay=late)
    t = np.arange(2000) / 1024
    command = 1e-3 * np.sin(20.0 * t**2)
    own = replace(usual, memory=varied(usual, GAIN, TIME)).drive(1 / 1024, d=command)
    other = wanted.drive(1 / 1024, d=command)
    for key in ("d", "v", "a"):
        np.testing.assert_allclose(own[key], other[key], atol=ROUND_OFF * np.abs(other[key]).max() / 1e-3)
    np.testing.assert_array_equal(varied(usual), usual.memory)


def test_which_blocks_are_plants():
    assert is_plant(zeros_poles([], [-50.0])) and not is_plant(first_order_lag()) and not is_plant(second_order_lag())


def test_a_loop_is_copied_with_another_plant():
    frame = shear_frame([40e3], [20e6])
    rig = {"actuator": zeros_poles([], [-60.0, -90.0])}
    sites = [Site("d", frame.story(1), spring(k=1e4), physical=True, transfer=rig)]
    loop = Loop(frame, sites, method=cr(), dt=1 / 512)
    ground = np.sin(10.0 * np.arange(300) / 512)
    slower = loop.copy(contents={"d.actuator": varied(rig["actuator"], 1.0, 2.0)}).run(ground)
    rig = {"actuator": zeros_poles([], [-30.0, -45.0])}
    wanted = loop.replace(sites={"d": replace(sites[0], transfer=rig)}).run(ground)
    np.testing.assert_allclose(slower["d.actuator.d"], wanted["d.actuator.d"], rtol=1e-9, atol=1e-15)
    assert not np.allclose(slower["d.actuator.d"], loop.run(ground)["d.actuator.d"])
    with pytest.raises(BadInput, match=r"d\.actuator"):
        loop.copy(contents={"d.actuato": np.zeros(3)})
    with pytest.raises(BadInput, match="numbers, got 3"):
        loop.copy(contents={"d.actuator": np.zeros(3)})
