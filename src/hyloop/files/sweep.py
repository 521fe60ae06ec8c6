"""Sweeps in experiment files: which keys have which values, how they are combined, and what is measured."""

import math
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import Field, PlainValidator, WithJsonSchema, model_validator

from hyloop.errors import BadInput
from hyloop.files.fields import Table, refuse
from hyloop.files.rehearsal import flat
from hyloop.files.units import in_si

__all__ = ["DRAWN", "MOST_RUNS", "Choices", "Range", "Sweep"]

MOST_RUNS = 1_000_000
DRAWN = ("latin_hypercube", "sobol")
_RANGE = ("low", "high", "log", "whole")

Choices = tuple[Any, ...]  # values as the file has them


class Range(NamedTuple):
    """Ends of a range in SI units, with their unit; drawn evenly, or evenly in the logarithm, or whole numbers."""

    low: float
    high: float
    unit: str
    log: bool = False
    whole: bool = False


def _keys(given: Any) -> dict[str, Choices | Range]:
    if not isinstance(given, dict):
        raise BadInput(f'got {given!r}, wanted a table such as {{ "sites.damper1.device.f_y" = ["20 kN", "40 kN"] }}.')
    return {name: _values(name, value) for name, value in flat(given, _is_range).items()}


def _is_range(given: dict[str, Any]) -> bool:
    """Whether a table is a range, and not one with keys of this name, such as those of a sine whose frequency runs."""
    plain = not any(isinstance(value, dict | list | tuple) for value in given.values())
    return bool(given) and plain and ("low" in given or "high" in given)


def _values(name: str, given: Any) -> Choices | Range:
    if isinstance(given, Range):
        return given
    if isinstance(given, dict):
        return _range(name, given)
    if not isinstance(given, list | tuple):
        raise BadInput(f"{name}: got {given!r}; wanted a list of values, or a range {{ low = ..., high = ... }}.")
    if not given:
        raise BadInput(f"{name}: the list is empty; give at least one value.")
    if twice := [value for k, value in enumerate(given) if value in given[:k]]:
        raise BadInput(f"{name}: {twice[0]!r} stands there twice; give every value once.")
    return tuple(given)


def _records(given: Any) -> list[str] | int | str:
    listed = isinstance(given, list) and all(isinstance(name, str) for name in given)
    if isinstance(given, bool) or not (listed or isinstance(given, int | str)):
        raise BadInput(f'got {given!r}; give names, a pattern such as "chi-chi*", or how many.')
    if not given or (isinstance(given, int) and given < 1):
        raise BadInput(f"got {given!r}: the set of records is empty; name at least one, or leave it out.")
    return given


def _range(name: str, given: dict[str, Any]) -> Range:
    if unknown := [key for key in given if key not in _RANGE]:
        raise BadInput(f"{name}: a range has low, high, log and whole, and no '{unknown[0]}'.")
    ends = []
    for key in ("low", "high"):
        if key not in given:
            raise BadInput(f"{name}: the range has no {key}; write {{ low = ..., high = ... }}.")
        end = in_si(given[key])
        if end is None:
            raise BadInput(f"{name}: {key}: got {given[key]!r}, wanted a number, or one with a unit such as '20 kN'.")
        ends.append(end)
    (low, first), (high, second) = ends
    if first != second:
        raise BadInput(f"{name}: {given['low']!r} and {given['high']!r} are not of one kind; give both the same unit.")
    log, whole = given.get("log", False), given.get("whole", False)
    if not isinstance(log, bool) or not isinstance(whole, bool):
        raise BadInput(f"{name}: log and whole are true or false.")
    if low > high:
        raise BadInput(f"{name}: low = {given['low']!r} is above high = {given['high']!r}; change the two.")
    if log and low <= 0.0:
        raise BadInput(f"{name}: low = {given['low']!r} has no logarithm; it must be above zero, or leave log out.")
    if whole and (first or not (low.is_integer() and high.is_integer())):
        raise BadInput(f"{name}: a range of whole numbers has whole numbers without a unit as its ends.")
    return Range(low, high, first, log, whole)


class Sweep(Table):
    """`hyloop sweep FILE`: many runs with other values of any keys of the file, into one table.

    [sweeps.md](sweeps.md) explains them.
    """

    kind: Literal["grid", "list", "latin_hypercube", "sobol"] = "grid"
    """"grid": every value with every other. "list": first values together, then second ones. The other two draw `runs`
    points that fill the ranges evenly."""
    keys: Annotated[dict[str, Any], PlainValidator(_keys), WithJsonSchema({"type": "object"})] = Field(
        default_factory=dict
    )
    """Values of any keys of this file, by their places: lists, or of what is drawn also ranges such as
    { low = "10 kN", high = "40 kN" }, with log = true evenly in the logarithm, with whole = true whole numbers."""
    records: Annotated[
        list[str] | int | str | None,
        PlainValidator(_records),
        WithJsonSchema({"type": ["array", "string", "integer"], "items": {"type": "string"}}),
    ] = None
    """Ground motions from the data folder as one more key: their names, a pattern such as "chi-chi*", or how many of
    them. What `[excitation]` says of peak, scale, direction, start and duration of a record stays."""
    runs: Annotated[int, Field(ge=1, le=MOST_RUNS)] = 64
    """How many are drawn; of a Sobol sequence best a power of two."""
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    """Of what is drawn."""
    measures: dict[str, str] | None = None
    """What is measured of each run, such as { roof = "peak u.6" }: one of peak, end, max, min, rms, last, and channels.
    Left out: the usual ones, as far as a run has them."""
    recordings: bool = False
    """Keep a recording of every run."""

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        ranges = [name for name, values in self.keys.items() if isinstance(values, Range)]
        if ranges and self.kind not in DRAWN:
            said = f'a {self.kind} has no ranges; give a list, or kind = "sobol" or "latin_hypercube".'
            refuse(f"keys.{ranges[0]}", BadInput(said))
        if "record" in self.keys and self.records is not None:
            refuse("keys.record", BadInput("records are given, too; give one of them."))
        lengths = {name: len(values) for name, values in self.keys.items() if not isinstance(values, Range)}
        if self.kind == "list" and len(set(lengths.values())) > 1:
            shown = ", ".join(f"{name} has {count}" for name, count in lengths.items())
            refuse("keys", BadInput(f"lists side by side are equally long, but {shown} values."))
        if self.kind == "grid" and math.prod(lengths.values()) > MOST_RUNS:
            said = (
                f"the grid has {math.prod(lengths.values())} runs, allowed are {MOST_RUNS}. Draw some of them instead."
            )
            refuse("keys", BadInput(said))
        if self.measures is not None and not self.measures:
            refuse("measures", BadInput('is empty; give one such as roof = "peak u.6", or leave it out.'))
        return self
