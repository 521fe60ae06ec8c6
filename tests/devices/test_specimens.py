"""Laws that draw their parameters: the registry an experiment file asks."""

import numpy as np
import pytest

import hyloop.devices
from hyloop.core import Block
from hyloop.devices.brfd import draw_brfd
from hyloop.devices.specimens import SPECIMENS


@pytest.mark.parametrize(("name", "law"), [("brfd_gap_slip", "gap-slip"), ("brfd_stick_slip", "stick-slip")])
def test_a_specimen_is_drawn_as_by_hand(name, law):
    given = {"level": 18e3, "friction": 0.2, "gap": 0.1e-3, "stiffness": 0.1, "drift": 0.05, "centred": 1e-4, "c": 3e3}
    drawn = SPECIMENS[name].draw(np.random.default_rng(5), **given)
    by_hand = draw_brfd(np.random.default_rng(5), law, **given)
    assert drawn.block is by_hand.block is getattr(hyloop.devices, name)
    assert drawn.params == by_hand.params and drawn.params["c"] == 3e3
    assert drawn.params != SPECIMENS[name].draw(np.random.default_rng(6), **given).params


@pytest.mark.parametrize("name", SPECIMENS)
def test_every_spread_has_a_unit_and_is_taken(name):
    assert isinstance(getattr(hyloop.devices, name), Block)
    for spread in SPECIMENS[name].spreads:
        value = 20e3 if spread == "level" else 1e-4
        device = SPECIMENS[name].draw(np.random.default_rng(1), **{spread: value})
        assert spread == "level" or spread not in device.params  # a spread is not a parameter of the law
