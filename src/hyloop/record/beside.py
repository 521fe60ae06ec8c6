"""The picture of a building beside its recording: a second, slow recording of what a drawing of it needs."""

from pathlib import Path

from hyloop.errors import BadInput
from hyloop.record.recording import Recording

__all__ = ["PICTURE", "picture_of", "picture_path"]

PICTURE = ".picture.h5"  # takes the place of the suffix of the recording


def picture_path(path: Path) -> Path:
    """Where the picture of a recording lies: ``out/tower.picture.h5`` for ``out/tower.h5``."""
    return path.with_suffix(PICTURE)


def picture_of(recording: Recording) -> Recording | None:
    """The picture that was recorded with a recording; None where there is none, or only that of another run."""
    token = recording.attributes.get("picture")
    if token is None or recording.path is None or not (path := picture_path(recording.path)).is_file():
        return None
    try:
        found = Recording.load(path)
    except BadInput:  # a recording is worth a page, whatever became of its picture
        return None
    return found if found.attributes.get("picture_of") == token and len(found) else None
