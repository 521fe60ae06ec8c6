"""Recordings are read, described, saved and exported; what is not a recording is refused."""

import csv
import json
import sys
import time

import h5py
import numpy as np
import pytest
from scipy.io import loadmat

from hyloop.errors import BadInput, BadShape, UnknownName
from hyloop.record import Recorder, Recording
from hyloop.record.export import matlab_names

ROUND_OFF = 1e-15  # a mean of squares and its root


@pytest.fixture
def recording(rng):
    data = np.column_stack([rng.normal(size=200), np.full(200, -3.0), np.arange(200.0)])
    names, units = ("damper1.f", "damper1.Fc", "u.1, top"), ("N", "N", "m")
    return Recording(np.arange(200) / 1024, data, names, units, {"seed": 5, "unit": "m/s²"})


def same(a, b):
    np.testing.assert_array_equal(a.time, b.time)
    np.testing.assert_array_equal(a.data, b.data)
    return (a.names, a.units, a.attributes, a.complete, a.dropped) == (
        b.names,
        b.units,
        b.attributes,
        b.complete,
        b.dropped,
    )


def test_channel_by_name(recording):
    np.testing.assert_array_equal(recording["damper1.f"], recording.data[:, 0])
    with pytest.raises(UnknownName, match=r"Did you mean 'damper1\.f'"):
        recording["damper1f"]


def test_a_prompt_is_not_flooded(recording):
    assert repr(recording) == "Recording: 3 channels, 200 rows to 0.194336 s, complete"
    assert repr(Recording([], np.zeros((0, 1)), ("a",), ("m",), complete=False)) == (
        "Recording: 1 channels, no rows, not complete"
    )


def test_table_by_hand():
    recording = Recording(np.arange(2.0), np.array([[3.0, 1.0], [-4.0, 1.0]]), ("a", "b"), ("m", "N"))
    assert recording.table()[0] == ("a", "m", -4.0, 3.0, pytest.approx(np.sqrt(12.5), rel=ROUND_OFF))
    assert recording.table()[1] == ("b", "N", 1.0, 1.0, 1.0)


def test_table_of_a_run_that_went_astray():
    recording = Recording(np.arange(2.0), np.array([[1e300, np.nan], [1.0, 1.0]]), ("a", "b"), ("m", "N"))
    assert recording.table()[0].rms == np.inf and np.isnan(recording.table()[1].max)
    empty = Recording(np.empty(0), np.empty((0, 1)), ("a",), ("m",))
    assert np.isnan(empty.table()[0].min)


def test_save_and_load(tmp_path, recording):
    recording.save(tmp_path / "a.h5")
    assert same(Recording.load(tmp_path / "a.h5"), recording)
    partial = Recording(*(getattr(recording, key) for key in ("time", "data", "names", "units")), {}, False, 7)
    partial.save(tmp_path / "a.h5", overwrite=True)
    assert same(Recording.load(tmp_path / "a.h5"), partial)
    with pytest.raises(BadInput, match="exists"):
        recording.save(tmp_path / "a.h5")


def test_much_provenance(tmp_path, recording):
    """More than the 64 KiB that HDF5 keeps in one place; empty names and units are odd but allowed."""
    given = {"text": "é" * 100_000}
    Recording(recording.time, recording.data, ("", "b", "ü"), ("", "", ""), given).save(tmp_path / "a.h5")
    loaded = Recording.load(tmp_path / "a.h5")
    assert loaded.attributes == given and loaded.names == ("", "b", "ü") and loaded.units == ("", "", "")


def test_plain_hdf5_readers_open_it(tmp_path, recording):
    """A finished file carries no mark of its writer, so that MATLAB or h5dump open it without SWMR."""
    recording.save(tmp_path / "a.h5")
    with h5py.File(tmp_path / "a.h5", "r") as file:
        assert file["data"].shape == (200, 3)
        assert list(file["units"].asstr()) == ["N", "N", "m"]
        assert json.loads(file.attrs["provenance"])["seed"] == 5


def test_csv(tmp_path, recording):
    recording.export(tmp_path / "a.csv")
    with open(tmp_path / "a.csv", newline="", encoding="utf-8") as stream:
        header, *rows = csv.reader(stream)
    assert header == ["time [s]", "damper1.f [N]", "damper1.Fc [N]", "u.1, top [m]"]
    np.testing.assert_array_equal(np.array(rows, float), np.column_stack([recording.time, recording.data]))


def test_mat(tmp_path, recording):
    recording.export(tmp_path / "a.mat")
    content = loadmat(tmp_path / "a.mat", simplify_cells=True)
    assert list(content["variables"]) == ["damper1_f", "damper1_Fc", "u_1__top"]
    assert list(content["names"]) == list(recording.names) and list(content["units"]) == list(recording.units)
    for name, variable in zip(recording.names, content["variables"], strict=True):
        np.testing.assert_array_equal(content[variable], recording[name])
    np.testing.assert_array_equal(content["time"], recording.time)
    assert json.loads(content["provenance"])["seed"] == 5


def test_matlab_names():
    given = ["t", "time", "a.b", "a_b", "a b", "1st", "_x", "end", "é", "y" * 70, "y" * 71]
    made = matlab_names(given, taken=["time"])
    assert made[:9] == ["t", "time_2", "a_b", "a_b_2", "a_b_3", "x1st", "x_x", "xend", "x_"]
    assert made[9:] == ["y" * 63, "y" * 61 + "_2"]


