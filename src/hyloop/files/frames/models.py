"""Load files that describe a frame, or the frame of an experiment file."""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from hyloop.errors import BadInput, UnknownName
from hyloop.files.frames.frame import FrameBase
from hyloop.files.load import read_experiment, take_structure_file, with_overrides
from hyloop.files.messages import explain
from hyloop.files.schema import Experiment
from hyloop.files.structures import FRAMES, OpenSeesScript

__all__ = ["load_frame"]


def load_frame(path: str | PathLike[str], overrides: Sequence[str] = ()) -> FrameBase | OpenSeesScript:
    """Read and check the frame in a file; nothing runs, not even the script that may stand for a frame.

    Parameters
    ----------
    path
        A TOML file with the tables of a frame (its ``kind`` is "frame" where none is given), or an experiment file
        whose structure is one.
    overrides
        Changes such as ``"sections.column.depth=50 cm"``, with ``structure.`` in front for an experiment file.

    Raises
    ------
    BadInput
        With the file and one line for each problem: key path, what was given, what is allowed.
    """
    path = Path(path)
    data = read_experiment(path)
    inside = "structure" in data
    fields = Experiment.model_fields if inside else {key for frame in FRAMES.values() for key in frame.model_fields}
    prefix = "structure." if inside else ""

    def make(data: dict[str, Any]) -> FrameBase | OpenSeesScript:
        return _frame(_structure(data, inside), prefix)

    def say(error: ValidationError, data: dict[str, Any]) -> str:
        return "\n".join(prefix + line for line in explain(error, _structure(data, inside)))

    try:
        return with_overrides(data, overrides, fields, make, say)
    except BadInput as error:
        if not str(error).startswith("override "):
            error.args = (f"{path}: {error}",)
        raise


def _structure(data: dict[str, Any], inside: bool) -> Any:
    """The table of the frame, with that of the file it may name."""
    whole = dict(data) if inside else {"structure": {"kind": "frame", **data}}
    take_structure_file(whole)
    return whole["structure"]


def _frame(table: Any, prefix: str) -> FrameBase | OpenSeesScript:
    kind, known = table.get("kind") if isinstance(table, dict) else None, {**FRAMES, "opensees": OpenSeesScript}
    if not isinstance(kind, str) or kind not in known:
        raise UnknownName("frame", str(kind), known, f"{prefix}kind")
    return known[kind].model_validate(table)
