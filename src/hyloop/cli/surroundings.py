"""What the command line makes of where it runs: closed or narrow streams, signals, warnings, disks."""

import errno
import os
import signal
import sys
import warnings
from typing import Any, NoReturn

from hyloop.cli.console import complain
from hyloop.errors import HyloopWarning

__all__ = ["Interrupted", "ReaderLeft", "leave_quietly", "prepare", "unwritable"]

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
_ENDING = ("SIGTERM", "SIGHUP")  # as Ctrl-C: a recording is closed and what was begun elsewhere goes


class Interrupted(Exception):
    """A person or the system has ended the command."""

    def __init__(self, stop: KeyboardInterrupt) -> None:
        number, *text = stop.args if stop.args and isinstance(stop.args[0], int) else (signal.SIGINT, *stop.args)
        super().__init__("; ".join(map(str, text)))
        self.signal = int(number)


class ReaderLeft(Exception):
    """Whoever read the output (``| head``) has seen enough."""


def prepare() -> None:
    """Make streams, signals and warnings such that a command can rely on them."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:  # closed: a recording must not get the number of a stream that libraries print to
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
    for number, name in ((1, "stdout"), (2, "stderr")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, os.fdopen(number, "w"))
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a terminal without µ, a name that is no text
    warnings.showwarning = _shown(warnings.showwarning)
    for name in _ENDING:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:  # else nohup, or a test
            signal.signal(number, _end)


def _end(number: int, frame: Any) -> NoReturn:
    raise KeyboardInterrupt(number)


def _shown(usual: Any) -> Any:
    """Our own warnings as sentences, others as usual."""

    def show(message: Any, category: Any, *rest: Any, **named: Any) -> None:
        if issubclass(category, HyloopWarning):
            complain("note", message)
        else:
            usual(message, category, *rest, **named)

    return show


def leave_quietly() -> NoReturn:
    """End well without another word, also of the interpreter, which flushes what nobody reads."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.exit(0)


def unwritable(error: OSError) -> tuple[str, int]:
    """What to say of an error of the system that nobody else has explained, and the exit code."""
    where = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes) else ""
    full = error.errno in _NO_ROOM
    advice = "Make room on the disk" if full else "Check the path, its permissions and the limits of the system"
    return f"{where}{error.strerror or error}. {advice}.", 1 if full else 2
