"""The reference of experiment, model and training files as Markdown, made from their tables and an example of each."""

import re
import types
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from hyloop.files.fields import Quantity, Table
from hyloop.files.reference_pages import PAGES, WORDS

__all__ = ["examples", "keys", "markdown"]

_HEAD = """# Reference of the files

Made by `hyloop schema --markdown` from what hyloop checks; do not edit it by hand. Numbers are in SI units; a text may
have any unit of the same kind ("23 kN", "1/1024 s", "0.35 g", "2 %"). Where there is no default it says **required**.
`hyloop schema` prints the same as JSON Schema for an editor; `hyloop laws` lists laws and their parameters.
"""
_PLAIN = {str: "text", int: "whole number", bool: "true or false", float: "number", Any: "any value"}


def markdown() -> str:
    """The whole page."""
    parts = [_HEAD]
    for title, lead, tables in PAGES:
        parts.append(f"## {title}\n\n{lead}\n")
        parts += [_section(heading, table) for heading, table in tables.items()]
    return "\n".join(parts)


@cache
def examples() -> dict[str, str]:
    """An example for every table, by the name of its class."""
    text = Path(__file__).with_name("reference_examples.txt").read_text(encoding="utf-8")
    parts = re.split(r"^=== (\w+)\n", text, flags=re.MULTILINE)[1:]
    return {name: part.strip() for name, part in zip(parts[::2], parts[1::2], strict=True)}


def _section(heading: str, table: type[Table]) -> str:
    about = " ".join((table.__doc__ or "").split("\n\n")[0].split()).replace("``", "`")
    lines = [f"### {heading}", "", about, ""]
    lines += ["```toml", examples()[table.__name__], "```", ""]
    lines += ["| key | value | default | meaning |", "|---|---|---|---|", *_rows(table), ""]
    return "\n".join(lines)


def _rows(table: type[Table]) -> Iterator[str]:
    for name, value, default, meaning in keys(table):
        default = f"**{default}**" if default == "required" else f"`{default}`" if default else ""
        yield f"| `{name}` | {value} | {default if default != '`as below`' else 'as below'} | {meaning} |"


def keys(table: type[Table]) -> Iterator[tuple[str, str, str, str]]:
    """Every key of a table: its name, what may stand there, the default, and what it means."""
    for name, field in table.model_fields.items():
        default = field.get_default(call_default_factory=True)
        meaning = " ".join((field.description or _plain(name, field)).split()).replace("|", "\\|")
        yield name, _value(field), "required" if field.is_required() else _default(default), meaning


def _plain(name: str, field: FieldInfo) -> str:
    """What a key without a sentence of its own means."""
    if name in ("kind", "updater") or (name == "law" and get_origin(field.annotation) is Literal):
        return "Says that it is this one."
    return "See below." if "table" in _value(field) else WORDS[name]


def _value(field: FieldInfo) -> str:
    for note in field.metadata:
        if isinstance(note, Quantity):
            return _quantity(note)
    return _kind(field.annotation)


def _kind(annotation: Any) -> str:
    """What may stand there, in words."""
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        notes = [note for note in args[1:] if isinstance(note, Quantity)]
        return _quantity(notes[0]) if notes else _kind(args[0])
    if origin is Literal:
        return " or ".join(f'"{word}"' if isinstance(word, str) else str(word) for word in args)
    if origin in (Union, types.UnionType):
        kinds = list(dict.fromkeys(_kind(part) for part in args if part is not type(None)))
        return kinds[0] if len(set(kinds)) == 1 else " or ".join(kinds)
    if origin is tuple:
        inner = _kind(args[0])
        return f"list of {inner}" if args[1:] == (...,) else f"list of {len(args)}: {inner}"
    if origin is dict:
        return f"table of names, each {_kind(args[1])}"
    if isinstance(annotation, type) and issubclass(annotation, Table):
        return "table"
    return _PLAIN.get(annotation, "text" if isinstance(annotation, type) else "value")


def _quantity(note: Quantity) -> str:
    one = "number" if note.unit == "-" else note.unit
    return one + ("", ", or a list", ", or a list of lists")[note.depth]


def _default(value: Any) -> str:
    if value is None or value == {} or value == "":
        return ""
    if isinstance(value, Table):
        return "as below"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{', '.join(_word(part) for part in value)}]"
    return _word(value)


def _word(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else f"{value:g}" if isinstance(value, float) else str(value)
