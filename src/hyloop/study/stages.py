"""Stages of a study: what is made before it can be judged, each a command and a file.

A study with stages has ``stages.py`` with ``STAGES``, names and functions ``stage(folder, progress, **options)``; the
folder is where the files of all its stages lie, and the default of an option says its type. A stage returns a sentence.
"""

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from hyloop.errors import BadInput, UnknownName
from hyloop.study.code import load_code
from hyloop.study.studies import find_studies

__all__ = ["find_stages", "run_stage", "stage_folder"]


def stage_folder(name: str) -> Path:
    """Where files of stages lie if nothing else is said."""
    return Path("out") / f"{name}-stages"


def find_stages(name: str) -> dict[str, Callable[..., str]]:
    """The stages of a study, in the order they are run."""
    studies = find_studies()
    if name not in studies:
        raise UnknownName("study", name, studies)
    path = studies[name] / "stages.py"
    if not path.is_file():
        raise BadInput(f"study {name}: has no stages; `hyloop study run {name}` does everything.")
    return dict(load_code(path).STAGES)


def run_stage(name: str, stage: str, words: Sequence[str], folder: Path, progress: Callable[[str, float], None]) -> str:
    """Run one stage with options such as ``seed=1``, and return what it says."""
    stages = find_stages(name)
    if stage not in stages:
        raise UnknownName("stage", stage, stages, where=f"study {name}")
    options = _options(stages[stage], words, f"{name} {stage}")
    folder.mkdir(parents=True, exist_ok=True)
    return stages[stage](folder, lambda part: progress(stage, part), **options)


def options_of(stage: Callable[..., str]) -> dict[str, Any]:
    """Options of a stage and their defaults."""
    return {key: spec.default for key, spec in list(inspect.signature(stage).parameters.items())[2:]}


def _options(stage: Callable[..., str], words: Sequence[str], where: str) -> dict[str, Any]:
    known, found = options_of(stage), {}
    for word in words:
        key, sign, text = word.partition("=")
        if not sign:
            raise BadInput(f"{where}: '{word}' is no option; write {' '.join(f'{k}={v}' for k, v in known.items())}.")
        if key not in known:
            raise UnknownName("option", key, known, where=where)
        try:
            found[key] = type(known[key])(text)
        except ValueError:
            kind = type(known[key]).__name__
            raise BadInput(f"{where}: {key} = {text!r} must be of the kind of {known[key]!r} ({kind}).") from None
    return found
