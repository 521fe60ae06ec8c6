"""What is measured of a run: a statistic of the channels that match a pattern."""

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

import numpy as np

from hyloop.errors import BadInput, UnknownName
from hyloop.metrics import nrmse
from hyloop.record import Recording
from hyloop.study.build import Built

__all__ = ["MEASURES", "Measure", "default_measures", "measured_channels", "parse_measure", "units_of", "values_of"]

MEASURES: dict[str, Callable[[np.ndarray], float]] = {
    "peak": lambda x: float(np.abs(x).max()),
    "end": lambda x: float(np.abs(x[-1]).max()),
    "max": lambda x: float(x.max()),
    "min": lambda x: float(x.min()),
    "rms": lambda x: float(np.sqrt(np.mean(np.square(x), axis=0)).max()),
    "last": lambda x: float(x[-1].max()),
}
"""Statistics, each the largest (min: the smallest) of all channels; peak and end are of absolute values."""

PAIRED: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {"error": lambda x, y: nrmse(y, x)}
"""Statistics of two channels: error is the root mean square of their difference over the range of the second."""

# those that a run has, in this order, where nothing is asked for
_USUAL = {
    "drift": "peak drift.*",
    "drift_ratio": "peak drift_ratio.*",
    "residual_drift": "end drift.*",
    "acceleration": "peak a_abs.*",
    "base_shear": "peak base_shear*",
    "device_d": "peak SITE.d",
    "device_f": "peak SITE.f",
    "energy": "last energy.input",
    "energy_devices": "last energy.devices",
}


class Measure(NamedTuple):
    """A number of a run, such as ``drift``, the ``peak`` of ``drift.*``."""

    name: str
    statistic: str
    channels: tuple[str, ...]  # patterns

    @property
    def text(self) -> str:
        """As it stands in a file."""
        return f"{self.statistic} {' '.join(self.channels)}"


def parse_measure(name: str, text: str) -> Measure:
    """``"peak drift.*"``: a statistic and patterns of channels."""
    words = text.split()
    if len(words) < 2:
        raise BadInput(f"measure {name}: got '{text}'; wanted a statistic and channels, such as 'peak drift.*'.")
    if words[0] not in MEASURES | PAIRED:
        raise UnknownName("statistic", words[0], MEASURES | PAIRED, where=f"measure {name}")
    if words[0] in PAIRED and len(words) != 3:
        raise BadInput(f"measure {name}: got '{text}'; wanted two channels, such as 'error damper1.f damper1.f_m'.")
    return Measure(name, words[0], tuple(words[1:]))


def default_measures(built: Built) -> tuple[Measure, ...]:
    """What is usually asked of a run, as far as this one has it."""
    sites, names, found = [site.name for site in built.loop.sites], [*_own(built), *_derived(built)], []
    for name, text in _USUAL.items():
        if "SITE" in text:
            text = "peak " + " ".join(text.removeprefix("peak ").replace("SITE", site) for site in sites)
        if len(text.split()) > 1 and any(_matching(names, pattern) for pattern in text.split()[1:]):
            found.append(parse_measure(name, text))
    return tuple(found)


def measured_channels(built: Built, measures: Sequence[Measure]) -> tuple[list[str], bool]:
    """Channels of the loop that the measures need, and whether derived ones are needed as well."""
    own, also, derived = _own(built), _derived(built), False
    wanted: list[str] = []
    for measure in measures:
        for pattern in measure.channels:
            here, there = _matching(own, pattern), _matching(also, pattern)
            if not here and not there:
                raise UnknownName("channel", pattern, [*own, *also], where=f"measure {measure.name}")
            if measure.statistic in PAIRED and len(here) + len(there) > 1:
                raise BadInput(f"measure {measure.name}: {pattern} is several channels; {measure.statistic} takes one.")
            wanted += here
            derived = derived or bool(there)
    return list(dict.fromkeys(wanted)), derived


def values_of(recording: Recording, measures: Sequence[Measure]) -> dict[str, float]:
    """The measures of a recording, by name."""
    found = {}
    for name, statistic, patterns in measures:
        if statistic in PAIRED:
            x, y = (recording.data[:, _column(recording.names, pattern)] for pattern in patterns)
            found[name] = PAIRED[statistic](x, y)
            continue
        columns = [k for k, channel in enumerate(recording.names) if any(fnmatchcase(channel, p) for p in patterns)]
        found[name] = MEASURES[statistic](recording.data[:, columns])
    return found


def units_of(built: Built, measures: Sequence[Measure]) -> dict[str, str]:
    """Units of the measures: that of the first channel that matches; of a ratio none."""
    derived = built.loop.derived()
    units = built.loop.channels | dict(zip(derived.names, derived.units, strict=True))
    return {
        m.name: "-"
        if m.statistic in PAIRED
        else next(u for name, u in units.items() if any(fnmatchcase(name, p) for p in m.channels))
        for m in measures
    }


def _own(built: Built) -> list[str]:
    return list(built.loop.channels)


def _derived(built: Built) -> tuple[str, ...]:
    return built.loop.derived().names


def _matching(names: Sequence[str], pattern: str) -> list[str]:
    return [name for name in names if fnmatchcase(name, pattern)]


def _column(names: Sequence[str], pattern: str) -> int:
    return next(k for k, name in enumerate(names) if fnmatchcase(name, pattern))
