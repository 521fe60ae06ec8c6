"""All signals in groups from which a person chooses, and those that tell most at first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hyloop.live.signals import Signals
from hyloop.report.display import readable

__all__ = ["Group", "groups_of", "telling"]

_KINDS = {
    "u": "displacement",
    "v": "velocity",
    "a": "acceleration relative to the ground",
    "a_abs": "acceleration",
    "drift": "story drift",
    "drift_ratio": "story drift ratio",
    "ground": "ground",
    "base_shear": "base shear",
    "energy": "energy",
    "load": "loads",
    "t": "time",
}
_DEVICES = {
    "f": "force of devices",
    "d": "deformation of devices",
    "v": "velocity of devices",
    "a": "acceleration of devices",
}
_MOST = 6  # of a kind that are drawn at first


@dataclass(frozen=True)
class Group:
    """Signals of one owner and one unit; a value is shown as `factor` times what it is in SI units."""

    title: str
    unit: str
    factor: float
    signals: list[int]


def groups_of(signals: Signals, about: Mapping[str, Any], sites: Sequence[str]) -> list[Group]:
    """Every signal in one group; those of all devices together, parameters in groups of their own after the others."""
    parameters = set(about.get("parameters", ()))
    devices = {f"{site}.{key}": title for site in sites for key, title in _DEVICES.items()}
    found: dict[tuple[bool, str, str], list[int]] = {}
    for number, name in enumerate(signals.names):
        owner = name.split(".")[0].split(",")[0]
        title = devices.get(name) or _KINDS.get(owner, owner)
        fixed = name in parameters
        found.setdefault((fixed, f"{title}, parameters" if fixed else title, signals.units[number]), []).append(number)
    groups = []
    for (_, title, unit), numbers in sorted(found.items(), key=lambda item: item[0][0]):
        factor, shown = readable(unit)
        groups.append(Group(title, shown, factor, numbers))
    return groups


def telling(signals: Signals, about: Mapping[str, Any], sites: Sequence[str]) -> list[int]:
    """Motion of the floors from the top down, the ground, and the forces of devices."""
    floors = [f"u.{name}" for name in reversed((about.get("building") or {}).get("floors") or [])]
    names = [name for name in floors if name in signals][:_MOST]
    names = names or [name for name in signals.names if name.startswith("u.")][:_MOST]
    names += [name for name in signals.names if name == "ground" or name.startswith("ground.")][:_MOST]
    names += [name for site in sites if (name := f"{site}.f") in signals][:_MOST]
    names = names or list(signals.names[:_MOST])
    return [signals[name] for name in names]
