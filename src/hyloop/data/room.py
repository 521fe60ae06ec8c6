"""Where a download lies until it is complete, and how it then gets its place.

The room of a download is a hidden folder beside that of the set: no reader looks there, and the move is a rename. While
files are moved, a mark in the folder of the set says that it is not whole (`set_folder` heeds it); it goes when the
checksums are written down. So a download can be killed at any moment: the set is whole or is not here.
"""

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from hyloop.data.folders import UNFINISHED
from hyloop.data.ledger import read_ledger, write_ledger
from hyloop.errors import BadInput

__all__ = ["room_beside", "settle"]


@contextmanager
def room_beside(target: Path) -> Iterator[Path]:
    """A room for a download of the set in this folder; rooms that killed downloads have left go first.

    Raises
    ------
    BadInput
        If another download of the set is under way.
    """
    home = target.resolve()
    prefix = f".{home.name}-download-"
    with _locked(home) as alone:
        if alone:  # whoever made the others is dead, or would hold the lock
            for left in (*home.parent.glob(f"{prefix}*"), *home.glob(".download-*")):  # the latter: as it was once
                shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=prefix, dir=home.parent) as room:
            yield Path(room)


def settle(target: Path, source: str, found: Mapping[str, tuple[Path, str]]) -> None:
    """Move files, given with their checksums by their paths in the set, to their place."""
    mark = target / UNFINISHED
    mark.touch()
    for path, (file, _) in found.items():
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        _move(file, target / path)
    write_ledger(target, source, read_ledger(target) | {path: digest for path, (_, digest) in found.items()})
    mark.unlink()


def _move(file: Path, place: Path) -> None:
    try:
        file.replace(place)
    except OSError as error:
        if error.errno != errno.EXDEV:  # the folder of the set is mounted from elsewhere
            raise
        shutil.copyfile(file, place)


@contextmanager
def _locked(folder: Path) -> Iterator[bool]:
    """Hold a folder against other downloads; False where the system knows no locks, and nobody can tell who lives."""
    try:
        import fcntl
    except ImportError:
        yield False
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            alone = True
        except BlockingIOError:
            raise BadInput(f"{folder}: another download of this set is under way. Wait until it has ended.") from None
        except OSError:
            alone = False
        yield alone
    finally:
        os.close(opened)  # which ends the lock, as the end of the process does
