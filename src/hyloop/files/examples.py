"""What comes with hyloop to copy from: experiments, trainings, models and scripts, and a file to begin with."""

import ast
import os
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from hyloop.core.writing import replacing
from hyloop.errors import BadInput, UnknownName

__all__ = ["Example", "copy_examples", "find_example", "find_examples", "hint", "new_experiment"]

_TEMPLATE = Path(__file__).with_name("new_experiment.toml")
_FOLDERS = {
    "experiments": "experiment",
    "experiments/training": "training",
    "experiments/models": "model",
    "examples": "Python script",
}
# files that a file names: those of the checkout in its comments, and its own references, relative to it
_MENTIONED = re.compile(r"\bexperiments/[\w/]+\.(?:toml|py)\b")
_JOINED = re.compile(r"""["']\s*/\s*["']""")  # Path(...) / "experiments" / "x.toml" in a script
_NAMED = re.compile(r'\b(?:file|script|network|source|include)\s*=\s*\[?\s*"([\w./-]+\.\w+)"')


class Example(NamedTuple):
    """A file to copy: its name for a person, what it is, where it lies (relative to `root`), and a line about it."""

    name: str
    kind: str
    root: Path
    file: Path
    about: str

    @property
    def text(self) -> str:
        return (self.root / self.file).read_text(encoding="utf-8")


def find_examples() -> dict[str, Example]:
    """What comes with hyloop to copy, by name: ``friction_frame``, ``models/rc_frame``, ``examples/demo``."""
    package = Path(__file__).resolve().parents[1]
    checkout = package.parents[1]
    root = checkout if (checkout / "experiments" / "friction_frame.toml").is_file() else package
    found: dict[str, Example] = {}
    for folder, kind in _FOLDERS.items():
        for path in sorted((root / folder).glob("*.*")):
            if path.suffix in (".toml", ".py"):
                file = path.relative_to(root)
                name = file.with_suffix("").as_posix().removeprefix("experiments/")
                what = "OpenSeesPy script" if kind == "model" and path.suffix == ".py" else kind
                found[name] = Example(name, what, root, file, _about(path))
    return found


def find_example(name: str) -> Example:
    """An example by its name, or by the last part of it."""
    examples = find_examples()
    short = name.removesuffix(".toml").removesuffix(".py").removeprefix("experiments/")
    if short in examples:
        return examples[short]
    ending = [example for key, example in examples.items() if key.rpartition("/")[2] == short]
    if len(ending) == 1:
        return ending[0]
    if ending:
        raise BadInput(f"'{name}' is the name of several; say {' or '.join(example.name for example in ending)}.")
    raise UnknownName("example", name, examples)


def copy_examples(examples: list[Example], folder: Path, force: bool = False) -> list[Path]:
    """Copy examples with all files they name into a folder, as they lie in hyloop; returns what is there then.

    A file that is there already stays if it is the same; another one is refused, unless `force` is set.
    """
    files = {file: example.root for example in examples for file in _needed(example.root, example.file)}
    for file, root in files.items():
        target = folder / file
        if target.exists() and not force and target.read_bytes() != (root / file).read_bytes():
            raise BadInput(f"{target} is there already, and it is another file. --force replaces it.")
    for file, root in files.items():
        _write(folder / file, (root / file).read_bytes())
    return [folder / file for file in files]


def new_experiment(path: Path, like: str | None = None, force: bool = False) -> list[Path]:
    """Write an experiment of one's own to begin with: a commented one, or one like an example.

    What the example names is copied beside it, into ``experiments``. Returns the files written, the new one first.
    """
    if path.name in ("", ".."):
        raise BadInput(f"'{path}' is a folder. Give the name of a new file, such as my_experiment.toml.")
    path = path if path.suffix == ".toml" else path.with_name(f"{path.name}.toml")
    if path.exists() and not force:
        raise BadInput(f"{path} is there already. --force replaces it; or give another name.")
    if like is None:
        text, copied = _TEMPLATE.read_text(encoding="utf-8"), []
    else:
        example = find_example(like)
        if example.kind != "experiment":
            raise BadInput(f"'{like}' is no experiment but a {example.kind}; `hyloop examples {like}` copies it.")
        others = [file for file in _needed(example.root, example.file) if file != example.file]
        copied = copy_examples([Example("", "", example.root, file, "") for file in others], Path(), force)
        text = _moved(example, path)
    title = path.stem.replace("_", " ").replace('"', "'").replace("\\", "/")
    text = re.sub(r'^title = ".*"', f'title = "{title}"', text, count=1, flags=re.MULTILINE)
    _write(path, text.encode("utf-8"))
    return [path, *copied]


def hint(path: Path) -> str:
    """How to get a file that is missing, where it comes with hyloop."""
    for name in (path.with_suffix("").as_posix(), path.stem):
        try:
            example = find_example(name)
        except BadInput:
            continue
        return f"It comes with hyloop: `hyloop examples {example.name}` writes {example.file.as_posix()}."
    return ""


def _moved(example: Example, path: Path) -> str:
    """The text of an example with the files it names as they are named from another place."""
    home = Path("experiments") if example.file.parts[0] == "experiments" else Path()

    def renamed(found: re.Match[str]) -> str:
        there = os.path.normpath(home / found[1])
        return found[0].replace(found[1], Path(os.path.relpath(there, path.parent)).as_posix())

    return _NAMED.sub(renamed, example.text)


def _needed(root: Path, file: Path) -> list[Path]:
    """A file, and all that it and those name, as far as they come with hyloop; itself first."""
    found = [file]
    for known in found:  # grows while it is read
        for other in _named(root, known):
            if other not in found:
                found.append(other)
    return found


def _named(root: Path, file: Path) -> Iterator[Path]:
    if file.suffix not in (".toml", ".py"):  # a network names nothing
        return
    text = (root / file).read_text(encoding="utf-8")
    mentioned = _MENTIONED.findall(_JOINED.sub("/", text))
    names = [*(Path(name) for name in mentioned), *(file.parent / name for name in _NAMED.findall(text))]
    for name in names:
        inside = Path(os.path.normpath(name))
        if (root / inside).is_file() and inside.parts[0] in ("experiments", "examples"):
            yield inside


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part:
        part.write_bytes(content)


def _about(path: Path) -> str:
    """The title of a file, or the first line of what a script says of itself."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return (ast.get_docstring(ast.parse(text)) or "").splitlines()[0]
    return str(tomllib.loads(text).get("title", ""))
