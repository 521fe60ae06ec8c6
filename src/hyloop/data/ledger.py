"""What was downloaded: checksums written down beside the files at the first download, and held to ever after."""

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from hyloop.core.writing import replacing
from hyloop.errors import BadInput

__all__ = ["LEDGER", "checksum", "held", "read_ledger", "write_ledger"]

LEDGER = "hyloop-data.json"
_BLOCK = 1 << 20


def checksum(path: Path) -> str:
    """SHA-256 of a file."""
    digest = sha256()
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def read_ledger(folder: Path) -> dict[str, str]:
    """Checksums of the files of a data set, by path below its folder; empty where nothing was downloaded by hyloop."""
    path = folder / LEDGER
    if not path.is_file():
        return {}
    try:
        files = json.loads(path.read_text(encoding="utf-8"))["files"]
        return {str(name): str(digest) for name, digest in files.items()}
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise BadInput(
            f"{path}: is not a list of checksums ({error!r}). Delete it and download the set again."
        ) from None


def write_ledger(folder: Path, source: str, files: Mapping[str, str]) -> None:
    """Write checksums down; the file is complete or as it was before."""
    content = {"about": "checksums (SHA-256) of what hyloop downloaded", "source": source, "files": dict(files)}
    with replacing(folder / LEDGER) as part:
        part.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def held(folder: Path, path: Path, ledger: Mapping[str, str]) -> Path:
    """The path itself, if the file is what it was when it was downloaded, or was never downloaded by hyloop.

    `ledger` is what `read_ledger` gives for the folder; who asks for many files reads it once.

    Raises
    ------
    BadInput
        If the file has changed since.
    """
    known = ledger.get(path.relative_to(folder).as_posix())
    if known is not None and checksum(path) != known:
        raise BadInput(
            f"{path}: has changed since it was downloaded ({LEDGER} beside it has another checksum). Delete {folder} "
            f"and call `hyloop data get {folder.name}`; if the change is wanted, delete its line in {LEDGER}."
        )
    return path
