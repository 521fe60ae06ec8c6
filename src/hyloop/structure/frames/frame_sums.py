"""Sums over displacements and states of members that give the forces and deformations of a frame."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from hyloop.errors import BadInput
from hyloop.structure.elements import spring_force
from hyloop.structure.fibres.beams import FibreBeams, basic_places
from hyloop.structure.fibres.braces import Trusses, axial_places
from hyloop.structure.frames.assembly import Whole, spring_groups, whole
from hyloop.structure.frames.members import Brace, Fibre, Member
from hyloop.structure.structure import Structure
from hyloop.structure.watched import Watched

if TYPE_CHECKING:
    from hyloop.structure.frames.model import Model

__all__ = ["FrameSums", "Sums"]


class Sums(NamedTuple):
    """Several sums: rows over the displacements of the structure, rows over the states, constants."""

    u: Any
    x: Any
    c: np.ndarray

    def times(self, P: Any) -> "Sums":
        """Combinations of them."""
        P = csr_array(P)
        return Sums(csr_array(P @ self.u), csr_array(P @ self.x), P @ self.c)

    def plus(self, other: "Sums") -> "Sums":
        return Sums(csr_array(self.u + other.u), csr_array(self.x + other.x), self.c + other.c)


class FrameSums:
    """A model and a structure of it, with where every member keeps its forces."""

    def __init__(self, model: "Model", made: Structure) -> None:
        self.model, self.made = model, made
        self.whole: Whole = whole(model, made)
        self.size = sum(len(group.initial) for group in made.elements)
        self.start = {node: len(model.dofs) * k for k, node in enumerate(model.nodes)}
        self.forces: dict[str, tuple[np.ndarray, float]] = {}  # of nonlinear members: places of q, and a factor
        self.strains: dict[str, tuple[np.ndarray, float]] = {}  # of those that keep their deformations, too
        self.beams: dict[str, tuple[FibreBeams, int, int]] = {}  # group, where its state begins, number in it
        self._find()

    def _find(self) -> None:
        members = list(self.model.members.values())
        fibres = [m for m in members if isinstance(m, Fibre)]
        braces = [m for m in members if isinstance(m, Brace)]
        expected = [[m.name for m in kind] for kind in (fibres, braces, *spring_groups(self.model)) if kind]
        starts = np.cumsum([0, *(len(group.initial) for group in self.made.elements)])
        if len(expected) > len(self.made.elements):
            raise BadInput("watch: the structure lacks nonlinear members of this model; make it by model.structure().")
        for names, group, at in zip(expected, self.made.elements, starts, strict=False):
            count = len(group.members) if isinstance(group, FibreBeams) else int(group.integers[0])
            if count != len(names):
                raise BadInput(
                    f"watch: group '{group.name}' of the structure has {count} members, the model {len(names)}."
                )
            for k, name in enumerate(names):
                if isinstance(group, FibreBeams):
                    e, q = basic_places(group, k)
                    self.beams[name] = group, int(at), k
                    self.strains[name], self.forces[name] = (at + e, 1.0), (at + q, 1.0)
                elif isinstance(group, Trusses):
                    strain, force_length = (at + places[k : k + 1] for places in axial_places(group))
                    self.strains[name] = strain, float(group.lengths[k])
                    self.forces[name] = force_length, 1.0 / float(group.lengths[k])
                else:
                    self.forces[name] = np.array([at + spring_force(group, k)]), 1.0

    def places(self, member: Member) -> np.ndarray:
        """Displacements of both nodes of a member, among all."""
        one = np.arange(len(self.model.dofs))
        return np.concatenate([self.start[member.i] + one, self.start[member.j] + one])

    def basic_forces(self, member: Member) -> Sums:
        """q of a member, as its law gives it or as its stiffness makes it of the displacements."""
        if member.name in self.forces:
            return self._state(*self.forces[member.name])
        assert member.stiffness is not None
        k = member.stiffness if member.geometric is None else member.stiffness + member.geometric
        return self._linear(k @ member.rows, member)

    def deformations(self, member: Member) -> Sums:
        if member.name in self.strains:
            return self._state(*self.strains[member.name])
        return self._linear(member.rows, member)

    def _state(self, places: np.ndarray, factor: float) -> Sums:
        """Numbers of the state times a factor."""
        count = len(places)
        x = csr_array((np.full(count, factor), (np.arange(count), places)), shape=(count, self.size))
        return Sums(csr_array((count, self.made.n)), x, np.zeros(count))

    def _linear(self, rows: np.ndarray, member: Member) -> Sums:
        """Rows over the displacements of two nodes."""
        places = self.places(member)
        u = csr_array(csr_array(rows) @ self.whole.T[places])
        return Sums(u, csr_array((len(rows), self.size)), rows @ self.whole.c[places])

    def channel(self, name: str, unit: str, sums: Sums, k: int = 0, **kind: Any) -> Watched:
        """Sum k as a channel."""
        (dofs, factors), (places, weights) = _terms(sums.u, k), _terms(sums.x, k)
        return Watched(name, unit, dofs, factors, places, weights, float(sums.c[k]), made_for=self.made, **kind)


def _terms(matrix: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Columns and values of a row that are not zero."""
    here = slice(matrix.indptr[k], matrix.indptr[k + 1])
    real = matrix.data[here] != 0.0
    return matrix.indices[here][real], matrix.data[here][real]
