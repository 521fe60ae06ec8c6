r"""What a moving picture of a frame in space needs: few displacements, and how far every brace has yielded.

All displacements of a frame follow from its unknowns, u_all = T u. Of a node on a rigid floor the picture needs the
vertical one alone; across, the floor's master says where it is:

.. math:: u_x = U_x + \theta\,(z - Z), \qquad u_z = U_z - \theta\,(x - X)

The ductility of a brace is its largest elongation so far over that at yield, :math:`\mu = \max|e| / (f_y L/E)`, with
L the length that is strained.
"""

from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial import ConvexHull, QhullError

from hyloop.errors import BadInput
from hyloop.structure.frames.assembly import deformations, whole
from hyloop.structure.frames.constraints import SAME_HEIGHT
from hyloop.structure.frames.members import Brace, LeanOn, Link
from hyloop.structure.frames.model import Model
from hyloop.structure.structure import Structure

__all__ = ["FramePicture"]

_UPRIGHT = 1e-3  # of the length of a member: what leans by less is a column
_DIGITS = 4  # of coordinates in m


class FramePicture:
    """Geometry of a frame in space, the channels of its picture, and the matrices that give them.

    Attributes
    ----------
    about : dict
        ``nodes`` (names), ``places`` (x, y, z in m), ``floors`` (master and nodes of each rigid floor, by place in the
        list of nodes), ``lines`` (i, j and what it is: "column", "beam" or "floor", the outline of a floor) and
        ``braces`` (name, i, j) of those that can yield.
    names, units : tuple of str
        Displacements, then a ductility for each brace.
    reached : ndarray
        Ductilities until now.
    """

    def __init__(self, model: Model, structure: Structure) -> None:
        if model.dimensions != 3:
            raise BadInput("a picture is recorded of frames in space; one in the plane is drawn from its recording.")
        self._place = {name: k for k, name in enumerate(model.nodes)}
        self._model = model
        T = whole(model, structure).T
        wanted = self._wanted()
        rows = [len(model.dofs) * self._place[node] + model.dofs.index(dof) for node, dof in wanted]
        motion = csr_array(T[rows])
        moving = np.flatnonzero(np.diff(motion.indptr))  # what is held needs no channel
        self._motion = csr_array(motion[moving])
        braces = [m for m in model.members.values() if isinstance(m, Brace) and hasattr(m.material, "fy")]
        self._at_yield = np.array([b.material.fy / b.material.E * b.length for b in braces])
        self._elongation = deformations(model, braces, T)
        units = ["rad" if wanted[k][1] == "ry" else "m" for k in moving]
        self.names = (*(f"u.{'.'.join(wanted[k])}" for k in moving), *(f"{b.name}.ductility" for b in braces))
        self.units = (*units, *("-" for _ in braces))
        self._rest, self.reached = structure.at_rest, np.zeros(len(braces))
        self.about = self._geometry(braces)

    def rows(self, u: np.ndarray) -> np.ndarray:
        """Values of the channels for rows of displacements that follow those of the last call; (rows, channels).

        Displacements count from the state at rest; ductilities are the largest until then, over all rows seen.
        """
        moved = (self._motion @ (u - self._rest).T).T
        if not len(self._at_yield):
            return moved
        reached = np.abs((self._elongation @ u.T).T) / self._at_yield
        reached = np.maximum.accumulate(np.vstack([self.reached, reached]), axis=0)
        self.reached = reached[-1]
        return np.hstack([moved, reached[1:]])

    def _wanted(self) -> list[tuple[str, str]]:
        """Degrees of freedom that say where all nodes are."""
        on_floor = {node for floor in self._model.floors.values() for node in floor.nodes}
        found = []
        for node in self._model.nodes:
            if node in self._model.floors:
                dofs = ("ux", "uz", "ry")
            else:
                dofs = ("uy",) if node in on_floor else ("ux", "uy", "uz")
            found += [(node, dof) for dof in dofs]
        return found

    def _geometry(self, braces: list[Brace]) -> dict[str, Any]:
        model, place = self._model, self._place
        floors = [
            {"master": place[f.name], "nodes": [place[node] for node in f.nodes], "outline": self._outline(f.nodes)}
            for f in model.floors.values()
        ]
        lines: list[list[Any]] = []
        drawn = {b.name for b in braces}
        for m in model.members.values():
            if isinstance(m, (LeanOn, Link)) or m.name in drawn:
                continue
            along = np.abs(model.nodes[m.j] - model.nodes[m.i])
            if along.any():
                upright = max(along[0], along[2]) <= _UPRIGHT * along[1]
                lines.append([place[m.i], place[m.j], "column" if upright else "beam"])
        foot = min(float(at[1]) for at in model.nodes.values())
        base = self._outline(tuple(node for node, at in model.nodes.items() if at[1] - foot <= SAME_HEIGHT))
        for outline in (base, *(floor["outline"] for floor in floors)):
            lines += [[i, j, "floor"] for i, j in zip(outline, outline[1:] + outline[:1], strict=True)]
        return {
            "nodes": list(model.nodes),
            "places": [[round(float(x), _DIGITS) for x in at] for at in model.nodes.values()],
            "floors": floors,
            "lines": lines,
            "braces": [[b.name, place[b.i], place[b.j]] for b in braces],
        }

    def _outline(self, nodes: tuple[str, ...]) -> list[int]:
        """Nodes at the corners of a floor, in order; none of a floor that is no area."""
        plan = np.array([self._model.nodes[node][[0, 2]] for node in nodes])
        try:
            corners = ConvexHull(plan).vertices if len(plan) > 2 else ()
        except QhullError:
            return []
        return [self._place[nodes[k]] for k in corners]
