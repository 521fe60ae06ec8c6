"""`hyloop rehearse` as a person uses it: exit codes, table, JSON and page."""

import json
import sys
from pathlib import Path

import pytest

from hyloop.cli.main import main

ROOT = Path(__file__).parents[2]
FILE = ROOT / "experiments" / "planned_test.toml"
SLOW = "sites.damper1.transfer.actuator.frequency=2.5Hz"

pytestmark = pytest.mark.slow


@pytest.fixture
def say(monkeypatch, tmp_path, capsys):
    """Run a command in a folder of its own; returns exit code, output and complaints."""
    monkeypatch.chdir(tmp_path)

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["hyloop", "rehearse", *map(str, words)])
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
        out, err = capsys.readouterr()
        return code, out, " ".join(err.split())

    return run


def test_go_is_0_and_the_same_again(say, tmp_path):
    code, out, _ = say(FILE, "--runs", 10, "--workers", 1, "--json")
    again = say(FILE, "--runs", 10, "--workers", 2, "--json", "--force")
    other = say(FILE, "--runs", 10, "--seed", 6, "--json", "--force")
    assert (code, out) == again[:2] and other[1] != out
    told = json.loads(out)
    assert told["go"] and told["runs"] == 10 and told["seed"] == 5 and told["critical_delay"]["damper1"]["delay"] > 0.0
    assert {one["what"] for one in told["demands"]} >= {"margin", "stroke", "velocity", "force", "effect"}
    page = (tmp_path / told["report"]).read_text("utf-8")  # that of the last
    assert json.loads(other[1])["sentence"] in page and "Runs that fail" not in page
    code, out, _ = say(FILE, "--runs", 3)
    assert code == 0 and "Go: 3 of 3 rehearsals" in out and "critical delay of damper1" in out
    assert (tmp_path / "out" / "planned_test-rehearsal-1.html").is_file()


def test_no_go_is_1_with_the_reason(say, tmp_path):
    code, out, err = say(FILE, "--set", SLOW, "--runs", 4, "--out", "slow.html")
    assert code == 1 and not err.count("failed") and " ".join(out.split()).startswith("No-go: the rig is too slow: ")
    page = (tmp_path / "slow.html").read_text("utf-8")
    assert "Why not" in page and "The tracking error of damper1 is up to" in page


def test_refused_is_2(say):
    code, _, err = say(ROOT / "experiments" / "friction_frame.toml")
    assert code == 2 and "no physical site has an actuator" in err
    assert say(FILE, "--out", "slow.pdf")[0] == 2
    assert say(FILE, "--set", 'rehearsal.uncertain={"damper1.actuator.tao"="10 %"}')[0] == 2
