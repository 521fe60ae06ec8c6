"""`hyloop examples`, `hyloop new`, `--version` and `--open`, in an empty folder."""

import ast
import json
import re
import sys
import webbrowser
from pathlib import Path

import pytest

import hyloop
from hyloop.cli.console import open_page
from hyloop.cli.main import main
from hyloop.files.examples import find_examples
from hyloop.files.load import load_experiment
from hyloop.study.build import build

ROOT = Path(__file__).parents[2]


@pytest.fixture
def say(monkeypatch, tmp_path, capsys):
    """Run a command in this process, in a folder of its own; returns what it prints."""
    monkeypatch.chdir(tmp_path)

    def run(*words, code=0):
        monkeypatch.setattr(sys, "argv", ["hyloop", *map(str, words)])
        try:
            main()
            stopped = 0
        except SystemExit as stop:
            stopped = stop.code or 0
        out, err = capsys.readouterr()
        assert stopped == code, err
        return out if code == 0 else " ".join(err.split())

    return run


def test_version(say):
    assert say("--version") == f"hyloop {hyloop.__version__}\n"


def test_every_file_to_copy_is_listed_with_a_line_about_it(say):
    listed = json.loads(say("examples", "--json"))
    files = [*ROOT.glob("experiments/**/*.toml"), *ROOT.glob("experiments/**/*.py"), *ROOT.glob("examples/*.py")]
    assert len(listed) == len(files) and all(len(row["about"]) > 10 for row in listed)
    assert "friction_frame" in say("examples")


@pytest.mark.parametrize("name", find_examples())
def test_an_example_is_copied_with_all_it_names(name, say, tmp_path):
    written = [Path(path) for path in json.loads(say("examples", name, "--json"))]
    example = find_examples()[name]
    assert written[0] == example.file and all(path.read_bytes() == (ROOT / path).read_bytes() for path in written)
    assert {str(path) for path in written} == {str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*.*")}
    if example.kind == "Python script":  # what it reads lies where it looks for it
        words = [node.value for node in ast.walk(ast.parse(example.text)) if isinstance(node, ast.Constant)]
        files = [word for word in words if isinstance(word, str) and re.fullmatch(r"[\w/]+\.toml", word)]
        assert {Path(file).name for file in files} == {path.name for path in written[1:]}
    if example.kind == "experiment" and name != "learned_damper":  # that one needs a network first
        load_experiment(written[0])


def test_short_names_and_unknown_ones(say):
    assert "training/fluid_damper_gru.toml" in say("examples", "fluid_damper_gru")
    assert "examples/demo.py" in say("examples", "demo")
    assert "models/rc_frame.toml" in say("examples", "experiments/models/rc_frame.toml")
    assert "Did you mean 'friction_frame'?" in say("examples", "friction_fram", code=2)


def test_a_changed_file_is_not_replaced_by_surprise(say, tmp_path):
    say("examples", "friction_frame")
    say("examples", "friction_frame")  # the same file may stay
    path = tmp_path / "experiments" / "friction_frame.toml"
    path.write_text("title = 'mine'")
    assert "--force" in say("examples", "friction_frame", code=2) and path.read_text() == "title = 'mine'"
    say("examples", "friction_frame", "--force")
    assert path.read_bytes() == (ROOT / "experiments" / "friction_frame.toml").read_bytes()


def test_a_new_experiment_can_be_built_and_is_not_overwritten(say, tmp_path):
    assert "next: hyloop run mine.toml" in say("new", "mine")
    path = tmp_path / "mine.toml"
    experiment = load_experiment(path)
    assert experiment.title == "mine" and build(experiment).loop.structure.n == 3
    assert "--force" in say("new", "mine", code=2)
    path.write_text("")
    say("new", "mine.toml", "--force")
    assert load_experiment(path).title == "mine"
    assert "next: hyloop run 'my frame.toml'" in say("new", "my frame")


@pytest.mark.parametrize("like", [name for name, e in find_examples().items() if e.kind == "experiment"])
def test_a_new_experiment_like_an_example_finds_its_files(like, say, tmp_path):
    say("new", "sub/my_own", "--like", like)
    path = tmp_path / "sub" / "my_own.toml"
    if like == "learned_damper":
        assert '"../out/fluid_damper_gru.safetensors"' in path.read_text("utf-8")
        return
    experiment = load_experiment(path)
    assert experiment.title == "my own"
    if like == "opensees_portal":
        assert Path(experiment.structure.script).is_file()


def test_only_experiments_are_begun_with(say):
    assert "is no experiment" in say("new", "mine", "--like", "models/rc_frame", code=2)


def test_a_missing_file_that_comes_with_hyloop_is_pointed_to(say):
    for name in ("friction_frame", "experiments/friction_frame.toml", "friction_frame.toml"):
        assert "hyloop examples friction_frame" in say("run", name, code=2)
    assert "hyloop examples models/braced_building" in say("model", "braced_building.toml", code=2)
    assert "Check the path" in say("run", "nothing.toml", code=2)


def test_a_page_is_opened_if_wanted(monkeypatch, tmp_path, capsys):
    opened = []
    monkeypatch.setattr(webbrowser, "open", lambda address: opened.append(address) or len(opened) < 2)
    open_page(tmp_path / "page.html", False)
    assert not opened
    open_page(tmp_path / "page.html", True)
    assert opened == [(tmp_path / "page.html").as_uri()]
    open_page(tmp_path / "page.html", True)
    open_page(None, True)
    said = " ".join(capsys.readouterr().err.split())
    assert "no browser was found" in said and "no page was written" in said


@pytest.mark.slow
def test_run_opens_its_page(monkeypatch, say):
    opened = []
    monkeypatch.setattr(webbrowser, "open", lambda address: bool(opened.append(address)) or True)
    say("new", "mine")
    say("run", "mine.toml", "--set", "excitation.duration=2 s", "--open")
    say("report", "out/mine.h5", "--open")
    assert [address.rpartition("/")[2] for address in opened] == ["mine.html", "mine.html"]
