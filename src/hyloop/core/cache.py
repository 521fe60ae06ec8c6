"""Compiled code on disk: a folder that can never be stale, and runs that go on where it cannot be used.

Numba decides whether a cached function is still valid by looking at the file that defines it, not at the
files of the functions it calls. A compiled wrapper round a law in another file would therefore survive an
edit of that law. Here the cache folder itself carries a digest of all sources that can matter, so an edit
anywhere simply leads to another folder.

A folder that is full, write-protected or not there costs time, never a run: one warning, and what was compiled is
compiled again next time.
"""

import hashlib
import os
import pickle
import shutil
import tempfile
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba

from hyloop.errors import HyloopWarning

__all__ = ["FOLDER", "cache_folder", "cached", "source_digest"]

_PACKAGE = Path(__file__).resolve().parents[1]
# not beside the sources and not in the folder of Numba, which both know nothing of other files that matter
_PLACES = "UserProvidedCacheLocator,IPythonCacheLocator,ZipCacheLocator"
# what Numba's reading of its own files may say of one that the death of the machine has cut short
_DAMAGED = (
    *(pickle.UnpicklingError, EOFError, ValueError, TypeError),
    *(AttributeError, ImportError, IndexError, KeyError),
)


def _cache_root() -> Path:
    """Folder of compiled code: ``HYLOOP_CACHE``, else the user's cache folder."""
    given = os.environ.get("HYLOOP_CACHE")
    if given:
        return Path(given)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "hyloop"


def source_digest(*apart: str) -> str:
    """Sixteen hexadecimal digits for the sources of hyloop, but for packages that do not matter to what is kept."""
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted(_PACKAGE.rglob("*.py")):
        if path.relative_to(_PACKAGE).parts[0] not in apart:
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _package_digest() -> str:
    # the packages on top compile nothing, so an edit there shall not cost a compilation
    return source_digest("cli", "ensembles", "study", "report", "files", "data")


def cache_folder(keep: int = 8) -> Path:
    """Folder for the present sources; when it is new, all but the latest folders of older sources go."""
    folder = _cache_root() / _package_digest()
    if not folder.exists():
        with suppress(FileNotFoundError):  # another process may be doing the same
            others = [p for p in folder.parent.glob("?" * 16) if p.is_dir()]
            for old in sorted(others, key=lambda path: path.stat().st_mtime)[:-keep]:
                shutil.rmtree(old, ignore_errors=True)
    return folder


def _usable() -> Path | None:
    """The folder, if something can be written there."""
    try:
        folder = cache_folder()
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(4096))  # a full disk lets an empty file be made
    except (OSError, RuntimeError) as error:  # a RuntimeError: the user has no home
        _warn(error)
        return None
    return folder


def _warn(error: Exception) -> None:
    warnings.warn(
        f"compiled code is not kept, so the next start compiles again ({error}). "
        "Set HYLOOP_CACHE to a folder that can be written to.",
        HyloopWarning,
        stacklevel=2,
    )


class _Careful:
    """The cache of one function; what fails there is left alone from then on."""

    given_up = False  # of all functions: one warning is enough

    def __init__(self, cache: Any) -> None:
        self._cache = cache

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)

    def load_overload(self, *arguments: Any) -> Any:
        try:
            return self._cache.load_overload(*arguments)
        except (OSError, *_DAMAGED):
            return None

    def save_overload(self, *arguments: Any) -> None:
        if _Careful.given_up:
            return
        try:
            try:
                self._cache.save_overload(*arguments)
            except _DAMAGED:  # the list of what is there, which is read to add to it; so it begins anew
                self._cache.flush()
                self._cache.save_overload(*arguments)
        except (OSError, *_DAMAGED) as error:
            _Careful.given_up = True
            _warn(error)


FOLDER = _usable()


def cached(decorate: Callable[[bool], Any], inside: str = "") -> Any:
    """Run a Numba decorator, told whether to cache, with its cache in the folder; global settings stay as they were."""
    if FOLDER is None or _Careful.given_up:
        return decorate(False)
    names = ("CACHE_DIR", "CACHE_LOCATOR_CLASSES")
    before = [getattr(numba.config, name, "") for name in names]
    numba.config.CACHE_DIR, numba.config.CACHE_LOCATOR_CLASSES = str(FOLDER / inside), _PLACES
    try:
        try:
            compiled = decorate(True)
        except _DAMAGED:  # a C function is read while it is decorated; an error of its own comes again
            if not inside:
                raise
            shutil.rmtree(FOLDER / inside, ignore_errors=True)
            compiled = decorate(True)
        compiled._cache = _Careful(compiled._cache)
        return compiled
    except (OSError, EOFError) as error:
        _Careful.given_up = True
        _warn(error)
    except RuntimeError as error:
        if "cannot cache" not in str(error):
            raise
    finally:
        for name, value in zip(names, before, strict=True):
            setattr(numba.config, name, value)
    return decorate(False)
