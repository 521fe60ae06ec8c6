r"""Published tests of the banded rotary friction damper: both file layouts, and splits by event.

The tests (Coble, Huggins, Cao, Ricles, Downey; CC BY-SA 4.0) were sampled at 1024 Hz. As published, a test is a JSON
file with a matrix in inches, kips and pounds; repackaged, many tests lie in one ``.npz`` in SI units with an
``index.json``. The supplied velocity was low-passed forwards *and backwards*: its value at an instant depends on later
samples, so a model for a live test must not use it. `causal_velocity` depends on the past alone.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Literal

import numpy as np

from hyloop.data.folders import files_below, set_folder
from hyloop.data.ledger import held, read_ledger
from hyloop.data.velocity import causal_velocity, zero_phase_velocity
from hyloop.errors import BadInput, BadShape, UnknownName

__all__ = [
    "DamperTest",
    "Split",
    "here",
    "leave_one_out",
    "packaged_tests",
    "published_id",
    "published_test",
    "published_tests",
    "tests",
]

NAME = "brfd"
INCH, POUND = 0.0254, 4.4482216152605  # m, N
# columns of the published matrix: time, displacement, force, velocity, forces of the two electric actuators; data set 4
# has the positions of these actuators before their forces
_PUBLISHED = {"d": (1, INCH), "f": (2, 1e3 * POUND), "v": (3, INCH), "t1": (-2, POUND), "t2": (-1, POUND)}
_COLUMNS = (6, 8)
# data set 1 has no amplitude in its names: it was 1 inch throughout
_NAME = re.compile(r"(?P<hertz>[\d.]+)Hz(?P<tension>[\d.]+)lbtension(?:(?P<inches>[\d.]+)amplitude)?")
_ONLY_AMPLITUDE = "1"
_EVENT = re.compile(r"(?P<event>[A-Za-z]+?)_?(?P<level>DBE|MCE)")
_QUAKES = "earthquake profiles"
_FOLDER = re.compile(r"dataset-(?P<number>\d)")
_POSITIONS = {"p1": (4, INCH), "p2": (5, INCH)}
_PACKAGED = {"d": "x", "v": "v", "f": "F", "t1": "T1", "t2": "T2", "p1": "p1", "p2": "p2"}
_JITTER = 0.01  # of the step: published times are rounded


@dataclass(frozen=True, eq=False)
class DamperTest:
    """One test, in SI units.

    Attributes
    ----------
    name : str
    dt : float
        Sampling interval in s.
    d, f : array
        Deformation in m and force in N.
    v : array
        Velocity in m/s, in the way `velocity` says.
    velocity : {"zero-phase", "causal"}
        "zero-phase" uses later samples; "causal" earlier ones only.
    t1, t2 : array or None
        Forces of the electric actuators in N, where they are known.
    p1, p2 : array or None
        Positions of the electric actuators in m, where they moved (data set 4).
    tension, frequency, amplitude : float
        Nominal pretension in N, and of a harmonic test its frequency in Hz and amplitude in m; NaN where not stated.
    event, level : str
        Earthquake and its level (DBE, MCE); empty for other tests.
    """

    name: str
    dt: float
    d: np.ndarray
    f: np.ndarray
    v: np.ndarray
    velocity: Literal["zero-phase", "causal"] = "zero-phase"
    t1: np.ndarray | None = None
    t2: np.ndarray | None = None
    p1: np.ndarray | None = None
    p2: np.ndarray | None = None
    tension: float = math.nan
    frequency: float = math.nan
    amplitude: float = math.nan
    event: str = ""
    level: str = ""

    def signals(self, velocity: Literal["zero-phase", "causal"] = "causal") -> dict[str, np.ndarray]:
        """Deformation, velocity, acceleration and force by name: d, v, a, f.

        The acceleration is the derivative of the velocity: backward differences of a causal one, central of the other.
        """
        if velocity == "causal":
            v = causal_velocity(self.d, self.dt)
            a = np.diff(v, prepend=v[0]) / self.dt
        elif velocity == "zero-phase":
            v = self.v if self.velocity == "zero-phase" else zero_phase_velocity(self.d, self.dt)
            a = np.gradient(v, self.dt)
        else:
            raise UnknownName("velocity", velocity, ("causal", "zero-phase"), where=self.name)
        return {"d": self.d, "v": v, "a": a, "f": self.f}


def here() -> Path | None:
    """The folder of the tests, in either layout, or None."""
    folder = set_folder(NAME)
    if folder is None or not ((folder / "index.json").is_file() or any(_published(folder))):
        return None
    return folder


def tests(pattern: str = "*") -> dict[str, DamperTest]:
    """Tests whose id matches, from whichever layout lies in the data folder; ``*`` stands for any letters."""
    folder = here()
    if folder is None:
        raise BadInput(
            f"{NAME}:{pattern}: the tests of the banded damper are not here. Get them with `hyloop data get {NAME}`, "
            f"or set HYLOOP_DATA to the folder that holds {NAME}/index.json or a copy of the published repository in "
            f"{NAME}/."
        )
    return packaged_tests(folder, pattern) if (folder / "index.json").is_file() else published_tests(folder, pattern)


def _published(folder: Path) -> Iterator[Path]:
    """Files of the published layout: those in folders called dataset-1 to dataset-4."""
    return (path for path in files_below(folder, "*.json") if any(_FOLDER.fullmatch(part) for part in path.parts))


def published_id(path: str | Path) -> str | None:
    """The id that the repackaged index gives to a published file, such as d2_h36lb_1Hz_1in; None where it has none.

    The earthquakes of data set 3 are those of data set 2, byte by byte, and have no id of their own.
    """
    path = Path(path)
    number = next((found["number"] for part in reversed(path.parts) if (found := _FOLDER.fullmatch(part))), None)
    if number is None:
        return None
    if number == "4":
        return f"d4_{path.stem}"
    if found := _NAME.fullmatch(path.stem):
        inches = found["inches"] or (_ONLY_AMPLITUDE if number == "1" else None)
        return None if inches is None else f"d{number}_h{found['tension']}lb_{found['hertz']}Hz_{inches}in"
    return f"d2_eq36lb_{path.stem}" if number == "2" and path.parent.name == _QUAKES else None


def published_test(path: str | Path) -> DamperTest:
    """One JSON file as published; frequency, tension and amplitude, or event and level, are read from its name."""
    path = Path(path)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        table = np.array(content["data"], dtype=float)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(
            f"{path}: not a published damper test ({error!r}). It is a JSON file whose 'data' is a matrix "
            "with columns time, displacement, force, velocity, actuator forces."
        ) from error
    if table.ndim != 2 or table.shape[1] not in _COLUMNS or len(table) < 2:
        raise BadShape(f"{path}: the matrix is {table.shape}, wanted rows of 6 columns (8 in data set 4).")
    steps = np.diff(table[:, 0])
    dt = float(table[-1, 0] - table[0, 0]) / (len(table) - 1)
    if not np.isfinite(table).all() or not (np.abs(steps - dt) <= _JITTER * dt).all():
        raise BadInput(f"{path}: values must be numbers and times must rise evenly. Repair the file first.")
    columns = {key: table[:, i] * unit for key, (i, unit) in _PUBLISHED.items()}
    if table.shape[1] == _COLUMNS[1]:  # the velocity of data set 4 is in a unit of its own
        columns["v"] = zero_phase_velocity(columns["d"], dt)
        columns |= {key: table[:, i] * unit for key, (i, unit) in _POSITIONS.items()}
    about: dict[str, Any] = {}
    if found := _NAME.search(path.stem):
        about = {
            "frequency": float(found["hertz"]),
            "tension": float(found["tension"]) * POUND,
            "amplitude": float(found["inches"] or _ONLY_AMPLITUDE) * INCH,
        }
    elif found := _EVENT.search(path.stem):
        about = {"event": found["event"], "level": found["level"]}
    return DamperTest(path.stem, dt, **columns, **about)


def published_tests(folder: str | Path, pattern: str = "*") -> dict[str, DamperTest]:
    """Every published test below a folder whose id, or name of file, matches.

    Tests go by the ids of the repackaged index where they have one, else by their path without suffix.
    """
    folder = Path(folder)
    files = sorted(_published(folder)) or sorted(files_below(folder, "*.json"))
    found = {published_id(path) or path.relative_to(folder).with_suffix("").as_posix(): path for path in files}
    names = [name for name, path in found.items() if fnmatch(name, pattern) or fnmatch(path.stem, pattern)]
    if not files:
        raise BadInput(f"{folder}: there is no JSON file. Name the folder of the published tests.")
    if not names:
        raise UnknownName("test", pattern, found, where=NAME)
    ledger = read_ledger(folder)
    return {name: replace(published_test(held(folder, found[name], ledger)), name=name) for name in names}


def packaged_tests(folder: str | Path, pattern: str = "*") -> dict[str, DamperTest]:
    """Tests of a repackaged folder (``index.json`` and ``.npz`` files), by id; ``*`` stands for any letters."""
    folder = Path(folder)
    try:
        index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"{folder}: there is no readable index.json of damper tests ({error}).") from error
    names = [name for name in index if fnmatch(name, pattern)]
    if not names:
        raise UnknownName("test", pattern, index, where=NAME)
    tests = {}
    for name in names:
        about = index[name]
        with np.load(folder / f"brfd_dataset{about['dataset']}.npz") as file:
            columns = {
                key: file[f"{name}/{column}"].astype(float)
                for key, column in _PACKAGED.items()
                if f"{name}/{column}" in file
            }
        tests[name] = DamperTest(
            name,
            1.0 / about["fs"],
            **columns,
            tension=about.get("tension_lb", math.nan) * POUND,
            frequency=about.get("freq_hz", math.nan),
            amplitude=about.get("amp_in", math.nan) * INCH,
            event=about.get("event", ""),
            level=about.get("level", ""),
        )
    return tests


@dataclass(frozen=True)
class Split:
    """Names to train on and names to judge on; `left_out` says what the latter have in common."""

    left_out: str
    train: tuple[str, ...]
    judge: tuple[str, ...]


def leave_one_out(
    tests: Mapping[str, DamperTest] | Sequence[DamperTest], by: Literal["record", "event"] = "event"
) -> Iterator[Split]:
    """Splits that leave out one earthquake each; tests that are no earthquakes are always trained on.

    Parameters
    ----------
    by
        "event" leaves out both levels of an earthquake; "record" one level only, while the other, the same motion at
        another scale, stays in the training: what Coble et al. (2024) do.
    """
    found = dict(tests) if isinstance(tests, Mapping) else {test.name: test for test in tests}
    if by not in ("record", "event"):
        raise UnknownName("split", by, ("record", "event"), where="leave_one_out")
    keys = {name: (t.event if by == "event" else t.event + t.level) for name, t in found.items() if t.event}
    if len(set(keys.values())) < 2:
        raise BadInput(f"leave_one_out: {len(set(keys.values()))} different earthquakes; at least two are needed.")
    for key in dict.fromkeys(keys.values()):
        judge = tuple(name for name in keys if keys[name] == key)
        yield Split(key, tuple(name for name in found if name not in judge), judge)
