"""What a loop is made of, so that a snapshot goes back only into one like that from which it was taken."""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from hyloop.loop.loop import Loop
    from hyloop.loop.snapshot import Snapshot

__all__ = ["identity", "unlike"]

SAME = 1e-9  # relative: sums of matrices that another machine may have rounded otherwise
QUANTITIES = (
    "step dt",
    "number of substeps",
    "mass",
    "stiffness",
    "damping",
    "load of the excitation",
    "dead load",
    "place or number of devices",
    "linearised stiffness or damping of devices",
)


def identity(loop: "Loop") -> tuple[tuple[str, ...], tuple[str, ...], np.ndarray]:
    """Names of the channels, method and laws, and numbers as in `QUANTITIES`."""
    s, wiring = loop.structure, loop._wiring
    devices = sum(float(site.count * _weighted(site.along)) for site in loop.sites)
    linear = sum(float(site.count * (site.stiffness + site.damping) * _weighted(site.along)) for site in loop.sites)
    uneven = np.sqrt(np.arange(1.0, s.n + 1.0))
    sums = [_weighted(matrix @ uneven) for matrix in (s.M, s.initial_stiffness, s.C)]
    loads = _weighted(s.excitation.sum(axis=1)), _weighted(s.dead_load), devices, linear
    laws = (instance.block.name for instance in wiring.instances)
    return tuple(wiring.layout.names), (loop.method.name, *laws), np.array([loop.dt, loop.substeps, *sums, *loads])


def unlike(loop: "Loop", snapshot: "Snapshot") -> str:
    """What is different in the loop of a snapshot, in words; empty if nothing is."""
    names, texts, numbers = loop._identity
    if snapshot.names != names:
        return "other channels"
    if snapshot.texts[:1] != texts[:1]:
        return f"the method {snapshot.texts[0]} instead of {texts[0]}"
    if snapshot.texts != texts:
        return "other laws of its devices or blocks"
    if len(snapshot.numbers) != len(numbers):
        return "what another version of hyloop notes of it"
    for quantity, then, now in zip(QUANTITIES, snapshot.numbers, numbers, strict=True):
        if abs(then - now) > SAME * max(abs(then), abs(now)):
            return f"another {quantity} ({then:.9g} instead of {now:.9g})"
    return ""


def _weighted(vector: Any) -> float:
    """A sum in which every place counts differently, so that exchanged entries show."""
    return float(np.abs(vector) @ np.sqrt(np.arange(1, len(vector) + 1)))
