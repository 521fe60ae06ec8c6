"""Designs in experiment files: which parameters of devices vary, under which motions, at what cost."""

from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, model_validator

from hyloop.errors import BadInput
from hyloop.files.excitations import Excitation, Record
from hyloop.files.fields import Quantity, Table, refuse

__all__ = ["Design"]


def _list(given: Any) -> Any:
    return (given,) if isinstance(given, str) else tuple(given) if isinstance(given, list) else given


class Design(Table):
    """`hyloop design FILE`: how a budget of damper strength is spread best over a building.

    [design.md](design.md) explains it.
    """

    vary: Annotated[tuple[str, ...], BeforeValidator(_list), Field(min_length=1)]
    """Parameters that vary, by channel; `*` and `?` match as in a shell: "damper*.f_y". All in one unit."""
    low: float | str
    """Smallest value of a parameter, in its unit."""
    high: float | str
    """Largest value of a parameter, in its unit."""
    budget: float | str
    """What all parameters together cost: the sum over all devices, each parameter with the `weights` of its site."""
    weights: dict[str, Annotated[float, Quantity("-", above=0.0)]] = Field(default_factory=dict)
    """Cost of a unit at a site; 1 where nothing is said."""
    by_story: bool = False
    """One value for all sites between the same floors."""
    exponent: Annotated[float, Quantity("-", low=12.0, high=1000.0)] = 200.0
    """Of the smooth peak whose gradient is followed, a p-norm over time and stories. The search begins with a sixth of
    it, goes on with half of it, and ends with all."""
    iterations: Annotated[int, Field(ge=3, le=1000)] = 30
    """Most steps by gradients; fewer where nothing improves any more."""
    trials: Annotated[int, Field(ge=0, le=100_000)] = 1000
    """Of Optuna, for comparison: every trial runs all motions of `training`; 0: none."""
    seeds: Annotated[int, Field(ge=1, le=100)] = 3
    """Searches by Optuna, each from a seed of its own."""
    training: Annotated[dict[str, Excitation], Field(min_length=1)]
    """Ground motions that the design is made for, each a table like `[excitation]`."""
    test: Annotated[dict[str, Excitation], Field(min_length=1)]
    """Ground motions of other events, that judge it."""

    @model_validator(mode="after")
    def _apart(self) -> Self:
        seen = {_source(spec): name for name, spec in self.training.items() if _source(spec)}
        for name, spec in self.test.items():
            if _source(spec) in seen:
                said = f"is the record of design.training.{seen[_source(spec)]}, so that it judges nothing"
                refuse(f"test.{name}", BadInput(f"{said}. Take one of another event."))
            if name in self.training:
                refuse(f"test.{name}", BadInput("a motion of design.training has this name; give another."))
        for table in ("training", "test"):
            for name, spec in getattr(self, table).items():
                if spec.direction is not None:
                    refuse(f"{table}.{name}.direction", BadInput("the motions of a design act as structure.ground."))
        return self


def _source(spec: Excitation) -> str:
    """The record, whatever its component: both components are one event."""
    return (spec.file or spec.name or "") if isinstance(spec, Record) else ""
