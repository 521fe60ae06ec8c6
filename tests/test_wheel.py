"""hyloop as installed from a wheel, in an empty folder: what --help shows works, examples and studies are there."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.signal import butter, lfilter
from typer.main import get_command

from hyloop.cli.main import app
from hyloop.files.load import load_experiment

ROOT = Path(__file__).parents[1]
MENTIONED = re.compile(r"(?<![\w./-])hyloop(?: (?:'[^']*'|[\w./-]+(?:=[\w.,/]*\w)?))+")
# a download of 100 MB; analyses that need ground motions of the data folder
NOT_RUN = ("hyloop data get brfd", "hyloop ida ", "hyloop fragility ")

pytestmark = pytest.mark.slow


def mentioned(command=None):
    """Commands that the help of any command shows, in the order they stand."""
    command = command or get_command(app)
    texts = [command.help or "", *(getattr(option, "help", None) or "" for option in command.params)]
    # a line that was wrapped in the source is one line
    found = [match for text in texts for match in MENTIONED.findall(re.sub(r"(?<=\S)\n *(?=\S)", " ", text))]
    below = getattr(command, "commands", {}).values()
    return [*found, *(line for other in below for line in mentioned(other))]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A function that runs a command of the installed wheel in an empty folder."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    built = subprocess.run([*pip, "wheel", "--no-deps", "-w", folder, ROOT], capture_output=True, text=True)
    if built.returncode and "hatchling" in built.stderr:
        pytest.skip("the build backend cannot be had here (no network)")
    assert built.returncode == 0, built.stderr
    (wheel,) = folder.glob("*.whl")
    subprocess.run([*pip, "install", "--no-deps", "--target", folder / "site", wheel], check=True, capture_output=True)
    empty = folder / "empty"
    empty.mkdir()
    environment = {key: value for key, value in os.environ.items() if key != "HYLOOP_DATA"}

    def run(*words):
        code = f"import sys; sys.path.insert(0, {str(folder / 'site')!r}); from hyloop.cli import main; main()"
        command = [sys.executable, "-c", code, *words]
        done = subprocess.run(command, cwd=empty, env=environment, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout

    run.folder, run.site = empty, folder / "site"
    return run


def test_what_help_shows_works(installed):
    known = get_command(app).commands
    lines = [line for line in dict.fromkeys(mentioned()) if line.split()[1] in known]
    wanted = {"hyloop examples friction_frame", "hyloop run experiments/friction_frame.toml", "hyloop new mine"}
    assert wanted <= set(lines)
    t = 0.01 * np.arange(400)
    rows = np.column_stack([t, 10.0 * np.sin(3.0 * t), 20.0 * np.sin(3.0 * t + 0.3)])
    for name in ("test.csv", "today.csv"):
        np.savetxt(installed.folder / name, rows, delimiter=",", header="t [s],Weg [mm],Kraft [kN]", comments="")
    t, rng = 0.005 * np.arange(8000), np.random.default_rng(1)
    command = lfilter(*butter(2, 10.0, fs=200.0), rng.normal(size=len(t)))  # mm, band-limited noise
    rig = np.column_stack([t, command, lfilter([0.0, 0.2], [1.0, -0.8], command) + rng.normal(0.0, 1e-3, len(t))])
    np.savetxt(installed.folder / "noise.csv", rig, delimiter=",", header="t [s],Soll [mm],Ist [mm]", comments="")
    for line in lines:
        if not line.startswith(NOT_RUN):
            installed(*shlex.split(line)[1:])
    assert (installed.folder / "out" / "friction_frame.html").is_file()


def test_it_is_the_wheel_that_runs(installed):
    assert installed("--version").startswith("hyloop ")
    names = {example["name"] for example in json.loads(installed("examples", "--json"))}
    assert {"friction_frame", "models/portal", "training/fluid_damper_gru", "examples/demo"} <= names
    for example in (ROOT / "experiments").glob("*.toml"):
        assert example.stem in names
    studies = {study["name"] for study in json.loads(installed("study", "list", "--json"))}
    assert studies == {path.parent.name for path in ROOT.glob("studies/*/study.toml")}


def test_examples_are_copied_with_what_they_name(installed):
    written = json.loads(installed("examples", "opensees_portal", "--json"))
    assert written == ["experiments/opensees_portal.toml", "experiments/models/portal.py"]
    said = installed("new", "like", "--like", "rc_frame")
    assert "wrote experiments/models/moment_frame.toml" in said and "next: hyloop run like.toml" in said
    experiment = load_experiment(installed.folder / "like.toml", ["title=mine"])
    assert experiment.structure.kind == "frame" and len(experiment.structure.members) > 2
