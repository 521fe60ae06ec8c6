"""What a reader of a recording must know of the building to draw it: floors, story heights, where devices are."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hyloop.loop.derived import floors_across
from hyloop.loop.site import Site
from hyloop.structure import Structure

__all__ = ["describe_building"]


def describe_building(structure: Structure, sites: Sequence[Site]) -> dict[str, Any]:
    """Names of the floors' degrees of freedom, story heights in m (empty if not known), and the story of every site.

    ``across`` has those of the same floors along z, in space.
    A site that acts on the drift of no single story has none. Devices: channels of their own deformation and force.
    """
    stories = [structure.story(k + 1) for k in range(len(structure.floors))]
    return {
        "floors": [structure.names[structure.dof(floor)] for floor in structure.floors],
        "across": [structure.names[k] for k in floors_across(structure)],
        "heights": list(structure.heights),
        "sites": {site.name: {"story": story} for site in sites if (story := _story(site.along, stories))},
        "devices": {site.name: site.own for site in sites},
    }


def _story(along: np.ndarray, stories: Sequence[np.ndarray]) -> int | None:
    for k, story in enumerate(stories):
        factor = along @ story / (story @ story)
        if factor and np.array_equal(along, factor * story):
            return k + 1
    return None
