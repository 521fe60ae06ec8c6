"""`hyloop tune` as a person uses it: exit codes, JSON, page, piece, and where it may run."""

import json
import sys

import pytest
from problems.repeated import FRAME

from hyloop.cli.main import main

TUNE = """
[tune]
objective = "peak drift.*"
training = ["seed=1", "seed=2"]
test = ["seed=3"]
trials = 3
[tune.settings]
sites.damper1.device.k = { low = "1 kN/mm", high = "3 kN/mm" }
"""


@pytest.fixture
def say(monkeypatch, tmp_path, capsys):
    """Run the command in a folder of its own; returns exit code, output and complaints."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.toml").write_text(FRAME + TUNE, "utf-8")
    (tmp_path / "bare.toml").write_text(FRAME, "utf-8")

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["hyloop", "tune", *map(str, words)])
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
        out, err = capsys.readouterr()
        return code, out, " ".join(err.split())

    return run


@pytest.mark.slow
def test_the_same_command_reads_what_was_run_and_more_trials_go_on(say, tmp_path):
    code, out, _ = say("plan.toml", "--workers", 1, "--json")
    told, journal = json.loads(out), tmp_path / "out" / "plan-tune" / "runs.jsonl"
    assert code == 0 and told["trials"] == 3 and told["objective"] == "peak drift.*"
    before = journal.read_bytes()
    assert say("plan.toml", "--json")[1] == out and journal.read_bytes() == before
    code, out, _ = say("plan.toml", "--trials", 5, "--workers", 1)
    assert code == 0 and "Best settings" in out and journal.read_bytes().startswith(before)
    assert "for plan.toml, of 5 that were tried" in (tmp_path / told["settings"]).read_text("utf-8")
    assert "best so far" in (tmp_path / told["report"]).read_text("utf-8")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["bare.toml"], "there is no table [tune]"),
        (["plan.toml", "--slurm"], "no table [cluster]"),
        (["plan.toml", "--slurm", "--dask", "tcp://x:1"], "two places"),
        (["plan.toml", "--dask", "tcp://x:1", "--workers", "2"], "Leave it out"),
        (["plan.toml", "--trials", "1"], "tune.trials"),
        (["plan.toml", "--out", "plan.toml"], "give the name of one"),
    ],
)
def test_refused_is_2_and_leaves_nothing(say, tmp_path, words, said):
    code, _, err = say(*words)
    assert code == 2 and said in err
    assert not (tmp_path / "out").exists()
