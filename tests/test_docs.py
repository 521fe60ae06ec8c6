"""What README, docs and docstrings show is true: their code runs, their commands exist, their files are there."""

import ast
import doctest
import inspect
import pkgutil
import re
import shlex
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from oracles.opensees import opensees
from rich.text import Text
from typer.main import get_command

import hyloop
from hyloop.cli.main import app
from hyloop.core import Param, block, kernel

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
TICK = "def tick("  # the picture of the tick is no program


def blocks(language):
    """Code blocks of all pages, by page and number."""
    found = {}
    for page in PAGES:
        texts = re.findall(rf"^( *)```{language}\n(.*?)^ *```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
        for k, (indent, text) in enumerate(texts, 1):
            found[f"{page.name}-{k}"] = re.sub(rf"^{indent}", "", text, flags=re.MULTILINE)
    return found


PYTHON = blocks("python")
COMMANDS = [
    (page, line.split(" #")[0].strip())
    for page, text in blocks("console").items()
    for line in text.splitlines()
    if line.startswith("hyloop ")
]


@pytest.mark.parametrize("name", [name for name, text in PYTHON.items() if TICK not in text])
def test_code_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if "load_opensees" in PYTHON[name]:  # in a process where nothing has loaded it yet, as a reader would
        if find_spec("openseespy") is None:
            pytest.skip("OpenSeesPy is not installed (extra: peers)")
        done = subprocess.run([sys.executable, "-c", PYTHON[name]], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return
    if "openseespy" in PYTHON[name]:
        opensees()  # finds the library that OpenSeesPy needs
    names = {"block": block, "Param": Param}  # what CONTRIBUTING supposes
    exec(compile(PYTHON[name], name, "exec"), names)
    assert len(names) > 3, "it defines nothing"


def verbs(function):
    """Names of the functions called, in the order they stand."""
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    return [call.func.id for call in sorted(calls, key=lambda call: (call.lineno, call.col_offset))]


def test_the_tick_is_the_one_of_the_architecture():
    shown = [text for text in PYTHON.values() if TICK in text]
    source = inspect.getsource(kernel._tick)
    assert len(shown) == 1
    assert verbs(ast.parse(shown[0]).body[0]) == verbs(ast.parse(source).body[0])


@pytest.mark.parametrize(("page", "line"), COMMANDS, ids=[line for _, line in COMMANDS])
def test_commands_exist(page, line, monkeypatch):
    """Every command, argument and option is known, and every file of the checkout is there; nothing is run."""
    monkeypatch.chdir(ROOT)
    command, words = get_command(app), shlex.split(line)[1:]
    while hasattr(command, "commands"):
        command = command.commands[words.pop(0)]
    command.make_context(line, list(words))  # raises for what is not known
    assert all((ROOT / word).exists() for word in words if word.startswith(("experiments/", "studies/")))


def texts_of_help(command, name="hyloop"):
    """Help of a command, of its options and of the commands below it."""
    yield name, command.help or ""
    for one in command.params:
        yield f"{name} {one.name}", getattr(one, "help", None) or ""
    for word, below in getattr(command, "commands", {}).items():
        yield from texts_of_help(below, f"{name} {word}")


def test_help_is_shown_as_it_is_written():
    """What prints it takes words in brackets, such as names of tables, for a style and leaves them out."""
    texts = dict(texts_of_help(get_command(app)))
    assert len(texts) > 200
    lost = {name: text for name, text in texts.items() if Text.from_markup(text).plain != text.replace("\\[", "[")}
    assert lost == {}


def with_examples():
    names = [info.name for info in pkgutil.walk_packages(hyloop.__path__, "hyloop.") if not info.ispkg]
    folder = Path(inspect.getfile(hyloop)).parent
    return [n for n in names if ">>>" in (folder.joinpath(*n.split(".")[1:]).with_suffix(".py")).read_text("utf-8")]


@pytest.mark.parametrize("name", with_examples())
def test_docstrings_tell_the_truth(name):
    if name.endswith("opensees_import"):
        opensees()  # finds the library that OpenSeesPy needs
    found = doctest.testmod(import_module(name), optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert found.attempted > 0 and found.failed == 0
