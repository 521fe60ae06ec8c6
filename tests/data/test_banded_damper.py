"""The published damper tests in both layouts, velocities that may and may not look ahead, and splits by event."""

import json

import numpy as np
import pytest
from oracles.data import data_path

from hyloop.data.banded_damper import DamperTest, leave_one_out, packaged_tests, published_test, published_tests
from hyloop.data.velocity import causal_velocity, zero_phase_velocity
from hyloop.errors import BadInput, BadShape, OutOfBounds, UnknownName

DT = 1 / 1024
T = DT * np.arange(4096)
D = 0.02 * np.sin(2 * np.pi * 2 * T)
SINGLE = 1e-6  # relative: the repackaged columns are single precision


def fake(name, event="", level="", **more):
    return DamperTest(name, DT, D, D, D, event=event, level=level, **more)


def test_a_published_file_and_its_repackaged_form_are_the_same_test():
    path = data_path("brfd", "original_layout", "2Hz36lbtension0.5amplitude.json")
    test = published_test(path)
    (packed,) = packaged_tests(path.parents[1], "d2_h36lb_2Hz_0.5in").values()
    assert (test.frequency, test.dt) == (2.0, pytest.approx(packed.dt))
    for key in ("tension", "amplitude"):
        assert getattr(test, key) == pytest.approx(getattr(packed, key))
    for key in ("d", "v", "f", "t1", "t2"):
        expected = getattr(packed, key)
        assert getattr(test, key) == pytest.approx(expected, abs=SINGLE * np.abs(expected).max())
    assert list(published_tests(path.parent, "2Hz*")) == [path.stem]


def test_an_earthquake_knows_its_event_and_has_no_tensions_where_none_are_published():
    (test,) = packaged_tests(data_path("brfd", "index.json").parent, "*DuzceMCE").values()
    assert (test.event, test.level) == ("Duzce", "MCE") and np.isnan(test.frequency) and test.t1 is None
    assert test.signals("zero-phase")["v"] is test.v
    assert np.array_equal(test.signals()["v"], causal_velocity(test.d, test.dt))


def test_a_file_of_data_set_4_has_actuator_positions_and_no_usable_velocity(tmp_path):
    table = np.column_stack([T, D / 0.0254, np.ones_like(T), 99 * T, T, T, 2 * T, 3 * T])
    path = tmp_path / "harmonic0.015backward.json"
    path.write_text(json.dumps({"data": table.tolist()}))
    test = published_test(path)
    assert test.f == pytest.approx(np.full(len(T), 4448.2216152605))
    assert test.t1 == pytest.approx(2 * T * 4.4482216152605)
    assert np.array_equal(test.v, zero_phase_velocity(test.d, test.dt))


def test_the_past_of_a_causal_velocity_does_not_depend_on_the_future():
    half = len(D) // 2
    changed = D.copy()
    changed[half:] += 0.01 * np.sin(2 * np.pi * 9 * T[half:])
    assert np.array_equal(causal_velocity(D, DT)[:half], causal_velocity(changed, DT)[:half])
    assert not np.allclose(zero_phase_velocity(D, DT)[:half], zero_phase_velocity(changed, DT)[:half])


def test_velocities_of_a_sine():
    """The low-pass of second order delays a slow sine by sqrt(2)/(2 pi 50 Hz), the backward difference by dt/2."""
    inner, lag = slice(1024, 3072), np.sqrt(2) / (2 * np.pi * 50) + DT / 2
    speed = 0.02 * 2 * np.pi * 2
    expected = speed * np.cos(2 * np.pi * 2 * T)
    assert zero_phase_velocity(D, DT)[inner] == pytest.approx(expected[inner], abs=1e-4 * speed)
    delayed = speed * np.cos(2 * np.pi * 2 * (T - lag))
    assert causal_velocity(D, DT)[inner] == pytest.approx(delayed[inner], abs=1e-3 * speed)


def test_splits_never_have_an_earthquake_on_both_sides():
    tests = [fake("h1"), *(fake(e + l, e, l) for e in ("Duzce", "Kocaeli") for l in ("DBE", "MCE"))]
    by_event = list(leave_one_out(tests))
    assert [split.left_out for split in by_event] == ["Duzce", "Kocaeli"]
    assert by_event[0].judge == ("DuzceDBE", "DuzceMCE") and by_event[0].train == ("h1", "KocaeliDBE", "KocaeliMCE")
    by_record = list(leave_one_out({test.name: test for test in tests}, by="record"))
    assert [split.judge for split in by_record] == [(test.name,) for test in tests[1:]]
    assert all("h1" in split.train and not set(split.train) & set(split.judge) for split in by_record)
    with pytest.raises(BadInput, match="at least two"):
        list(leave_one_out([fake("h1"), fake("a", "Duzce", "DBE")]))
    with pytest.raises(UnknownName, match="level"):
        list(leave_one_out(tests, by="level"))


def test_bad_files_and_settings_are_refused(tmp_path):
    path = tmp_path / "a.json"
    for content, error, message in [
        ("nonsense", BadInput, "not a published damper test"),
        (json.dumps({"data": [[0.0, 1.0]] * 3}), BadShape, "6 columns"),
        (json.dumps({"data": [[0.0] * 6, [1.0] * 6, [9.0] * 6]}), BadInput, "rise evenly"),
        (json.dumps({"data": [[0.0] * 6, [1.0] * 5 + [float("nan")]]}), BadInput, "must be numbers"),
    ]:
        path.write_text(content)
        with pytest.raises(error, match=message):
            published_test(path)
    with pytest.raises(BadInput, match=r"index\.json"):
        packaged_tests(tmp_path)
    with pytest.raises(UnknownName, match=r"unknown test 'b\*'.*Allowed: a"):
        published_tests(tmp_path, "b*")
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match="no JSON file"):
        published_tests(tmp_path / "empty")
    with pytest.raises(BadShape, match="16 samples"):
        causal_velocity(np.zeros(3), DT)
    with pytest.raises(BadInput, match="at sample 20"):
        causal_velocity(np.where(np.arange(40) == 20, np.nan, 0.0), DT)
    with pytest.raises(OutOfBounds, match="half the sampling rate"):
        zero_phase_velocity(D, DT, 600.0)
    with pytest.raises(UnknownName, match="velocity"):
        fake("a").signals("best")
