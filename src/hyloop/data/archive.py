"""Zip archives from elsewhere: unpacked below one folder, and never outside it."""

import stat
import tempfile
import zipfile
import zlib
from collections.abc import Sequence
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
        If a path leads outside the folder, a member is a link, or the content is too large to be meant.
    zipfile.BadZipFile
        If the archive is damaged.
    """
    with zipfile.ZipFile(archive) as content:
        members = [member for member in content.infolist() if not member.is_dir()]
        for member in members:
            _check(member)
        if sum(member.file_size for member in members) > _MOST:
            raise BadInput(f"{archive.name}: holds more than {_MOST >> 30} GiB. Unpack it by hand if that is meant.")
        tops = {PurePosixPath(member.filename).parts[0] for member in members}
        wrapped = all(len(PurePosixPath(member.filename).parts) > 1 for member in members)
        skipped = 1 if len(tops) == 1 and wrapped else 0
        paths = []
        for member in members:
            path = PurePosixPath(*PurePosixPath(member.filename).parts[skipped:])
            if nested and path.suffix.lower() == ".zip":
                paths += _inner(_read(content, member), folder, path, keep)
                continue
            if keep and not path.name.endswith(tuple(keep)):
                continue
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(_read(content, member))
            paths.append(path.as_posix())
    return paths


def _read(content: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """The bytes of a member, if its checksum is right."""
    try:
        return content.read(member)
    except (zlib.error, EOFError, NotImplementedError, RuntimeError) as error:  # what damage looks like further down
        raise zipfile.BadZipFile(f"'{member.filename}' is damaged ({error})") from None


def _inner(packed: bytes, folder: Path, path: PurePosixPath, keep: Sequence[str]) -> list[str]:
    """Unpack an archive that lies in another one."""
    with tempfile.TemporaryDirectory() as room:
        (archive := Path(room) / path.name).write_bytes(packed)
        inner = unpack(archive, folder / path.with_suffix(""), keep, nested=False)
    return [f"{path.with_suffix('')}/{name}" for name in inner]


def _check(member: zipfile.ZipInfo) -> None:
    """Refuse what could be written outside the folder."""
    path = PurePosixPath(member.filename)
    outside = path.is_absolute() or ".." in path.parts or "\\" in member.filename or ":" in path.parts[0]
    if outside or stat.S_ISLNK(member.external_attr >> 16):
        raise BadInput(
            f"the archive has the member '{member.filename}', which leads outside its folder. Do not use it."
        )
