"""Force-based beam-columns with fibre sections, in the plane and in space."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import block_diag, csr_array

from hyloop.core.jit import GROUP, compile_c
from hyloop.core.memory import Growing, entry, read
from hyloop.errors import BadInput, OutOfBounds
from hyloop.structure.elements import Elements
from hyloop.structure.fibres import beam_forces
from hyloop.structure.fibres.beam_columns import BeamColumn, hinged
from hyloop.structure.fibres.beam_forces import Constants, Header, Member, Memory, Place
from hyloop.structure.fibres.rows import flat, matrix
from hyloop.structure.fibres.section_forces import FibreRow, Point, section_places
from hyloop.structure.fibres.sections import FibreSection
from hyloop.structure.fibres.stress import WORK

__all__ = [
    "BasicPlaces",
    "BeamColumn",
    "FibreBeams",
    "SectionResponse",
    "StateRow",
    "basic_places",
    "fibre_beams",
    "hinged",
    "section_response",
    "section_rows",
    "tangent",
]

ROWS = {2: 4, 3: 8}  # basic deformations of a member
ITERATIONS = 2  # cyclic columns in steps of up to 0.2 % drift: one leaves 0.1 to 2 % in the shear, two below 0.1 %


@dataclass(frozen=True, eq=False)
class FibreBeams(Elements):
    """A group of beam-columns, with what is needed to read their state."""

    members: tuple[BeamColumn, ...] = ()
    B: Any = None
    dimensions: int = 2


def fibre_beams(members: Sequence[BeamColumn], B, *, dimensions: int = 2, iterations: int = ITERATIONS) -> FibreBeams:
    """A group of force-based beam-columns.

    Parameters
    ----------
    members : sequence of BeamColumn
    B : sparse array, (rows x members, n)
        Basic deformations from the displacements. In the plane four rows for each member: elongation, end rotations
        about z relative to the chord at i and j, rotation of the chord (empty without P-Delta). In space eight:
        elongation, rotations about z at i and j, about y at i and j, twist, rotations (v_j - v_i)/L and (w_j - w_i)/L
        of the chord.
    dimensions : int
        2 or 3.
    iterations : int
        Section iterations in a time step; more where a section is far from balance (`beam_forces`).
    """
    members = tuple(members)
    if dimensions not in ROWS:
        raise OutOfBounds(f"fibre_beams: dimensions = {dimensions} must be 2 (plane) or 3 (space).")
    if not members:
        raise BadInput("fibre_beams: a group needs at least one member.")
    if not 1 <= iterations <= 1000:
        raise OutOfBounds(f"fibre_beams: iterations = {iterations} must lie in 1 to 1000.")
    B = matrix("fibre_beams", B, len(members), ROWS[dimensions])
    arrays = _Arrays(dimensions, len(members), B)
    for member in members:
        arrays.add(member)
    memory = arrays.memory()
    group = FibreBeams(
        name="fibre beams",
        function=_plane() if dimensions == 2 else _space(),
        initial=arrays.x.vector(),
        parameters=arrays.p.vector(),
        integers=arrays.integers(memory, iterations),
        stiffness=np.zeros((0, 0)),
        members=members,
        B=B,
        dimensions=dimensions,
        imbalance=memory.imbalance,
    )
    object.__setattr__(group, "stiffness", tangent(group, group.initial))
    return group


class _Arrays:
    """The flat arrays of a group while its members are added, as `beam_forces` reads them."""

    def __init__(self, n: int, members: int, B: Any) -> None:
        self.n, self.total, self.x, self.p = n, ROWS[n] * members, Growing(), Growing()
        coefficients, self.connectivity = flat(B)
        self.coefficients = self.p.add(coefficients)
        self.e, self.q = (self.x.add(np.zeros(self.total)) for _ in range(2))
        self.members: list[Member] = []
        self.points: list[Point] = []
        self.rows: list[FibreRow] = []
        # the section as it is calculated with, its constants and its first row
        self.sections: dict[FibreSection, tuple[FibreSection, int, int]] = {}

    def add(self, member: BeamColumn) -> None:
        """Its points with fibres one by one; those that stay elastic as one flexibility."""
        n, begin = self.n, len(self.points)
        flexibility, GJ = np.zeros((2 * n - 1, 2 * n - 1)), _torsion(member, n)
        for section, x, weight in zip(member.sections, *member.rule, strict=True):
            place = Place(x / member.length, weight)
            if isinstance(section, FibreSection):
                self._add_point(member, section, place)
            else:
                b = _interpolation(n, place.position)
                flexibility += weight * b.T @ np.linalg.inv(_checked(member, section.stiffness(n))) @ b
        constants = self.p.add(Constants(member.length, GJ / member.length))
        self.members.append(Member(begin, len(self.points), constants, self.p.add(flexibility)))

    def _add_point(self, member: BeamColumn, given: FibreSection, place: Place) -> None:
        """The constants of a section are written where it comes first; `rows` counts the rows of all sections."""
        n = self.n
        if given not in self.sections:
            section = given.in_plane() if n == 2 else given
            _checked(member, section.stiffness(n))
            self.sections[given] = section, self.p.add(section.constants(n)), len(self.rows)
            self.rows += section.rows()
        section, constants, first = self.sections[given]
        state, n_rows = self.x.add(section.initial(n)), len(section.rows())
        self.points.append(Point(state, constants, first, n_rows, self.p.add(place)))

    def memory(self) -> Memory:
        """Where everything lies in x, once all members are there."""
        count = 2 * self.n - 1
        sizes = {
            "F": count * count,
            "goal": count,
            "fibres": WORK * self._size(),
            "last": self.total,
            "kept": max(m.end - m.begin for m in self.members) * section_places(self.n, 0).history,
            "imbalance": 1,
        }
        return Memory(self.e, self.q, **{name: self.x.add(np.zeros(size)) for name, size in sizes.items()})

    def _size(self) -> int:
        return max((row.fibres for row in self.rows), default=1)

    def integers(self, memory: Memory, iterations: int) -> np.ndarray:
        """Header, memory, rows of fibres, members, points, B."""
        i = Growing(np.int64)
        header = i.add(np.zeros(len(Header._fields)))  # it is known when all else has its place
        places, rows = i.add(memory), i.add(self.rows)
        points = [a._replace(rows=rows + len(FibreRow._fields) * a.rows) for a in self.points]
        first = Header(
            members=len(self.members),
            iterations=iterations,
            size=self._size(),
            memory=places,
            member=i.add(self.members),
            point=i.add(points),
            connectivity=i.add(self.connectivity),
            coefficients=self.coefficients,
        )
        integers = i.vector()
        integers[header : header + len(first)] = first
        return integers


def _interpolation(n: int, position: float) -> np.ndarray:
    """b of section forces = b q at a position from 0 to 1."""
    b = np.zeros((n, 2 * n - 1))
    b[0, 0] = 1.0
    for a in range(1, n):
        b[a, 2 * a - 1 : 2 * a + 1] = position - 1.0, position
    return b


def _torsion(member: BeamColumn, n: int) -> float:
    """GJ of a member in space: the harmonic mean of its sections along the length."""
    if n == 2:
        return 0.0
    stiffness = np.array([section.GJ for section in member.sections])
    if stiffness.min() <= 0.0:
        raise OutOfBounds(
            f"member '{member.name}': a section has no torsional stiffness, which space needs. "
            "Give GJ (FibreSection) or G and J (ElasticSection)."
        )
    return float(member.length / np.sum(np.asarray(member.rule.weight) / stiffness))


def _checked(member: BeamColumn, stiffness: np.ndarray) -> np.ndarray:
    scale = np.sqrt(np.diag(stiffness))
    if scale.min() <= 0.0 or np.linalg.eigvalsh(stiffness / np.outer(scale, scale))[0] < 1e-9:
        raise OutOfBounds(
            f"member '{member.name}': a section has no bending stiffness about one axis; its fibres lie "
            "on one line, or Iy is missing."
        )
    return stiffness


class SectionResponse(NamedTuple):
    """Deformations (ε0, κz, and κy in space) and forces (N, Mz, and My) of a section."""

    deformation: np.ndarray
    force: np.ndarray


def section_response(group: FibreBeams, x: np.ndarray, member: int, point: int) -> SectionResponse:
    """Section deformations and forces from the state `x` of a group.

    Parameters
    ----------
    x : ndarray
        The group's part of `State.elements`, or a copy of `group.initial` after calls.
    member, point : int
        Indices of the member and of the integration point; negative ones count from the end.
    """
    rows = section_rows(group, member, point)
    return SectionResponse(*(np.array([row.factors @ x[row.places] for row in part]) for part in rows))


class StateRow(NamedTuple):
    """A sum over numbers of a group's state: their places and factors."""

    places: np.ndarray
    factors: np.ndarray


