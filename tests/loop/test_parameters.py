"""Parameters of a loop by name: those of devices, of the transfer system and of blocks that belong to no site."""

import numpy as np
import pytest

from hyloop.core import Param, block
from hyloop.devices import bilinear
from hyloop.errors import OutOfBounds
from hyloop.integrators import mkr_alpha
from hyloop.loop import FreeBlock, Loop, Site
from hyloop.structure import shear_frame

FRAME = shear_frame([4e4] * 2, [4e7] * 2)


@block(inputs={"d": "m"}, outputs={"f_y": "N"}, params={"base": Param("N", 4e4, low=0.0)}, reference="test")
def constant_yield(x, u, dt, p):
    """An updater that always says the same."""
    return (p[0],), ()


def _loop(base):
    sites = [Site(f"damper{s}", FRAME.story(s), bilinear(k=2e7, f_y=4e4), physical=s == 1) for s in (1, 2)]
    updater = FreeBlock("updater", constant_yield(base=base), {"d": "damper1.d"}, {"f_y": "damper2.f_y"})
    return Loop(FRAME, sites, method=mkr_alpha(0.75), dt=1 / 256, substeps=4, blocks=[updater])


def test_a_copy_with_another_parameter_of_an_updater_is_the_loop_built_with_it(rng):
    ground, loop = 4.0 * rng.normal(size=300), _loop(base=4e4)
    assert "updater.base" in loop.parameters
    weak = loop.copy({"updater.base": 1e4}).run(ground)["damper2.f"]
    assert np.array_equal(weak, _loop(base=1e4).run(ground)["damper2.f"])
    assert not np.array_equal(weak, loop.run(ground)["damper2.f"])
    with pytest.raises(OutOfBounds, match=r"updater\.base = -1 N is outside its bounds"):
        loop.copy({"updater.base": -1.0})
