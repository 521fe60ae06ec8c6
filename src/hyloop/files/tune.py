"""Tuning in experiment files: which settings are sought, in what range, on which events, and what judges them."""

import json
import math
import re
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import Field, PlainValidator, WithJsonSchema, model_validator

from hyloop.errors import BadInput, OutOfBounds
from hyloop.files.fields import Table, refuse
from hyloop.files.units import parse_unit

__all__ = ["Choice", "Range", "Setting", "Tune"]

_NUMBER = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(.*?)\s*")
_DIGITS = 6  # of a number that is tried: nobody tunes finer, and a person reads it


class Range(NamedTuple):
    """Numbers between two ends, in the unit of the file."""

    low: float
    high: float
    unit: str
    log: bool
    whole: bool

    def text(self, value: float) -> str:
        """A value as it stands in an override."""
        if self.whole:
            return f"{round(value)} {self.unit}".strip()
        rounded = min(max(float(f"{value:.{_DIGITS}g}"), self.low), self.high)
        return f"{rounded!r} {self.unit}".strip()

    def ends(self) -> list[str]:
        """Its ends as overrides."""
        return [self.text(self.low), self.text(self.high)]


class Choice(NamedTuple):
    """Values to choose from, as the file has them."""

    values: tuple[Any, ...]

    def text(self, index: int) -> str:
        """A value as it stands in an override."""
        return inline(self.values[index])

    def ends(self) -> list[str]:
        """All values as overrides."""
        return [inline(value) for value in self.values]


Setting = Range | Choice


def inline(value: Any) -> str:
    """A value as TOML has it on one line."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(str(key))} = {inline(item)}" for key, item in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(inline(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def _settings(given: Any) -> dict[str, Setting]:
    if not isinstance(given, dict) or not given:
        raise BadInput(
            f'got {given!r}, wanted keys such as sites.damper1.model.noise = {{ low = "1 N", high = "1 kN" }}.'
        )
    found = dict(_leaves(given, ""))
    return {name: _setting(name, value) for name, value in found.items()}


def _leaves(given: dict[str, Any], before: str) -> list[tuple[str, Any]]:
    """Keys with dots, which TOML reads as tables, down to a range or a list."""
    found: list[tuple[str, Any]] = []
    for key, value in given.items():
        name = f"{before}.{key}" if before else str(key)
        deeper = isinstance(value, dict) and not {"low", "high"} & value.keys()
        found += _leaves(value, name) if deeper else [(name, value)]
    return found


def _setting(name: str, given: Any) -> Setting:
    if isinstance(given, (list, tuple)):
        if len(given) < 2 or len({inline(value) for value in given}) < len(given):
            raise BadInput(f"{name}: got {given!r}; a choice needs at least two values, all different.")
        return Choice(tuple(given))
    if not isinstance(given, dict) or not {"low", "high"} <= given.keys() <= {"low", "high", "log", "whole"}:
        raise BadInput(
            f"{name}: got {given!r}; wanted a list to choose from, or {{ low = ..., high = ..., log = true }}; "
            "whole = true takes whole numbers alone."
        )
    (low, unit), (high, other) = _number(name, given["low"]), _number(name, given["high"])
    log, whole = given.get("log", False), given.get("whole", False)
    if unit != other:
        raise BadInput(f"{name}: low is in '{unit or 'SI'}' and high in '{other or 'SI'}'; write both in one unit.")
    if not isinstance(log, bool) or not isinstance(whole, bool):
        raise BadInput(f"{name}: log and whole are true or false.")
    if not low < high:
        raise OutOfBounds(f"{name}: low = {low:g} must be below high = {high:g}.")
    if log and low <= 0.0:
        raise OutOfBounds(f"{name}: low = {low:g} must be above zero where log = true.")
    if whole and not (low.is_integer() and high.is_integer()):
        raise BadInput(f"{name}: whole numbers lie between whole numbers; got {low:g} and {high:g}.")
    return Range(low, high, unit, log, whole)


def _number(name: str, given: Any) -> tuple[float, str]:
    """A number and its unit, empty for SI."""
    if isinstance(given, bool) or not isinstance(given, (int, float, str)):
        raise BadInput(f"{name}: got {given!r}; wanted a number, or a text such as '1 kN'.")
    found = _NUMBER.fullmatch(given) if isinstance(given, str) else None
    if isinstance(given, str) and found is None:
        raise BadInput(f"{name}: got '{given}'; wanted a number and a unit, such as '1 kN'.")
    value, unit = (float(found[1]), found[2]) if found else (float(given), "")
    if not math.isfinite(value):
        raise OutOfBounds(f"{name}: got {given!r}; wanted a finite number.")
    if unit:
        parse_unit(unit)
    return value, unit


Events = list[str | list[str]]


class Tune(Table):
    """`hyloop tune FILE`: settings sought on training events and judged on others; [tune.md](tune.md) explains it."""

    settings: Annotated[dict[str, Setting], PlainValidator(_settings), WithJsonSchema({"type": "object"})]
    """What is sought, by its key: `{ low = "1 N", high = "1 kN", log = true }`, or a list to choose from."""
    objective: str
    """A statistic of channels, such as "peak drift.*", "rms a_abs.2", or "error damper2.f truth.f"."""
    training: Annotated[Events, Field(min_length=1)]
    """Events to learn from: names of records, changes such as "seed=3", or lists of changes that belong together."""
    test: Annotated[Events, Field(min_length=1)]
    """Events to judge by in the end; none may be among those of the training."""
    goal: Literal["least", "most"] = "least"
    """What the objective shall be."""
    over: Literal["mean", "worst"] = "mean"
    """What counts of several events."""
    trials: Annotated[int, Field(ge=2, le=100_000)] = 60
    """Number of settings tried; the first are those of the file."""
    together: Annotated[int, Field(ge=1, le=1000)] = 4
    """How many are asked for at once. They hang on it, so it does not follow the number of workers."""
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0
    """Of the search."""

    @model_validator(mode="after")
    def _ours(self) -> Self:
        for name in self.settings:
            if name.partition(".")[0] in ("tune", "cluster", "title"):
                refuse("settings", BadInput(f"{name} changes nothing of a run; name a key of the experiment."))
        return self

    def text(self) -> str:
        """All that suggestions hang on, but for the number of trials: with more of them a tuning goes on."""
        given = {key: getattr(self, key) for key in type(self).model_fields if key != "trials"}
        return json.dumps(given, default=str, sort_keys=True)
