"""Moment and curvature along a run, from the displacements that were recorded."""

from typing import Any

import numpy as np

from hyloop.errors import BadInput, BadShape, UnknownName
from hyloop.structure.fibres.beams import FibreBeams, SectionResponse, section_response
from hyloop.structure.frames.gravity import resisting_force
from hyloop.structure.structure import Structure

__all__ = ["SectionFollower", "section_history"]


def section_history(structure: Structure, u: Any, member: str, point: int) -> SectionResponse:
    """Deformations and forces of a section, for every row of a history of displacements.

    The members are taken through the displacements again, from the state in which a run begins. They depend on
    nothing else, so that with every step of a run recorded the numbers are those of the run.

    Parameters
    ----------
    u : array_like, (steps, n)
        Displacements at every step, all degrees of freedom in the order of ``structure.names``.
    member : str
        Name of a force-based beam-column.
    point : int
        Integration point; 0 is at end i, -1 at end j.

    Returns
    -------
    SectionResponse
        Deformations (steps, 2): strain at the axis and curvature in 1/m; forces (steps, 2): N in N and M in N m. In
        space three columns each.
    """
    return SectionFollower(structure, member, point).follow(u)


class SectionFollower:
    """The members of a group taken through displacements again, piece by piece; see `section_history`."""

    def __init__(self, structure: Structure, member: str, point: int) -> None:
        groups = [group for group in structure.elements if isinstance(group, FibreBeams)]
        if not groups:
            raise BadInput("section_history: the structure has no force-based beam-columns.")
        places = {beam.name: (group, m) for group in groups for m, beam in enumerate(group.members)}
        if member not in places:
            raise UnknownName("member", member, places, "section_history")
        self._group, self._index = places[member]
        self._point, self._x = point, self._group.initial.copy()
        self._alone = Structure(M=structure.M, K=0.0 * structure.K, elements=[self._group], names=structure.names)

    def follow(self, u: Any) -> SectionResponse:
        """Deformations and forces for the next rows of displacements."""
        history = np.ascontiguousarray(u, dtype=float)
        if history.ndim != 2 or history.shape[1] != self._alone.n:
            raise BadShape(f"section_history: u must be (steps, {self._alone.n}), got {history.shape}.")
        rows = []
        for row in history:
            resisting_force(self._alone, row, [self._x])
            rows.append(section_response(self._group, self._x, self._index, self._point))
        return SectionResponse(np.array([r.deformation for r in rows]), np.array([r.force for r in rows]))
