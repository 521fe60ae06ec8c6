"""`hyloop peek`: what is in a file, what to type next, and a page."""

import json
import shlex

import numpy as np
import pytest
from oracles.data import data_path
from oracles.pages import Page, extremes
from oracles.records import knet

from hyloop.cli.main import app
from hyloop.errors import BadInput
from hyloop.record import Recording

DT, N = 0.005, 800
T = DT * np.arange(N)
D, F = 12.0 * np.sin(3 * T), 40.0 * np.cos(3 * T)  # mm, kN


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a file as a German rig writes it."""
    monkeypatch.chdir(tmp_path)
    lines = [f"{t:.4f};{d:.4f};{f:.4f};21.5".replace(".", ",") for t, d, f in zip(T, D, F, strict=True)]
    text = "Prüfstand 3\r\n\r\nZeit;Weg;Kraft;Temp\r\ns;mm;kN;°C\r\n" + "\r\n".join(lines)
    (tmp_path / "Versuch 7.csv").write_bytes(text.encode("cp1252"))
    return tmp_path


def peek(capsys, *words):
    app(["peek", *map(str, words)], standalone_mode=False)
    return capsys.readouterr().out


def test_a_messy_file_is_shown_with_the_next_command(folder, capsys):
    shown = peek(capsys, "Versuch 7.csv")
    for word in ("800 rows", "Weg", "200 Hz", "times are even", "read as cp1252", "-12"):
        assert word in shown
    line = "hyloop identify --laws all 'Versuch 7.csv' --t Zeit --d Weg --f Kraft --save law.toml"
    assert line in shown
    page = Page(folder / "out" / "Versuch_7-peek.html")
    assert page.headings == ["A look at Versuch 7.csv", "Next", "Columns", "Histories"]
    (loop,) = page.lines().values()
    assert extremes(loop[0]) == pytest.approx(extremes(D), abs=1e-3)
    assert extremes(loop[1]) == pytest.approx(extremes(F), abs=1e-3)
    assert set(page.lines(0)) == {("Weg [mm]", "Weg"), ("Kraft [kN]", "Kraft"), ("Temp [°C]", "Temp")}
    assert line in page.text


def test_columns_that_are_left_out_are_named(folder, capsys):
    """One is empty, one has words, and the end of every row is a separator, which is no column."""
    rows = "\n".join(f"{k};{k};;ok;{2 * k};" for k in range(1, 20))
    (folder / "a.csv").write_text("t [s];d [mm];Kanal 4;Status;f [kN];\n" + rows)
    notes = json.loads(peek(capsys, "a.csv", "--json", "--no-report"))["notes"]
    assert notes == ["without numbers, left out: Status", "empty, left out: Kanal 4"]


def test_the_next_command_is_one_that_runs(folder, capsys):
    found = json.loads(peek(capsys, "Versuch 7.csv", "--json", "--no-report"))
    words = shlex.split(found["command"])[1:]
    words[words.index("all")] = "bilinear"
    app([*words, "--starts", "1", "--no-profiles", "--json"], standalone_mode=False)
    assert json.loads(capsys.readouterr().out)["saved"] == "law.toml" and (folder / "law.toml").is_file()
    assert found["report"] is None and [column["signal"] for column in found["columns"]] == ["t", "d", "f", None]
    with pytest.raises(BadInput, match="there already"):
        app([*words], standalone_mode=False)


def test_what_only_a_person_knows_is_a_question(folder, capsys):
    np.savetxt("bare.csv", np.column_stack([D, F]), delimiter=",", header="disp,force", comments="", fmt="%.5f")
    found = json.loads(peek(capsys, "bare.csv", "--json"))
    assert "--units 'd=?,f=?' --rate \"? Hz\"" in found["command"] and "--rate" in found["sampling"]
    np.savetxt("other.txt", np.column_stack([T, D]), header="x y", comments="")
    assert json.loads(peek(capsys, "other.txt", "--json"))["command"] is None


def test_a_file_that_cannot_be_used_is_still_shown(folder, capsys):
    rows = np.delete(np.column_stack([T, D, F]), 100, axis=0)
    np.savetxt("gap.csv", rows, delimiter=",", header="t [s],d [mm],f [kN]", comments="", fmt="%.5f")
    shown = " ".join(peek(capsys, "gap.csv").split())
    assert "cannot be used as it is" in shown and "1 samples are missing" in shown


def test_recordings_and_ground_motions_too(folder, capsys):
    Recording(T, np.column_stack([1e-3 * D, 1e3 * F]), ("brace.d", "brace.f"), ("m", "N")).save("run.h5")
    found = json.loads(peek(capsys, "run.h5", "--json"))
    assert found["command"] == "hyloop identify --laws all run.h5 --save law.toml"
    (folder / "XXX001.EW").write_text(knet(100.0 * np.sin(T), 200.0))
    found = json.loads(peek(capsys, "XXX001.EW", "--json"))
    assert found["kind"] == "ground motion, K-NET" and found["command"] is None and "200 Hz" in found["sampling"]
    with pytest.raises(BadInput, match="no such file"):
        peek(capsys, "none.csv")


def test_published_tests_too(folder, capsys):
    data_path("brfd", "index.json")
    found = json.loads(peek(capsys, "brfd:d2_h36lb_1Hz_1in", "--json"))
    assert found["kind"] == "published test" and found["report"] == "out/d2_h36lb_1Hz_1in-peek.html"
