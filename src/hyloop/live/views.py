"""What a client has asked to see, and what of it was not sent yet.

A view is a window of rows that ends at the client's place in time. Its rows fall into buckets of equal size, counted
from the first row of the run, so that a bucket is the same for everybody and is sent once, or again while it fills.
"""

from typing import NamedTuple

import numpy as np

from hyloop.live.watched import Watched

__all__ = ["Histories", "Part", "Paths", "Values", "View"]

_LONGEST_PATH = 1 << 16  # rows: older ones of a path would be hidden below newer ones, and cost most


class Part(NamedTuple):
    """New buckets of a view: number of the first, how many, rows in each, whether older ones are void; numbers."""

    first: int
    buckets: int
    size: int
    fresh: bool
    numbers: np.ndarray


class View:
    """A window; `part` gives what is new in it."""

    def __init__(self, points: int) -> None:
        self._points = points
        self._size = self._sent = 0  # rows in a bucket, rows that the client has

    def part(self, watched: Watched, begin: int, end: int, span: int) -> Part | None:
        """What the client lacks of the rows from `begin` to `end`, of a window that is `span` rows long."""
        size = 1
        while span > size * self._points:
            size *= 2
        earliest, latest = begin // size, (end - 1) // size
        start = self._sent // size
        fresh = size != self._size or end < self._sent or start < earliest or self._sent == 0
        if not fresh and end == self._sent:
            return None
        start = earliest if fresh else start
        self._size, self._sent = size, end
        return Part(start, latest + 1 - start, size, fresh, self._numbers(watched, size, start, latest + 1, end))

    def _numbers(self, watched: Watched, size: int, first: int, last: int, end: int) -> np.ndarray:
        raise NotImplementedError


class Histories(View):
    """Signals over time: the smallest and the largest value of every bucket."""

    def __init__(self, chosen: tuple[int, ...], points: int) -> None:
        super().__init__(points)
        self._chosen = chosen

    def _numbers(self, watched: Watched, size: int, first: int, last: int, end: int) -> np.ndarray:
        found = watched.extremes(size, first, last, self._chosen)
        return found.transpose(1, 0, 2)  # signal by signal: buckets, each with its two values


class Paths(View):
    """Pairs of signals drawn over each other: of every bucket the four rows with the extremes of both."""

    def __init__(self, pairs: tuple[tuple[int, int], ...], points: int) -> None:
        super().__init__(max(points // 4, 1))
        self._pairs = pairs
        self._chosen = tuple(number for pair in pairs for number in pair)

    def part(self, watched: Watched, begin: int, end: int, span: int) -> Part | None:
        span = min(span, _LONGEST_PATH)
        return super().part(watched, max(begin, end - span), end, span)

    def _numbers(self, watched: Watched, size: int, first: int, last: int, end: int) -> np.ndarray:
        rows = watched.values(first * size, end, self._chosen)
        missing = (last - first) * size - len(rows)
        rows = np.concatenate([rows, np.repeat(rows[-1:], missing, axis=0)]) if missing else rows
        buckets = rows.reshape(last - first, size, len(self._pairs), 2)
        if size <= 4:
            return buckets.transpose(2, 0, 1, 3)
        filled = np.nan_to_num(buckets)
        places = np.concatenate([filled.argmin(axis=1), filled.argmax(axis=1)], axis=2)  # (buckets, pairs, 4)
        places = np.sort(places, axis=2).transpose(0, 2, 1)[..., None]
        return np.take_along_axis(buckets, places, axis=1).transpose(2, 0, 1, 3)  # pair by pair: points


class Values(View):
    """Signals at the end of the window."""

    def __init__(self, chosen: tuple[int, ...]) -> None:
        super().__init__(1)
        self._chosen = chosen

    def part(self, watched: Watched, begin: int, end: int, span: int) -> Part | None:
        if end == self._sent:
            return None
        self._sent = end
        return Part(end - 1, 1, 1, True, watched.values(end - 1, end, self._chosen))
