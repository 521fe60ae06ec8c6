"""What is wrong with an experiment file, one line for each problem: key path, what was given, what is allowed."""

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from hyloop.files.controllers import CONTROLLERS
from hyloop.files.excitations import EXCITATIONS, SIGNALS
from hyloop.files.frames.members import MEMBERS
from hyloop.files.frames.sections import MATERIALS, SECTIONS
from hyloop.files.loads import LOADS
from hyloop.files.structures import STRUCTURES
from hyloop.files.transfers import AXIS, PLAIN, RIG
from hyloop.files.updaters import UPDATERS

__all__ = ["explain", "path_text"]

# tables of several kinds: the key that tells them apart, and what it may be
_KINDS = {
    "structure": ("kind", STRUCTURES),
    "excitation": ("kind", EXCITATIONS),
    "fallback": ("kind", SIGNALS),
    "model": ("updater", UPDATERS),
}
_NAMED_KINDS = {
    "materials": MATERIALS,
    "sections": SECTIONS,
    "members": MEMBERS,
    "controllers": CONTROLLERS,
    "excitations": EXCITATIONS,
    "loads": LOADS,
}  # tables in these have names
_TAGS = (PLAIN, AXIS, RIG)  # of tables of a transfer system that no key tells apart
_OWN = ("value_error", "refused")  # problems that hyloop found and pydantic did not
_WANTED = {
    "string_type": "a text",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "tuple_type": "a list",
    "finite_number": "a finite number",
}


def explain(error: ValidationError, data: Any) -> list[str]:
    """One line for each problem pydantic found in `data`; keys whose values are refused in the same words share one."""
    lines: dict[tuple[str, str], list[str]] = {}
    for problem in error.errors(include_url=False):
        where, said = _line(problem, data)
        keys = lines.setdefault((said, "" if problem["type"] in _OWN else where), [])
        if where not in keys:
            keys.append(where)
    return [f"{', '.join(keys)}: {said}" for (said, _), keys in lines.items()]


def path_text(path: tuple[str | int, ...]) -> str:
    """``sites.damper1.along[2]``."""
    text = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path)
    return text.lstrip(".") or "the file"


def _line(problem: Any, data: Any) -> tuple[str, str]:
    """Where it is, and what is wrong."""
    path: tuple[str | int, ...] = tuple(_in_file(problem["loc"], data))
    context, given, kind = problem.get("ctx", {}), problem.get("input"), problem["type"]
    if kind == "refused":
        return path_text((*path, context["key"])), context["message"]
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        *_, above, last = ("", *path)
        key, allowed = ("kind", _NAMED_KINDS[above]) if above in _NAMED_KINDS else _KINDS[str(last)]
        said = f"got {context['tag']!r}{_near(context['tag'], allowed)}" if "tag" in context else "is missing"
        return path_text((*path, key)), f"{said}; allowed are {_list(allowed)}."
    where = path_text(path)
    if kind == "missing":
        return where, f"is missing; every {_parent(path)} needs it."
    if kind == "literal_error":
        allowed = re.findall(r"'([^']*)'", context["expected"])
        return where, f"got {_short(given)}{_near(given, allowed)}; allowed are {_list(allowed)}."
    if kind in _WANTED:
        return where, f"got {_short(given)}, wanted {_WANTED[kind]}."
    if kind == "value_error":
        return where, str(context["error"])
    return where, f"got {_short(given)}. {problem['msg']}."


def _in_file(location: tuple[str | int, ...], data: Any) -> Iterator[str | int]:
    """Keys as they stand in the file: without the names of union members that pydantic puts between them."""
    for key in location:
        if (
            isinstance(data, dict)
            and key not in data
            and key in (*(data.get(one) for one in ("kind", "updater", "law")), *_TAGS)
        ):
            continue
        if key == "[key]":  # the name of an entry is wrong, not its value
            continue
        yield key
        try:
            data = data[key]
        except (KeyError, IndexError, TypeError):
            data = None


def _parent(path: tuple[str | int, ...]) -> str:
    return f"[{path_text(path[:-1])}] table" if len(path) > 1 else "experiment"


def _near(given: Any, allowed: Any) -> str:
    near = get_close_matches(given, allowed, n=1, cutoff=0.4) if isinstance(given, str) else []
    return f", did you mean '{near[0]}'?" if near else ""


def _list(names: Any) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _short(given: Any) -> str:
    text = repr(given)
    return text if len(text) <= 60 else f"{text[:57]}..."
