"""`Model`: a frame described by nodes, members, floors and loads, from which a `Structure` is made."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hyloop.errors import BadInput, BadShape, OutOfBounds, UnknownName
from hyloop.structure.fibres.beams import ITERATIONS, BeamColumn, hinged
from hyloop.structure.fibres.integration import gauss_lobatto
from hyloop.structure.fibres.sections import ElasticSection, FibreSection
from hyloop.structure.frames import assembly
from hyloop.structure.frames import members as parts
from hyloop.structure.frames.constraints import DOFS, IN_PLAN, SAME_HEIGHT, Diaphragm, fixed_dofs
from hyloop.structure.frames.members import Member, axial_row, axis, beam_rows, relative_rows
from hyloop.structure.structure import Structure

__all__ = ["Model"]


class Model:
    """A plane or space frame. Units N, m, kg, s; y points up.

    Degrees of freedom of a node are ux, uy, rz in the plane and ux, uy, uz, rx, ry, rz in space; that of node A1 along
    x is called ``"A1.ux"``. Every name is checked when it is given.

    Parameters
    ----------
    dimensions : 2 or 3

    Examples
    --------
    >>> from hyloop.structure import ElasticSection, Model
    >>> model = Model()
    >>> model.node("foot", 0.0, 0.0)
    >>> model.node("top", 0.0, 3.0)
    >>> model.support("foot", "fixed")
    >>> model.elastic("column", "foot", "top", ElasticSection(E=2e11, A=1e-2, Iz=1e-4))
    >>> model.mass("top", ux=1000.0)
    >>> model.structure().modes().periods.round(4)
    array([0.1333])
    """

    def __init__(self, dimensions: int = 2) -> None:
        if dimensions not in DOFS:
            raise OutOfBounds(f"model: dimensions = {dimensions!r}; a model is plane (2) or in space (3).")
        self.dimensions = dimensions
        self.dofs = DOFS[dimensions]
        self.nodes: dict[str, np.ndarray] = {}
        self.members: dict[str, Member] = {}
        self.floors: dict[str, Diaphragm] = {}
        self.held: dict[str, None] = {}  # degrees of freedom held by supports, in the order given
        self.masses: dict[str, float] = {}
        self.loads: dict[str, float] = {}
        self.super_elements: list[parts.SuperElement] = []

    # nodes, supports, masses, loads

    def node(self, name: str, *coordinates: float) -> None:
        """A node at (x, y) or (x, y, z)."""
        if not isinstance(name, str) or not name or "." in name:
            raise BadInput(f"node {name!r}: a name is a text without a dot, such as 'A1'.")
        if name in self.nodes:
            raise BadInput(f"node '{name}' exists already, at {self.nodes[name].tolist()}.")
        x = np.array(coordinates, dtype=float)
        if x.shape != (self.dimensions,) or not np.isfinite(x).all():
            raise BadShape(f"node '{name}': {self.dimensions} finite coordinates are needed, got {list(coordinates)}.")
        self.nodes[name] = x

    def support(self, node: str, held: str | Sequence[str] = "fixed") -> None:
        """Hold a node: "fixed", "pinned" or a list of degrees of freedom."""
        self._node(node, "support")
        for dof in fixed_dofs(node, held, self.dimensions):
            self.held[f"{node}.{dof}"] = None

    def mass(self, node: str, **values: float) -> None:
        """Lumped mass in kg (rotations: kg m²) for each degree of freedom: ``mass("A1", ux=2e4, uy=2e4)``."""
        for dof, value in self._dofs(node, values, "mass"):
            if value < 0.0:
                raise OutOfBounds(f"mass of node '{node}': {dof} = {value:g} must not be negative.")
            self.masses[f"{node}.{dof}"] = self.masses.get(f"{node}.{dof}", 0.0) + value

    def load(self, node: str, **values: float) -> None:
        """Dead load in N (rotations: N m): ``load("A1", uy=-1e5)``. Loads on one node add up."""
        for dof, value in self._dofs(node, values, "load"):
            self.loads[f"{node}.{dof}"] = self.loads.get(f"{node}.{dof}", 0.0) + value

    def diaphragm(
        self,
        name: str,
        nodes: Sequence[str],
        master: Sequence[float] | None = None,
        mass: float = 0.0,
        rotary: float = 0.0,
    ) -> None:
        """A floor rigid in its plane, with its mass at the master.

        Parameters
        ----------
        name : str
            Of the floor and its master node; the master has ux, uz and ry (in the plane: ux).
        master : coordinates, optional
            Where the master stands, for instance at an eccentric centre of mass. Default: the mean of the nodes.
        mass, rotary : float
            Horizontal mass in kg and moment of inertia about the vertical axis in kg m².
        """
        for node in nodes:
            self._node(node, f"diaphragm '{name}'")
            if node in self.floors:
                raise BadInput(f"diaphragm '{name}': '{node}' is the master of a floor; give nodes.")
        if len(set(nodes)) != len(nodes) or not nodes:
            raise BadInput(f"diaphragm '{name}': name each of its nodes once, got {list(nodes)}.")
        place = np.mean([self.nodes[node] for node in nodes], axis=0) if master is None else np.array(master, float)
        for node in nodes:
            height = self.nodes[node][1]
            if place.shape == (self.dimensions,) and abs(height - place[1]) > SAME_HEIGHT:
                expected = "the mean of its nodes" if master is None else "its master"
                raise BadInput(
                    f"diaphragm '{name}': node '{node}' lies at the height {height:g} m and {expected} at "
                    f"{place[1]:g} m; a rigid floor is level."
                )
        self.node(name, *place)
        self.floors[name] = Diaphragm(name, tuple(nodes), place)
        in_plan = dict.fromkeys(IN_PLAN[self.dimensions], mass)
        self.mass(name, **(in_plan | {"ry": rotary} if self.dimensions == 3 else in_plan))

    # members

    def elastic(
        self,
        name: str,
        i: str,
        j: str,
        section: ElasticSection,
        release: Sequence[str] = (),
        offsets: Sequence = (0.0, 0.0),
        up: Sequence[float] | None = None,
        axial_force: float | None = None,
    ) -> None:
        """An elastic beam-column.

        Parameters
        ----------
        section : ElasticSection
        release : sequence of str
            Hinges: "i", "j" about the local z axis; in space also "iy", "jy" and "twist".
        offsets : pair
            Rigid ends: lengths along the member, or vectors from the nodes in global axes.
        up : vector, optional
            Direction of the local y axis (see `members.local_axes`).
        axial_force : float, optional
            Constant compression P in N whose P-Delta effect, -P L ψ², is part of the linear stiffness. It acts on the
            chord; divide a slender member into a few to have buckling between its ends.
        """
        axes, length, d = self._line(name, i, j, offsets, up)
        k = parts.elastic_stiffness(name, section, length, self.dimensions, tuple(release))
        geometric = None
        if axial_force is not None:
            chord = slice(3, 4) if self.dimensions == 2 else slice(6, 8)
            geometric = np.zeros_like(k)
            geometric[chord, chord] = -float(axial_force) * length * np.eye(self.dimensions - 1)
        rows = beam_rows(axes, length, *d)
        self._add(
            parts.Elastic(
                name,
                i,
                j,
                rows,
                k,
                geometric,
                section=section,
                length=length,
                axes=axes,
                offsets=d,
                release=tuple(release),
                axial_force=axial_force,
            )
        )

    def fibre(
        self,
        name: str,
        i: str,
        j: str,
        section: FibreSection,
        hinges: tuple[float, float] | None = None,
        interior: ElasticSection | FibreSection | None = None,
        offsets: Sequence = (0.0, 0.0),
        up: Sequence[float] | None = None,
        pdelta: bool = True,
        points: int = 5,
    ) -> None:
        """A force-based beam-column with fibre sections.

        Parameters
        ----------
        section : FibreSection
            In the plastic hinges, or all along where `hinges` is None.
        hinges : (float, float), optional
            Lengths of the plastic hinges at i and j in m (modified Gauss-Radau points). Without them there are
            `points` Gauss-Lobatto points.
        interior : ElasticSection or FibreSection, optional
            Between the hinges. Default: the uncracked `section`.
        offsets, up :
            As in `elastic`.
        pdelta : bool
            Whether the axial force acts on the rotation of the chord.
        """
        if not isinstance(section, FibreSection):
            raise BadInput(
                f"member '{name}': section {section!r} is missing or not of fibres; use a FibreSection, "
                "or elastic() for an ElasticSection."
            )
        axes, length, d = self._line(name, i, j, offsets, up)
        if hinges is not None and not (min(hinges) > 0.0 and 4 * sum(hinges) <= length * (1 + 1e-12)):
            raise OutOfBounds(
                f"member '{name}': hinges of {hinges} m must be positive and together at most a quarter "
                f"of its flexible length, {length:g} m."
            )
        beam = (
            BeamColumn(length, gauss_lobatto(length, points), [section] * points, name)
            if hinges is None
            else hinged(length, section, *hinges, interior, name)
        )
        rows = beam_rows(axes, length, *d, chord=pdelta)
        self._add(parts.Fibre(name, i, j, rows, beam=beam, hinges=hinges, axes=axes, offsets=d, pdelta=pdelta))

    def brace(self, name: str, i: str, j: str, material: Any, area: float, length: float | None = None) -> None:
        """A truss of a material and an area in m²; `length` is that of the part that deforms, the rest is rigid."""
        if material is None:
            raise BadInput(f"member '{name}': the material is missing; give Steel(...), Bilinear(...) or Elastic(E).")
        self._ends(name, i, j)
        x, distance = axis(name, self.nodes[i], self.nodes[j])
        length = distance if length is None else float(length)
        if not 0.0 < area < np.inf or not 0.0 < length <= distance * (1 + 1e-12):
            raise OutOfBounds(
                f"member '{name}': area = {area!r} m² must be positive and length = {length:g} m must "
                f"lie between 0 and the distance of its nodes, {distance:g} m."
            )
        self._add(
            parts.Brace(name, i, j, axial_row(x), material=material, area=float(area), length=length, distance=distance)
        )

    def lean_on(self, name: str, lower: str, upper: str, load: float) -> None:
        """P-Delta of a column without lateral stiffness: -P/h between the horizontal displacements of two nodes.

        `load` is the compression P in N it carries, h the difference in height. Floors may stand for nodes.
        """
        self._ends(name, lower, upper)
        height = float(self.nodes[upper][1] - self.nodes[lower][1])
        if not height > 0.0:
            raise BadInput(f"member '{name}': '{upper}' must lie above '{lower}'; the height is {height:g} m.")
        rows = relative_rows(self.dofs, ("ux", "uz")[: self.dimensions - 1])
        geometric = -float(load) / height * np.eye(len(rows))
        self._add(parts.LeanOn(name, lower, upper, rows, np.zeros_like(geometric), geometric, load=load, height=height))

    def link(self, name: str, i: str, j: str, springs: Mapping[str, float]) -> None:
        """Linear springs (N/m, N m/rad) between two nodes in global axes: ``link("k", "A", "B", {"ux": 1e7})``.

        Over a distance the springs sit halfway, on rigid arms from both nodes.
        """
        self._ends(name, i, j)
        chosen = dict(self._dofs(i, springs, f"link '{name}'"))
        if not chosen or min(chosen.values()) < 0.0:
            raise OutOfBounds(f"link '{name}': stiffnesses {dict(springs)} must not be negative; give at least one.")
        rows = parts.link_rows(self.nodes[i], self.nodes[j])[[self.dofs.index(dof) for dof in chosen]]
        self._add(parts.Link(name, i, j, rows, np.diag(list(chosen.values())), springs=chosen))

    def spring(self, name: str, i: str, j: str, law: Any, dof: str | None = None) -> None:
        """A device law (an Instance reading d and v) along the line between two nodes, or in one degree of freedom."""
        self._ends(name, i, j)
        self._add(parts.Spring(name, i, j, self._row(name, i, j, dof), law=law, dof=dof))

    def super_element(self, dofs: Sequence[str], K: Any, M: Any = None) -> None:
        """A linear part known by its stiffness (and mass) matrix on degrees of freedom such as ``"A1.ux"``."""
        for key in dofs:
            node, _, dof = key.partition(".")
            self._node(node, "super element")
            if dof not in self.dofs:
                raise UnknownName("degree of freedom", dof, self.dofs, f"super element, node '{node}'")
        if len(set(dofs)) != len(dofs):
            raise BadInput(f"super element: {list(dofs)} must name each degree of freedom once.")
        size = (len(dofs), len(dofs))
        matrices = [np.array(K, float), np.zeros(size) if M is None else np.array(M, float)]
        for key, matrix in zip("KM", matrices, strict=True):
            if matrix.shape != size or not np.isfinite(matrix).all():
                raise BadShape(f"super element: {key} must be finite, {size}; got shape {matrix.shape}.")
            if np.abs(matrix - matrix.T).max() > assembly.SYMMETRY * np.abs(matrix).max():
                raise BadShape(f"super element: {key} must be symmetric.")
        self.super_elements.append(parts.SuperElement(tuple(dofs), *matrices))

    # the structure

    def structure(
        self,
        damping: Any = None,
        gravity: bool = True,
        ground: Sequence[str] | None = None,
        condense: Sequence[str] | None = None,
        iterations: int = ITERATIONS,
    ) -> Structure:
        """The structure of this model, checked and at rest under its dead load. See `assembly.structure`."""
        return assembly.structure(self, damping, gravity, ground, condense, iterations)

    def direction(self, structure: Structure, i: str, j: str, dof: str | None = None) -> np.ndarray:
        """Direction vector of a device between two nodes, along the line between them or in one degree of freedom.

        Its deformation is the displacement of j relative to i; elongation is positive.
        """
        self._ends("device", i, j)
        return assembly.on(self, structure, i, j, self._row("device", i, j, dof))

    def acting(self, structure: Structure, name: str) -> np.ndarray:
        """Load pattern of a unit load on a degree of freedom "B2.ux", also of a node that moves with a floor."""
        return assembly.acting(self, structure, name)

    # what the methods above share

    def _node(self, name: str, where: str) -> None:
        if name not in self.nodes:
            raise UnknownName("node", name, self.nodes, where)

    def _dofs(self, node: str, values: Mapping[str, float], where: str) -> list[tuple[str, float]]:
        self._node(node, where)
        for dof, value in values.items():
            if dof not in self.dofs:
                raise UnknownName("degree of freedom", dof, self.dofs, f"{where}, node '{node}'")
            if node in self.floors and dof not in IN_PLAN[self.dimensions]:
                raise UnknownName("degree of freedom", dof, IN_PLAN[self.dimensions], f"{where}, floor '{node}'")
            if not np.isfinite(value):
                raise OutOfBounds(f"{where}, node '{node}': {dof} = {value!r} must be finite.")
        return [(dof, float(value)) for dof, value in values.items()]

    def _ends(self, name: str, i: str, j: str) -> None:
        for node in (i, j):
            self._node(node, f"member '{name}'")
        if i == j:
            raise BadInput(f"member '{name}': both ends are node '{i}'.")

    def _add(self, member: Member) -> None:
        if member.name in self.members:
            raise BadInput(f"member '{member.name}' exists already; give each member its own name.")
        self.members[member.name] = member

    def _line(self, name: str, i: str, j: str, offsets: Sequence, up: Sequence[float] | None) -> tuple:
        self._ends(name, i, j)
        d = parts.end_offsets(name, self.nodes[i], self.nodes[j], offsets)
        x, length = axis(name, self.nodes[i] + d[0], self.nodes[j] + d[1])
        return parts.local_axes(name, x, up), length, d

    def _row(self, name: str, i: str, j: str, dof: str | None) -> np.ndarray:
        if dof is None:
            return axial_row(axis(name, self.nodes[i], self.nodes[j])[0])
        self._dofs(i, {dof: 0.0}, f"member '{name}'")
        return relative_rows(self.dofs, [dof])
