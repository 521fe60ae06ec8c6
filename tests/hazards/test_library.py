"""Folders of records."""

import csv
from pathlib import Path

import pytest
from oracles.data import data_path

from hyloop.errors import BadInput, UnknownName
from hyloop.hazards import G, data_folder, find_record, index_records, library

AT2 = "A\nB\nACCELERATION TIME SERIES IN UNITS OF G\nNPTS= 3, DT= .01 SEC\n 0.0 0.5 -1.0\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "deep").mkdir()
    for name in ("kobe_1.AT2", "kobe_2.AT2", "deep/ELC180.at2", "deep/ELC270.at2", "deep/ELC-UP.at2", "lone_1.AT2"):
        (tmp_path / name).write_text(AT2)
    (tmp_path / "broken.AT2").write_text(AT2 + "9.9\n")
    (tmp_path / "index.csv").write_text("file,event\nx,y\n")
    (tmp_path / "column.csv").write_text("t,a (g)\n0,1\n0.1,2\n")
    (tmp_path / "README.md").write_text("not a record")
    return tmp_path


def test_index(folder):
    found = {record.name: record for record in index_records(folder)}
    assert set(found) == {"kobe_1", "kobe_2", "ELC180", "ELC270", "ELC-UP", "lone_1", "broken", "column"}
    kobe = found["kobe_1"]
    assert (kobe.npts, kobe.dt, kobe.duration, kobe.pga) == (3, 0.01, 0.02, pytest.approx(G))
    assert kobe.pair == found["kobe_2"].path and found["kobe_2"].pair == kobe.path
    assert found["ELC180"].pair == found["ELC270"].path
    assert found["ELC-UP"].pair is found["lone_1"].pair is found["column"].pair is None
    assert "promises 3 points" in found["broken"].problem and found["broken"].npts == 0


def test_find(folder):
    assert find_record("elc270", folder).name == "ELC270.at2"
    assert find_record("lone", folder).name == "lone_1.AT2"
    with pytest.raises(BadInput, match=r"fits 2 records: kobe_1.AT2, kobe_2.AT2"):
        find_record("kobe", folder)
    with pytest.raises(UnknownName, match=r"unknown record 'koby_1'\. Did you mean 'kobe_1'"):
        find_record("koby_1", folder)
    with pytest.raises(BadInput, match="no such folder"):
        find_record("kobe", folder / "absent")


def test_an_exact_name_wins_over_longer_ones(folder):
    (folder / "kobe.AT2").write_text(AT2)
    assert find_record("kobe", folder).name == "kobe.AT2"


def test_data_folder(folder, monkeypatch, tmp_path_factory):
    monkeypatch.setenv("HYLOOP_DATA", str(folder))
    assert data_folder() == folder and find_record("lone").name == "lone_1.AT2"
    monkeypatch.setenv("HYLOOP_DATA", str(folder / "absent"))
    with pytest.raises(BadInput, match="HYLOOP_DATA"):
        data_folder()
    monkeypatch.delenv("HYLOOP_DATA")
    base = tmp_path_factory.mktemp("elsewhere")
    (base / "checkout").mkdir()
    monkeypatch.setattr(library, "__file__", str(base / "a/b/c/d/e/library.py"))
    monkeypatch.chdir(base / "checkout")
    assert data_folder() is None
    with pytest.raises(BadInput, match="default_motion"):
        index_records()
    (base / "shared" / "data").mkdir(parents=True)
    assert data_folder() == base / "shared" / "data"


def test_real_folder_agrees_with_its_own_index():
    root = data_path("ground_motions", "index.csv").parent
    with (root / "index.csv").open() as file:
        rows = {row["file"]: row for row in csv.DictReader(file)}
    records = index_records(root)
    assert {record.path.name for record in records} == set(rows)
    for record in records:
        row = rows[record.path.name]
        assert record.npts == int(row["npts"]) and record.dt == pytest.approx(float(row["dt_s"]))
        assert record.pga / G == pytest.approx(float(row["pga_g"]), abs=6e-5)  # four digits
    pairs = [record for record in records if record.pair]
    assert len(pairs) == len(records) - 1 and all(isinstance(record.pair, Path) for record in pairs)
