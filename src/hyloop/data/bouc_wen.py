"""The Bouc-Wen identification benchmark: records of force and displacement, in both file layouts.

Noël and Schoukens, doi:10.4121/12967592, CC BY-SA 4.0; simulated at 750 Hz. As published, a test is a pair of MAT files
(``uval_multisine.mat``, ``yval_multisine.mat``) whose only variable is a row of numbers; repackaged, it is one ``.npz``
with u, y and fs. Test signals take no part in estimation, in the choice of a model or in early stopping.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import numpy as np

from hyloop.data.folders import files_below, set_folder
from hyloop.data.ledger import held, read_ledger
from hyloop.errors import BadInput, BadShape, UnknownName

__all__ = ["BenchmarkRecord", "here", "packaged_tests", "published_tests", "tests"]

NAME = "boucwen"
_RATE = 750.0  # Hz, not in the published files
_PERIOD = 8192  # samples of a multisine
# record: the published pair of files, excitation first
_PUBLISHED = {
    "estimation": ("uest_multisine.mat", "yest_multisine.mat"),
    "test_multisine": ("uval_multisine.mat", "yval_multisine.mat"),
    "test_sinesweep": ("uval_sinesweep.mat", "yval_sinesweep.mat"),
}


@dataclass(frozen=True, eq=False)
class BenchmarkRecord:
    """One record.

    Attributes
    ----------
    name : str
        estimation, test_multisine or test_sinesweep.
    dt : float
        Sampling interval in s.
    u, y : array
        Force in N on the mass and its displacement in m.
    periods : int
        How many equal periods of the excitation the record holds.
    """

    name: str
    dt: float
    u: np.ndarray
    y: np.ndarray
    periods: int = 1


def here() -> Path | None:
    """The folder of the records, in either layout, or None."""
    folder = set_folder(NAME)
    return folder if folder is not None and (_packaged(folder) or _published(folder)) else None


def tests(pattern: str = "*") -> dict[str, BenchmarkRecord]:
    """Records whose name matches, from whichever layout lies in the data folder; a repackaged file comes first."""
    folder = here()
    if folder is None:
        raise BadInput(
            f"{NAME}:{pattern}: the Bouc-Wen benchmark is not here. Get it with `hyloop data get {NAME}`, or set "
            f"HYLOOP_DATA to the folder that holds {NAME}/estimation.npz or the published MAT files in {NAME}/."
        )
    packaged, published = _packaged(folder), _published(folder)
    names = [name for name in _PUBLISHED if name in packaged or name in published]
    chosen = [name for name in names if fnmatch(name, pattern)]
    if not chosen:
        raise UnknownName("record", pattern, names, where=NAME)
    ledger = read_ledger(folder)
    return {
        name: _read_packaged(packaged[name], name)
        if name in packaged
        else _read_published(folder, published[name], name, ledger)
        for name in chosen
    }


def packaged_tests(folder: str | Path) -> dict[str, BenchmarkRecord]:
    """Every record that lies in a folder as ``.npz``."""
    return {name: _read_packaged(path, name) for name, path in _packaged(Path(folder)).items()}


def published_tests(folder: str | Path) -> dict[str, BenchmarkRecord]:
    """Every record that lies below a folder as a pair of MAT files."""
    folder = Path(folder)
    ledger = read_ledger(folder)
    return {name: _read_published(folder, pair, name, ledger) for name, pair in _published(folder).items()}


def _packaged(folder: Path) -> dict[str, Path]:
    return {name: folder / f"{name}.npz" for name in _PUBLISHED if (folder / f"{name}.npz").is_file()}


def _published(folder: Path) -> dict[str, tuple[Path, Path]]:
    files = {path.name: path for path in sorted(files_below(folder, "*.mat"))}
    return {name: (files[u], files[y]) for name, (u, y) in _PUBLISHED.items() if u in files and y in files}


def _read_packaged(path: Path, name: str) -> BenchmarkRecord:
    try:
        with np.load(path) as file:
            u, y, rate = (np.asarray(file[key], dtype=float) for key in ("u", "y", "fs"))
    except (ValueError, KeyError, OSError) as error:
        raise BadInput(f"{path}: must hold u, y and fs ({error}).") from None
    return _record(path, name, u, y, float(rate))


def _read_published(folder: Path, pair: tuple[Path, Path], name: str, ledger: Mapping[str, str]) -> BenchmarkRecord:
    u, y = (_row(held(folder, path, ledger)) for path in pair)
    return _record(pair[0], name, u, y, _RATE)


def _row(path: Path) -> np.ndarray:
    """The only variable of a MAT file, as a vector; the two sources of these files give it different names."""
    from scipy.io import loadmat  # here: slow to import

    try:
        found = {key: value for key, value in loadmat(path).items() if not key.startswith("__")}
        (values,) = found.values()
        return np.asarray(values, dtype=float).squeeze()
    except (ValueError, NotImplementedError, TypeError) as error:
        raise BadInput(f"{path}: must hold one row of numbers ({error}). Fetch it again.") from None


def _record(path: Path, name: str, u: np.ndarray, y: np.ndarray, rate: float) -> BenchmarkRecord:
    if u.ndim != 1 or u.shape != y.shape or not (np.isfinite(u).all() and np.isfinite(y).all()):
        raise BadShape(f"{path}: u is {u.shape} and y {y.shape}; wanted two vectors of numbers of the same length.")
    periodic = "multisine" in name or name == "estimation"
    return BenchmarkRecord(name, 1.0 / rate, u, y, max(len(u) // _PERIOD, 1) if periodic else 1)
