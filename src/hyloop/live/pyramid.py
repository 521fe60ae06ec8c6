"""Smallest and largest values of stretches of rows, of every length that is a power of two.

A screen has some hundred points across. Whatever stretch of a run is drawn on it, what is needed of each point is the
least and the greatest value of the rows that fall on it, and no peak is ever lost. Short stretches are read from the
rows themselves. For longer ones there are levels, each made of pairs of the one below, a thirtieth of the rows in all.
"""

from collections.abc import Callable, Sequence

import numpy as np

__all__ = ["BASE", "Pyramid", "extremes"]

BASE = 64
"""Rows of a bucket on the lowest level."""

Rows = Callable[[int, int], np.ndarray]


def extremes(rows: np.ndarray, size: int) -> np.ndarray:
    """Smallest and largest value of every `size` rows, the last of them maybe fewer: (buckets, signals, 2).

    What is not a number is passed over; where nothing else is there the bucket has none.
    """
    whole = len(rows) // size * size
    parts = [rows[:whole].reshape(-1, size, rows.shape[1])] if whole else []
    parts += [rows[whole:][None]] if whole < len(rows) else []
    found = [np.stack([np.fmin.reduce(part, axis=1), np.fmax.reduce(part, axis=1)], axis=2) for part in parts]
    return np.concatenate(found) if found else np.zeros((0, rows.shape[1], 2))


class Pyramid:
    """Extremes of rows that come one after the other.

    Parameters
    ----------
    rows : callable
        Rows from one number to another.
    signals : int
        Numbers in a row.
    """

    def __init__(self, rows: Rows, signals: int) -> None:
        self._rows, self._signals = rows, signals
        self._levels: list[np.ndarray] = []
        self.count = 0
        self.least, self.greatest = np.full(signals, np.nan), np.full(signals, np.nan)
        """Extremes of all rows."""

    def grow(self, count: int) -> None:
        """Take the rows up to this one; buckets that were not full are made anew."""
        if count <= self.count:
            return
        while self.count < count:
            begin = self.count // BASE * BASE
            end = min(count, begin + (1 << 16))
            below = extremes(self._rows(begin, end), BASE)
            self.least = np.fmin(self.least, np.fmin.reduce(below[:, :, 0]))
            self.greatest = np.fmax(self.greatest, np.fmax.reduce(below[:, :, 1]))
            level, place = 0, begin // BASE
            self._put(level, place, below)
            while place + len(below) > 1:
                begin_pair, end_pair = place // 2 * 2, place + len(below)
                pairs = self._levels[level][begin_pair:end_pair]
                place, level = place // 2, level + 1
                below = np.stack(
                    [
                        np.fmin.reduceat(pairs[:, :, 0], np.arange(0, len(pairs), 2)),
                        np.fmax.reduceat(pairs[:, :, 1], np.arange(0, len(pairs), 2)),
                    ],
                    axis=2,
                )
                self._put(level, place, below)
            self.count = end

    def _put(self, level: int, place: int, values: np.ndarray) -> None:
        if level == len(self._levels):
            self._levels.append(np.empty((64, self._signals, 2), np.float32))
        if place + len(values) > len(self._levels[level]):
            longer = np.empty((2 * (place + len(values)), self._signals, 2), np.float32)
            longer[:place] = self._levels[level][:place]
            self._levels[level] = longer
        self._levels[level][place : place + len(values)] = values

    def buckets(self, size: int, begin: int, end: int, chosen: Sequence[int]) -> np.ndarray:
        """Extremes of buckets of `size` rows, a power of two, from one number to another: (buckets, chosen, 2)."""
        if size < BASE:
            raise ValueError("short stretches are read from the rows")
        level = (size // BASE).bit_length() - 1
        if level >= len(self._levels):  # all rows there are lie in one bucket
            whole = np.stack([self.least, self.greatest], axis=1)[None].astype(np.float32)
            return whole[begin:end][:, chosen]
        return self._levels[level][begin:end][:, chosen]
