"""What a loop says about itself."""

import numpy as np
import pytest

from hyloop.devices.linear import spring
from hyloop.errors import UnknownName
from hyloop.integrators import cr
from hyloop.loop import Loop, Site
from hyloop.structure import Structure, shear_frame


def test_channels_parameters_and_modes():
    frame = shear_frame([2.0, 1.0], [30.0, 20.0])
    loop = Loop(frame, [Site("tie", frame.story(2), spring(k=5.0), count=2)], method=cr(), dt=0.01, substeps=3)
    assert loop.channels["tie.f"] == "N" and loop.channels["u.2"] == "m"
    assert loop.parameters == ("tie.k",)
    assert loop.substeps == 3
    stiffer = Structure(frame.M, frame.K + 10.0 * np.outer(frame.story(2), frame.story(2)))
    assert loop.modes().omega == pytest.approx(stiffer.modes().omega, rel=1e-12)


def test_a_reader_gives_the_present_values():
    frame = shear_frame([2.0, 1.0], [30.0, 20.0])
    loop = Loop(frame, [Site("tie", frame.story(2), spring(k=5.0))], method=cr(), dt=0.01)
    read = loop.reader(["tie.f", "u.1", "tie.k"])
    loop.start()
    for value in (1.0, -2.0, 3.0):
        loop.step(np.array([value]))
        assert read().tolist() == [loop["tie.f"], loop["u.1"], 5.0]
    with pytest.raises(UnknownName, match="unknown channel"):
        loop.reader(["tie.force"])


def test_an_advance_may_begin_with_the_present_state(rng):
    frame, ground = shear_frame([2.0], [30.0]), rng.normal(size=20)
    loop = Loop(frame, method=cr(), dt=0.01)
    whole = loop.run(ground)
    loop.start(ground[0])
    first = loop.advance(ground[:0], with_present=True)
    assert len(first) == 1 and np.array_equal(first.data[0], whole.data[0])
    pieces = [loop.advance(ground[1:8]), loop.advance(ground[8:])]
    assert np.array_equal(np.vstack([first.data, *(p.data for p in pieces)]), whole.data)
    assert np.array_equal(np.concatenate([first.time, *(p.time for p in pieces)]), whole.time)
