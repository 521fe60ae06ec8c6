"""Where the measured data lie."""

import os
from pathlib import Path

import pytest

_CHECKOUT = Path(__file__).resolve().parents[2]


def data_path(*parts: str) -> Path:
    """Path of a file below ``HYLOOP_DATA``, else ``../shared/data`` beside the checkout; skips where it is missing."""
    root = os.environ.get("HYLOOP_DATA")
    path = (Path(root) if root else _CHECKOUT.parent / "shared" / "data").joinpath(*parts)
    if not path.exists():
        pytest.skip(f"{path} is missing; set HYLOOP_DATA to the folder that holds {'/'.join(parts)}")
    return path
