"""`hyloop identify` as a person uses it: files in, table, JSON and page out."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from oracles.data import data_path
from oracles.pages import Page, extremes

from hyloop.cli.main import app
from hyloop.devices import bilinear, bouc_wen
from hyloop.errors import BadInput
from hyloop.identification import MeasuredTest, fit, profile
from hyloop.report.identification_page import remark

pytestmark = pytest.mark.slow

DT, NOISE = 0.01, 200.0
STUDY = Path(__file__).parents[2] / "studies" / "brfd"
SINGLE = 1e-6  # relative: numbers on a page have single precision
SHOWN = 5e-4  # relative: tables show four digits


def hyloop(*words, cwd, code=0):
    command = [sys.executable, "-c", "from hyloop.cli import main; main()", *map(str, words)]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the record of a Bouc-Wen device in mm and kN."""
    path = tmp_path_factory.mktemp("identify")
    d = 8e-3 * np.sin(np.arange(400) * 0.05) * np.linspace(0.2, 1.0, 400)
    f = bouc_wen(k=2e7, d_y=2e-3).drive(DT, d=d)["f"] + NOISE * np.random.default_rng(0).normal(size=d.size)
    rows = [
        f"{t:.2f},{1e3 * x!r},{1e-3 * y!r}" for t, x, y in zip(DT * np.arange(400), d.tolist(), f.tolist(), strict=True)
    ]
    (path / "brace.csv").write_text("\n".join(["t,d [mm],f [kN]", *rows]))
    return path


def test_json_and_page(folder):
    options = ("--fix", "alpha=0.05", "--guess", "k=10kN/mm", "--bounds", "d_y=1mm..5mm", "--starts", 3)
    done = hyloop("identify", "bouc_wen", "brace.csv", "--free", "k,d_y", *options, "--json", cwd=folder)
    found = json.loads(done.stdout)
    for name, truth in (("k", 2e7), ("d_y", 2e-3)):
        row = found["parameters"][name]
        assert row["low"] < truth < row["high"] and row["profile"][0] < truth < row["profile"][1]
    assert found["tests"][0]["rmse"] == pytest.approx(NOISE, rel=0.1)
    page = Page(folder / found["report"])
    wanted = ["Use it", "Parameters", "Residuals", "Profiles", "How it was read and fitted", "Provenance"]
    assert page.headings[1:] == wanted and page.headings[0] == "Identification: bouc_wen"
    table = page.rows("Parameters of bouc_wen")
    for name, (factor, unit) in {"k": (1e-6, "kN/mm"), "d_y": (1e3, "mm")}.items():  # units of the file
        row = found["parameters"][name]
        numbers = factor * np.array([row["value"], row["std"], row["low"], row["high"], *row["profile"]])
        shown = [table[name][k] for k in (0, 2, 3, 4, 5, 6)]
        assert table[name][1] == unit
        assert [float(x) for x in shown] == pytest.approx(numbers, rel=SHOWN)
    assert float(page.rows("Fixed parameters")["alpha"][0]) == 0.05
    # loops and residuals are those of the record, in its own mm and kN
    t, d, f = np.loadtxt(folder / "brace.csv", delimiter=",", skiprows=1).T
    loops, residuals, profiles = (page.lines(k) for k in (None, 0, 1))
    assert set(loops) == {("brace", "measured"), ("brace", "bouc_wen")}
    np.testing.assert_allclose(
        [extremes(x) for x in loops["brace", "measured"]], [extremes(d), extremes(f)], rtol=SINGLE
    )
    time, error = residuals["brace", "model - measured"]
    assert extremes(time) == pytest.approx(extremes(t), rel=SINGLE)
    assert np.std(error) == pytest.approx(1e-3 * NOISE, rel=0.1)
    for name, label, factor in (("k", "k [kN/mm]", 1e-6), ("d_y", "d_y [mm]", 1e3)):
        values, distance = profiles[label, "profile"]
        crossing = np.interp(0.0, distance, values)  # the best fit
        assert crossing == pytest.approx(factor * found["parameters"][name]["value"], rel=1e-2)


