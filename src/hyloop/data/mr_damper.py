"""Tests of a magnetorheological damper at constant currents: both file layouts.

Tests by M. Quiroz and the Fermandois group (UTFSM, Chile; MIT licence). As published, a sine is a text file with the
columns time (s), displacement (mm), velocity (mm/s) and force (N), named ``10mm1Hz0x25A.txt`` for 10 mm, 1 Hz and 0.25
A; the earthquake-like motion is the matrix ``data`` of ``validacion.mat``: displacement in mm and the force in N at
five currents. The published signals are moving averages of the readings, and the velocity is their backward
difference: both use the past alone.
"""

import json
import math
import re
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np

from hyloop.data.folders import files_below, set_folder
from hyloop.data.ledger import held, read_ledger
from hyloop.errors import BadInput, BadShape, UnknownName

__all__ = ["MrTest", "here", "packaged_tests", "published_tests", "tests"]

NAME = "mr_damper"
_MILLI = 1e-3
_NUMBER = r"\d+(?:x\d+)?"  # 0x25 stands for 0.25
_SINE = re.compile(rf"(?P<amplitude>{_NUMBER})mm(?P<hertz>{_NUMBER})Hz(?P<current>{_NUMBER})A")
_QUAKE = "validacion.mat"
_QUAKE_RATE = 1000.0  # Hz, not in the file
_QUAKE_CURRENTS = ("0.2", "0.4", "0.6", "0.8", "1")  # A, of the columns after the displacement
_JITTER = 0.01  # of the step: published times are rounded


@dataclass(frozen=True, eq=False)
class MrTest:
    """One test, in SI units.

    Attributes
    ----------
    name : str
    dt : float
        Sampling interval in s.
    d, f : array
        Deformation in m and force in N.
    v : array or None
        Velocity in m/s, where it is supplied.
    current : float
        Current in A, the same throughout.
    motion : str
        What was imposed: tests of one motion differ in the current alone.
    amplitude, frequency : float
        Of a sine, in m and Hz; else NaN.
    """

    name: str
    dt: float
    d: np.ndarray
    f: np.ndarray
    v: np.ndarray | None
    current: float
    motion: str
    amplitude: float = math.nan
    frequency: float = math.nan


def here() -> Path | None:
    """The folder of the tests, in either layout, or None."""
    folder = set_folder(NAME)
    if folder is None or not ((folder / "index.json").is_file() or _published(folder)):
        return None
    return folder


def tests(pattern: str = "*") -> dict[str, MrTest]:
    """Tests whose id matches, from whichever layout lies in the data folder; ``*`` stands for any letters."""
    folder = here()
    if folder is None:
        raise BadInput(
            f"{NAME}:{pattern}: the tests of the MR damper are not here. Get them with `hyloop data get {NAME}`, or "
            f"set HYLOOP_DATA to the folder that holds {NAME}/index.json or a copy of the published repository "
            f"in {NAME}/."
        )
    return packaged_tests(folder, pattern) if (folder / "index.json").is_file() else published_tests(folder, pattern)


def packaged_tests(folder: str | Path, pattern: str = "*") -> dict[str, MrTest]:
    """Tests of a repackaged folder (``index.json``, ``sines.npz``, ``earthquake.npz``), by id."""
    folder = Path(folder)
    index = {about["id"]: about for about in json.loads((folder / "index.json").read_text(encoding="utf-8"))}
    found: dict[str, MrTest] = {}
    with np.load(folder / "sines.npz") as file:
        for name, about in index.items():
            if fnmatch(name, pattern) and f"{name}/d" in file:
                signals = {key: file[f"{name}/{key}"].astype(float) for key in ("d", "v", "f")}
                sine = (about["current_a"], _motion(name), about["amplitude_m"], about["frequency_hz"])
                found[name] = MrTest(name, 1.0 / about["fs"], signals["d"], signals["f"], signals["v"], *sine)
    names = list(index)
    if (folder / "earthquake.npz").is_file():
        with np.load(folder / "earthquake.npz") as file:
            for key in (key for key in file.files if key.startswith("f_")):
                name = f"earthquake_{key[2:]}"
                names.append(name)
                if fnmatch(name, pattern):
                    d, f = (file[column].astype(float) for column in ("d", key))
                    found[name] = _quake(name, d, f)
    return _some(found, pattern, names)


