"""One writer of a file at a time, over all processes of a machine."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock

from hyloop.errors import BadInput

__all__ = ["held", "holding"]

# by this process: how often, so that a run can hold what its recorder holds too, and the open lock
_held: dict[str, tuple[int, int | None]] = {}
_guard = Lock()


@contextmanager
def holding(path: Path, what: str) -> Iterator[None]:
    """Hold a file, that need not exist, against other processes.

    It is a lock on a hidden neighbour, which goes with the lock: the file itself may be renamed or replaced meanwhile,
    and HDF5 has locks of its own. The lock of a process that was killed ends with it. Within a process anyone may hold
    again what is held. Where the system or the disk knows no locks, nothing is held.

    Raises
    ------
    BadInput
        If another process holds it; `what` says what that one does.
    """
    real = os.path.realpath(path)
    with _guard:
        times, opened = _held.get(real) or (0, _lock(Path(real), path, what))
        _held[real] = times + 1, opened
    try:
        yield
    finally:
        with _guard:
            times, opened = _held.pop(real)
            if times > 1:
                _held[real] = times - 1, opened
            elif opened is not None:
                with suppress(OSError):
                    _neighbour(Path(real)).unlink()  # before the lock ends, so that nobody takes a name about to go
                os.close(opened)


def held(path: Path) -> bool:
    """Whether another process holds a file; one that dies holds nothing."""
    try:
        import fcntl
    except ImportError:
        return False
    try:
        opened = os.open(_neighbour(Path(os.path.realpath(path))), os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(opened, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(opened)
    return False


def _neighbour(real: Path) -> Path:
    return real.with_name(f".{real.name[:200]}.lock")


def _lock(real: Path, path: Path, what: str) -> int | None:
    try:
        import fcntl
    except ImportError:
        return None
    while True:
        try:
            opened = os.open(_neighbour(real), os.O_RDWR | os.O_CREAT, 0o666)
        except OSError:  # what is wrong with the folder shows when the file is made
            return None
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(opened)
            raise BadInput(f"{path}: {what}. Wait until that has ended, or give another name.") from None
        except OSError:
            os.close(opened)
            return None
        with suppress(FileNotFoundError):
            if os.path.samestat(os.stat(_neighbour(real)), os.fstat(opened)):
                return opened
        os.close(opened)  # whoever held it has just removed it: again
