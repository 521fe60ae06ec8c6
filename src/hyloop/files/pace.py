"""Runs on the clock in experiment files: what is done about a tick that begins too late, and how the thread is set."""

from typing import Annotated, Literal

from pydantic import Field

from hyloop.files.fields import Quantity, Table

__all__ = ["Pace"]


class Pace(Table):
    """`hyloop run FILE --paced`: how the loop keeps its time. [paced.md](paced.md) explains it."""

    overrun: Literal["go on", "hold", "extrapolate", "fall back", "stop"] = "go on"
    """What a tick that begins too late does with models: compute them all, hold their forces, let these go on along a
    line, give them to fallbacks, or end the run."""
    extrapolate_for: Annotated[float, Quantity("s", above=0.0)] = 5e-3
    """How long forces go on along their line at most; then they are held."""
    allowed: Annotated[float, Quantity("-", above=0.0)] = 0.5
    """Part of a tick that a tick may begin late ("50 %")."""
    spin: Annotated[float, Quantity("s", low=0.0, high=1.0)] = 100e-6
    """How long before its time a tick begins to watch the clock without a pause."""
    priority: Annotated[int, Field(ge=0, le=99)] = 80
    """Real-time priority of the thread of the loop; 0: the usual one."""
    budget: dict[str, Annotated[float, Quantity("-", above=0.0, high=1.0)]] = Field(default_factory=dict)
    """Share of a tick that blocks may take in the mean, by name as for channels, and all that is no block, as in
    { structure = "10 %", "damper2*" = "20 %" }. What takes more is named at the end."""
    core: Annotated[int, Field(ge=0)] | None = None
    """Processor core for the thread of the loop; default: any."""
