r"""Published tests of the banded rotary friction damper: both file layouts, velocities, and splits by event.

The tests (Coble, Huggins, Cao, Ricles, Downey; CC BY-SA 4.0) were sampled at 1024 Hz. As published, a test is a JSON
file with a matrix in inches, kips and pounds; repackaged, many tests lie in one ``.npz`` in SI units with an
``index.json``. The supplied velocity was low-passed forwards *and backwards*: its value at an instant depends on later
samples, so a model for a live test must not use it. `causal_velocity` depends on the past alone.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Literal

import numpy as np

from hyloop.errors import BadInput, BadShape, OutOfBounds, UnknownName

__all__ = [
    "DamperTest",
    "Split",
    "causal_velocity",
    "leave_one_out",
    "packaged_tests",
    "published_test",
    "published_tests",
    "zero_phase_velocity",
]

INCH, POUND = 0.0254, 4.4482216152605  # m, N
CUT_OFF = 50.0  # Hz, of the supplied velocity
# columns of the published matrix: time, displacement, force, velocity, forces of the two electric actuators; data set 4
# has the positions of these actuators before their forces
_PUBLISHED = {"d": (1, INCH), "f": (2, 1e3 * POUND), "v": (3, INCH), "t1": (-2, POUND), "t2": (-1, POUND)}
_COLUMNS = (6, 8)
_NAME = re.compile(r"(?P<hertz>[\d.]+)Hz(?P<tension>[\d.]+)lbtension(?P<inches>[\d.]+)amplitude")
_EVENT = re.compile(r"(?P<event>[A-Za-z]+?)_?(?P<level>DBE|MCE)")
_PACKAGED = {"d": "x", "v": "v", "f": "F", "t1": "T1", "t2": "T2"}
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


def causal_velocity(d: Any, dt: float, cut_off: float = CUT_OFF) -> np.ndarray:
    """Velocity from past samples alone: backward difference, then a second-order Butterworth low-pass at `cut_off` Hz.

    It lags by about 0.23 / cut_off below the cut-off (4.5 ms at 50 Hz), plus half a sample.
    """
    from scipy.signal import butter, sosfilt  # here: half a second that a recording does not need

    d = _checked(d, dt, cut_off)
    low_pass = butter(2, cut_off, fs=1.0 / dt, output="sos")
    return np.asarray(sosfilt(low_pass, np.diff(d, prepend=d[0]) / dt))


def zero_phase_velocity(d: Any, dt: float, cut_off: float = CUT_OFF) -> np.ndarray:
    """Velocity without lag, and NOT causal: central difference, low-passed forwards and backwards at `cut_off` Hz."""
    from scipy.signal import butter, sosfiltfilt

    d = _checked(d, dt, cut_off)
    low_pass = butter(2, cut_off, fs=1.0 / dt, output="sos")
    return np.asarray(sosfiltfilt(low_pass, np.gradient(d, dt)))


def _checked(d: Any, dt: float, cut_off: float) -> np.ndarray:
    d = np.asarray(d, dtype=float)
    if d.ndim != 1 or len(d) < 16:
        raise BadShape(f"a velocity needs one deformation history of at least 16 samples, got shape {d.shape}.")
    if not np.isfinite(d).all():
        raise BadInput(f"the deformation is not a number at sample {int(np.argmin(np.isfinite(d)))}.")
    if not 0.0 < cut_off < 0.5 / dt:
        raise OutOfBounds(f"cut_off = {cut_off:g} Hz must lie between 0 and half the sampling rate, {0.5 / dt:g} Hz.")
    return d


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
    about: dict[str, Any] = {}
    if found := _NAME.search(path.stem):
        about = {
            "frequency": float(found["hertz"]),
            "tension": float(found["tension"]) * POUND,
            "amplitude": float(found["inches"]) * INCH,
        }
    elif found := _EVENT.search(path.stem):
        about = {"event": found["event"], "level": found["level"]}
    return DamperTest(path.stem, dt, **columns, **about)


def published_tests(folder: str | Path, pattern: str = "*") -> dict[str, DamperTest]:
    """Every published JSON file below a folder whose name matches, by its path without suffix."""
    folder = Path(folder)
    found = {str(path.relative_to(folder).with_suffix("")): path for path in sorted(folder.rglob("*.json"))}
    names = [name for name in found if fnmatch(Path(name).name, pattern)]
    if not names:
        raise BadInput(f"{folder}: no JSON file matches {pattern!r}. Name the folder of the published tests.")
    return {name: published_test(found[name]) for name in names}


def packaged_tests(folder: str | Path, pattern: str = "*") -> dict[str, DamperTest]:
    """Tests of a repackaged folder (``index.json`` and ``.npz`` files), by id; ``*`` stands for any letters."""
    folder = Path(folder)
    try:
        index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"{folder}: there is no readable index.json of damper tests ({error}).") from error
    names = [name for name in index if fnmatch(name, pattern)]
    if not names:
        raise UnknownName("test", pattern, index, where="brfd")
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
