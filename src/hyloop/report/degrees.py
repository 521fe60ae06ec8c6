"""Degrees of freedom of a recording: in the order a person looks for them, and the one whose history tells most."""

import re
from collections.abc import Container, Mapping, Sequence

import numpy as np

from hyloop.record import Recording

__all__ = ["degrees_of_freedom", "telling_degree"]

_DIRECTION = re.compile(r"u\.(?P<node>.+)\.(?P<direction>[ur][xyz])")


def degrees_of_freedom(recordings: Mapping[str, Recording], unit: str) -> list[str]:
    """Channels of displacements ("m") or rotations ("rad") of the structure.

    Those of nodes are in order of direction, that of the floors first, and of node: 2 before 11. Others are in the
    order of the recording.
    """
    names = [
        name
        for recording in recordings.values()
        for name, its in zip(recording.names, recording.units, strict=True)
        if name.startswith("u.") and its == unit
    ]
    found = list(dict.fromkeys(names))
    parts = {name: _DIRECTION.fullmatch(name) for name in found}
    if not all(parts.values()):
        return found
    first = {_direction(f"u.{floor}") for floor in _floors(recordings)}

    def place(name: str) -> tuple:
        direction, node = _direction(name), name[len("u.") : -len(".ux")]
        pieces = re.split(r"(\d+)", node)  # words and numbers take turns, the first is a word
        return direction not in first, direction, [int(p) if p.isdigit() else p for p in pieces]

    return sorted(found, key=place)


def telling_degree(recordings: Mapping[str, Recording], among: Container[str] | None = None) -> str | None:
    """The displacement to draw over time: the top floor, else the one that moves most along the ground, else most."""
    names = [name for name in degrees_of_freedom(recordings, "m") if among is None or name in among]
    floors = _floors(recordings)
    if not names:
        return None
    if floors and f"u.{floors[-1]}" in names:
        return f"u.{floors[-1]}"
    along = {_direction(f"u.{floor}") for floor in floors}
    return max(
        [name for name in names if _direction(name) in along] or names, key=lambda name: _motion(recordings, name)
    )


def _direction(name: str) -> str:
    found = _DIRECTION.fullmatch(name)
    return found["direction"] if found else ""


def _floors(recordings: Mapping[str, Recording]) -> Sequence[str]:
    """Names of the floors' degrees of freedom from the bottom up, where a recording knows its building."""
    known = ((recording.attributes.get("building") or {}).get("floors") for recording in recordings.values())
    return next((floors for floors in known if floors), [])


def _motion(recordings: Mapping[str, Recording], name: str) -> float:
    """From the least to the greatest value, so that what gravity does before the run does not count."""
    signals = [r[name][np.isfinite(r[name])] for r in recordings.values() if name in r.names]
    return max((float(np.ptp(signal)) for signal in signals if len(signal)), default=0.0)
