"""Room on a disk for a file that grows, taken before it is needed."""

import ctypes
import errno
import os
import shutil
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from hyloop.errors import BadInput

__all__ = ["NoRoom", "check_room", "release", "reserve"]

_KEEP_SIZE = 1  # FALLOC_FL_KEEP_SIZE: the length of the file stays, so that it still says how much is in it
_OVERHEAD = 2**20  # bytes of a recording beside its numbers, at most
_UNKNOWN = (errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL)


class NoRoom(OSError):
    """The disk, a quota or a limit of the system leaves no room for more."""


def reserve(handle: int, begin: int, end: int) -> None:
    """Reserve the bytes from `begin` to `end` of an open file, within and beyond its length; `NoRoom` if it cannot.

    Where the disk cannot reserve (or the system is not Linux), it is only looked whether it has so much room.
    """
    if end > _longest():
        raise NoRoom(errno.EFBIG, os.strerror(errno.EFBIG))
    call = _fallocate()
    if call is not None:
        if call(handle, _KEEP_SIZE, begin, end - begin) == 0:
            return
        if ctypes.get_errno() not in _UNKNOWN:
            raise NoRoom(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    if hasattr(os, "fstatvfs"):
        disk = os.fstatvfs(handle)
        if disk.f_bavail * disk.f_frsize < end - max(begin, os.fstat(handle).st_size):
            raise NoRoom(errno.ENOSPC, os.strerror(errno.ENOSPC))


def check_room(path: Path, numbers: int) -> None:
    """Refuse a recording of so many numbers for which the disk has no room."""
    needed = 8 * numbers + _OVERHEAD
    room = shutil.disk_usage(path.parent).free
    if needed > room:
        raise BadInput(
            f"{path}: the recording needs about {needed / 1e6:.1f} MB, and its disk has {room / 1e6:.1f} MB. Make "
            "room, record fewer channels or less often (the table [recording]), or give a name on another disk."
        )


def release(handle: int) -> None:
    """Give back what is reserved beyond the length of an open file."""
    os.ftruncate(handle, os.fstat(handle).st_size)


@cache
def _fallocate() -> Callable[..., int] | None:
    if sys.platform != "linux":
        return None
    library: Any = ctypes.CDLL(None, use_errno=True)
    call = getattr(library, "fallocate64", None) or getattr(library, "fallocate", None)
    if call is not None:
        call.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]
    return call


def _longest() -> float:
    """The most bytes a file of this process may have (``ulimit -f``)."""
    try:
        import resource
    except ImportError:
        return float("inf")
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    return float("inf") if limit == resource.RLIM_INFINITY else float(limit)
