"""Reads a recording piece by piece, also one that another process is still writing; nothing is kept in memory."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from hyloop.errors import BadInput
from hyloop.record.layout import dataset, open_for_reading

__all__ = ["Reader"]


class Reader:
    """A recording on the disk.

    Attributes
    ----------
    names, units : tuple of str
        Channels and their units.
    attributes : dict
        Where it comes from, and its outcome as far as it is known.
    complete : bool
        Whether the run has ended and everything is there.
    dropped : int
        Rows left out because the disk did not keep up.
    count : int
        Rows that are known to be there; `look` finds those that have come.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.is_file():
            raise BadInput(f"{path}: no such file. Give the path of a recording, such as out/run.h5.")
        try:
            self._file = open_for_reading(path)
            self._read()
        except BadInput:
            raise
        except (OSError, KeyError, RuntimeError, TypeError, ValueError) as error:  # what h5py and broken text raise
            raise BadInput(f"{path} cannot be read as a recording: {error}.") from error
        self.count = 0
        self.look()

    def _read(self) -> None:
        self._time, self._data = (dataset(self._file, name) for name in ("time", "data"))
        self.names, self.units = (
            tuple(text.decode() for text in np.asarray(self._file[key]).tolist()) for key in ("names", "units")
        )
        provenance: Any = self._file.attrs["provenance"]
        marks: dict[str, Any] = dict(self._time.attrs)
        self.attributes: dict[str, Any] = json.loads(provenance) | json.loads(marks["outcome"])
        self.complete, self.dropped = bool(marks["complete"]), int(marks["dropped"])

    def look(self) -> int:
        """Find the rows that have come; their number."""
        if not self.complete:
            self._time.refresh()
            length = self._time.shape[0]
            if length > self.count:
                unwritten = np.isnan(self.times(self.count, length))
                there = self.count + (int(np.argmax(unwritten)) if unwritten.any() else len(unwritten))
                self._data.refresh()  # after the times, so it has their rows
                self.count = there
        else:
            self.count = self._time.shape[0]
        return self.count

    def times(self, begin: int, end: int) -> np.ndarray:
        """Times of rows in s."""
        return np.asarray(self._time[begin:end])

    def rows(self, begin: int, end: int) -> np.ndarray:
        """Rows of all channels, from those that are there."""
        return np.asarray(self._data[begin:end])

    def reopen(self) -> None:
        """See what was written when the recording was finished."""
        again = Reader(self.path)
        self.close()
        self.__dict__.update(again.__dict__)

    def close(self) -> None:
        """Close the file."""
        self._file.close()
