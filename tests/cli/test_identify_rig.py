"""`hyloop identify-rig` as a person uses it: a file in, table, JSON, page and rig file out, and the rig in a run."""

import json
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from oracles.pages import Page
from scipy.io import savemat

from hyloop.cli.main import app
from hyloop.errors import BadInput
from hyloop.files.load import load_experiment
from hyloop.files.rig_file import read_rig
from hyloop.files.rig_records import read_rig_record
from hyloop.record import Recording
from hyloop.report.run_page import write_report
from hyloop.report.tracking import tracked, tracking_sections
from hyloop.study.run import run_in_memory

pytestmark = pytest.mark.slow

sys.path.insert(0, str(Path(__file__).parents[2]))
rigs = import_module("benchmarks.rigs")
record, true_delay = rigs.record, rigs.true_delay

RIG = "second order, 12 ms dead time"
PRINTED = 1e-9  # relative: a file has ten digits
EXPERIMENT = """
[structure]
kind = "shear_frame"
stories = 2
masses = "40 t"
stiffnesses = "45 kN/mm"
damping = { ratio = "5 %" }
[integrator]
method = "mkr_alpha"
dt = "1/1024 s"
[excitation]
kind = "harmonic"
amplitude = "0.1 g"
frequency = "3 Hz"
duration = "6 s"
[sites.damper1]
story = 1
physical = true
device = { law = "spring", k = "0.1 kN/mm" }
[sites.damper1.transfer.actuator]
file = "rig.toml"
"""


def hyloop(*words):
    return app([str(word) for word in words], standalone_mode=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a record in mm, and what the command has made of it."""
    path = tmp_path_factory.mktemp("rig")
    u, y, dt = record(RIG, "linear sweep", 3, 30.0, 20.0, 16e-6, False)
    table = np.column_stack([dt * np.arange(len(u)), 1e3 * u, 1e3 * y])
    np.savetxt(path / "test.csv", table, delimiter=",", header="time [s],Soll [mm],Ist [mm]", comments="", fmt="%.7f")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(path)
        hyloop("identify-rig", "test.csv", "--command", "Soll", "--measured", "Ist", "--save", "rig.toml")
    (path / "experiment.toml").write_text(EXPERIMENT)
    return path


def test_json_is_right(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    names = ("--command", "Soll", "--measured", "Ist")
    hyloop("identify-rig", "test.csv", *names, "--json", "--poles", 2, "--band", "0.3..18 Hz", "--out", "x.html")
    found = json.loads(capsys.readouterr().out)
    assert found["delay"]["value"] == pytest.approx(true_delay(RIG), abs=2e-5)
    assert found["gain"]["low"] <= 1.01 <= found["gain"]["high"]
    assert found["poles"] == 2 and found["band"][1] == pytest.approx(18.0)
    assert found["noise"]["value"] == pytest.approx(16e-6, rel=0.02)


def test_the_file_is_the_rig(folder):
    rig = read_rig(str(folder / "rig.toml"))
    assert rig.delay == pytest.approx(98 / 8192, abs=2e-5)
    assert rig.numerator == pytest.approx([1.01], abs=1e-3)
    assert len(rig.denominator) == 3 and rig.denominator[-1] == 1.0
    assert rig.command == pytest.approx(5e-3, rel=0.05)
    assert rig.trusted[1] == pytest.approx(20.0, rel=0.1)
    assert rig.origin["tests"][0]["columns"]["command"] == "Soll [mm]"


def test_the_page_answers_first(folder):
    page = Page(folder / "out" / "test-rig.html")
    assert "24.7 ms late" in page.text and "known to 1 % and 1°" in page.text
    assert "Poles and zeros" in page.text


def test_a_run_is_late_by_what_was_identified(folder):
    experiment = load_experiment(folder / "experiment.toml")
    run = run_in_memory(experiment)
    assert run.attributes["transfer"] == {
        "damper1": {"achieved": "damper1.actuator.d", "measured": "damper1.actuator.d"}
    }
    assert "sites.damper1.transfer.actuator" in run.attributes["laws"]
    (one,) = tracked(run)
    # delay and gain of the rig at 3 Hz
    rig = read_rig(str(folder / "rig.toml"))
    s = 2j * np.pi * 3.0
    G = np.polyval(rig.numerator, s) / np.polyval(rig.denominator, s) * np.exp(-s * rig.delay)
    late = -np.angle(G) / (2 * np.pi * 3.0)
    assert one.numbers.delays[4 * 1024] == pytest.approx(late, abs=2e-5)
    assert one.numbers.gains[4 * 1024] == pytest.approx(abs(G), abs=1e-3)
    # 0.1 g on this frame moves the damper further than the rig was tested
    assert any("the rig was outside what is known of it" in note for note in run.attributes["notes"])
    write_report(folder / "run.html", {"run": run}, title="Run")
    assert "Tracking of the actuators" in Page(folder / "run.html").text


def test_runs_without_an_actuator_have_no_such_section(folder):
    time = np.arange(100) / 100
    plain = Recording(time, np.column_stack([np.sin(time), time]), ("s.d", "s.f"), ("m", "N"))
    assert tracking_sections({"run": plain}) == []


def test_what_a_user_gets_wrong(folder, monkeypatch, tmp_path):
    monkeypatch.chdir(folder)
    with pytest.raises(BadInput, match="Did you mean --command Soll --measured Ist"):
        hyloop("identify-rig", "test.csv", "--out", "y.html")
    with pytest.raises(BadInput, match=r"identify-rig test\.csv"):
        hyloop("identify", "rig", "test.csv")
    with pytest.raises(BadInput, match="swapped"):
        hyloop("identify-rig", "test.csv", "--command", "Ist", "--measured", "Soll", "--out", "y.html")
    with pytest.raises(BadInput, match="there already"):
        hyloop("identify-rig", "test.csv", "--command", "Soll", "--measured", "Ist", "--save", "rig.toml")
    with pytest.raises(BadInput, match="same column"):
        read_rig_record("test.csv", "Soll", "Soll")
    with pytest.raises(BadInput, match="--band"):
        hyloop("identify-rig", "test.csv", "--command", "Soll", "--measured", "Ist", "--band", "5", "--out", "y.html")
    savemat(tmp_path / "two.mat", {"command": np.arange(2000.0), "measured": np.arange(1000.0)})
    with pytest.raises(BadInput, match="not sampled together"):
        hyloop("identify-rig", tmp_path / "two.mat", "--units", "command=mm,measured=mm", "--rate", "1 kHz")
    (tmp_path / "law.toml").write_text(
        'kind = "identified rig"\nnumerator = [1.0]\ndenominator = [1.0, -1.0]\ndelay = "5 m"'
    )
    with pytest.raises(BadInput, match="delay"):
        read_rig(str(tmp_path / "law.toml"))
    unstable = (tmp_path / "law.toml").read_text().replace("5 m", "5 ms")
    (tmp_path / "rig.toml").write_text(unstable)
    (tmp_path / "experiment.toml").write_text(EXPERIMENT)
    with pytest.raises(BadInput, match=r"transfer\.actuator\.file.*stable"):
        load_experiment(tmp_path / "experiment.toml")


def test_a_recording_names_its_own_columns(folder):
    run = run_in_memory(load_experiment(folder / "experiment.toml"))
    run.save(folder / "run.h5")
    found = read_rig_record(str(folder / "run.h5"))
    assert found.columns == {"command": "damper1.d", "measured": "damper1.actuator.d"}
    np.testing.assert_array_equal(found.command, run["damper1.d"])
