"""The recorder loses nothing, blocks or drops as told, and passes on what goes wrong in its thread."""

import threading
import time

import h5py
import numpy as np
import pytest

from hyloop.errors import BadInput, BadShape, HyloopError, OutOfBounds
from hyloop.record import Recorder, Recording
from hyloop.record.layout import RecordingFile

NAMES, UNITS, DT = ["u.1", "damper1.f"], ["m", "N"], 1 / 1024


def recorder(path, **settings):
    return Recorder(path, NAMES, UNITS, DT, **settings)


@pytest.fixture
def slow_disk(monkeypatch):
    """A gate that holds back the writer thread."""
    gate, append = threading.Event(), RecordingFile.append
    monkeypatch.setattr(RecordingFile, "append", lambda *arguments: (gate.wait(30), append(*arguments))[1])
    return gate


@pytest.mark.parametrize("blocks", [[1] * 3000, [7, 0, 1, 5000, 992], [12_000]])
def test_every_row_arrives(tmp_path, rng, blocks):
    """In rows, in blocks and in blocks larger than the ring of 1024 rows; the time does not depend on the blocks."""
    data = rng.normal(size=(sum(blocks), 2))
    with recorder(tmp_path / "run.h5", t0=2.0, ring_seconds=0.1) as output:
        for block in np.split(data, np.cumsum(blocks)[:-1]):
            buffer = block.copy()
            output.write(buffer)
            buffer[:] = np.nan  # the caller may use its array again
    recording = Recording.load(tmp_path / "run.h5")
    np.testing.assert_array_equal(recording.data, data)
    np.testing.assert_array_equal(recording.time, 2.0 + np.arange(len(data)) / 1024)
    assert recording.complete and recording.dropped == 0


def test_one_that_goes_on_has_the_rows_of_the_first_and_then_its_own(tmp_path, rng):
    data = rng.normal(size=(5000, 2))
    for part, begin in ((data[:3000], None), (data[2000:], data[:2000])):
        with recorder(tmp_path / "run.h5", t0=2.0, begin=begin, overwrite=True) as output:
            output.write(part)
            assert output.rows == len(part) + (0 if begin is None else len(begin))
    recording = Recording.load(tmp_path / "run.h5")
    np.testing.assert_array_equal(recording.data, data)
    np.testing.assert_array_equal(recording.time, 2.0 + np.arange(5000) / 1024)