def test_table_names_what_is_not_observable(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    words = ["identify", "bouc_wen", "brace.csv", "--free", "k,d_y,A,beta,gamma", "--starts", "1", "--no-profiles"]
    app([*words, "--out", "a.html"], standalone_mode=False)
    shown = " ".join(capsys.readouterr().out.split())
    assert "d_y: not observable: a change is undone by" in shown
    assert "95 % from" in shown and "a.html" in shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("bouc_wenn", "brace.csv", "--free", "k"), "Did you mean 'bouc_wen'"),
        (("bouc_wen", "none.csv", "--free", "k"), "none.csv"),
        (("bouc_wen", "brace.csv", "--free", "kk"), "Did you mean 'k'"),
        (("bouc_wen", "brace.csv", "--free", "k", "--fix", "k=1e7"), "it is free"),
        (("bouc_wen", "brace.csv", "--free", "k", "--bounds", "n=1..2"), "it is not free"),
        (("bouc_wen", "brace.csv", "--free", "k", "--bounds", "k=1e8..1e9"), "outside its bounds"),
        (("bouc_wen", "brace.csv", "--free", "k", "--bounds", "k=3"), "lower and the upper"),
        (("bouc_wen", "brace.csv", "--free", "k", "--guess", "k=3kg"), "--guess k"),
        (("bouc_wen", "brace.csv", "--free", "k", "--method", "simplex"), "method 'simplex'"),
        (("bouc_wen", "brace.csv", "--free", "k", "--f", "force"), "channel 'force'"),
        (("bouc_wen", "brfd:nothing", "--free", "k"), "brfd"),
    ],
)
def test_bad_input_is_refused(folder, words, message, monkeypatch):
    monkeypatch.chdir(folder)
    before = set(folder.iterdir())
    with pytest.raises(BadInput, match=re.escape(message)):
        app(["identify", *words, "--out", "refused.html"], standalone_mode=False)
    assert set(folder.iterdir()) == before, "something was left behind"


def test_numbers_without_units_are_refused_until_they_are_stated(folder):
    """The record in mm and kN, without saying so: taken for m and N its stiffness would be a million times off."""
    bare = (folder / "brace.csv").read_text().replace(" [mm]", "").replace(" [kN]", "")
    (folder / "bare.csv").write_text(bare)
    words = ("identify", "bouc_wen", "--free", "k,d_y", "--fix", "alpha=0.05", "--starts", 1, "--no-profiles", "--json")
    refused = hyloop(*words, "bare.csv", cwd=folder, code=2)
    assert "column 'd' has no unit" in " ".join(refused.stderr.split()) and "--units d=" in refused.stderr
    told, named = (
        json.loads(hyloop(*words, *more, cwd=folder).stdout)["parameters"]
        for more in (("bare.csv", "--units", "d=mm, f=kN"), ("brace.csv",))
    )
    assert told == named and 1.9e7 < told["k"]["value"] < 2.1e7
    assert "--units d" in hyloop(*words, "bare.csv", "--units", "d", cwd=folder, code=2).stderr


def test_a_refusal_has_exit_code_2(folder):
    assert "Did you mean 'k'" in hyloop("identify", "bouc_wen", "brace.csv", "--free", "kk", cwd=folder, code=2).stderr


def test_quick_study_of_the_banded_damper(tmp_path):
    data_path("brfd", "index.json")
    done = hyloop("study", "run", "brfd", "--quick", "--out", "study", "--json", cwd=tmp_path)
    verdicts = {row["claim"]: row for row in json.loads(done.stdout)}
    # the laws fitted to the harmonic tests alone, in full: the same numbers as those of the full run
    full = {row["claim"]: row for row in json.loads((STUDY / "claims.json").read_text(encoding="utf-8"))}
    assert list(verdicts) == [c for c in full if c.startswith("gap-slip, harmonics only") and "causal" not in c]
    for claim, row in verdicts.items():
        assert row["ours"] == pytest.approx(full[claim]["ours"], rel=1e-3) and row["verdict"] == full[claim]["verdict"]


