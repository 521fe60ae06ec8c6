"""Where the measured data lie."""

from pathlib import Path

import pytest

from hyloop.data import data_folder


def data_path(*parts: str) -> Path:
    """Path of a file below the data folder; skips where it is missing."""
    root = data_folder()
    if root is None or not root.joinpath(*parts).exists():
        pytest.skip(f"{'/'.join(parts)} is missing; set HYLOOP_DATA to the folder that holds it")
    return root.joinpath(*parts)
