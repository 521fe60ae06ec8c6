"""The walk of docs/lab_data.md, as it is written there: from the messy file to the run."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from hyloop.cli.main import app
from hyloop.record import Recording

PAGE = (Path(__file__).parents[1] / "docs" / "lab_data.md").read_text("utf-8")
LINES = 16  # of TOML that a person copies and edits


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """What the page makes by its own code, and the experiment it shows."""
    monkeypatch.chdir(tmp_path)
    exec(compile(blocks("python")[0], "lab_data.md", "exec"), {})
    (tmp_path / "building.toml").write_text(building())
    (tmp_path / "rig3.toml").write_text(next(text for text in blocks("toml") if text.startswith("t = ")))
    return tmp_path


def building():
    return next(text for text in blocks("toml") if "[structure]" in text)


def test_as_many_lines_as_it_says():
    written = [line for line in building().splitlines() if line.strip()]
    assert len(written) == LINES and f"take {LINES} lines of TOML" in PAGE


def test_the_file_looks_as_shown(folder):
    shown = blocks("text")[0].splitlines()
    assert (folder / "Versuch_7.csv").read_text("latin-1").splitlines()[: len(shown)] == shown


@pytest.mark.slow
def test_the_three_commands(folder):
    for line in blocks("console")[0].splitlines():
        command = [sys.executable, "-c", "from hyloop.cli import main; main()", *shlex.split(line)[1:]]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=300, env={**os.environ, "COLUMNS": "200"}
        )
        assert done.returncode == 0, done.stdout + done.stderr
        if "peek" in line:
            assert blocks("console")[0].splitlines()[1] in done.stdout  # it prints the second command
        if "identify" in line:
            ranked = re.findall(r"^│ (\w+) +│ +\d+ │ +[\d.]+ │ +[\d.]+ │", done.stdout, re.MULTILINE)
            table = re.findall(r"^\| (\w+) \| \d", PAGE, re.MULTILINE)
            assert ranked[: len(table)] == table
    recording = Recording.load(folder / "out" / "building.h5")
    assert recording.attributes["laws"]["sites.damper1"]["law"] == "bouc_wen"
    for page in ("Versuch_7-peek", "Versuch_7-identification", "building"):
        assert (folder / "out" / f"{page}.html").is_file()


@pytest.mark.slow
def test_one_law_in_your_own_way(folder, capsys):
    for line in next(text for text in blocks("console") if "--fix" in text).splitlines()[:2]:
        app([*shlex.split(line)[1:], "--json"], standalone_mode=False)
        found = json.loads(capsys.readouterr().out)["parameters"]
        assert found["k"]["low"] < 2e7 < found["k"]["high"] and found["d_y"]["low"] < 2e-3 < found["d_y"]["high"]
    words = ["identify", "bilinear", "Versuch_7.csv", "--columns", "rig3.toml", "--json", "--starts", "1"]
    with pytest.raises(ValueError, match="'Weg' is given two units"):
        app([*words, "--units", "Weg=m"], standalone_mode=False)
