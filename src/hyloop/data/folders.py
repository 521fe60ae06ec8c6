"""Where data lie: the folder named by ``HYLOOP_DATA``, else the user's data folder; nowhere else."""

import os
from pathlib import Path

from platformdirs import user_data_path

from hyloop.errors import BadInput

__all__ = ["VARIABLE", "data_folder", "download_folder", "set_folder", "user_folder"]

VARIABLE = "HYLOOP_DATA"


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
    """The folder of one data set, where it exists."""
    root = data_folder()
    return root / name if root is not None and (root / name).is_dir() else None
