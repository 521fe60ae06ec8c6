"""`Recorder`: rows go into a ring buffer at once; a thread writes them to the file."""

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np

from hyloop.errors import BadInput, BadShape, HyloopError, OutOfBounds
from hyloop.record.layout import RecordingFile, check_channels, outcome_json
from hyloop.record.room import NoRoom

__all__ = ["Recorder"]

_SMALLEST_RING = 1024  # rows


class Recorder:
    """Writes a recording while a run goes on; use it in a ``with`` statement.

    Another process can read the file with `Recording.load` at any time. If this process is killed, the file stays
    readable and lacks at most the rows of the last `flush_every` seconds or so.

    Parameters
    ----------
    path : path
        The file to make, by custom with the suffix ``.h5``.
    names, units : sequence of str
        Channels and their units.
    dt : float
        Time between rows in s.
    attributes : mapping, optional
        Provenance: anything that can be written as JSON.
    t0 : float
        Time of the first row in s.
    ring_seconds : float
        How much the ring buffer holds.
    flush_every : float
        Longest time in s before rows are handed to the operating system.
    drop : bool
        What `write` does when the ring is full: wait (False), or leave out the new rows and count them in
        `dropped` (True, for live use; the times then show the gap).
    overwrite : bool
        Replace a file that exists.
    begin : ndarray, (rows, channels), optional
        Rows of an earlier recording that this one goes on from; until they are all in the new file, it is not there.

    Attributes
    ----------
    dropped : int
        Rows left out so far.
    outcome : dict
        What is known only at the end (how the run ended, how long it took): fill it before `close`. It joins the
        attributes of the recording; 8192 bytes of JSON at most.
    """

    def __init__(
        self,
        path: str | PathLike,
        names: Sequence[str],
        units: Sequence[str],
        dt: float,
        attributes: Mapping[str, Any] | None = None,
        t0: float = 0.0,
        ring_seconds: float = 4.0,
        flush_every: float = 0.25,
        *,
        drop: bool = False,
        overwrite: bool = False,
        begin: np.ndarray | None = None,
    ) -> None:
        check_channels(names, units)
        for name, value in (("dt", dt), ("ring_seconds", ring_seconds), ("flush_every", flush_every)):
            if not 0.0 < value < np.inf:
                raise OutOfBounds(f"recorder: {name} = {value!r} must be a positive number of seconds.")
        if not np.isfinite(t0):
            raise OutOfBounds(f"recorder: t0 = {t0!r} must be a finite number of seconds.")
        self.path, self.dropped, self.outcome = Path(path), 0, {}
        self._dt, self._t0, self._flush_every, self._drop = float(dt), float(t0), float(flush_every), drop
        self._size, self._width = max(int(np.ceil(ring_seconds / dt)), _SMALLEST_RING), len(names)
        self._ring, self._times = np.zeros((self._size, self._width)), np.zeros(self._size)
        # rows offered, rows put into the ring, rows taken out: the first two belong to the caller, the last to the
        # thread, so neither needs a lock
        self._offered, self._head, self._tail = 0 if begin is None else len(begin), 0, 0
        self._wake, self._room = Event(), Event()
        self._stopping = self._complete = False
        self._outcome = "{}"
        self._error: BaseException | None = None
        first = None if begin is None or not len(begin) else (self._t0 + self._dt * np.arange(len(begin)), begin)
        self._file = RecordingFile.create(self.path, names, units, attributes or {}, overwrite, first)
        # a daemon, so that a recorder nobody closed does not keep the program alive
        self._thread = Thread(target=self._work, name=f"recorder {self.path.name}", daemon=True)
        self._thread.start()

    def write(self, rows: np.ndarray) -> None:
        """Take rows (k, channels), or one row (channels,), and return at once; the array may then be used again."""
        if self._stopping or self._error:
            self._refuse()
        block = np.asarray(rows, dtype=np.float64)
        block = block[None, :] if block.ndim == 1 else block
        if block.ndim != 2 or block.shape[1] != self._width:
            raise BadShape(f"recorder {self.path.name}: rows must have {self._width} columns, got shape {block.shape}.")
        taken, wanted = 0, len(block)
        while taken < wanted:
            room = self._size - (self._head - self._tail)
            if room == 0:
                if self._drop:
                    self.dropped += wanted - taken
                    break
                self._wait_while(self._size)
                continue
            at = self._head % self._size
            n = min(wanted - taken, room, self._size - at)
            self._ring[at : at + n] = block[taken : taken + n]
            first = self._offered + taken
            self._times[at : at + n] = self._t0 + self._dt * (first if n == 1 else np.arange(first, first + n))
            self._head += n  # only now does the thread see the rows
            taken += n
        self._offered += wanted
        if 2 * (self._head - self._tail) > self._size and not self._wake.is_set():
            self._wake.set()

    @property
    def rows(self) -> int:
        """Rows taken until now, with those it began with; those that were dropped as well."""
        return self._offered

    def flush(self) -> None:
        """Wait until all rows are with the operating system: from then on they outlive this process."""
        while self._head > self._tail:
            self._wait_while(self._head - self._tail)

    def close(self, complete: bool = True) -> None:
        """Write what is left, mark the recording complete (or not) and close the file; again does nothing."""
        if self._stopping:
            return
        try:
            self._outcome = outcome_json(self.outcome)
        finally:
            self._complete, self._stopping = complete, True
            self._wake.set()
            self._thread.join()
        if self._error:
            self._refuse()

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        try:
            self.close(complete=kind is None)
        except HyloopError:
            if kind is None:  # an error that ended the run matters more than one of the file
                raise

    # --- the thread -------------------------------------------------------------------------------------------

    def _work(self) -> None:
        try:
            while True:
                last = self._stopping  # read before draining: what was written before `close` is drained below
                self._drain()
                if last:
                    break
                self._wake.wait(self._flush_every)
                self._wake.clear()
            self._file.finish(self._complete, self.dropped, self._outcome)
        except NoRoom as error:
            self._error = error
            self._file.finish(False, self.dropped, outcome_json({"fault": f"no room for more: {error.strerror}"}))
        except BaseException as error:
            self._error = error
        finally:
            try:
                self._file.close()
            except BaseException as error:
                self._error = self._error or error
            self._room.set()

    def _drain(self) -> None:
        head = self._head
        while self._tail < head:
            at = self._tail % self._size
            n = min(head - self._tail, self._size - at)
            while True:
                try:
                    self._file.append(self._times[at : at + n], self._ring[at : at + n])
                    break
                except NoRoom:  # what fits is kept
                    if n == 1:
                        raise
                    n //= 2
            self._tail += n
            self._room.set()

    def _wait_while(self, waiting: int) -> None:
        """Wait until fewer rows than so many are in the ring."""
        self._room.clear()
        if self._head - self._tail >= waiting and not self._error:  # else some were taken just before the clear
            self._wake.set()
            self._room.wait()
        if self._error:
            self._refuse()

    def _refuse(self) -> None:
        if isinstance(self._error, NoRoom):
            raise HyloopError(
                f"{self.path}: no room for more of the recording ({self._error.strerror}); {self._tail} rows are in "
                "the file, which can be read. Make room on the disk, or record fewer channels or less often."
            ) from self._error
        if self._error:
            raise HyloopError(
                f"{self.path}: writing the recording failed ({self._error}); at least {self._tail} rows are in the "
                "file. Check that the disk is there."
            ) from self._error
        raise BadInput(f"{self.path}: the recorder is closed; make a new one.")
