"""The watchdog of a run on the clock: a process that brings its rigs to their safe state should the loop be lost.

It is started before the loop is built and builds the same one, is told of the board once that is there, and then waits.
Who dies closes the ends of the pipes between the two, so that each knows of the other at once.
"""

import json
import subprocess
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from hyloop.core.board import Board
from hyloop.errors import HyloopError, HyloopWarning
from hyloop.files.schema import Experiment

__all__ = ["READY", "Watchdog", "needs_watchdog", "watchdog_path"]

READY = "ready"
_ENDING = 10.0  # s that it may take to end


def needs_watchdog(experiment: Experiment) -> bool:
    """Whether a run on the clock has rigs to bring to a safe state."""
    return experiment.safety.watchdog > 0.0 and any(site.interlock for site in experiment.sites.values())


def watchdog_path(path: Path) -> Path:
    """Where the watchdog of a run records what it does: ``out/test.watchdog.h5`` for ``out/test.h5``."""
    return path.with_suffix(".watchdog.h5")


class Watchdog:
    """The process; use it in a ``with`` statement, which ends it, and removes the board.

    Parameters
    ----------
    file : Path
        The experiment, with what was changed of it and whether its script may run.
    overrides : sequence of str
    allow_scripts : bool
    """

    def __init__(self, file: Path, overrides: Sequence[str], allow_scripts: bool) -> None:
        pipe = subprocess.PIPE
        command = [sys.executable, "-P", "-m", "hyloop.study.watchdog_process"]
        # a session of its own: neither Ctrl-C nor a terminal that is closed ends it
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, start_new_session=True)
        self._board: Board | None = None
        self._said = False
        self._tell({"file": str(file), "overrides": list(overrides), "allow_scripts": allow_scripts})

    @property
    def process(self) -> int:
        """Its number."""
        return self._process.pid

    def watch(self, board: Board, path: Path, digest: str, every: str) -> None:
        """From now on it watches this board of what is recorded into `path`; returns once it does."""
        self._board = board
        self._tell({"board": str(board.path), "recording": str(path), "digest": digest, "every": every})
        assert self._process.stdout
        answer = self._process.stdout.readline().strip()
        if answer != READY:
            raise HyloopError(
                f"the watchdog process did not start{f': {answer}' if answer else ''}. Rigs with interlocks do not run "
                "on the clock without one; [safety] watchdog = 0 says that they shall."
            )

    def look(self) -> None:
        """Say once if it has died; the run goes on."""
        if not self._said and self._process.poll() is not None:
            self._said = True
            warnings.warn(
                f"the watchdog process has died ({_how(self._process.returncode)}); the run goes on without it",
                HyloopWarning,
                stacklevel=2,
            )

    def _tell(self, words: dict[str, Any]) -> None:
        assert self._process.stdin
        with suppress(OSError):  # it has died, which shows when it is waited for
            self._process.stdin.write(json.dumps(words) + "\n")
            self._process.stdin.flush()

    def __enter__(self) -> "Watchdog":
        return self

    def __exit__(self, *error: object) -> None:
        assert self._process.stdin and self._process.stdout
        with suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(_ENDING)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        if self._board is not None:
            self._board.remove()


def _how(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"
