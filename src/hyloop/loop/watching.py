"""From what shall be watched to the sums that a step computes, with the forces of devices that stand on the ground."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hyloop.core.watch import Watch
from hyloop.errors import BadInput, OutOfBounds, UnknownName
from hyloop.loop.site import Site
from hyloop.structure import Structure, Watched

__all__ = ["prepared", "watch_rows"]

TRANSLATIONS, ROTATIONS = ("ux", "uy", "uz"), ("rx", "ry", "rz")
BALANCED = 1e-9  # of the largest entry of a direction: forces that add up to less stay within the structure


def prepared(watch: Sequence[Watched], structure: Structure, sites: Sequence[Site]) -> tuple[Watched, ...]:
    """What is watched, checked; with reactions also those of devices on the ground, which enter base shears as well.

    A site knows the directions in which it pushes the structure and not where its other end stands. What its forces
    do not balance among themselves, the ground does: that is the reaction at the foot of the device.
    """
    if not isinstance(watch, (list, tuple)) or not all(isinstance(one, Watched) for one in watch):
        raise BadInput("watch must be a list of Watched(...), as Model.watch(structure, ...) makes them.")
    size = sum(len(group.initial) for group in structure.elements)
    for one in watch:
        _check(one, structure.n, size, sites)
    for made_for in {id(one.made_for): one.made_for for one in watch if one.made_for is not None}.values():
        _same(made_for, structure)
    if not any(one.reaction or one.shear for one in watch):
        return tuple(watch)
    feet = {site.name: _foot(site, structure) for site in sites}
    found = []
    for one in watch:
        shares = {name: -foot[one.shear] for name, foot in feet.items() if one.shear in foot}
        found.append(replace(one, sites={**one.sites, **shares}) if shares else one)
    for name, foot in feet.items():
        for dof, factor in foot.items():
            unit = "N m" if dof in ROTATIONS else "N"
            found.append(Watched(f"reaction.{name}.{dof}", unit, sites={name: factor}, reaction=True))
    return tuple(found)


def _foot(site: Site, structure: Structure) -> dict[str, float]:
    """Force of the ground on the foot of a device under a unit force, by direction; empty where it has none.

    Moments only of a device that turns: those of one that pushes are up to where it stands.
    """
    scale = np.abs(site.along).max(initial=0.0)
    sums = dict.fromkeys((*TRANSLATIONS, *ROTATIONS), 0.0)
    moved = [(name.rpartition(".")[2], value) for name, value in zip(structure.names, site.along, strict=True) if value]
    for dof, value in moved:
        if dof in sums:
            sums[dof] -= float(value)
    turns = all(dof in ROTATIONS for dof, _ in moved)
    chosen = ROTATIONS if turns else TRANSLATIONS
    return {dof: sums[dof] for dof in chosen if abs(sums[dof]) > BALANCED * scale}


def _check(one: Watched, n: int, size: int, sites: Sequence[Site]) -> None:
    for what, places, count in (("degree of freedom", one.dofs, n), ("place of a state", one.places, size)):
        if len(places) and not (places.min() >= 0 and places.max() < count):
            worst = places[np.argmax((places < 0) | (places >= count))]
            raise OutOfBounds(f"watched '{one.name}': {what} {worst}; the structure has {count}, counted from 0.")
    for name in one.sites:
        if name not in [site.name for site in sites]:
            raise UnknownName("site", name, [site.name for site in sites], f"watched '{one.name}'")


def _same(made_for: Structure, structure: Structure) -> None:
    """Refuse rows that were made for a structure with other members."""
    groups = list(zip(made_for.elements, structure.elements, strict=False))
    same = made_for.names == structure.names and len(groups) == len(made_for.elements)
    same = same and all(
        np.array_equal(a.parameters, b.parameters) and np.array_equal(a.integers, b.integers) for a, b in groups
    )
    if not same or abs(made_for.K - structure.K).max() > 0.0:
        raise BadInput(
            "watch: made for another structure than that of this loop; call model.watch(structure, ...) with this one."
        )


def watch_rows(watched: Sequence[Watched], sites: Sequence[Site], feedback: Sequence[int], first: int) -> Watch:
    """The sums as flat arrays; `feedback` are places on the bus of the forces of all sites, `first` of the results."""
    position = {site.name: k for k, site in enumerate(sites)}
    forces = [[(position[name], factor) for name, factor in one.sites.items()] for one in watched]
    return Watch(
        first=first,
        constant=np.array([one.constant for one in watched], dtype=float),
        u_start=_starts([one.dofs for one in watched]),
        u_dof=_flat([one.dofs for one in watched], np.int64),
        u_factor=_flat([one.factors for one in watched], float),
        x_start=_starts([one.places for one in watched]),
        x_place=_flat([one.places for one in watched], np.int64),
        x_factor=_flat([one.weights for one in watched], float),
        f_start=_starts(forces),
        f_bus=_flat([[feedback[s] for s, _ in terms] for terms in forces], np.int64),
        f_factor=_flat([[factor * sites[s].count for s, factor in terms] for terms in forces], float),
    )


def _starts(lists: Sequence[Any]) -> np.ndarray:
    return np.cumsum([0] + [len(item) for item in lists]).astype(np.int64)


def _flat(lists: Sequence[Any], dtype: Any) -> np.ndarray:
    return np.concatenate([np.empty(0, dtype), *(np.asarray(item, dtype) for item in lists)])