class BasicPlaces(NamedTuple):
    """Where basic deformations and forces of a member stand in the state of its group; rows as in `fibre_beams`."""

    e: np.ndarray
    q: np.ndarray


def basic_places(group: FibreBeams, member: int) -> BasicPlaces:
    """Places of the basic deformations and forces of a member."""
    rows, memory = ROWS[group.dimensions], read(Memory, group.integers, read(Header, group.integers, 0).memory)
    member = range(len(group.members))[member]
    return BasicPlaces(*(int(first) + rows * member + np.arange(rows) for first in (memory.e, memory.q)))


def section_rows(group: FibreBeams, member: int, point: int) -> tuple[list[StateRow], list[StateRow]]:
    """Deformations and forces of a section as sums over the state, in the order of `SectionResponse`."""
    n, i = group.dimensions, group.integers
    header, beam = read(Header, i, 0), group.members[member]
    member, point = range(len(group.members))[member], range(len(beam.sections))[point]
    section = beam.sections[point]
    if isinstance(section, FibreSection):
        before = sum(isinstance(other, FibreSection) for other in beam.sections[:point])
        here = entry(Point, i, header.point, entry(Member, i, header.member, member).begin + before)
        at = section_places(n, int(here.state))
        d, D = ([StateRow(np.array([first + a]), np.ones(1)) for a in range(n)] for first in (at.d, at.D))
        return d, D
    q, b = basic_places(group, member).q[: 2 * n - 1], _interpolation(n, beam.rule.x[point] / beam.length)
    return [StateRow(q, row) for row in np.linalg.solve(section.stiffness(n), b)], [StateRow(q, row) for row in b]


