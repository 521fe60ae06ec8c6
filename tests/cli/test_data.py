"""`hyloop data`: list, get and where, with a server on this machine in place of the providers'."""

import dataclasses
import io
import json
import sys
import zipfile

import numpy as np
import pytest
from oracles.server import serving

from hyloop.cli import main
from hyloop.data import DATA_SETS, Download

FILE = "data/dataset-2/characterization datasets/1Hz36lbtension1amplitude.json"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HYLOOP_DATA", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


@pytest.fixture
def provider(monkeypatch):
    """The banded-damper tests, one test small, from this machine."""
    t = np.arange(64) / 1024
    table = np.column_stack([t, np.sin(t), t, t, t, t])
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as content:
        content.writestr(f"repository-0e09aa9/{FILE}", json.dumps({"data": table.tolist()}))
    with serving() as answers:
        url = answers.url("/zip", packed.getvalue())
        data = dataclasses.replace(DATA_SETS["brfd"], downloads=(Download(url, "published", unpack=True),))
        monkeypatch.setitem(DATA_SETS, "brfd", data)
        yield answers


@pytest.fixture
def hyloop(monkeypatch, capsys):
    def call(*words, code=0):
        monkeypatch.setattr(sys, "argv", ["hyloop", "data", *words])
        try:
            main()
            done = 0
        except SystemExit as stop:
            done = stop.code or 0
        out = capsys.readouterr()
        assert done == code, out.out + out.err
        return out

    return call


def test_list(folder, provider, hyloop):
    table = hyloop("list").out
    assert all(
        word in table for word in ("brfd", "boucwen", "mr_damper", "CC BY-SA 4.0", "MIT", "about 6 MB", "not known")
    )
    assert "yes" not in table
    hyloop("get", "brfd")
    assert "yes" in hyloop("list").out
    sets = {row["name"]: row for row in json.loads(hyloop("list", "--json").out)}
    assert sets["brfd"]["folder"] == str(folder / "brfd") and sets["boucwen"]["folder"] is None
    assert "Coble" in sets["brfd"]["citation"] and sets["boucwen"]["size"] == 5_600_000


def test_get(folder, provider, hyloop):
    text = hyloop("get", "brfd").out
    for word in ("licence: CC BY-SA 4.0", "please cite: D. Coble", f"it lies in {folder / 'brfd'}", "hyloop identify"):
        assert word in text
    assert (folder / "brfd" / "published" / FILE).is_file()
    assert "it is here already" in hyloop("get", "brfd").out and provider.asked == ["/zip"]
    again = json.loads(hyloop("get", "brfd", "--again", "--json").out)
    assert again == {"name": "brfd", "folder": str(folder / "brfd"), "downloaded": True}
    assert provider.asked == ["/zip", "/zip"]


def test_what_was_got_can_be_used(folder, provider, hyloop):
    from hyloop.files.measurements import read_columns

    hyloop("get", "brfd")
    (test,) = read_columns("brfd:d2_h36lb_*").values()
    assert test.signals["d"][0][-1] == pytest.approx(0.0254 * np.sin(63 / 1024))
    assert list(test.not_causal) == ["v"] and "v_causal" in test.signals


def test_failures(folder, provider, hyloop, monkeypatch):
    assert "Did you mean 'brfd'" in hyloop("get", "brdf", code=2).err
    provider.url("/zip", ("status", 404))
    assert "the download failed" in hyloop("get", "brfd", code=1).err
    assert list(folder.iterdir()) == []
    monkeypatch.setenv("HYLOOP_DATA", str(folder / "absent"))
    assert "no such folder" in " ".join(hyloop("where", code=2).err.split())


def test_where(folder, hyloop, monkeypatch):
    assert hyloop("where").out.splitlines() == [str(folder), "(named by HYLOOP_DATA)"]
    monkeypatch.delenv("HYLOOP_DATA")
    monkeypatch.setattr("hyloop.data.folders.user_data_path", lambda name, appauthor: folder / "own" / name)
    found = json.loads(hyloop("where", "--json").out)
    assert found["folder"] == str(folder / "own" / "hyloop") and found["exists"] is False
    assert "HYLOOP_DATA is not set" in found["chosen"] and "does not exist yet" in hyloop("where").out


def test_help_teaches(hyloop):
    text = hyloop("--help").out
    assert "hyloop data get brfd" in text and "HYLOOP_DATA" in text
