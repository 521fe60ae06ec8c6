"""What the command line makes of where it runs: closed or narrow streams, signals, warnings, disks."""

import errno
import os
import signal
import sys
import warnings
from threading import Timer
from typing import Any, NoReturn

from hyloop.cli.console import complain
from hyloop.errors import HyloopWarning

__all__ = ["Interrupted", "ReaderLeft", "interruption", "leave_quietly", "prepare", "unwritable"]

_usual = warnings.showwarning
_usual_unraisable = sys.unraisablehook
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
_ENDING = ("SIGINT", "SIGTERM", "SIGHUP")  # Ctrl-C, kill, a terminal that closes: the same to a recording
_SOON = 0.05  # s


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
    warnings.showwarning = _show
    sys.unraisablehook = _unraisable
    for name in _ENDING:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) in (
            signal.SIG_DFL,
            signal.default_int_handler,
        ):  # else nohup
            signal.signal(number, _end)


def _end(number: int, frame: Any) -> None:
    """Interrupt; but where LLVM has called Python and would swallow the exception, a moment later."""
    above = frame
    while above is not None:
        if "llvmlite" in above.f_code.co_filename and above.f_code.co_name.startswith("_raw_"):
            _again(number)
            return
        above = above.f_back
    raise KeyboardInterrupt(number)


def _again(number: int) -> None:
    Timer(_SOON, os.kill, (os.getpid(), number)).start()


def _unraisable(lost: Any) -> None:
    """An interrupt that came while Python cleared something away, where no exception can pass, is sent once more."""
    if isinstance(lost.exc_value, KeyboardInterrupt):
        _again(Interrupted(lost.exc_value).signal)
    else:
        _usual_unraisable(lost)


def interruption(error: BaseException | None) -> KeyboardInterrupt | None:
    """The interrupt that a library has turned into another error, if that is what happened."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error


def _show(message: Any, category: Any, *rest: Any, **named: Any) -> None:
    """Our own warnings as sentences, others as usual."""
    if issubclass(category, HyloopWarning):
        complain("note", message)
    else:
        _usual(message, category, *rest, **named)


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