def test_parquet(tmp_path, recording):
    parquet = pytest.importorskip("pyarrow.parquet")
    recording.export(tmp_path / "a.parquet")
    table = parquet.read_table(tmp_path / "a.parquet")
    assert table.column_names == ["time", *recording.names]
    assert table.schema.field("u.1, top").metadata[b"unit"] == b"m"
    assert json.loads(table.schema.metadata[b"provenance"]) == recording.attributes
    np.testing.assert_array_equal(table["damper1.f"].to_numpy(), recording["damper1.f"])


def test_parquet_without_pyarrow(tmp_path, recording, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(BadInput, match="needs pyarrow"):
        recording.export(tmp_path / "a.parquet")
    assert list(tmp_path.iterdir()) == []


def test_export_refused(tmp_path, recording):
    with pytest.raises(UnknownName, match=r"unknown suffix '.cvs'. Did you mean '.csv'"):
        recording.export(tmp_path / "a.cvs")
    with pytest.raises(BadInput, match="cannot write"):
        recording.export(tmp_path / "none" / "a.csv")


def test_wrong_shape():
    with pytest.raises(BadShape, match="3 rows by 2 channels"):
        Recording(np.arange(3.0), np.zeros((3, 1)), ("a", "b"), ("m", "m"))


def _foreign(path):
    with h5py.File(path, "w") as file:
        file["data"] = np.zeros((3, 2))


def _newer(path):
    _good(path)
    with h5py.File(path, "r+") as file:
        file.attrs["version"] = 99


def _without_time(path):
    _good(path)
    with h5py.File(path, "r+") as file:
        del file["time"]


def _torn_provenance(path):
    _good(path)
    with h5py.File(path, "r+") as file:
        file.attrs["provenance"] = np.bytes_("{")


def _cut(path):
    _good(path)
    path.write_bytes(path.read_bytes()[:3000])


def _good(path):
    with Recorder(path, ["a"], ["m"], 0.01) as recorder:
        recorder.write(np.arange(1.0, 101.0)[:, None])  # no zeros: those are what HDF5 reads where nothing is


def _unfinished(path, kept):
    """What a failed copy leaves of a recording that is still written; plain HDF5 waits for ever or reads zeros."""
    whole = path.with_name("whole.h5")
    recorder = Recorder(whole, ["a"], ["m"], 0.01, flush_every=0.001)
    recorder.write(np.ones((20_000, 1)))
    while recorder._tail < 20_000:  # not `load`: a reader in this process would bring the head of the file up to date
        time.sleep(0.001)
    path.write_bytes(whole.read_bytes()[:kept])
    recorder.close()


SPOILT = {
    "text": (lambda path: path.write_text("time, force\n"), "damaged or not a hyloop recording"),
    "empty": (lambda path: path.write_bytes(b""), "damaged or not a hyloop recording"),
    "cut short": (_cut, "damaged or not a hyloop recording"),
    "cut short in the head while unfinished": (
        lambda path: _unfinished(path, 3000),
        "damaged or not a hyloop recording",
    ),
    "cut short in the rows while unfinished": (lambda path: _unfinished(path, 100_000), "cut short: it has 100000 of"),
    "another HDF5 file": (_foreign, "not a hyloop recording"),
    "of a newer version": (_newer, "format version 99.*Update hyloop"),
    "without times": (_without_time, "cannot be read as a recording"),
    "torn provenance": (_torn_provenance, "cannot be read as a recording"),
    "a folder": (lambda path: path.mkdir(), "no such file"),
}


@pytest.mark.parametrize("case", SPOILT)
def test_what_is_not_a_recording_is_refused(tmp_path, case):
    spoil, message = SPOILT[case]
    spoil(tmp_path / "run.h5")
    with pytest.raises(BadInput, match=message):
        Recording.load(tmp_path / "run.h5")


def test_random_damage_is_refused_or_harmless(tmp_path, rng):
    """Whatever bytes are spoilt, loading gives the rows that were recorded or `BadInput`."""
    _good(tmp_path / "good.h5")
    content, refused, whole, wrong = (tmp_path / "good.h5").read_bytes(), 0, Recording.load(tmp_path / "good.h5"), 0
    for _ in range(200):
        spoilt = bytearray(content)
        at = int(rng.integers(0, 2500))  # where the structure of the file lies
        spoilt[at : at + 8] = rng.bytes(8)
        (tmp_path / "run.h5").write_bytes(spoilt)
        try:
            loaded = Recording.load(tmp_path / "run.h5")
        except BadInput:
            refused += 1
        else:
            wrong += not (np.array_equal(loaded.data, whole.data) and np.array_equal(loaded.time, whole.time))
    assert 20 < refused < 200 and wrong == 0


def test_an_experiment_file_is_not_called_damaged(tmp_path):
    (tmp_path / "x.toml").write_text("title = 'x'")
    with pytest.raises(BadInput, match=r"x\.toml is not a recording: .*hyloop run") as refused:
        Recording.load(tmp_path / "x.toml")
    assert "damaged" not in str(refused.value)
