"""Runs on the clock in experiment files: what is done about a tick that begins too late, and how the thread is set."""

from typing import Annotated, Literal

from pydantic import Field

from hyloop.files.fields import Quantity, Table

__all__ = ["Pace"]


class Pace(Table):
    """`hyloop run FILE --paced`: how the loop keeps its time. [paced.md](paced.md) explains it."""

    overrun: Literal["go on", "stop"] = "go on"
    """What is done about a tick that begins too late: the ones that follow are made at once until none is late, or the
    run is ended."""
    allowed: Annotated[float, Quantity("-", above=0.0)] = 0.5
    """Part of a tick that a tick may begin late ("50 %")."""
    spin: Annotated[float, Quantity("s", low=0.0, high=1.0)] = 100e-6
    """How long before its time a tick begins to watch the clock without a pause."""
    priority: Annotated[int, Field(ge=0, le=99)] = 80
    """Real-time priority of the thread of the loop; 0: the usual one."""
    core: Annotated[int, Field(ge=0)] | None = None
    """Processor core for the thread of the loop; default: any."""