def test_a_fit_to_round_off_claims_no_interval(tmp_path):
    d = 0.03 * np.sin(np.linspace(0.0, 25.0, 600)) * np.linspace(0.2, 1.0, 600)
    tests = [MeasuredTest(0.01, {"d": d}, bilinear(k=7e7, alpha=0.02, f_y=3e4).drive(0.01, d=d)["f"])]
    fitted = fit(bilinear(k=7e7, alpha=0.02, f_y=3e4), tests, {"k": (1e6, 1e9), "f_y": (1e3, 1e6)}, starts=1)
    assert "round-off" in remark(fitted, [profile(fitted, "k")], "k")


def test_several_laws_are_ranked_and_the_best_is_saved(folder):
    words = ("identify", "--laws", "spring,bilinear,bouc_wen", "brace.csv", "--save", "best.toml", "--force")
    found = json.loads(hyloop(*words, "--json", cwd=folder).stdout)
    assert [row["law"] for row in found["ranking"]] == ["bouc_wen", "bilinear", "spring"]
    assert [row["tie"] for row in found["ranking"]] == [True, False, False]
    assert [row["parameters"] for row in found["ranking"]] == [4, 3, 1] and not found["left_out"]
    assert found["law"] == "bouc_wen" and found["saved"] == "best.toml" and found["report"].startswith("out/brace-")
    page = Page(folder / found["report"])
    assert page.headings[1:4] == ["Use it", "Laws compared", "Parameters"]
    assert 'device = { file = "best.toml" }' in page.text
    assert page.answer.startswith("Of 3 laws bouc_wen predicts data it has not seen best") and len(page.numbers) == 6
    assert {title for title, _ in page.lines(0)} == {"bouc_wen", "bilinear", "spring"}
    assert {row[0]: row[1] for row in page.rows("Laws compared").values()} == {
        "bouc_wen": "4",
        "bilinear": "3",
        "spring": "1",
    }
    same = json.loads(hyloop("identify", "spring,bilinear,bouc_wen", "brace.csv", "--json", cwd=folder).stdout)
    assert same["ranking"] == found["ranking"] and same["parameters"] == found["parameters"]


def test_the_page_of_one_law_does_not_replace_that_of_a_ranking(folder, tmp_path):
    shutil.copy(folder / "brace.csv", tmp_path)
    hyloop("identify", "--laws", "spring,bilinear", "brace.csv", "--starts", 1, cwd=tmp_path)
    ranked = (tmp_path / "out" / "brace-identification.html").read_bytes()
    one = ("identify", "spring", "brace.csv", "--starts", 1, "--no-profiles", "--save", "law.toml", "--force")
    said = hyloop(*one[:-3], cwd=tmp_path)
    assert "the earlier page is now out/brace-identification-1.html" in said.stderr
    assert (tmp_path / "out" / "brace-identification-1.html").read_bytes() == ranked
    page = Page(tmp_path / "out" / "brace-identification.html")
    assert "Laws compared" not in page.headings
    # with --force results may go, and a page that --out names is the one to be written
    hyloop(*one, cwd=tmp_path)
    assert 'device = { file = "law.toml" }' in Page(tmp_path / "out" / "brace-identification.html").text
    hyloop(*one, "--out", "out/mine.html", cwd=tmp_path)
    hyloop(*one, "--out", "out/mine.html", cwd=tmp_path)
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"brace-identification.html", "brace-identification-1.html", "mine.html"}


