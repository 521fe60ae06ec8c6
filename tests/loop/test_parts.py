"""Mistakes in calls are named, and nothing is silently left out."""

import json

import numpy as np
import pytest

from hyloop import Loop, Recording, Site, Structure, shear_frame
from hyloop.devices import bilinear
from hyloop.errors import BadInput, BadShape, UnknownName
from hyloop.integrators import mkr_alpha, newmark

FRAME = shear_frame([1e4, 1e4], [4e6, 4e6])
SITE = Site("damper1", FRAME.story(1), bilinear(k=2e6, f_y=8e3))


def loop(**changes):
    return Loop(**({"structure": FRAME, "sites": [SITE], "method": mkr_alpha(), "dt": 0.01} | changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"method": mkr_alpha}, r"function; call it: mkr_alpha\(\)"),
        ({"method": 3}, "method must be an integration method .* got 3"),
        ({"structure": 3}, "structure must be a Structure, got 3"),
        ({"sites": SITE}, r"list of Site\(...\), got a Site"),
        ({"sites": "damper1"}, "got 'damper1'"),
        ({"blocks": [SITE]}, "blocks must be a list of FreeBlock.* got a list of Site"),
        ({"limits": 3}, "limits must be Limits"),
        ({"dt": "a"}, "dt = 'a' must be a number"),
        ({"substeps": "a"}, "substeps = 'a'"),
    ],
)
def test_parts_of_another_kind_are_refused(changes, message):
    with pytest.raises(BadInput, match=message):
        loop(**changes)


def test_an_excitation_that_is_no_number_is_refused():
    with pytest.raises(BadInput, match="excitation must be numbers, got 'abc'"):
        loop().run("abc")


def two_loads():
    return Loop(Structure(FRAME.M, FRAME.K, loads=np.eye(2)), method=mkr_alpha(), dt=0.01)


def test_a_live_step_reads_the_numbers_it_is_given():
    """A column of a table is not in one piece; a vector that is too short would be read past its end."""
    steps, table = two_loads(), np.arange(12.0).reshape(3, 4)
    steps.start([0.0, 0.0, 0.0])
    with pytest.raises(BadShape, match="contiguous"):
        steps.step(table[:, 1])
    with pytest.raises(BadShape, match=r"3 excitation\(s\), got 2"):
        steps.step(table[0, :2])
    assert steps["t"] == 0.0, "nothing has moved"
    steps.step(np.ascontiguousarray(table[:, 1]))
    assert [steps[name] for name in list(steps.channels)[1:4]] == [1.0, 5.0, 9.0]


def test_what_a_copy_has_changed_stays_changed():
    weak = loop().copy({"damper1.k": 1e6})
    assert weak.replace(dt=0.005)["damper1.k"] == weak.copy()["damper1.k"] == 1e6
    assert weak.replace(dt=0.005).copy({"damper1.f_y": 1e3})["damper1.k"] == 1e6
    assert weak.replace(sites={"damper1": bilinear(k=3e6)})["damper1.k"] == 3e6, "another device"


def test_one_channel_may_be_named_alone(rng):
    motion = rng.normal(size=50)
    assert loop().run(motion, record="u.1").names == ("u.1",)
    assert loop().reader("u.1")().shape == (1,)
    with pytest.raises(BadInput, match="records nothing"):
        loop().run(motion, record=[])


@pytest.mark.parametrize(
    ("given", "meant"), [("damper1.K", "damper1.k"), ("damper1.f_Y", "damper1.f_y"), ("damer1.k", "damper1.k")]
)
def test_the_name_that_was_meant_is_found(given, meant):
    with pytest.raises(UnknownName, match=f"Did you mean '{meant}'"):
        loop().copy({given: 1.0})


def test_a_name_like_no_other_gets_no_advice():
    with pytest.raises(UnknownName) as refused:
        loop().copy({"damper1.zzz": 1.0})
    assert "Did you mean" not in str(refused.value)


def test_a_count_of_numpy_is_kept_as_a_number(rng):
    site = Site("damper1", FRAME.story(1), bilinear(), count=np.int64(3))
    run = loop(sites=[site]).run(rng.normal(size=20))
    assert json.loads(run.to_xarray().attrs["provenance"])["counts"] == {"damper1": 3.0}


def test_a_recording_of_lists_is_one_of_arrays(tmp_path):
    made = Recording([0.0, 1.0], [[1.0], [2.0]], ["a"], ["m"])
    assert made["a"].tolist() == [1.0, 2.0] and made.table()[0].max == 2.0
    with pytest.raises(BadInput, match=r"by name, as in \['a'\]"):
        made[0:1]
    with pytest.raises(BadInput, match="a time is not a number"):
        Recording([0.0, np.nan], [[1.0], [2.0]], ["a"], ["m"]).save(tmp_path / "run.h5")
    with pytest.raises(BadInput, match="'time'"):
        Recording([0.0], [[1.0]], ["time"], ["s"]).to_xarray()


def test_many_implicit_runs_side_by_side_are_those_one_by_one(rng):
    from hyloop import run_ensemble

    whole = loop(method=newmark())
    motions = [rng.normal(size=200) for _ in range(6)]
    alone = [whole.copy().run(motion).data for motion in motions]
    together = run_ensemble([(whole.copy(), motion) for motion in motions], workers=3)
    assert all(np.array_equal(a, b.data) for a, b in zip(alone, together, strict=True))
