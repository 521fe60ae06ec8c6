"""A snapshot goes back only into a loop like the one it was taken from."""

import numpy as np
import pytest

from hyloop import Loop, Site, Snapshot, shear_frame
from hyloop.core import State, Table
from hyloop.devices import bilinear, bouc_wen
from hyloop.errors import BadInput, BadShape
from hyloop.integrators import cr, mkr_alpha
from hyloop.structure import rayleigh


def loop(method=None, dt=1 / 128, substeps=2, k=(4e7, 4e7, 3e7), ratio=0.02, count=2.0, story=1, law=bilinear):
    frame = shear_frame([4e4] * 3, k)
    frame = frame.with_damping(rayleigh(frame, ratio))
    sites = [Site("brace", frame.story(story), law(), count=count)]
    return Loop(frame, sites, method=method or mkr_alpha(0.75), dt=dt, substeps=substeps)


@pytest.mark.parametrize(
    "other, words",
    [
        ({"method": cr()}, r"the method mkr_alpha.* instead of cr\(\)"),
        ({"method": mkr_alpha(0.5)}, "the method mkr_alpha"),
        ({"dt": 1 / 256}, r"another step dt \(0.0078125 instead of 0.00390625\)"),
        ({"substeps": 4}, "another number of substeps"),
        ({"k": (4e7, 3e7, 4e7)}, "another stiffness"),
        ({"ratio": 0.03}, "another damping"),
        ({"count": 3.0}, "another place or number of devices"),
        ({"story": 2}, "another place or number of devices"),
        ({"law": bouc_wen}, "other channels"),
    ],
)
def test_a_snapshot_of_another_loop_is_refused(other, words):
    taken = loop().snapshot()
    with pytest.raises(BadInput, match=words):
        loop(**other).restore(taken)


def test_one_from_a_file_goes_back_into_the_same_loop(tmp_path, rng):
    motion = rng.normal(size=400)
    first, second = loop(), loop()
    whole = first.run(motion)["u.3"]
    first.start(motion[0])
    first.advance(motion[1:200])
    first.snapshot().save(tmp_path / "half.npz")
    second.restore(Snapshot.load(tmp_path / "half.npz"))
    assert (second.advance(motion[200:])["u.3"] == whole[200:]).all()


def test_compiled_code_is_given_the_type_it_reads():
    """An array of integers, read as floats, would be a vector of 5e-324."""
    vectors = {name: np.zeros(2) for name in State._fields} | {"newton": Table(None)}
    assert len(Table(State(**vectors)).words) == len(vectors)
    with pytest.raises(BadShape, match=r"State.u: wanted a contiguous array of float64, got int64"):
        Table(State(**{**vectors, "u": np.ones(2, dtype=np.int64)}))
    with pytest.raises(BadShape, match="not contiguous"):
        Table(State(**{**vectors, "v": np.zeros(4)[::2]}))
