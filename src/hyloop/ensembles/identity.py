"""What a run is: a digest of all that its result hangs on, so that nothing is run twice and nothing stale is read."""

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from hyloop.ensembles.measures import Measure
from hyloop.errors import BadInput
from hyloop.files.excitations import Record
from hyloop.files.load import apply_overrides, take_structure_file
from hyloop.study.tasks import library_digest

__all__ = ["Identities", "beside", "identity"]

_SHOWN = 16  # hexadecimal digits
_NOT_OF_THE_RESULT = (
    "title",
    "sweep",
    "tune",
    "ida",
    "rehearsal",
    "design",
    "cluster",
    "pace",
)  # tables that say what is done with the file


class Identities:
    """Digests of the runs of a file: of its tables after changes, of every file they name, and of what else is said.

    Files count by what they hold, not by where they lie. Overrides count as they are written: "20 kN" and 20e3 are two
    runs. What no override touches is read once, and so are places of records.

    Parameters
    ----------
    tables : dict
        Of the file, as `read_experiment` gives them.
    also : str
        What every run hangs on besides.
    """

    def __init__(self, tables: dict[str, Any], also: str) -> None:
        self._tables = {key: value for key, value in tables.items() if key not in _NOT_OF_THE_RESULT}
        self._also = also
        self._texts: dict[str, str] = {}  # of tables as they are
        self._places: dict[str, Path | None] = {}  # of records

    def of(self, overrides: Sequence[str]) -> str:
        """The digest of one run."""
        touched = {override.partition("=")[0].partition(".")[0].strip() for override in overrides}
        changed = {key: deepcopy(value) if key in touched else value for key, value in self._tables.items()}
        apply_overrides(changed, overrides)
        digest = hashlib.sha256(self._also.encode())
        for key in sorted(changed):
            if key in touched:
                text = self._text(key, changed[key])
            else:
                text = self._texts.get(key) or self._texts.setdefault(key, self._text(key, changed[key]))
            digest.update(f"{key}={text};".encode())
        for override in overrides:
            key, _, value = override.partition("=")
            digest.update(f"{key.strip()}={_text_by_content(value)};".encode())
        return digest.hexdigest()[:_SHOWN]

    def _text(self, key: str, value: Any) -> str:
        if key == "structure":
            with suppress(BadInput):  # what is wrong with it shows when it is built
                whole = {key: value}
                take_structure_file(whole)
                value = [value, whole[key]]
        return json.dumps(self._by_content(value), sort_keys=True, default=str)

    def _by_content(self, value: Any) -> Any:
        """The same with digests in the place of names of files, and beside names of records."""
        if isinstance(value, dict):
            found = {key: self._by_content(item) for key, item in value.items()}
            record = self._record(value)
            return found | ({"record": record} if record else {})
        if isinstance(value, list):
            return [self._by_content(item) for item in value]
        return _text_by_content(value) if isinstance(value, str) else value

    def _record(self, table: dict[str, Any]) -> str:
        """Digest of a record that is found by its name; empty where there is none."""
        if table.get("kind") != "record" or not isinstance(table.get("name"), str):
            return ""
        given = {key: table[key] for key in ("kind", "name", "component") if key in table}
        key = json.dumps(given, sort_keys=True, default=str)
        if key not in self._places:
            try:
                self._places[key] = Record.model_validate(given).find()
            except ValidationError:
                self._places[key] = None
        path = self._places[key]
        return "" if path is None else _content(path)


def identity(tables: dict[str, Any], overrides: Sequence[str], also: str) -> str:
    """The digest of a single run; see `Identities`."""
    return Identities(tables, also).of(overrides)


def beside(measures: Sequence[Measure]) -> str:
    """What a result hangs on besides the file: hyloop itself, and what is measured."""
    return " ".join([library_digest(), *(f"{m.name}={m.text}" for m in measures)])


def _text_by_content(text: str) -> str:
    path = Path(text.strip(" '\""))
    try:
        return _content(path) if path.is_file() else text
    except (OSError, ValueError):
        return text


def _content(path: Path) -> str:
    state = path.stat()
    return _digest(path.resolve(), state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=4096)
def _digest(path: Path, time: int, size: int) -> str:
    """Of what a file holds; read again when it has changed."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
