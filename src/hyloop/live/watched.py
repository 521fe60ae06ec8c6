"""What the server knows of the run it shows: its signals, their extremes, and how it stands."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hyloop.live.panels import Panels, panels_of
from hyloop.live.pyramid import BASE, Pyramid, extremes
from hyloop.live.signals import Signals
from hyloop.live.source import Source

__all__ = ["Watched"]


class Watched:
    """A source with what is made of its rows; all clients read from it.

    Attributes
    ----------
    source : Source
    signals : Signals
        What can be drawn.
    panels : Panels
        What is drawn where.
    count : int
        Rows that are there; `look` finds those that have come.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.signals = Signals(source.names, source.units)
        self.panels: Panels = panels_of(self.signals, source.attributes)
        self.first = self.signals.of(source.rows(0, 1))[0]
        """The state at the start; as rows go it is left out, because no block has had its first tick."""
        self._pyramid = Pyramid(self._rows, len(self.signals))
        self.count = 0
        self.look()

    def _rows(self, begin: int, end: int) -> np.ndarray:
        return self.signals.of(self._from(begin, end))

    def _from(self, begin: int, end: int) -> np.ndarray:
        rows = self.source.rows(begin, end)
        if begin == 0 and len(rows):
            rows = np.array(rows)
            rows[0] = np.nan
        return rows

    def look(self) -> None:
        """See what has come since."""
        self.count = self.source.look()
        self._pyramid.grow(self.count)

    @property
    def planned(self) -> int:
        """Rows there will be, or that are there where nobody knows."""
        return max(self.source.planned or 0, self.count)

    @property
    def reach(self) -> tuple[np.ndarray, np.ndarray]:
        """Least and greatest value of every signal until now."""
        return self._pyramid.least, self._pyramid.greatest

    def time(self, row: int) -> float:
        """Time of a row in s."""
        return self.source.t0 + row * self.source.dt

    def row(self, time: float) -> int:
        """The last row that is there and not after a time."""
        return int(np.clip((time - self.source.t0) / self.source.dt + 1e-6, 0, self.count - 1))

    def values(self, begin: int, end: int, chosen: Sequence[int]) -> np.ndarray:
        """Some signals of some rows."""
        return self.signals.of(self._from(begin, min(end, self.count)), chosen)

    def extremes(self, size: int, begin: int, end: int, chosen: Sequence[int]) -> np.ndarray:
        """Smallest and largest values in buckets of `size` rows: (buckets, chosen, 2)."""
        if size >= BASE:
            return self._pyramid.buckets(size, begin, min(end, -(-self.count // size)), chosen)
        return extremes(self.values(begin * size, end * size, chosen), size)

    def described(self) -> dict[str, Any]:
        """What a page must know before anything is drawn."""
        source = self.source
        return {
            "title": str(source.attributes.get("title") or source.attributes.get("experiment") or "Hybrid simulation"),
            "names": self.signals.names,
            "units": self.signals.units,
            "t0": source.t0,
            "dt": source.dt,
            "notes": [*map(str, source.attributes.get("notes", ())), *source.notes],
            **self.panels.as_json(self.first),
        }
