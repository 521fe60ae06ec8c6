"""Results of tasks as text: numbers, texts, lists, tables, arrays and records, and nothing that could run when read."""

import base64
import importlib
import json
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from hyloop.errors import BadInput

__all__ = ["from_text", "to_text"]

_KIND = "?"  # key of a table that stands for something else


def to_text(value: Any) -> str:
    """Write a result; equal ones give equal texts."""
    return json.dumps(_plain(value), ensure_ascii=False)


def from_text(text: str) -> Any:
    """Read a result. Records are those of hyloop and of its studies, and are made from their fields alone."""
    return _value(json.loads(text))


def _plain(value: Any) -> Any:
    if hasattr(value, "__array__") and not isinstance(value, np.generic):  # those of JAX too
        value = np.asarray(value)
        data = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode("ascii")
        return {_KIND: "array", "dtype": value.dtype.str, "shape": list(value.shape), "data": data}
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {_KIND: "table", "rows": [[_plain(key), _plain(item)] for key, item in value.items()]}
    names = getattr(value, "_fields", None) or (
        tuple(field.name for field in fields(value) if field.init) if is_dataclass(value) else None
    )
    if names is not None:
        kind = f"{type(value).__module__}:{type(value).__qualname__}"
        return {_KIND: kind, "fields": {name: _plain(getattr(value, name)) for name in names}}
    if isinstance(value, tuple):
        return {_KIND: "tuple", "items": [_plain(item) for item in value]}
    raise BadInput(f"a task returned {type(value).__name__}, which cannot be kept; return numbers, arrays or records.")


def _value(plain: Any) -> Any:
    if isinstance(plain, list):
        return [_value(item) for item in plain]
    if not isinstance(plain, dict):
        return plain
    kind = plain[_KIND]
    if kind == "array":
        data = np.frombuffer(base64.b64decode(plain["data"]), plain["dtype"])
        return data.reshape(plain["shape"]).copy()
    if kind == "table":
        return {_value(key): _value(item) for key, item in plain["rows"]}
    if kind == "tuple":
        return tuple(_value(item) for item in plain["items"])
    module, _, name = kind.partition(":")
    if not module.startswith(("hyloop.", "hyloop_study_")):
        raise BadInput(f"a kept result holds a {kind}, which is none of hyloop's records; remove the folder kept.")
    record = getattr(importlib.import_module(module), name)
    if not (isinstance(record, type) and (hasattr(record, "_fields") or is_dataclass(record))):
        raise BadInput(f"a kept result holds a {kind}, which is no record; remove the folder kept.")
    return record(**{key: _value(item) for key, item in plain["fields"].items()})
