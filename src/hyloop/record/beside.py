"""What lies beside a recording: the picture of its building, a second, slow recording, and what to go on from."""

from pathlib import Path

from hyloop.errors import BadInput
from hyloop.record.recording import Recording

__all__ = ["PICTURE", "RESUME", "picture_of", "picture_path", "resume_path"]

# these take the place of the suffix of the recording
PICTURE = ".picture.h5"
RESUME = ".resume"


def picture_path(path: Path) -> Path:
    """Where the picture of a recording lies: ``out/tower.picture.h5`` for ``out/tower.h5``."""
    return path.with_suffix(PICTURE)


def resume_path(path: Path) -> Path:
    """Where a run keeps how it stands: ``out/tower.resume`` for ``out/tower.h5``; gone when it has ended."""
    return path.with_suffix(RESUME)


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
