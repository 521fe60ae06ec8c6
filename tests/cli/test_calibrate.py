"""`hyloop calibrate` as a person uses it: a law of last month and a short test of today."""

import json
import re
import tomllib

import numpy as np
import pytest
from oracles.pages import Page, extremes

from hyloop.cli.main import app
from hyloop.devices import gap_slip
from hyloop.errors import BadInput
from hyloop.files.law_file import read_law, save_law
from hyloop.files.load import load_experiment
from hyloop.files.measurements import read_measured
from hyloop.identification import MeasuredTest, fit

pytestmark = pytest.mark.slow

DT, N, NOISE = 1 / 256, 1280, 50.0
SINGLE = 1e-6  # relative: numbers on a page have single precision
SHOWN = 5e-4  # relative: tables show four digits
WIDER = 1.0  # of the width: one interval of 95 % in twenty misses the truth, none by as much
AGAIN = 2e-3  # relative: a law that is read begins without force at its own offset, and not at that of the file before
FACTORS = {"Fc_pos": 0.7, "dF_pos": 0.7, "Fc_neg": 1.25, "dF_neg": 1.25}
EXPERIMENT = """
[structure]
kind = "shear_frame"
stories = 2
masses = "40 t"
stiffnesses = "40 kN/mm"
damping = { kind = "rayleigh", ratio = 0.02 }
[sites.damper1]
story = 1
device = { law = "gap_slip" }
[integrator]
method = "cr"
dt = "1/256 s"
[excitation]
kind = "harmonic"
amplitude = "0.1 g"
frequency = "2 Hz"
duration = "2 s"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The test of today in mm and kN, of a device whose friction has changed, and what was known before."""
    path = tmp_path_factory.mktemp("calibrate")
    t = DT * np.arange(N)
    d = 0.02 * np.sin(2 * np.pi * 0.7 * t) * np.clip(t / 2, 0, 1)
    v = np.gradient(d, DT)
    law = gap_slip(m=0.0)
    today = gap_slip(m=0.0, **{key: factor * law.params[key] for key, factor in FACTORS.items()})
    f = today.drive(DT, d=d, v=v, a=np.gradient(v, DT))["f"] + NOISE * np.random.default_rng(0).normal(size=N)
    table = np.column_stack([t, 1e3 * d, 1e-3 * f])
    np.savetxt(path / "today.csv", table, delimiter=",", header="t,Weg [mm],Kraft [kN]", comments="", fmt="%.9f")
    (path / "experiment.toml").write_text(EXPERIMENT.replace('"gap_slip" }', '"gap_slip", m = 0 }'))
    two = EXPERIMENT.replace("[integrator]", '[sites.brace]\nstory = 2\ndevice = { law = "bilinear" }\n[integrator]')
    (path / "two.toml").write_text(two.replace('"gap_slip" }', '"gap_slip", m = 0 }'))
    (path / "drawn.toml").write_text(EXPERIMENT.replace('"gap_slip" }', '"brfd_gap_slip", draw = true }'))
    (path / "other.toml").write_text(EXPERIMENT.replace('"gap_slip" }', '"brfd_gap_slip" }'))
    return path


@pytest.fixture
def run(folder, monkeypatch, capsys):
    def calibrate(*words):
        monkeypatch.chdir(folder)
        capsys.readouterr()
        app(["calibrate", *map(str, words)], standalone_mode=False)
        return capsys.readouterr().out

    return calibrate


COLUMNS = ("today.csv", "--d", "Weg", "--f", "Kraft")


def test_what_has_changed_is_found_and_the_page_says_so(run, folder):
    found = json.loads(run("experiment.toml", *COLUMNS, "--json"))
    one, two = (found["numbers"][f"friction of the {side} side"] for side in "+-")
    for row, truth in ((one, 0.7), (two, 1.25)):
        assert abs(row["value"] - truth * row["file"]) < WIDER * (row["high"] - row["low"]) and row["moved"]
        assert row["factor"] == pytest.approx(truth, rel=0.02)
    assert one["file"] == gap_slip().params["Fc_pos"] and one["parameters"] == ["Fc_pos", "dF_pos"]
    error = found["error"]
    assert error["calibrated"] == pytest.approx(NOISE / 27e3, rel=0.3)  # noise over the range, about 27 kN
    assert error["calibrated"] < error["unseen"] < 0.1 * error["file"] and found["gain"] == "better"
    page = Page(folder / found["report"])
    assert page.headings[0] == "Calibration: gap_slip" and page.headings[1] == "Use it"
    assert page.answer == found["answer"] and page.answer.startswith("Today gap_slip has 0.7")
    assert len(page.numbers) == 6 and f"{100 * error['file']:.3g} %" in page.numbers
    loops = page.lines()
    assert {name for _, name in loops} == {"measured", "by experiment.toml", "calibrated"}
    _, d, f = np.loadtxt(folder / "today.csv", delimiter=",", skiprows=1).T
    drawn = [extremes(x) for x in loops["today", "measured"]]
    np.testing.assert_allclose(drawn, [extremes(d), extremes(f)], rtol=SINGLE)
    far, near = (
        np.abs(extremes(loops["today", key][1]) - extremes(f)).max() for key in ("by experiment.toml", "calibrated")
    )
    assert near < 0.2 < 2.0 < far  # kN: before and after are what they say
    row = page.rows("What the session has changed")["friction of the - side"]
    assert [float(x) for x in (row[1], row[2], row[4])] == pytest.approx(
        [1e-3 * two["file"], 1e-3 * two["value"], two["factor"]], rel=SHOWN
    )
    assert [float(x) for x in page.rows("Tests, all of them heard")["today"][3:6:2]] == pytest.approx(
        [100 * error["file"], 100 * error["calibrated"]], rel=SHOWN
    )


