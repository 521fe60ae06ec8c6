"""A recording on the disk, finished or still written."""

import os
from pathlib import Path
from time import monotonic

import numpy as np

from hyloop.core.holding import held
from hyloop.errors import BadInput
from hyloop.live.source import Standing
from hyloop.record.reader import Reader

__all__ = ["RecordingSource"]

_QUIET = 1.5  # s without new rows, after which it is asked whether somebody is still writing
_UNEVEN = 0.01  # of the time between rows


class RecordingSource:
    """Rows of a recording; see `Source`."""

    def __init__(self, path: Path) -> None:
        self._path, self._reader = path, Reader(path)
        if self._reader.count < 2:
            raise BadInput(
                f"{path} has {self._reader.count} rows; there is something to see from two on. Try again later."
            )
        self._node = os.stat(path).st_ino
        self.names, self.units = self._reader.names, self._reader.units
        beginning = self._reader.times(0, 2)
        self.t0, self.dt = float(beginning[0]), float(beginning[1] - beginning[0])
        self.planned = None
        self.deadlines = None
        self._grew = monotonic()
        self._standing: Standing | None = None

    @property
    def attributes(self) -> dict:
        """Provenance, and the outcome once it is known."""
        return self._reader.attributes

    @property
    def notes(self) -> tuple[str, ...]:
        """What makes the time axis untrue."""
        found = []
        if self._reader.dropped:
            found.append(
                f"{self._reader.dropped} rows were left out while it was recorded; times after them are early here"
            )
        last = float(self._reader.times(self._reader.count - 1, self._reader.count)[0])
        if abs(last - self.t0 - (self._reader.count - 1) * self.dt) > _UNEVEN * self.dt and not self._reader.dropped:
            found.append("its rows are not equally far apart in time; here they are drawn as if they were")
        return tuple(found)

    def look(self) -> int:
        """Rows that are there; those of a moment ago where the file is just being written."""
        before = self._reader.count
        try:
            there = self._reader.look()
        except (OSError, RuntimeError):
            return before
        if there > before:
            self._grew, self._standing = monotonic(), None
        return there

    def rows(self, begin: int, end: int) -> np.ndarray:
        """Rows, read from the file."""
        return self._reader.rows(begin, end)

    def standing(self) -> Standing:
        """Whether it is finished, still written, or was left by who wrote it."""
        if self._standing is None:
            self._standing = self._judged()
        return self._standing or Standing("running")

    def _judged(self) -> Standing | None:
        if not self._reader.complete and not self._reader.attributes.get("fault"):
            if monotonic() - self._grew < _QUIET or held(self._path):
                return None
            if not self._there():
                return Standing("lost", "the recording is not there any more")
            self._reader.reopen()  # what is known only at the end
            self.look()
        if self._reader.complete:
            return Standing("ended")
        if fault := str(self._reader.attributes.get("fault", "")):
            asked = self._reader.attributes.get("reason") == "called off"
            return Standing("stopped") if asked else Standing("failed", fault)
        return Standing("lost", "nobody is writing the recording any more, and it is not complete")

    def _there(self) -> bool:
        try:
            return os.stat(self._path).st_ino == self._node
        except OSError:
            return False

    def stop(self) -> bool:
        """A file cannot be stopped."""
        return False

    def close(self) -> None:
        """Close the file."""
        self._reader.close()
