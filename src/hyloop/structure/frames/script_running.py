"""A script in a process of its own: run for a limited time, and what it printed."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO

__all__ = ["run_within", "what_was_printed"]

_LINES, _WIDTH = 15, 300  # of what a script printed, in a message
_READ = 65_536  # bytes of it that are looked at
_FAREWELL = "Process 0 Terminating"  # of every OpenSees


def run_within(command: Sequence[str], output: IO[bytes], timeout: float) -> int | None:
    """Exit code, or None where the time is over; then what the script started is stopped with it."""
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
    ) as process:
        try:
            return process.wait(timeout)
        except subprocess.TimeoutExpired:
            return None
        finally:
            if process.returncode is None:  # its number is its own until it has been waited for
                _kill(process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    if sys.platform == "win32":  # has no groups of processes
        process.kill()
    else:
        os.killpg(process.pid, signal.SIGKILL)


def what_was_printed(said: Path) -> str:
    """The end of what a script printed, for a message."""
    with said.open("rb") as file:
        file.seek(max(0, said.stat().st_size - _READ))
        text = file.read(_READ).decode("utf-8", errors="replace")
    lines = [line for line in text.splitlines() if line.strip() and line.strip() != _FAREWELL]
    shown = [line if len(line) <= _WIDTH else line[:_WIDTH] + "…" for line in lines[-_LINES:]]
    return " It printed nothing." if not shown else "\nIt printed:\n  " + "\n  ".join(shown)
