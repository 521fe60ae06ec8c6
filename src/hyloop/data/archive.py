"""Zip archives from elsewhere: unpacked below one folder, and never outside it."""

import io
import stat
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from hyloop.errors import BadInput

__all__ = ["unpack"]

_MOST = 4 << 30  # bytes: thousands of tests; more is an archive made to fill a disk


def unpack(archive: Path, folder: Path, keep: Sequence[str] = (), *, nested: bool = True) -> list[str]:
    """Unpack an archive and return the paths of its files below the folder.

    A folder that holds everything, as archives of repositories have one, is left out of the paths. An archive in the
    archive, as some repositories wrap what they publish, becomes a folder of its name.

    Parameters
    ----------
    archive, folder : Path
    keep : sequence of str
        Endings of the files wanted; empty takes all.
    nested : bool
        Unpack archives in the archive too, but not those in these: one may hold itself.

    Raises
    ------
    BadInput
        If a path leads outside the folder, a member is a link or has no name, two would lie at one place, or the
        content, that of archives in it included, is too large to be meant.
    zipfile.BadZipFile
        If the archive is damaged.
    """
    with zipfile.ZipFile(archive) as content:
        wanted = _Wanted(archive.name, tuple(keep))
        _unpack(content, folder, PurePosixPath(), wanted, nested)
    return [path.as_posix() for path in wanted.files]


@dataclass
class _Wanted:
    """What is wanted of an archive and those in it, and what has been found so far."""

    archive: str
    keep: tuple[str, ...]
    size: int = 0
    files: dict[PurePosixPath, None] = field(default_factory=dict)
    folders: set[PurePosixPath] = field(default_factory=set)

    def count(self, size: int) -> None:
        self.size += size
        if self.size > _MOST:
            raise BadInput(f"{self.archive}: holds more than {_MOST >> 30} GiB. Unpack it by hand if that is meant.")

    def add(self, path: PurePosixPath) -> None:
        if path in self.files or path in self.folders or any(above in self.files for above in path.parents):
            raise BadInput(
                f"{self.archive}: two of its members would lie at '{path}', or one in the other. Unpack it by hand."
            )
        self.files[path] = None
        self.folders.update(path.parents)


def _unpack(content: zipfile.ZipFile, folder: Path, below: PurePosixPath, wanted: _Wanted, nested: bool) -> None:
    """Unpack what is wanted into a folder of the folder."""
    members = [member for member in content.infolist() if not member.is_dir()]
    for member in members:
        _check(member)
    wanted.count(sum(member.file_size for member in members))
    tops = {PurePosixPath(member.filename).parts[0] for member in members}
    wrapped = all(len(PurePosixPath(member.filename).parts) > 1 for member in members)
    skipped = 1 if len(tops) == 1 and wrapped else 0
    for member in members:
        path = below.joinpath(*PurePosixPath(member.filename).parts[skipped:])
        if nested and path.suffix.lower() == ".zip":
            with zipfile.ZipFile(io.BytesIO(_read(content, member))) as inner:
                _unpack(inner, folder, path.with_suffix(""), wanted, nested=False)
        elif path.name.endswith(wanted.keep or ""):
            wanted.add(path)
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(_read(content, member))


def _read(content: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """The bytes of a member, if its checksum is right."""
    try:
        return content.read(member)
    except (zlib.error, EOFError, NotImplementedError, RuntimeError) as error:  # what damage looks like further down
        raise zipfile.BadZipFile(f"'{member.filename}' is damaged ({error})") from None


def _check(member: zipfile.ZipInfo) -> None:
    """Refuse what could be written outside the folder."""
    path = PurePosixPath(member.filename)
    if not path.parts:
        raise BadInput(f"the archive has the member '{member.filename}', which is no name of a file. Do not use it.")
    up = {".", ".."} & {*path.parts, path.stem}  # the stem: an archive becomes a folder of that name
    outside = path.is_absolute() or up or "\\" in member.filename or ":" in path.parts[0]
    if outside or stat.S_ISLNK(member.external_attr >> 16):
        raise BadInput(
            f"the archive has the member '{member.filename}', which leads outside its folder. Do not use it."
        )