def published_tests(folder: str | Path, pattern: str = "*") -> dict[str, MrTest]:
    """Tests of a copy of the published repository, by the ids they have in the repackaged folder."""
    folder = Path(folder)
    files = _published(folder)
    names: dict[str, Path] = {}
    for path in files:
        if path.name == _QUAKE:
            names |= {f"earthquake_{current}A": path for current in _QUAKE_CURRENTS}
        else:
            names[_id(path.stem)] = path
    chosen = {name: path for name, path in names.items() if fnmatch(name, pattern)}
    ledger = read_ledger(folder)
    for path in dict.fromkeys(chosen.values()):
        held(folder, path, ledger)
    found = {
        name: _published_quake(path, name) if path.name == _QUAKE else _published_sine(path, name)
        for name, path in chosen.items()
    }
    return _some(found, pattern, names)


def _published(folder: Path) -> list[Path]:
    """Files of the published layout; where a sine is there twice, the later folder is read last."""
    sines = [path for path in files_below(folder, "*A.txt") if _SINE.fullmatch(path.stem)]
    return sorted(sines) + sorted(files_below(folder, _QUAKE))


def _some(found: dict[str, MrTest], pattern: str, names: Any) -> dict[str, MrTest]:
    if not found:
        raise UnknownName("test", pattern, names, where=NAME)
    return found


def _id(stem: str) -> str:
    """Id of a sine from the name of its file."""
    return _SINE.sub(r"sine_\g<amplitude>mm_\g<hertz>Hz_\g<current>A", stem).replace("x", ".")


def _motion(name: str) -> str:
    return name.rpartition("_")[0]


def _quake(name: str, d: np.ndarray, f: np.ndarray) -> MrTest:
    current = float(name.removeprefix("earthquake_").removesuffix("A"))
    return MrTest(name, 1.0 / _QUAKE_RATE, d, f, None, current, "earthquake")


def _published_sine(path: Path, name: str) -> MrTest:
    try:
        table = np.loadtxt(path, ndmin=2)
    except ValueError as error:
        raise BadInput(f"{path}: must hold numbers in four columns ({error}). Fetch it again.") from None
    if table.shape[1] != 4 or len(table) < 2:
        raise BadShape(f"{path}: is {table.shape}, wanted rows of time, displacement, velocity and force.")
    steps = np.diff(table[:, 0])
    dt = float(table[-1, 0] - table[0, 0]) / (len(table) - 1)
    if not np.isfinite(table).all() or not (np.abs(steps - dt) <= _JITTER * dt).all():
        raise BadInput(f"{path}: values must be numbers and times must rise evenly. Fetch it again.")
    amplitude, hertz, current = (float(word.rstrip("mHzA")) for word in name.split("_")[1:])
    d, v, f = table[:, 1] * _MILLI, table[:, 2] * _MILLI, table[:, 3]
    return MrTest(name, dt, d, f, v, current, _motion(name), amplitude * _MILLI, hertz)


def _published_quake(path: Path, name: str) -> MrTest:
    from scipy.io import loadmat  # here: slow to import

    try:
        table = np.asarray(loadmat(path)["data"], dtype=float)
    except (ValueError, KeyError, NotImplementedError, TypeError) as error:
        raise BadInput(f"{path}: has no matrix 'data' that can be read ({error!r}). Fetch it again.") from None
    if table.ndim != 2 or table.shape[1] != 1 + len(_QUAKE_CURRENTS) or not np.isfinite(table).all():
        raise BadShape(f"{path}: 'data' is {table.shape}, wanted 6 columns of numbers: displacement and five forces.")
    column = 1 + _QUAKE_CURRENTS.index(name.removeprefix("earthquake_").removesuffix("A"))
    return _quake(name, table[:, 0] * _MILLI, table[:, column])
