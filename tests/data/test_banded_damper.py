"""The published damper tests in both layouts, velocities that may and may not look ahead, and splits by event."""

import json

import numpy as np
import pytest
from oracles.data import data_path

from hyloop.data import banded_damper
from hyloop.data.banded_damper import DamperTest, leave_one_out, packaged_tests, published_test, published_tests
from hyloop.data.ledger import checksum, write_ledger
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


def published(folder, path, columns=6, **signals):
    """Write a test as the providers do: a matrix in seconds, inches, kips, inches per second and pounds."""
    table = np.zeros((len(T), columns))
    table[:, 0], table[:, 1] = T, D / 0.0254
    for column, values in signals.items():
        table[:, int(column[1:])] = values
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"data": table.tolist(), "time units": "s"}))
    return file


def test_published_files_have_the_ids_of_the_index():
    index = json.loads(data_path("brfd", "index.json").read_text(encoding="utf-8"))
    prefix = "dataset repo JSON: "
    sources = {name: about["source"][len(prefix) :] for name, about in index.items() if prefix in about["source"]}
    assert len(sources) > 50
    assert {name: banded_damper.published_id("data/" + path) for name, path in sources.items()} == {
        name: name for name in sources
    }
    assert banded_damper.published_id("data/dataset-3/earthquake profiles/KocaeliDBE.json") is None
    assert banded_damper.published_id("somewhere/2Hz36lbtension0.5amplitude.json") is None


def test_tests_come_from_a_copy_of_the_published_repository(tmp_path, monkeypatch):
    monkeypatch.setenv("HYLOOP_DATA", str(tmp_path))
    with pytest.raises(BadInput, match="hyloop data get brfd"):
        banded_damper.tests()
    tree = tmp_path / "brfd" / "Dataset-Friction-Damper-with-Backlash-0e09aa9" / "data"
    published(tree, "dataset-1/characterization datasets/0.5Hz20lbtension.json")
    published(tree, "dataset-2/characterization datasets/1Hz36lbtension1amplitude.json", c2=2.0, c5=7.0)
    published(tree, "dataset-2/earthquake profiles/KocaeliMCE.json")
    published(tree, "dataset-3/earthquake profiles/KocaeliMCE.json")
    published(tree, "dataset-4/step0.03ea1forward.json", columns=8, c4=0.5, c5=0.25, c6=3.0)
    (tree / "settings.json").write_text("{}")  # outside the folders of tests
    found = banded_damper.tests()
    assert set(found) == {
        "d1_h20lb_0.5Hz_1in",
        "d2_h36lb_1Hz_1in",
        "d2_eq36lb_KocaeliMCE",
        "d4_step0.03ea1forward",
        "Dataset-Friction-Damper-with-Backlash-0e09aa9/data/dataset-3/earthquake profiles/KocaeliMCE",
    }
    test = found["d2_h36lb_1Hz_1in"]
    assert test.name == "d2_h36lb_1Hz_1in" and test.d == pytest.approx(D) and test.dt == pytest.approx(DT)
    assert test.f[0] == pytest.approx(8896.443230521) and test.t2[0] == pytest.approx(31.1375513068)  # 2 kip, 7 lb
    moved = found["d4_step0.03ea1forward"]  # 1/2 and 1/4 in, 3 lb
    assert [x[0] for x in (moved.p1, moved.p2, moved.t1)] == pytest.approx([0.0127, 0.00635, 13.3446648458])
    assert test.p1 is None and found["d1_h20lb_0.5Hz_1in"].amplitude == pytest.approx(0.0254)
    assert (found["d2_eq36lb_KocaeliMCE"].event, found["d2_eq36lb_KocaeliMCE"].level) == ("Kocaeli", "MCE")
    assert list(banded_damper.tests("d2_h*")) == ["d2_h36lb_1Hz_1in"]
    with pytest.raises(UnknownName, match="Did you mean 'd2_h36lb_1Hz_1in'"):
        banded_damper.tests("d2_h36lb_1Hz_2in")


def test_a_real_test_is_the_same_from_either_layout(tmp_path, monkeypatch):
    """One file exactly as published, put where it lies in the repository."""
    data_path("brfd", "index.json")
    (packed,) = banded_damper.tests("d2_h36lb_2Hz_0.5in").values()
    file = data_path("brfd", "original_layout", "2Hz36lbtension0.5amplitude.json")
    place = tmp_path / "brfd" / "data" / "dataset-2" / "characterization datasets"
    place.mkdir(parents=True)
    (place / file.name).write_bytes(file.read_bytes())
    monkeypatch.setenv("HYLOOP_DATA", str(tmp_path))
    (test,) = banded_damper.tests("d2_h36lb_2Hz_0.5in").values()
    for key in ("d", "v", "f", "t1", "t2"):
        expected = getattr(packed, key)
        assert getattr(test, key) == pytest.approx(expected, abs=SINGLE * np.abs(expected).max())


def test_a_downloaded_file_that_was_changed_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("HYLOOP_DATA", str(tmp_path))
    folder = tmp_path / "brfd"
    file = published(folder, "published/data/dataset-4/step0.015forward.json", columns=8)
    write_ledger(folder, "where from", {file.relative_to(folder).as_posix(): checksum(file)})
    assert "d4_step0.015forward" in banded_damper.tests()
    published(folder, "published/data/dataset-4/step0.015forward.json", columns=8, c2=1.0)
    with pytest.raises(BadInput, match="has changed since it was downloaded"):
        banded_damper.tests()
