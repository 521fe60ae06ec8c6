"""Tests by name: one door to all data sets."""

import json
from pathlib import Path

import numpy as np
import pytest
from oracles.data import data_path
from scipy.io import savemat

from hyloop.data import DATA_SETS, SOURCES, source_tests
from hyloop.data.ledger import LEDGER, checksum, write_ledger
from hyloop.data.velocity import causal_velocity
from hyloop.errors import BadInput, UnknownName


def test_every_data_set_is_a_source():
    assert set(SOURCES) == set(DATA_SETS)


def test_what_is_no_source_is_left_to_others(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for text in ("run.h5", "folder/test.csv", "C:/test.csv", "C:\\test.csv"):
        assert source_tests(text) is None
    with pytest.raises(UnknownName, match=r"unknown data set 'brdf'. Did you mean 'brfd'"):
        source_tests("brdf:d2_*")
    (tmp_path / "at:noon.csv").write_text("t,d,f\n")
    assert source_tests("at:noon.csv") is None  # a file of that name


def test_a_set_that_is_not_here_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setenv("HYLOOP_DATA", str(tmp_path))
    for name, source in SOURCES.items():
        assert source.here() is None
        with pytest.raises(BadInput, match=rf"{name}:any.*hyloop data get {name}.*HYLOOP_DATA"):
            source_tests(f"{name}:any")


PUBLISHED = {
    "brfd": ["dataset-2/a.json", "dataset-2/b.json"],
    "mr_damper": ["2mm5Hz0A.txt", "2mm5Hz1A.txt"],
    "boucwen": ["uest_multisine.mat", "yest_multisine.mat"],
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_hidden_folders_are_no_part_of_a_set(tmp_path, monkeypatch, name):
    monkeypatch.setenv("HYLOOP_DATA", str(tmp_path / ".hidden"))  # above the set it does not matter
    for below in (".download-x", ".git/x", "."):
        for file in PUBLISHED[name]:
            path = tmp_path / ".hidden" / name / below / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("")
        assert (SOURCES[name].here() is None) is (below != ".")


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_list_of_checksums_is_read_once(tmp_path, monkeypatch, name):
    folder = tmp_path / name
    (folder / "dataset-2").mkdir(parents=True)
    rows = np.column_stack([np.arange(40) / 1024, np.ones((40, 5))])
    for file in PUBLISHED[name]:
        if name == "brfd":
            (folder / file).write_text(json.dumps({"data": rows.tolist()}))
        elif name == "mr_damper":
            np.savetxt(folder / file, rows[:, :4])
        else:
            savemat(folder / file, {"x": rows[:, 0]})
    write_ledger(folder, "S", {file: checksum(folder / file) for file in PUBLISHED[name]})
    read, plain = [], Path.read_text

    def counted(path, *args, **more):
        read.append(path.name)
        return plain(path, *args, **more)

    monkeypatch.setattr(Path, "read_text", counted)
    monkeypatch.setenv("HYLOOP_DATA", str(tmp_path))
    assert len(source_tests(f"{name}:*")) == (1 if name == "boucwen" else 2) and read.count(LEDGER) == 1


def test_banded_damper():
    data_path("brfd", "index.json")
    (quake,) = source_tests("brfd:d2_eq36lb_KocaeliDBE").values()
    assert {key: unit for key, (_, unit) in quake.signals.items()} == {
        "d": "m",
        "v": "m/s",
        "f": "N",
        "v_causal": "m/s",
        "t1": "N",
        "t2": "N",
    }
    assert quake.event == "Kocaeli" and list(quake.not_causal) == ["v"] and quake.dt == 1 / 1024
    assert np.array_equal(quake.signals["v_causal"][0], causal_velocity(quake.signals["d"][0], quake.dt))
    (sine,) = source_tests("brfd:d2_h36lb_1Hz_1in").values()
    assert sine.event == "d2_h36lb_1Hz_1in"


def test_mr_damper_and_benchmark():
    data_path("mr_damper", "index.json"), data_path("boucwen", "estimation.npz")
    found = source_tests("mr_damper:*_0.25A")
    assert len(found) == 6 and len({test.event for test in found.values()}) == 6
    test = found["sine_10mm_1Hz_0.25A"]
    assert np.array_equal(test.signals["i"][0], np.full(len(test.signals["d"][0]), 0.25)) and not test.not_causal
    assert {test.event for test in source_tests("mr_damper:earthquake_*").values()} == {"earthquake"}
    (record,) = source_tests("boucwen:estimation").values()
    assert {key: unit for key, (_, unit) in record.signals.items()} == {"u": "N", "y": "m"}
