"""Incremental dynamic analyses in experiment files: which records, at which intensities, and what collapse is."""

from typing import Annotated, Any, Literal

from pydantic import Field, PlainValidator, WithJsonSchema

from hyloop.errors import BadInput
from hyloop.files.fields import Quantity, Table
from hyloop.files.units import quantity

__all__ = ["Drifts", "Ida", "drift"]

Intensity = Annotated[float, Quantity("m/s2", above=0.0)]
Part = Annotated[float, Quantity("-", above=0.0, high=1.0)]


class Drifts(dict[str, tuple[float, str]]):
    """Damage states by name: a drift ratio (unit "-") or a length in m, rising."""


def drift(given: Any, name: str) -> tuple[float, str]:
    """A drift ratio, "2 %", or a length, "60 mm"."""
    if not isinstance(given, str) or not given.strip(" 0123456789.eE+-/"):
        raise BadInput(f"{name}: got {given!r}; give the unit: '2 %' is a part of the story height, '60 mm' a length.")
    unit = "-" if "%" in given else "m"
    value = quantity(given, unit, name)
    if not value > 0.0:
        raise BadInput(f"{name}: got {given!r}; it must be positive.")
    return value, unit


def _states(given: Any) -> Drifts:
    if not isinstance(given, dict):
        raise BadInput(f'got {given!r}, wanted a table such as {{ slight = "0.5 %", severe = "2 %" }}.')
    return Drifts({str(name): drift(value, str(name)) for name, value in given.items()})


def _collapse(given: Any) -> str:
    drift(given, "collapse")
    return given


def _records(given: Any) -> int | tuple[str, ...]:
    if isinstance(given, int) and not isinstance(given, bool):
        if given < 1:
            raise BadInput(f"got {given}; a set has at least one record.")
        return given
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, list) or not all(isinstance(name, str) and name.strip() for name in names):
        raise BadInput(f'got {given!r}, wanted names or patterns such as ["kobe*", "friuli-tolmezzo_1"], or a number.')
    if not names:
        raise BadInput("the set of records is empty; give names, a pattern, or how many (hyloop records lists them).")
    return tuple(names)


class Ida(Table):
    """`hyloop ida FILE`: many records at rising intensity until the structure collapses.

    The file's own `[excitation]`, of kind "record", says how each record is used: `time_scale`, `start`, `duration`,
    `direction`. [ida.md](ida.md) explains the analysis.
    """

    records: Annotated[
        int | tuple[str, ...] | None, PlainValidator(_records), WithJsonSchema({"type": ["array", "string", "integer"]})
    ] = None
    """Names or patterns of records of the data folder, each with its component, or files; or how many."""
    intensity: Literal["sa_t1", "pga"] = "sa_t1"
    """What records are scaled by: spectral acceleration at the first period, or peak ground acceleration."""
    damping: Annotated[float, Quantity("-", low=0.0, high=0.9)] = 0.05
    """Of the spectral acceleration."""
    period: Annotated[float, Quantity("s", above=0.0)] | None = None
    """Period of the spectral acceleration; default: the first one of the structure with its devices."""
    first: Intensity = 0.5
    """Lowest level, in m/s2 or as "0.05 g"; the elastic slope is taken there."""
    step: Intensity = 1.0
    """From the first level to the second."""
    growth: Annotated[float, Quantity("m/s2", low=0.0)] = 0.5
    """By how much each step is longer than the one before, until the structure collapses."""
    levels: Annotated[int, Field(ge=3, le=200)] = 12
    """Runs of a record, at most; 8 or more give smooth curves."""
    highest: Intensity | None = None
    """Level beyond which nothing is run; a record that stands there counts as censored."""
    resolution: Part = 0.05
    """Between the highest level that stands and the lowest that collapses, of the former."""
    fill: bool = True
    """Spend what is left of the runs on the widest gaps below collapse."""
    collapse: Annotated[str, PlainValidator(_collapse), WithJsonSchema({"type": "string"})] = "10 %"
    """Drift of any story: part of its height ("10 %") or a length ("300 mm")."""
    flattening: Annotated[float, Quantity("-", low=0.0, high=0.9)] = 0.2
    """A curve has ended where its slope stays below this part of the elastic one; 0: it never does."""
    response: str | None = None
    """What is drawn over intensity, as in "peak drift_ratio.*"; default: that, or "peak drift.*" without heights."""
    measures: dict[str, str] = Field(default_factory=dict)
    """What else the table shall have, as in { stroke = "peak damper1.d" }."""
    states: Annotated[Drifts, PlainValidator(_states), WithJsonSchema({"type": "object"})] = Field(
        default_factory=Drifts
    )
    """Damage states: a drift for each, as in { slight = "0.5 %", severe = "2 %" }; each gets its fragility."""
    mce: Intensity | None = None
    """Intensity of the maximum considered earthquake; the collapse margin ratio is the median over it."""
    confidence: Annotated[float, Quantity("-", low=0.5, high=0.999)] = 0.95
    """Of intervals and bands."""
    samples: Annotated[int, Field(ge=100, le=100_000)] = 2000
    """Of the bootstrap over records."""