def test_the_law_of_the_session_is_saved_with_its_parent_and_runs(run, folder):
    run("experiment.toml", *COLUMNS, "--save", "session.toml", "--force")
    data = tomllib.loads((folder / "session.toml").read_text(encoding="utf-8"))
    law = read_law(str(folder / "session.toml"))
    assert data["parent"]["file"] == "experiment.toml" and law.origin["parent"] == data["parent"]
    number = data["parent"]["numbers"]["friction of the + side"]
    assert number["factor"] == pytest.approx(law.params["Fc_pos"] / gap_slip().params["Fc_pos"], rel=1e-8)
    assert law.params["dF_pos"] / law.params["Fc_pos"] == pytest.approx(1.03 / 11.58, rel=1e-8)
    assert data["tests"][0]["source"] == "today.csv" and len(data["tests"][0]["sha256"]) == 64
    assert "dF_neg" in data["parameters"] and set(data["identified"]) == {"Fc_pos", "Fc_neg", "off"}
    (folder / "next.toml").write_text(EXPERIMENT.replace('law = "gap_slip"', 'file = "session.toml"'))
    assert load_experiment(folder / "next.toml").sites["damper1"].device.params == law.params
    # calibrated once more by the same test it stays where it is
    again = json.loads(run("session.toml", *COLUMNS, "--json"))
    assert [row["factor"] for row in again["numbers"].values()][:2] == pytest.approx([1.0, 1.0], abs=AGAIN)
    assert again["gain"] != "better"
    assert "gains nothing" in again["answer"] or again["answer"].startswith("Keep session.toml")


def test_a_recording_of_a_run_is_a_test_too(run, folder, monkeypatch):
    """The device of the run is the law itself: nothing has changed."""
    monkeypatch.chdir(folder)
    app(["run", "two.toml", "--out", "run.h5", "--force"], standalone_mode=False)
    found = json.loads(run("two.toml", "run.h5", "--site", "damper1", "--json"))
    assert found["law"] == "gap_slip" and found["error"]["file"] < 1e-3


def test_free_chooses_the_numbers(run):
    found = json.loads(run("experiment.toml", *COLUMNS, "--free", "Fc_pos+dF_pos, kp", "--json"))
    assert list(found["numbers"]) == ["Fc_pos+dF_pos", "kp"]
    assert found["parameters"]["Fc_neg"] == gap_slip().params["Fc_neg"]


def test_the_table_says_how_far_the_numbers_are(run):
    shown = " ".join(run("experiment.toml", *COLUMNS, "--out", "table.html").split())
    assert "friction of the + side" in shown and "95 % from" in shown and "left out in turn" in shown
    assert "table.html" in shown and 'device = { law = "gap_slip"' in shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("none.toml", *COLUMNS), "none.toml"),
        (("today.csv", *COLUMNS), "today.csv"),
        (("two.toml", *COLUMNS), "has devices at damper1, brace; which one was tested? Name it with --site"),
        (("drawn.toml", *COLUMNS), "is drawn at random"),
        (("other.toml", *COLUMNS), "Name the parameters with --free"),
        (("experiment.toml", *COLUMNS, "--free", "Fc_po"), "Did you mean 'Fc_pos'"),
        (("experiment.toml", *COLUMNS, "--free", " , "), "name at least one parameter"),
        (("experiment.toml", *COLUMNS, "--free", "Fc_pos+off"), "off may be negative"),
        (("experiment.toml", "today.csv", "--d", "Weg"), "--f"),
        (("experiment.toml", *COLUMNS, "--save", "law.json"), "saved as .toml"),
        (("experiment.toml", *COLUMNS, "--save", "experiment.toml"), "is there already"),
        (("experiment.toml", *COLUMNS, "--save", "experiment.toml", "--force"), "a session has its own"),
        (("experiment.toml", *COLUMNS, "--every", "0"), "--every 0"),
        (("experiment.toml", *COLUMNS, "--start", "z"), "state 'z'"),
    ],
)
def test_bad_input_is_refused(run, folder, words, message):
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    with pytest.raises(BadInput, match=re.escape(message)):
        run(*words, "--out", "refused.html")
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before, "something was left behind"


def test_a_parameter_that_a_search_left_at_nothing_is_saved_as_zero(tmp_path):
    """1e-39 kN s/m on a bound at zero: too small for a quantity of a file, so it could not be read back."""
    t = DT * np.arange(200)
    test = MeasuredTest(DT, {"d": np.sin(t), "v": np.cos(t), "a": -np.sin(t)}, 1e5 * np.sin(t))
    table = np.column_stack([t, test.inputs["d"], test.f])
    np.savetxt(tmp_path / "a.csv", table, header="t,d [m],f [N]", delimiter=",", comments="")
    fitted = fit(gap_slip(c=1e-39), test, {"kd": (1e4, 1e6)}, starts=1)
    path = save_law(tmp_path / "law.toml", "gap_slip", fitted, read_measured(str(tmp_path / "a.csv")))
    assert read_law(str(path)).params["c"] == 0.0