def test_until_its_first_rows_are_there_the_earlier_one_stays(tmp_path, monkeypatch):
    with recorder(tmp_path / "run.h5") as output:
        output.write(np.ones((10, 2)))

    def fails(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(RecordingFile, "append", fails)
    with pytest.raises(BadInput, match="No space left"):
        recorder(tmp_path / "run.h5", begin=np.ones((5, 2)), overwrite=True)
    assert len(Recording.load(tmp_path / "run.h5")) == 10 and len(list(tmp_path.iterdir())) == 1


def test_what_is_flushed_is_on_the_file(tmp_path, slow_disk):
    output = recorder(tmp_path / "run.h5", flush_every=10.0)
    output.write(np.ones((700, 2)))
    flushing = threading.Thread(target=output.flush)
    flushing.start()
    assert flushing.is_alive() and len(Recording.load(tmp_path / "run.h5")) == 0
    slow_disk.set()
    flushing.join()
    assert len(Recording.load(tmp_path / "run.h5")) == 700
    output.close()


def test_same_run_same_bytes(tmp_path, rng):
    data = rng.normal(size=(5000, 2))
    for name, size in (("a.h5", 100), ("b.h5", 2500)):
        with recorder(tmp_path / name, attributes={"begun": name}) as output:
            for k in range(0, len(data), size):
                output.write(data[k : k + size])
                time.sleep(0.0001)
    with h5py.File(tmp_path / "a.h5") as a, h5py.File(tmp_path / "b.h5") as b:
        assert set(a) == set(b) == {"data", "time", "names", "units"}
        for key in a:
            assert a[key][:].tobytes() == b[key][:].tobytes()


def test_a_full_ring_waits(tmp_path, slow_disk):
    output = recorder(tmp_path / "run.h5", ring_seconds=1.0)
    writer = threading.Thread(target=output.write, args=(np.ones((3000, 2)),))
    writer.start()
    writer.join(0.2)
    assert writer.is_alive(), "three rings full cannot fit"
    slow_disk.set()
    writer.join(30)
    output.close()
    assert len(Recording.load(tmp_path / "run.h5")) == 3000


def test_a_full_ring_drops_if_told_to(tmp_path, slow_disk):
    output = recorder(tmp_path / "run.h5", ring_seconds=1.0, drop=True)
    output.write(np.arange(3000.0)[:, None] * [1, 1])
    assert output.dropped == 3000 - 1024
    slow_disk.set()
    while output._tail < 1024:
        time.sleep(0.001)
    output.write(np.full((1, 2), 3000.0))
    output.close()
    recording = Recording.load(tmp_path / "run.h5")
    assert recording.dropped == 3000 - 1024
    np.testing.assert_array_equal(recording["u.1"], [*range(1024), 3000])
    np.testing.assert_array_equal(recording.time * 1024, [*range(1024), 3000])  # the gap shows


def test_rows_are_on_the_file_soon(tmp_path):
    """Without any further call, and readable in the same process."""
    with recorder(tmp_path / "run.h5", flush_every=0.05) as output:
        output.write(np.ones((10, 2)))
        deadline = time.monotonic() + 30.0
        while len(live := Recording.load(tmp_path / "run.h5")) < 10:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert not live.complete


def test_provenance_and_outcome(tmp_path):
    given = {"file": tmp_path, "seed": np.int64(3), "gain": np.array([1.0, 2.0]), "unit": "m/s²", "nested": {"a": None}}
    with recorder(tmp_path / "run.h5", attributes=given) as output:
        output.outcome["fault"] = "limit"
    recording = Recording.load(tmp_path / "run.h5")
    assert recording.attributes == {
        "file": str(tmp_path),
        "seed": 3,
        "gain": [1.0, 2.0],
        "unit": "m/s²",
        "nested": {"a": None},
        "fault": "limit",
    }
    assert len(recording) == 0 and recording.complete


def test_a_run_that_raises_is_not_complete(tmp_path):
    with pytest.raises(ZeroDivisionError), recorder(tmp_path / "run.h5") as output:
        output.write(np.ones((10, 2)))
        raise ZeroDivisionError
    recording = Recording.load(tmp_path / "run.h5")
    assert len(recording) == 10 and not recording.complete


@pytest.mark.parametrize("ask", [lambda output: output.write(np.ones((9000, 2))), lambda output: output.close()])
def test_an_error_of_the_thread_reaches_the_caller(tmp_path, monkeypatch, ask):
    def full(*_):
        raise OSError("no space left on device")

    monkeypatch.setattr(RecordingFile, "append", full)
    output = recorder(tmp_path / "run.h5", ring_seconds=0.1)
    output.write(np.ones((1, 2)))
    with pytest.raises(HyloopError, match=r"no space left on device.*0 rows are in the file"):
        ask(output)
    with pytest.raises(HyloopError, match="no space left"):
        output.write(np.ones((1, 2)))


def test_nothing_is_left_behind_when_refused(tmp_path):
    with pytest.raises(BadInput):
        recorder(tmp_path / "run.h5", attributes={"object": object()})
    assert list(tmp_path.iterdir()) == []


def test_does_not_overwrite_unless_told(tmp_path):
    path = tmp_path / "run.h5"
    for overwrite in (False, True):
        with recorder(path, overwrite=overwrite) as output:
            output.write(np.full((3, 2), float(overwrite)))
    assert Recording.load(path)["u.1"][0] == 1.0
    with pytest.raises(BadInput, match=r"exists.*overwrite=True"):
        recorder(path)


REFUSED = {
    "csv": (lambda p: Recorder(p.with_suffix(".csv"), NAMES, UNITS, DT), BadInput, r"\.csv: .* ends in \.h5"),
    "no channels": (lambda p: Recorder(p, [], [], DT), BadShape, "at least one channel"),
    "a string for names": (lambda p: Recorder(p, "ab", ["m", "m"], DT), BadShape, "lists of strings"),
    "a unit too few": (lambda p: Recorder(p, NAMES, ["m"], DT), BadShape, "2 names but 1 units"),
    "equal names": (lambda p: Recorder(p, ["a", "a"], UNITS, DT), BadShape, "more than once: a"),
    "dt zero": (lambda p: Recorder(p, NAMES, UNITS, 0.0), OutOfBounds, "dt = 0.0"),
    "dt nan": (lambda p: Recorder(p, NAMES, UNITS, np.nan), OutOfBounds, "dt = nan"),
    "flush never": (lambda p: recorder(p, flush_every=np.inf), OutOfBounds, "flush_every = inf"),
    "no ring": (lambda p: recorder(p, ring_seconds=-1.0), OutOfBounds, "ring_seconds"),
    "t0 nan": (lambda p: recorder(p, t0=np.nan), OutOfBounds, "t0"),
    "nan in attributes": (lambda p: recorder(p, attributes={"a": np.nan}), BadInput, "attributes: .*finite"),
    "no such folder": (lambda p: recorder(p / "none" / "run.h5"), BadInput, "cannot create .*Give a folder"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(tmp_path, case):
    make, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        make(tmp_path / "run.h5")


def test_refused_rows(tmp_path):
    with recorder(tmp_path / "run.h5") as output:
        for wrong in (np.ones((3, 3)), np.ones(3), np.ones((1, 2, 1)), 1.0):
            with pytest.raises(BadShape, match="2 columns"):
                output.write(wrong)
        output.write(np.ones(2))
    assert len(Recording.load(tmp_path / "run.h5")) == 1
    with pytest.raises(BadInput, match="closed"):
        output.write(np.ones((1, 2)))
    output.close()


def test_an_outcome_too_long_is_refused_but_the_rows_are_kept(tmp_path):
    output = recorder(tmp_path / "run.h5")
    output.write(np.ones((5, 2)))
    output.outcome["log"] = "x" * 10_000
    with pytest.raises(BadInput, match=r"outcome.*at most 8192"):
        output.close()
    assert len(Recording.load(tmp_path / "run.h5")) == 5
