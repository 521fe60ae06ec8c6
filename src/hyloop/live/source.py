"""What is watched, the same to all others whether a loop is running or a file is read."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from hyloop.live.deadlines import Deadlines

__all__ = ["Source", "Standing"]


@dataclass(frozen=True)
class Standing:
    """How it stands with a run, and what is to be said of it: why it has ended, or since when nothing was heard."""

    state: Literal["running", "ended", "stopped", "failed", "lost"]
    said: str = ""


class Source(Protocol):
    """Rows of a run, the first of them at `t0` and the others every `dt`.

    Attributes
    ----------
    names, units : sequence of str
        Channels and their units.
    attributes : mapping
        What a recording says of where it comes from.
    t0, dt : float
        Time of the first row and between rows, in s.
    planned : int or None
        Rows that will be there in the end, where that is known.
    deadlines : Deadlines or None
        How the run keeps its time, where that can be seen.
    notes : sequence of str
        What a reader must know of the rows.
    """

    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def units(self) -> tuple[str, ...]: ...
    @property
    def attributes(self) -> Mapping[str, Any]: ...
    @property
    def t0(self) -> float: ...
    @property
    def dt(self) -> float: ...
    @property
    def planned(self) -> int | None: ...
    @property
    def deadlines(self) -> Deadlines | None: ...
    @property
    def notes(self) -> tuple[str, ...]: ...

    def look(self) -> int:
        """Number of rows that are there by now."""
        ...

    def rows(self, begin: int, end: int) -> np.ndarray:
        """Some of the rows that are there, all channels; not to be written into."""
        ...

    def standing(self) -> Standing:
        """How it stands with the run."""
        ...

    def stop(self) -> bool:
        """Ask the run to end; False where that is not allowed or not possible."""
        ...

    def close(self) -> None:
        """Let go of it."""
        ...
