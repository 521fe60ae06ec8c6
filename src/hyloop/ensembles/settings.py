"""Where the settings of a file lie in the ranges of its tuning."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from pydantic import BaseModel

from hyloop.errors import BadInput
from hyloop.files.laws import DeviceSpec
from hyloop.files.schema import Experiment
from hyloop.files.tune import Choice, Range, Setting, inline
from hyloop.files.units import parse_unit

__all__ = ["at_in_file"]


def at_in_file(experiment: Experiment, settings: Mapping[str, Setting]) -> dict[str, float]:
    """The value of each setting in the unit of its range, or its place among the choices.

    A setting that the file leaves to a default which only a law knows, or that no range or choice holds, is left out.
    """
    found = {}
    for name, setting in settings.items():
        with suppress(KeyError, AttributeError, TypeError, BadInput):
            value = _value(experiment, name.split("."))
            at = _of_choice(value, setting) if isinstance(setting, Choice) else _of_range(value, setting)
            if at is not None:
                found[name] = at
    return found


def _value(table: Any, path: list[str]) -> Any:
    for key in path:
        if isinstance(table, BaseModel):
            own = getattr(table, key, None)
            if own is None and isinstance(table, DeviceSpec) and not table.draw:
                own = table.block.params[key].default
            table = own
        else:
            table = table[key]
    return table


def _of_range(value: Any, setting: Range) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    at = value / parse_unit(setting.unit).size if setting.unit else float(value)
    if setting.whole and at != round(at):
        return None
    return at if setting.low <= at <= setting.high else None


def _of_choice(value: Any, setting: Choice) -> float | None:
    texts = [inline(one) for one in setting.values]
    try:
        return float(texts.index(inline(value)))
    except ValueError:
        return None
