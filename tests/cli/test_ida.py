"""`hyloop ida` and `hyloop fragility` as a person uses them: output, pages, going on, refusals."""

import json
import sys

import numpy as np
import pytest
from oracles.pages import Page

from hyloop.cli.main import main
from hyloop.ensembles.outcome import Row
from hyloop.ensembles.table import read_table, write_table

pytestmark = pytest.mark.slow

FILE = """
title = "One story, a brace that yields"
[structure]
kind = "shear_frame"
stories = 1
masses = "10 t"
stiffnesses = "1 kN/m"
gravity = "98 kN"
heights = "3 m"
[integrator]
method = "newmark_explicit"
dt = "1/256 s"
[excitation]
kind = "record"
file = "one.csv"
[sites.brace]
story = 1
device = { law = "bilinear", k = "400 kN/m", alpha = 0.0, f_y = "12 kN" }
[ida]
first = "0.1 g"
step = "0.1 g"
"""


@pytest.fixture
def say(monkeypatch, tmp_path, capsys):
    """Run a command in a folder with an oscillator and three motions; returns exit code, output and complaints."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HYLOOP_DATA", str(tmp_path))
    t = np.arange(400) * 0.02
    for k, name in enumerate(("one", "two", "three")):
        noise = np.random.default_rng(k).normal(size=t.size) * np.sin(np.pi * t / t[-1])
        table = np.column_stack([t, np.convolve(noise, np.ones(8) / 8, "same")])
        np.savetxt(f"{name}.csv", table, "%.9g", ",", header="t [s],a [m/s2]", comments="")
    (tmp_path / "frame.toml").write_text(FILE, "utf-8")
    (tmp_path / "strong.toml").write_text(FILE.replace("12 kN", "15 kN").replace("One story", "Stronger"), "utf-8")

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["hyloop", *map(str, words)])
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
        out, err = capsys.readouterr()
        return code, out, " ".join(err.split())

    return run


def test_an_analysis_a_comparison_and_other_states_of_the_same_runs(say, tmp_path):
    words = "--records", "one.csv,two.csv,three.csv", "--levels", 8, "--workers", 1
    code, out, _ = say("ida", "frame.toml", *words, "--mce", "0.1 g", "--against", "strong.toml", "--json")
    told = json.loads(out)
    assert code == 0 and len(told["records"]) == 3 and told["runs"] == 24
    collapse = told["fragilities"][-1]
    low, high = collapse["median_bootstrap"]
    assert low <= collapse["median"] <= high and told["collapse_margin_ratio"] == pytest.approx(
        collapse["median"] / 0.980665
    )
    ratio, least, most = told["comparison"]["medians"]["collapse"]
    assert least <= ratio <= most < 1.0 and ratio == pytest.approx(
        collapse["median"] / told["other"]["fragilities"][-1]["median"]
    )
    table = read_table(tmp_path / told["table"])
    assert len(table["run"]) == 24 and set(table["outcome"]) == {"complete", "stopped"}
    page = Page(tmp_path / told["report"])
    assert page.answer == told["comparison"]["sentence"] and "Against Stronger" in " ".join(page.headings)
    names = [trace["name"] for trace in page.picture["data"]]
    assert {"16 %", "50 %", "84 %", "collapse", "collapse, other"} <= set(names) and names.count("records") == 3

    code, out, err = say("ida", "frame.toml", *words)
    assert code == 0 and "what has been run is not run again" in err and "Half of the records collapse at" in out
    code, out, _ = say("fragility", "out/frame-ida", "--state", "severe=2 %", "--confidence", "90 %", "--json")
    told = json.loads(out)
    assert code == 0 and [one["state"] for one in told["fragilities"]] == ["severe", "collapse"]
    assert told["fragilities"][0]["confidence"] == 0.9 and told["fragilities"][0]["median"] < collapse["median"]
    code, _, err = say("fragility", "out/frame-ida", "--state", "severe=20 mm")
    assert code == 2 and "the response of this analysis is in -" in err

    before = {path: path.read_bytes() for path in (tmp_path / "out/frame-ida").rglob("*") if path.is_file()}
    for wrong in (("--state", "severe=20 mm"), ("--set", "sites.brace.device.fy=3"), ("--against", "weak.toml")):
        assert say("ida", "frame.toml", *words, "--force", *wrong)[0] == 2
    assert {path: path.read_bytes() for path in before} == before
    code, _, err = say("ida", "strong.toml", *words, "--out", "out/frame-ida")
    assert code == 2 and "holds a campaign with another text of the experiment file" in err
    assert say("ida", "strong.toml", *words, "--out", "out/frame-ida", "--force")[0] == 0
    assert not (tmp_path / "out/frame-ida/against").exists()


def test_stripes_of_a_table(say, tmp_path):
    """20 runs at three levels; the fractions of the outermost are met by no curve exactly, and lie about it."""
    rows, keys, rng = [], [], np.random.default_rng(0)
    for level, failed in ((2.0, 2), (4.0, 9), (7.0, 17)):
        for k in range(20):
            stopped = k < failed
            values = {} if stopped else {"drift_ratio": float(rng.uniform(0.001, 0.01))}
            rows.append(Row(f"{level}-{k}", "stopped" if stopped else "complete", "drift" * stopped, values))
            keys.append({"excitation.peak": level})
    write_table(tmp_path / "runs.parquet", rows, keys, {})
    code, out, _ = say("fragility", tmp_path, "--json")
    fit = json.loads(out)["fragilities"][-1]
    assert code == 0 and 4.0 < fit["median"] < 5.0 and 0.4 < fit["beta"] < 0.8
    page = Page(tmp_path / "fragility.html")
    assert page.answer.startswith("Half of the runs reach collapse at excitation.peak = 0.4")
    code, out, _ = say("fragility", tmp_path, "--state", "slight=0.5 %")
    assert code == 0 and "slight, 0.5 %" in out
    code, _, err = say("fragility", tmp_path, "--intensity", "excitation.peek")
    assert code == 2 and "Did you mean 'excitation.peak'" in err


@pytest.mark.parametrize(
    "words, said",
    [
        (["ida", "frame.toml"], "ida.records is missing"),
        (["ida", "frame.toml", "--records", "nothing*"], "the set is empty"),
        (["ida", "frame.toml", "--records", "onne"], "unknown record 'onne'. Did you mean 'one'"),
        (["ida", "frame.toml", "--records", "400"], "the data folder has 3"),
        (["ida", "frame.toml", "--records", "one.csv", "--set", "sites.brace.device.fy=3"], "Did you mean 'f_y'"),
        (["ida", "frame.toml", "--records", "one.csv", "--state", "severe"], "a name and a drift"),
        (["ida", "frame.toml", "--records", "one.csv", "--out", "."], "holds other files"),
        (["fragility", "nowhere"], "no such folder"),
        (["fragility", "."], "neither an incremental analysis"),
    ],
)
def test_refusals_are_2_and_say_what_to_do(say, words, said):
    code, out, err = say(*words)
    assert code == 2 and not out and said in err