def test_without_free_the_usual_parameters_are_found(folder):
    found = json.loads(hyloop("identify", "bouc_wen", "brace.csv", "--fix", "n=2", "--json", cwd=folder).stdout)
    assert set(found["parameters"]) == {"k", "alpha", "d_y"} and "Free by default: k, alpha, d_y." in found["notes"]
    for name, truth in (("k", 2e7), ("d_y", 2e-3), ("alpha", 0.05)):
        assert found["parameters"][name]["low"] < truth < found["parameters"][name]["high"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--laws", "all,bilinear", "brace.csv"), "unknown law 'all'"),
        (("--laws", "bilinear,spring", "brace.csv", "--free", "k"), "--free is for one law"),
        (("--laws", "bilinear,spring", "brace.csv", "--method", "gradient"), "--method gradient is for one law"),
        (("brace.csv",), "which law? Name one before the file, or fit them all: --laws all brace.csv"),
        (("bilinear",), "name at least one file"),
        (("bilinear", "brace.csv", "--save", "law.json"), "saved as .toml"),
        (("bilinear", "brace.csv", "--rate", "0 Hz"), "must be positive"),
        (("bilinear", "brace.csv", "--rate", "3 m"), "--rate"),
        (("bilinear", "brace.csv", "--decimal", "dot"), "--decimal comma or --decimal point"),
        (("stick_slip", "brace.csv"), "Name the parameters with --free"),
        (("bilinear", "brace.csv", "--fix", "k=1e7", "--fix", "alpha=0", "--fix", "f_y=1e4"), "nothing is left free"),
    ],
)
def test_bad_words_are_refused(folder, words, message, monkeypatch):
    monkeypatch.chdir(folder)
    with pytest.raises(BadInput, match=re.escape(message)):
        app(["identify", *words, "--out", "refused.html"], standalone_mode=False)
    assert not (folder / "refused.html").exists()


def test_a_device_that_would_give_energy_is_named_first(folder):
    head, *rows = (folder / "brace.csv").read_text().splitlines()
    cells = [row.split(",") for row in rows]
    (folder / "turned.csv").write_text("\n".join([head, *(f"{t},{d},{-float(f)!r}" for t, d, f in cells)]))
    said = hyloop("identify", "bouc_wen", "turned.csv", "--free", "k", "--starts", 1, cwd=folder).stdout
    assert " ".join(said.split()).startswith("note: turned: this device would give energy; is the sign of the force")
    pages = [Page(path) for path in folder.rglob("turned*.html")]
    assert (
        len(pages) == 1 and pages[0].headings[1] == "Read this first" and "bouc_wen does not fit well" in pages[0].text
    )


def test_noise_in_the_deformation_is_said_and_allowed_for(tmp_path):
    """10 µm in d: the note, the page, the JSON and the saved law tell of it; --noise d=0 takes d as exact."""
    rng, n = np.random.default_rng(3), 800
    d = 7e-3 * np.sum([np.sin(2 * np.pi * f * np.arange(n) / 256) for f in (0.5, 1.1, 2.3)], axis=0)
    f = bilinear(k=2e7, alpha=0.05, f_y=4e4).drive(1 / 256, d=d)["f"] + 40 * rng.normal(size=n)
    rows = np.column_stack([np.arange(n) / 256, 1e3 * (d + 1e-5 * rng.normal(size=n)), 1e-3 * f])
    np.savetxt(tmp_path / "noisy.csv", rows, header="t,d [mm],f [kN]", delimiter=",", comments="", fmt="%.9g")
    words = ("identify", "bilinear", "noisy.csv", "--starts", 2, "--no-profiles")
    done = hyloop(*words, "--save", "law.toml", "--json", cwd=tmp_path)
    found = json.loads(done.stdout)
    noise = found["input_noise"]
    assert noise["allowed_for"] and noise["tests"][0]["d"] == pytest.approx(1e-5, rel=0.3)
    assert noise["left"][0]["d"] < 0.5
    assert found["parameters"]["k"]["low"] < 2e7 < found["parameters"]["k"]["high"]
    said = next(note for note in found["notes"] if note.startswith("The measured motion has noise"))
    assert "µm (estimated)" in said and said in (tmp_path / found["report"]).read_text(encoding="utf-8")
    assert "noise_in_motion" in (tmp_path / "law.toml").read_text(encoding="utf-8")
    exact = json.loads(hyloop(*words, "--noise", "d=0", "--json", cwd=tmp_path).stdout)
    assert not exact["input_noise"]["allowed_for"] and exact["input_noise"]["tests"] == [{}]
    stated = json.loads(hyloop(*words, "--noise", "d=20um", "--json", cwd=tmp_path).stdout)
    assert stated["input_noise"]["tests"][0]["d"] == pytest.approx(2e-5)
    for wrong in ("k=2um", "d", "d=2kN", "d=-2um", "v=1mm/s"):
        assert "noise" in hyloop(*words, "--noise", wrong, cwd=tmp_path, code=2).stderr
