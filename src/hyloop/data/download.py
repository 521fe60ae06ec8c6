"""Downloads: checked before they get their names, tried again where the line breaks, all of a set or nothing."""

import logging
import shutil
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hyloop.data.archive import unpack
from hyloop.data.catalogue import DataSet, Download
from hyloop.data.folders import download_folder
from hyloop.data.ledger import LEDGER, checksum, read_ledger
from hyloop.data.room import room_beside, settle
from hyloop.errors import BadInput, DownloadFailed

__all__ = ["Progress", "fetch"]

Progress = Callable[[str, float], None]
_ATTEMPTS = 4
_PAUSE = 2.0  # s before the second attempt, twice as much before each further one
_PATIENCE = 30.0  # s without an answer
_NOT_NOW = (408, 425, 429)  # request timeout, too early, too many requests
_CHUNK = 1 << 16  # bytes between two calls of the progress bar


def fetch(
    data: DataSet,
    folder: str | Path | None = None,
    *,
    progress: Progress | None = None,
    attempts: int = _ATTEMPTS,
    pause: float = _PAUSE,
) -> Path:
    """Download a data set and return its folder.

    Everything is downloaded and checked in a hidden folder beside that of the set first; only what is complete gets its
    place. What killed downloads of the set have left there is removed. Checksums are compared with those of the
    catalogue, or, where it has none, with those of the first download.

    Parameters
    ----------
    data : DataSet
    folder : path, optional
        Where data lie; by default ``HYLOOP_DATA``, else the user's data folder. The set gets a folder of its own in it.
    progress : callable, optional
        Called with the name of a file and the part of it that is here.
    attempts : int
        How often a download is tried.
    pause : float
        Seconds before the second attempt; twice as many before each further one.

    Raises
    ------
    DownloadFailed
        If a file cannot be had, or is not the published one.
    BadInput
        If the folder cannot be written to, an archive is not safe to unpack, or another download of the set is under
        way.
    """
    root = download_folder() if folder is None else Path(folder)
    target = root / data.name
    missing = [path for path in (target, root) if not path.exists()]
    try:
        target.mkdir(parents=True, exist_ok=True)
        with room_beside(target) as room:
            found = {}
            for number, item in enumerate(data.downloads):
                place = room / str(number)
                files = _attempt(data, item, place, progress or _silent, attempts, pause)
                _compare(data, item, files, target)
                found |= {path: (place / "content" / path, digest) for path, digest in files.items()}
            settle(target, data.source, found)
    except OSError as error:
        raise BadInput(
            f"{error.filename or target}: cannot be written ({error.strerror}). Set HYLOOP_DATA to a folder of your "
            "own with room in it."
        ) from None
    finally:
        for path in missing:  # what was made for nothing
            if path.is_dir() and not any(path.iterdir()):
                path.rmdir()
    return target


def _silent(name: str, part: float) -> None:
    """No progress bar."""


def _attempt(
    data: DataSet, item: Download, room: Path, progress: Progress, attempts: int, pause: float
) -> dict[str, str]:
    """Download one file or archive into a room of its own; checksums of what it holds, by path in the data set."""
    from requests.exceptions import HTTPError, RequestException

    for attempt in range(1, attempts + 1):
        shutil.rmtree(room, ignore_errors=True)
        try:
            _content(item, _download(item, room, data.size, progress), room / "content")
            files = sorted(path for path in (room / "content").rglob("*") if path.is_file())
            return {path.relative_to(room / "content").as_posix(): checksum(path) for path in files}
        except BadInput:
            raise
        except (RequestException, ValueError, zipfile.BadZipFile) as error:
            if isinstance(error, HTTPError) and error.response is not None:
                error.response.close()
                if _refused(error.response.status_code):
                    raise DownloadFailed(
                        f"{item.url}: the server does not give it ({error}), and will say the same again. Fetch it by "
                        f"hand: {data.source}."
                    ) from error
            if attempt == attempts:
                raise DownloadFailed(
                    f"{item.url}: could not be downloaded in {attempt} attempt(s) ({error}). Check the connection and "
                    f"try again, or fetch it by hand: {data.source}."
                ) from error
        time.sleep(pause * 2 ** (attempt - 1))
    raise BadInput(f"attempts = {attempts} must be 1 or more.")


def _refused(status: int) -> bool:
    """Whether an answer is final, as "not there" and "not for you" are; a server in trouble or in haste is not."""
    return status < 500 and status not in _NOT_NOW


def _download(item: Download, room: Path, size: int | None, progress: Progress) -> Path:
    """The file, under a name of its own, if its checksum is the published one or none is known."""
    import pooch

    bar: Any = _Bar(item.file, size, progress)
    downloader: Any = pooch.HTTPDownloader(progressbar=bar, chunk_size=_CHUNK, timeout=_PATIENCE)
    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel(logging.WARNING)  # what it says at each download is for programmers
    try:
        path = pooch.retrieve(
            item.url,
            known_hash=None if item.sha256 is None else f"sha256:{item.sha256}",
            fname="download",
            path=room,
            downloader=downloader,
        )
    finally:
        logger.setLevel(level)
    return Path(path)


def _content(item: Download, file: Path, folder: Path) -> None:
    """Lay out what the download holds as it shall lie in the folder of the set."""
    folder.mkdir()
    if not item.unpack:
        file.replace(folder / item.file)
    elif not unpack(file, folder / item.file, item.keep):
        raise zipfile.BadZipFile("the archive holds none of the files that are wanted")


def _compare(data: DataSet, item: Download, found: dict[str, str], target: Path) -> None:
    """Hold the files to what is known of them: from the catalogue, and from an earlier download."""
    for path, digest in item.members.items():
        if found.get(f"{item.file}/{path}") != digest:
            raise DownloadFailed(
                f"{item.url}: '{path}' is not the published file. Do not use what comes from there; fetch the set by "
                f"hand ({data.source}) and tell us."
            )
    known = read_ledger(target)
    for path, digest in found.items():
        if known.get(path, digest) != digest:
            raise DownloadFailed(
                f"{item.url}: '{path}' is not what it was at the first download. If the provider has corrected it, "
                f"delete its line in {target / LEDGER} and download again."
            )


class _Bar:
    """What pooch takes for a progress bar: parts of a file as calls of a function."""

    def __init__(self, name: str, size: int | None, progress: Progress) -> None:
        self.total, self._name, self._size, self._progress, self._here = 0, name, size, progress, 0

    def update(self, count: int) -> None:
        """So many bytes more."""
        self._here += count
        total = self.total or self._size or 0  # an archive that is packed while it is sent has no size beforehand
        self._progress(self._name, min(self._here / total, 1.0) if total else 0.0)

    def reset(self) -> None:
        """Begin anew."""
        self._here = 0

    def close(self) -> None:
        """The file is complete."""
        self._progress(self._name, 1.0)
