"""The process in which an OpenSeesPy script runs: ``python -m hyloop.structure.frames.opensees_process TASK``.

TASK is a JSON file with the script, its function, arguments, and the file for the result: arrays (.npz), or, where
something is refused, a JSON file beside it. What goes wrong in the script itself is printed as its traceback.
"""

import hashlib
import json
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from hyloop.errors import BadInput, UnknownName
from hyloop.structure.frames.opensees_library import load_opensees
from hyloop.structure.frames.opensees_reading import read_model

__all__ = ["FAILED", "REFUSED", "main"]

FAILED, REFUSED, ENDED = 1, 3, 4  # exit codes; a script may end with any of them itself


def main(task: Path) -> int:
    """Run a script and write what was read of the model it made."""
    told = json.loads(task.read_text(encoding="utf-8"))
    script, result = Path(told["script"]), Path(told["result"])
    try:
        source = script.read_bytes()
        ops = load_opensees()
        heard = _listen(ops)
        os.chdir(script.parent)  # where a person would call it
        _function(script, source, told["function"])(**told["arguments"])
        found = read_model(ops, heard, told["linearise"])
    except BadInput as error:
        result.with_suffix(".json").write_text(json.dumps(str(error)), encoding="utf-8")
        return REFUSED
    except SystemExit as end:  # of the script: there is no model to read
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        return ENDED
    except Exception as error:
        where = error.__traceback__
        while where is not None and where.tb_frame.f_code.co_filename != str(script):
            where = where.tb_next  # how it came to the script says nothing to its author
        traceback.print_exception(type(error), error, where)
        return FAILED
    np.savez(result, allow_pickle=False, sha256=np.array(hashlib.sha256(source).hexdigest()), **found)
    return 0


def _function(script: Path, source: bytes, name: str) -> Callable[..., Any]:
    """Run the script as a module, not as the main program, and find its function."""
    module = ModuleType(f"script_{script.stem}")
    module.__file__ = str(script)
    sys.modules[module.__name__] = module
    sys.path.insert(0, str(script.parent))
    exec(compile(source, str(script), "exec"), module.__dict__)
    function = getattr(module, name, None)
    if not callable(function):
        own = [key for key, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
        if not own:
            raise BadInput(
                f"the script has no function. Put what builds the model into one: write `def {name}():` above the "
                "first line of the model and indent the lines below it."
            )
        raise UnknownName("function in the script", name, own)
    return function


def _listen(ops: Any) -> list[str]:
    """Hear of what OpenSees does not tell afterwards: a list of sentences that the script's calls fill."""
    heard: list[str] = []

    def pattern(kind: str, *rest: Any) -> str:
        return "" if kind == "Plain" else f"the load pattern {rest[0]} of kind {kind}"

    def imposed(node: int, dof: int, value: float = 0.0, *rest: Any) -> str:
        return f"the displacement imposed on node {node}" if value else ""

    sentences: dict[str, Callable[..., str]] = {
        "modalDamping": lambda *_: "the modal damping, which the file can give: damping = { kind = 'modal', ... }",
        "modalDampingQ": lambda *_: "the modal damping, which the file can give: damping = { kind = 'modal', ... }",
        "damping": lambda kind, *_: f"the damping object of kind {kind}",
        "pattern": pattern,
        "sp": imposed,
        "imposedMotion": lambda node, *_: f"the motion imposed on node {node}",
    }
    for name, sentence in sentences.items():
        setattr(ops, name, _heard(getattr(ops, name), sentence, heard))
    ops.wipe = _forgotten(ops.wipe, heard)
    return heard


def _heard(call: Any, sentence: Callable[..., str], heard: list[str]) -> Any:
    def noted(*words: Any) -> Any:
        if said := sentence(*words):
            heard.append(said)
        return call(*words)

    return noted


def _forgotten(wipe: Any, heard: list[str]) -> Any:
    def clean(*words: Any) -> Any:
        heard.clear()
        return wipe(*words)

    return clean


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
