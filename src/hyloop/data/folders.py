"""Where data lie: the folder named by ``HYLOOP_DATA``, else the user's data folder; nowhere else."""

import os
from collections.abc import Iterator
from pathlib import Path

from platformdirs import user_data_path

from hyloop.errors import BadInput

__all__ = ["UNFINISHED", "VARIABLE", "data_folder", "download_folder", "files_below", "set_folder", "user_folder"]

VARIABLE = "HYLOOP_DATA"
UNFINISHED = ".hyloop-unfinished"  # in the folder of a set while a download is moved there


def user_folder() -> Path:
    """The user's own folder for data of hyloop, as the operating system wants it; it need not exist."""
    return user_data_path("hyloop", appauthor=False)


def data_folder() -> Path | None:
    """The folder that holds data: ``HYLOOP_DATA`` if it is set, else the user's data folder if it exists, else None.

    Raises
    ------
    BadInput
        If ``HYLOOP_DATA`` names a folder that does not exist.
    """
    folder = download_folder()
    return folder if folder.is_dir() else None


def download_folder() -> Path:
    """Where downloads go: the same folder, which `fetch` makes if it is the user's own and does not exist yet."""
    given = os.environ.get(VARIABLE)
    if not given:
        return user_folder()
    if not Path(given).is_dir():
        raise BadInput(f"{VARIABLE} = {given}: there is no such folder. Correct the variable or unset it.")
    return Path(given)


def set_folder(name: str) -> Path | None:
    """The folder of one data set, where it exists and no download broke off while it was put there."""
    root = data_folder()
    if root is None or not (root / name).is_dir() or (root / name / UNFINISHED).exists():
        return None
    return root / name


def files_below(folder: Path, pattern: str) -> Iterator[Path]:
    """Files of a data set by their name, in whatever folder; hidden files and folders are not part of it."""
    for path in folder.rglob(pattern):
        if not any(part.startswith(".") for part in path.relative_to(folder).parts):
            yield path
