"""Rehearsals in experiment files: what is uncertain of a planned test, and what it must keep to."""

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import Field, PlainValidator, WithJsonSchema

from hyloop.errors import BadInput
from hyloop.files.fields import Quantity, Table
from hyloop.files.limits import Force, Length
from hyloop.files.units import quantity

__all__ = ["Rehearsal", "Spread", "flat"]

LARGEST = 1.0  # of a relative standard deviation

Spread = float | tuple[Any, Any]  # relative standard deviation, or ends of a range as the file has them


def flat(given: dict[str, Any], whole: Callable[[dict[str, Any]], bool] = lambda table: False) -> dict[str, Any]:
    """Keys with dots, which TOML reads as tables unless they are quoted; tables that are `whole` are values."""
    found: dict[str, Any] = {}
    for key, value in given.items():
        if isinstance(value, dict) and not whole(value):
            found |= {f"{key}.{inner}": part for inner, part in flat(value, whole).items()}
        else:
            found[str(key)] = value
    return found


def _spreads(given: Any) -> dict[str, Spread]:
    if not isinstance(given, dict):
        raise BadInput(f'got {given!r}, wanted a table such as {{ "damper1.actuator.tau" = "10 %" }}.')
    return {name: _spread(name, value) for name, value in flat(given).items()}


def _spread(name: str, given: Any) -> Spread:
    if isinstance(given, (list, tuple)):
        if len(given) != 2:
            raise BadInput(f"{name}: got {given!r}; a range has two ends, as in ['8 ms', '12 ms'].")
        return given[0], given[1]
    size = quantity(given, "-", name)
    if not 0.0 <= size <= LARGEST:
        raise BadInput(f"{name}: got {given!r}; a relative standard deviation lies between 0 and 100 %.")
    return size


Part = Annotated[float, Quantity("-", above=0.0)]


class Rehearsal(Table):
    """`hyloop rehearse FILE`: runs with what is not known drawn at random, and what they must keep to for a go.

    Limits that actuators, sensors, sites and `[limits]` have count without being repeated here.
    [rehearse.md](rehearse.md) explains them.
    """

    runs: Annotated[int, Field(ge=1, le=100_000)] = 200
    """Number of rehearsals."""
    uncertain: Annotated[dict[str, Spread] | None, PlainValidator(_spreads), WithJsonSchema({"type": "object"})] = None
    """Spread of parameters, by their channel: a relative standard deviation ("10 %"), or a range (["8 ms", "12 ms"]);
    of plants given by poles, coefficients or matrices the factors `gain` and `time`. Left out: 10 % of the times and
    2 % of the gains of every actuator."""
    answer: str | None = None
    """What the test is for: a channel, or several by * and ?, whose largest peak counts. Default: the story drifts."""
    max_stroke: Length | None = None
    """Largest displacement of an actuator."""
    max_velocity: Annotated[float, Quantity("m/s", above=0.0)] | None = None
    """Largest velocity of an actuator."""
    max_force: Force | None = None
    """Largest force of an actuator."""
    max_tracking: Part = 0.05
    """Largest error of the displacement achieved: root mean square over the range of the one wanted."""
    max_effect: Part = 0.1
    """Largest change of the answer against the same test with an ideal rig."""
    margin: Part = 2.0
    """Least critical delay over the delay that remains."""
    may_fail: Annotated[float, Quantity("-", low=0.0, high=1.0)] = 0.0
    """Share of the runs that may break a limit."""
