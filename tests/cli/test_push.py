"""`hyloop push` and `hyloop half-power` as a person uses them: exit codes, table, JSON, recording and page."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from hyloop.cli.main import main
from hyloop.record import Recording

ROOT = Path(__file__).parents[2]
BRB = ROOT / "experiments" / "six_story_brb.toml"
RC = ROOT / "experiments" / "models" / "moment_frame.toml"

SOFT = """
title = "A frame"
[structure]
kind = "matrices"
M = [20000.0, 20000.0]
K = [[4e7, -2e7], [-2e7, 2e7]]
floors = ["1", "2"]
damping = { kind = "modal", ratio = "6 %" }
[integrator]
method = "mkr_alpha"
rho_inf = 1.0
dt = "1/256 s"
[excitation]
kind = "harmonic"
amplitude = "1 m/s2"
frequency = "1 Hz"
duration = "1 s"
[sites.damper]
story = 1
device = { law = "dashpot", c = "1 kN s/m" }
"""

pytestmark = pytest.mark.slow


@pytest.fixture
def say(monkeypatch, tmp_path, capsys):
    """Run a command in a folder of its own; returns exit code, output and complaints."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "soft.toml").write_text(SOFT)

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


def test_pushed_and_told(say, tmp_path):
    code, out, _ = say("push", BRB, "--cycles", "0.2 %, 0.4 %", "--steps", 40, "--json")
    told = json.loads(out)
    assert code == 0 and told["complete"] and told["height"] == 18.0
    assert {hinge["member"] for hinge in told["hinges"]} == {f"brace{k}" for k in range(1, 13)}
    recording = Recording.load(tmp_path / told["recording"])
    assert recording["control"].max() == pytest.approx(0.004 * 18.0) == -recording["control"].min()
    assert recording["base_shear"].max() == pytest.approx(told["strength"])
    assert np.allclose(sum(recording[f"drift.{k}"] for k in range(1, 7)), recording["control"])
    page = (tmp_path / told["report"]).read_text("utf-8")
    assert told["sentence"] in page and "What yields" in page and "hyloop push" in page
    code, out, _ = say("push", "soft.toml", "--targets", "50 mm", "--steps", 5)
    assert code == 0 and "nothing yields" in out and "damper (dashpot) is left out" in " ".join(out.split())


def test_sections_of_a_model_file(say):
    code, out, _ = say("push", RC, "--targets", "0.6 %", "--steps", 15)
    assert code == 0 and "floor_right M1-B1" in out and "section" in out


def test_a_path_that_ends_is_1(say, monkeypatch):
    from hyloop.structure.frames.equilibrium import Path as Led

    found = Led.go
    monkeypatch.setattr(Led, "go", lambda self, goal, halvings=8: goal < 0.03 and found(self, goal, halvings))
    monkeypatch.setattr(Led, "leap", lambda self, goal: False)
    code, out, _ = say("push", "soft.toml", "--targets", "50 mm", "--steps", 5, "--json")
    told = json.loads(out)
    assert (
        code == 1 and not told["complete"] and "no equilibrium was found beyond 2 = 0.02 m" in told["notes"][-1].lower()
    )
    assert told["largest"] == pytest.approx(0.02)
    assert not Recording.load(told["recording"]).complete


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["push", "soft.toml"], "height of 2, which is not known"),
        (["push", "soft.toml", "--targets", "1 m", "--cycles", "1 m"], "both given"),
        (["push", "soft.toml", "--targets", "5 kN"], "--targets"),
        (["push", "soft.toml", "--targets", "1 m", "--pattern", "first"], "first_mode"),
        (["push", "soft.toml", "--targets", "1 m", "--pattern", "1=x"], "--pattern: 1"),
        (["push", "soft.toml", "--targets", "1 m", "--control", "3"], "degree of freedom"),
        (["push", "soft.toml", "--targets", "1 m", "--out", "push.pdf"], "push.pdf"),
        (["half-power", "soft.toml", "--at", "2"], "amplitude of the load"),
        (["half-power", "soft.toml", "--at", "2", "--amplitude", "5 mm"], "--amplitude"),
        (["half-power", "soft.toml", "--at", "2", "--peak", "25 mm"], "--peak"),
        (["half-power", "soft.toml", "--at", "2", "--amplitude", "1 kN", "--cycles", "2,10"], "--cycles"),
        (["half-power", "soft.toml", "--at", "2", "--amplitude", "1 kN", "--frequencies", "1:2"], "--frequencies"),
    ],
)
def test_refused_is_2(say, words, said):
    code, _, err = say(*words)
    assert code == 2 and said in err


def test_damping_told(say, tmp_path):
    code, out, _ = say("half-power", "soft.toml", "--at", "2", "--amplitude", "1 kN", "--json", "--workers", 1)
    told = json.loads(out)
    assert code == 0 and told["fit"]["damping"] == pytest.approx(0.0603, rel=0.01)  # and a little of the dashpot
    recording = Recording.load(tmp_path / told["recording"])
    assert recording["amplitude"].max() == pytest.approx(max(point["amplitude"] for point in told["points"]))
    page = (tmp_path / told["report"]).read_text("utf-8")
    assert told["sentence"] in page and "hyloop half-power" in page
    code, out, _ = say("half-power", "soft.toml", "--at", "2", "--amplitude", "1 kN", "--frequencies", "2:3.4:9")
    assert code == 0 and "by the fit of its" in out
