"""A response that is not finite is reported with the degree of freedom where it began."""

import numpy as np
import pytest
from scipy import sparse

from hyloop.core import block
from hyloop.errors import RunFailed
from hyloop.integrators import mkr_alpha
from hyloop.loop import Loop, Site
from hyloop.structure import Structure


@block(inputs={"d": "m"}, outputs={"f": "N"}, params={}, reference="test")
def breaking(x, u, dt, p):
    """A device that fails once it is stretched."""
    return (1e308 * u[0] * 1e308 * u[0],), ()


def test_the_degree_of_freedom_that_broke_is_named():
    """Two masses that do not touch; the device at the second one breaks."""
    structure = Structure(sparse.eye_array(2), sparse.diags_array([40.0, 90.0]), names=["left", "right"])
    loop = Loop(structure, [Site("damper", [0.0, 1.0], breaking())], method=mkr_alpha(0.75), dt=0.01)
    with pytest.raises(RunFailed, match="degree of freedom 'right' is not finite") as failure:
        loop.run(np.ones(50))
    assert failure.value.where == "right" and failure.value.reason == "non-finite"
    assert np.isfinite(loop["u.left"]), "the other mass was not touched"
    assert loop["u.left"] != 0.0