def tangent(group: FibreBeams, x: np.ndarray) -> csr_array:
    """Tangent stiffness of the group in state `x`, from the flexibility of its sections and the axial forces.

    The change of the axial force times the rotation of the chord is left out, which keeps the matrix symmetric.
    """
    n, i, p = group.dimensions, group.integers, group.parameters
    header = read(Header, i, 0)
    q, count, rows, blocks = read(Memory, i, header.memory).q, 2 * n - 1, ROWS[n], []
    for m in range(header.members):
        N, member = x[q + rows * m], entry(Member, i, header.member, m)
        constants = read(Constants, p, member.constants)
        F = p[member.flexibility :][: count * count].reshape(count, count).copy()
        for s in range(member.begin, member.end):
            point = entry(Point, i, header.point, s)
            at, place = section_places(n, point.state), read(Place, p, point.place)
            b = _interpolation(n, float(place.position))
            F += place.weight * b.T @ x[at.f : at.history].reshape(n, n) @ b
        k = np.zeros((rows, rows))
        k[:count, :count] = np.linalg.inv(F)
        if n == 3:
            k[5, 5] = constants.torsion
        for row in range(rows - n + 1, rows):
            k[row, row] = N * constants.length
        blocks.append((k + k.T) / 2)
    K = block_diag(blocks, format="csr")
    return csr_array(group.B.T @ K @ group.B)


@cache
def _plane() -> Any:
    def resist(u, v, dt, x, p, i, r):
        beam_forces.resist(2, u, x, p, i, r)

    return compile_c(resist, GROUP, resist)


@cache
def _space() -> Any:
    def resist(u, v, dt, x, p, i, r):
        beam_forces.resist(3, u, x, p, i, r)

    return compile_c(resist, GROUP, resist)
