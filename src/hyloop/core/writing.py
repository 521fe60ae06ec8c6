"""Files that are written whole or not at all, and only where they can be."""

import glob
import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hyloop.errors import BadInput

__all__ = ["check_target", "replacing", "set_aside", "sweep"]

_SHOWN = 40  # characters of a name that its neighbour keeps; a name may be as long as the system allows


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A neighbouring path to write to; it takes the place of `path` if all goes well and vanishes otherwise.

    Its name is new every time: of several writers each has its own, and the last one to finish wins. A link stays a
    link: what it points to is replaced.
    """
    target = Path(os.path.realpath(path))
    part = target.with_name(f"{target.name[:_SHOWN]}.{os.getpid()}-{secrets.token_hex(4)}.part")
    try:
        yield part
        os.replace(part, target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def sweep(path: Path) -> None:
    """Remove what writers of `path` that were killed have left beside it; only for one who holds it."""
    target = Path(os.path.realpath(path))
    if len(target.name) <= _SHOWN:  # else it may be another one's
        for part in target.parent.glob(f"{glob.escape(target.name)}.*-*.part"):
            part.unlink(missing_ok=True)


def check_target(path: str | os.PathLike[str], *, folder: bool = False) -> None:
    """Refuse a file (or folder) that cannot be written, before work is done for it; nothing is left behind."""
    real = Path(os.path.realpath(path))  # which a link that points nowhere has as well
    try:
        if _exists(real):
            if real.is_dir() is not folder:
                what = "a file; give the name of a folder" if folder else "a folder; give the name of a file"
                raise BadInput(f"{path} is {what}.")
            if not os.access(real, os.W_OK):
                raise BadInput(f"{path} is write-protected. Give another name.")
        above = real if folder and real.is_dir() else real.parent
        while not _exists(above):
            above = above.parent
        with tempfile.TemporaryFile(dir=above):
            pass
    except OSError as error:
        raise BadInput(f"cannot write {path}: {error.strerror}. Give a place that can be written to.") from error


def _exists(path: Path) -> bool:
    """As `Path.exists`, but what cannot be looked at is an error: a name too long, a folder below a file."""
    try:
        os.stat(path)
    except FileNotFoundError:
        return False
    return True


def set_aside(path: Path, *suffixes: str) -> Path | None:
    """Rename what stands at `path`, and beside it with other suffixes, to ``NAME-1``, ``NAME-2``, ...; None if nothing.

    The number is the first that none of the names has taken. A link stays; what it points to is renamed where it lies,
    and that is the name returned.
    """
    real = Path(os.path.realpath(path))
    if not real.exists():
        return None
    ends, number = (real.suffix, *suffixes), 1
    while any(os.path.lexists(real.with_name(f"{real.stem}-{number}{end}")) for end in ends):
        number += 1
    for end in ends:
        if (earlier := real.with_suffix(end)).exists():
            earlier.rename(real.with_name(f"{real.stem}-{number}{end}"))
    aside = real.with_name(f"{real.stem}-{number}{real.suffix}")
    # as the caller names the folder, but only if it is the same one: what is returned may be removed
    return path.with_name(aside.name) if Path(os.path.realpath(path.parent)) == real.parent else aside
