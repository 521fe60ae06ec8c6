"""Where a result comes from: versions, source state, machine."""

import hashlib
import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

__all__ = ["git_state", "provenance", "versions"]

_PACKAGES = ("hyloop", "numpy", "scipy", "numba", "h5py", "pydantic")


def versions() -> dict[str, str]:
    """Versions of hyloop and of what its numbers depend on."""
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def git_state(folder: Path) -> str:
    """Commit of the checkout that holds `folder`, marked where it has uncommitted changes; empty outside one."""

    def git(*words: str) -> str:
        command = ["git", "-C", str(folder), *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout.strip()

    try:
        return git("rev-parse", "--short=12", "HEAD") + (" with changes" if git("status", "--porcelain") else "")
    except (OSError, subprocess.SubprocessError):
        return ""


def provenance(source: Path | None, seed: int | None = None) -> dict[str, Any]:
    """What a recording remembers of its making; times belong here and not in the data."""
    record: dict[str, Any] = {
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": versions(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "source": git_state(Path(__file__).parent),
    }
    if source is not None:
        record["experiment"] = source.name
        record["experiment_sha256"] = hashlib.sha256(source.read_bytes()).hexdigest()
    if seed is not None:
        record["seed"] = seed
    return record
