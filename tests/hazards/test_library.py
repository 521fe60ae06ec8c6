"""Folders of records."""

import csv
from pathlib import Path

import numpy as np
import pytest
from oracles.data import data_path
from oracles.records import cosmos, csmip, esm, knet

from hyloop.errors import BadInput, UnknownName
from hyloop.hazards import G, find_record, index_records

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


def test_the_data_folder_is_the_usual_one(folder, monkeypatch):
    monkeypatch.setenv("HYLOOP_DATA", str(folder))
    assert find_record("lone").name == "lone_1.AT2"
    (folder / "brfd" / "published").mkdir(parents=True)
    (folder / "brfd" / "published" / "lone.AT2").write_text(AT2)  # a test of a device is no record
    assert find_record("lone").name == "lone_1.AT2" and "lone" not in {record.name for record in index_records()}
    monkeypatch.setattr("hyloop.hazards.library.data_folder", lambda: None)
    with pytest.raises(BadInput, match="default_motion"):
        index_records()


def test_records_of_the_networks(tmp_path):
    """Names as the databases give them; two horizontal components make a pair, whatever tells them apart."""
    quake = "HI.ARS1..HN{}.D.20190728.160908.C.ACC.ASC"
    gal = np.sin(np.arange(400))
    for name, text in {
        **{f"RSN6_IMPVALL.I_I-ELC{c}.AT2": AT2 for c in ("180", "270", "-UP")},
        **{f"RSN1521_CHICHI_TCU089-{c}.AT2": AT2 for c in "ENV"},
        **{f"AOM0021801241951.{c}": knet(gal, 200) for c in ("EW", "NS", "UD")},
        **{f"TCGH131801241951.{c}": knet(gal, 200) for c in ("EW1", "NS1", "EW2", "NS2", "UD2")},
        **{quake.format(c): esm(gal, 0.005, f"HN{c}") for c in "ENZ"},
        "HI.ARS1..HNE.D.20190728.160908.C.VEL.ASC": esm(gal, 0.005, kind="VELOCITY", unit="cm/s"),
        "AKBMR.V2c": cosmos([("acceleration", "cm/sec2(04)", gal)], 0.005),
        "CE89146.V2": csmip(gal, gal, gal, " .005", "1") + csmip(2 * gal, gal, gal, " .005", "2", "90 Deg"),
        "broken.EW": knet(gal, 200).replace("Duration Time(s)  2", "Duration Time(s)  9"),
    }.items():
        (tmp_path / name).write_text(text)
    found = {(record.path.name, record.component): record for record in index_records(tmp_path)}
    assert len(found) == 21 and not any("VEL" in name for name, _ in found)
    assert "promises 1800" in found["broken.EW", ""].problem
    for one, other in (
        ("RSN6_IMPVALL.I_I-ELC180.AT2", "RSN6_IMPVALL.I_I-ELC270.AT2"),
        ("RSN1521_CHICHI_TCU089-E.AT2", "RSN1521_CHICHI_TCU089-N.AT2"),
        ("AOM0021801241951.EW", "AOM0021801241951.NS"),
        ("TCGH131801241951.EW1", "TCGH131801241951.NS1"),
        ("TCGH131801241951.EW2", "TCGH131801241951.NS2"),
        (quake.format("E"), quake.format("N")),
    ):
        assert found[one, ""].pair == tmp_path / other and found[other, ""].pair == tmp_path / one
    for alone in ("AOM0021801241951.UD", quake.format("Z"), "RSN1521_CHICHI_TCU089-V.AT2", "AKBMR.V2c"):
        assert found[alone, ""].pair is None and found[alone, ""].npts in (3, 400)
    assert found["CE89146.V2", "2"].pga == pytest.approx(2 * found["CE89146.V2", "1"].pga)
    assert find_record("aom0021801241951.ns", tmp_path).name == "AOM0021801241951.NS"
    with pytest.raises(BadInput, match="fits 3 records"):
        find_record("AOM0021801241951", tmp_path)


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
