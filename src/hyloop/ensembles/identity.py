"""What a run is: a digest of all that its result hangs on, so that nothing is run twice and nothing stale is read."""

import hashlib
import json
from collections.abc import Sequence
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any

from hyloop.ensembles.measures import Measure
from hyloop.files.excitations import Record
from hyloop.files.load import apply_overrides
from hyloop.study.tasks import library_digest

__all__ = ["beside", "identity"]

_SHOWN = 16  # hexadecimal digits
_NOT_OF_THE_RESULT = (
    "title",
    "sweep",
    "tune",
    "ida",
    "rehearsal",
    "cluster",
)  # tables that say what is done with the file


def identity(tables: dict[str, Any], overrides: Sequence[str], also: str) -> str:
    """Digest of the tables of a file after some changes, of every file they name, and of what else is said.

    Files count by what they hold, not by where they lie. Overrides count as they are written: "20 kN" and 20e3 are two
    runs.
    """
    changed = deepcopy({key: value for key, value in tables.items() if key not in _NOT_OF_THE_RESULT})
    apply_overrides(changed, overrides)
    digest = hashlib.sha256(also.encode())
    digest.update(json.dumps(_by_content(changed), sort_keys=True, default=str).encode())
    for override in overrides:
        digest.update(f"{_text_by_content(override)};".encode())
    return digest.hexdigest()[:_SHOWN]


def beside(measures: Sequence[Measure]) -> str:
    """What a result hangs on besides the file: hyloop itself, and what is measured."""
    return " ".join([library_digest(), *(f"{m.name}={m.text}" for m in measures)])


def _by_content(value: Any) -> Any:
    """The same with digests in the place of names of files, and beside names of records."""
    if isinstance(value, dict):
        found = {key: _by_content(item) for key, item in value.items()}
        record = _record(value)
        return found | ({"record": record} if record else {})
    if isinstance(value, list):
        return [_by_content(item) for item in value]
    return _text_by_content(value) if isinstance(value, str) else value


def _text_by_content(text: str) -> str:
    path = Path(text.partition("=")[2].strip(" '\"") if "=" in text else text)
    try:
        state = path.stat()
    except (OSError, ValueError):
        return text
    return _digest(path, state.st_mtime_ns, state.st_size) if path.is_file() else text


def _record(table: dict[str, Any]) -> str:
    """Digest of a record that is found by its name; empty where there is none."""
    if table.get("kind") != "record" or not isinstance(table.get("name"), str):
        return ""
    given = {key: table[key] for key in ("kind", "name", "component") if key in table}
    path = Record.model_validate(given).find()
    if path is None:
        return ""
    state = path.stat()
    return _digest(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=4096)
def _digest(path: Path, time: int, size: int) -> str:
    """Of what a file holds; read again when it has changed."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
