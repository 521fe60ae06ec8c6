"""Sources of tests by name: ``brfd:PATTERN``, ``mr_damper:PATTERN``, ``boucwen:PATTERN``.

Whoever wants tests to identify or train on asks `source_tests` and need not know whose they are. A new data set is one
more reader and one more entry in `SOURCES`.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hyloop.data import banded_damper, bouc_wen, mr_damper
from hyloop.data.velocity import causal_velocity
from hyloop.errors import UnknownName

__all__ = ["SOURCES", "Columns", "Source", "source_tests"]


class Columns(NamedTuple):
    """Everything one test has recorded."""

    dt: float
    signals: dict[str, tuple[np.ndarray, str]]
    """Values and unit of every column; the unit is empty where it is not known."""
    event: str
    """What caused the test: the earthquake or motion where it is known, else the name of the test."""
    not_causal: Mapping[str, str] = {}
    """Columns that no running test could have, and why."""


@dataclass(frozen=True)
class Source:
    """A data set as a source of tests.

    Attributes
    ----------
    name : str
        What stands before the colon.
    about : str
        Its columns, in a line.
    tests : callable
        From a pattern, in which ``*`` stands for any letters, to tests by name.
    here : callable
        The folder it lies in, or None.
    """

    name: str
    about: str
    tests: Callable[[str], dict[str, Columns]]
    here: Callable[[], Path | None]


_ZERO_PHASE = (
    "The velocity of the brfd tests is the provider's, filtered without delay, which no filter in a running test can "
    "do. What is reached with it is not what would be reached in the loop; v_causal is."
)


def _banded(pattern: str) -> dict[str, Columns]:
    found = {}
    for name, test in banded_damper.tests(pattern).items():
        signals = {"d": (test.d, "m"), "v": (test.v, "m/s"), "f": (test.f, "N")}
        signals["v_causal"] = (causal_velocity(test.d, test.dt), "m/s")
        signals |= {key: (force, "N") for key, force in (("t1", test.t1), ("t2", test.t2)) if force is not None}
        found[name] = Columns(test.dt, signals, test.event or name, {"v": _ZERO_PHASE})
    return found


def _mr(pattern: str) -> dict[str, Columns]:
    found = {}
    for name, test in mr_damper.tests(pattern).items():
        signals = {"d": (test.d, "m"), "f": (test.f, "N"), "i": (np.full(len(test.d), test.current), "A")}
        signals["v_causal"] = (causal_velocity(test.d, test.dt), "m/s")
        if test.v is not None:
            signals["v"] = (test.v, "m/s")
        found[name] = Columns(test.dt, signals, test.motion)
    return found


def _benchmark(pattern: str) -> dict[str, Columns]:
    return {
        name: Columns(record.dt, {"u": (record.u, "N"), "y": (record.y, "m")}, name)
        for name, record in bouc_wen.tests(pattern).items()
    }


SOURCES: dict[str, Source] = {
    source.name: source
    for source in (
        Source("brfd", "d, v (not causal), v_causal, f, and t1, t2 where known", _banded, banded_damper.here),
        Source("mr_damper", "d, v (sines), v_causal, f, current i", _mr, mr_damper.here),
        Source("boucwen", "force u, displacement y", _benchmark, bouc_wen.here),
    )
}
_PREFIX = re.compile(r"(?P<name>[A-Za-z]\w+):(?P<pattern>.*)")  # two letters or more: C:\file is a path


def source_tests(text: str) -> dict[str, Columns] | None:
    """Tests of a source such as ``brfd:d2_h36lb_*``, by name; None for anything else, such as the path of a file.

    Raises
    ------
    BadInput
        If the data set is not here, has no test of that name, or is not known.
    """
    found = _PREFIX.fullmatch(text)
    if found is None or (found["name"] not in SOURCES and Path(text).exists()):
        return None
    if found["name"] not in SOURCES:
        raise UnknownName("data set", found["name"], SOURCES, where=text)
    return SOURCES[found["name"]].tests(found["pattern"])
