"""A loop that is running: its board, mapped from another process."""

import os
import select
from pathlib import Path

import numpy as np

from hyloop.core.board import Board
from hyloop.core.paced import ENDED, OVERRUNS, ROWS, STOP, TICK
from hyloop.core.plan import ASKED, TOO_LATE
from hyloop.live.deadlines import Deadlines
from hyloop.live.source import Standing

__all__ = ["BoardSource"]

_GONE = "the process of the loop is gone"
_REASONS = {TOO_LATE: "a tick began later than allowed"}


class BoardSource:
    """Rows, times and marks that a loop writes; see `Source`.

    Beside what every board has, its description has the `attributes` of the recording, the rows that are `planned`, and
    the number of the `process` of the loop.

    Parameters
    ----------
    path : Path
        The file of the board.
    control : bool
        Whether the run may be ended from here. Without it nothing of the board can be written.
    """

    def __init__(self, path: Path, control: bool = False) -> None:
        self._board, self._control = Board.open(path, write=control), control
        about = self._board.about
        self.attributes = about.get("attributes", {})
        self.names, self.units = tuple(about["names"]), tuple(about["units"])
        self.t0, self.dt = float(about.get("t0", 0.0)), float(about["dt"])
        self._first, self._rows, self._marks = (self._board[name] for name in ("first", "rows", "marks"))
        self.planned = 1 + int(about.get("planned", len(self._rows)))
        self.deadlines: Deadlines | None = Deadlines(float(about["tick"]), self._board["times"])
        self.notes: tuple[str, ...] = ()
        self._process = _watched(about.get("process"))

    def look(self) -> int:
        """Rows that are there, that at t = 0 among them."""
        if self.deadlines is not None:
            self.deadlines.see(int(self._marks[TICK]), int(self._marks[OVERRUNS]))
        return 1 + min(int(self._marks[ROWS]), len(self._rows))

    def rows(self, begin: int, end: int) -> np.ndarray:
        """Rows as they lie on the board; only the first of all is copied to the others."""
        if begin > 0:
            return self._rows[begin - 1 : end - 1]
        return np.vstack([self._first[: end - begin], self._rows[: max(end - 1, 0)]])

    def standing(self) -> Standing:
        """As the marks have it."""
        if self._marks[ENDED]:
            wish = int(self._marks[STOP])
            if 1 + int(self._marks[ROWS]) >= self.planned:
                return Standing("ended")
            if wish == ASKED:
                return Standing("stopped")
            return Standing("failed", _REASONS.get(wish, ""))
        if self._process is not None and (self._process < 0 or select.select([self._process], [], [], 0.0)[0]):
            return Standing("lost", _GONE)
        return Standing("running")

    def stop(self) -> bool:
        """Set the mark that the loop looks at in every step."""
        if self._control and not self._marks[STOP]:
            self._marks[STOP] = ASKED
        return self._control

    def close(self) -> None:
        """The map goes with the object."""
        if self._process is not None and self._process >= 0:
            os.close(self._process)
            self._process = None


def _watched(process: int | None) -> int | None:
    """A handle that can be read once a process has ended; -1: it has, None: nothing can be known."""
    if process is None or not hasattr(os, "pidfd_open"):
        return None
    try:
        return os.pidfd_open(process)
    except ProcessLookupError:
        return -1
    except OSError:
        return None
