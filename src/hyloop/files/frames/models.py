"""Load files that describe a frame, or the frame of an experiment file."""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from hyloop.errors import BadInput, UnknownName
from hyloop.files.frames.frame import FrameBase
from hyloop.files.load import apply_override, read_experiment, take_structure_file
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
    for override in overrides:
        apply_override(data, override, fields)
    if not inside:
        data = {"structure": {"kind": "frame", **data}}
    prefix = "structure." if inside else ""
    try:
        take_structure_file(data)
        return _frame(data["structure"], prefix)
    except BadInput as error:
        error.args = (f"{path}: {error}",)
        raise


def _frame(table: Any, prefix: str) -> FrameBase | OpenSeesScript:
    kind, known = table.get("kind") if isinstance(table, dict) else None, {**FRAMES, "opensees": OpenSeesScript}
    if not isinstance(kind, str) or kind not in known:
        raise UnknownName("frame", str(kind), known, f"{prefix}kind")
    try:
        return known[kind].model_validate(table)
    except ValidationError as error:
        raise BadInput("\n".join(prefix + line for line in explain(error, table))) from None
