"""Force-based beam-columns with fibre sections, in the plane and in space."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import block_diag, csr_array

from hyloop.core.jit import GROUP, compile_c
from hyloop.errors import BadInput, BadShape, OutOfBounds
from hyloop.structure.elements import Elements
from hyloop.structure.fibres import beam_forces, section_forces
from hyloop.structure.fibres.beam_forces import HEADER, MEMBER, POINT
from hyloop.structure.fibres.integration import Rule, hinge_radau
from hyloop.structure.fibres.rows import flat, matrix
from hyloop.structure.fibres.sections import ElasticSection, FibreSection

__all__ = ["BeamColumn", "FibreBeams", "SectionResponse", "fibre_beams", "hinged", "section_response", "tangent"]

Section = ElasticSection | FibreSection
ROWS = {2: 4, 3: 8}  # basic deformations of a member
ITERATIONS = 2  # cyclic columns in steps of up to 0.2 % drift: one leaves 0.1 to 2 % in the shear, two below 0.1 %


@dataclass(frozen=True, eq=False)
class BeamColumn:
    """A force-based beam-column: sections at the points of an integration rule.

    Parameters
    ----------
    length : float
        Length in m between the rigid ends.
    rule : Rule
        Integration points, from `hinge_radau` or `gauss_lobatto`.
    sections : Section or sequence of Section
        One for all points, or one for each.
    name : str
        For error messages.
    """

    length: float
    rule: Rule
    sections: Sequence[Section]
    name: str = "beam"

    def __post_init__(self) -> None:
        x, weight = (np.asarray(values, dtype=float) for values in self.rule)
        if not 0.0 < self.length < np.inf:
            raise OutOfBounds(f"member '{self.name}': length = {self.length:g} m must be positive and finite.")
        if x.ndim != 1 or x.shape != weight.shape or len(x) == 0:
            raise BadShape(f"member '{self.name}': the rule has {x.shape} points and {weight.shape} weights.")
        off = x.min() < 0.0 or x.max() > self.length * (1 + 1e-9)
        if off or not np.isclose(weight.sum(), self.length, rtol=1e-9):
            raise OutOfBounds(
                f"member '{self.name}': the rule was made for another length; its points end at {x.max():g} m and its "
                f"weights sum to {weight.sum():g} m, not {self.length:g} m."
            )
        sections = self.sections
        sections = (sections,) * len(x) if isinstance(sections, Section) else tuple(sections)
        if len(sections) != len(x) or not all(isinstance(section, Section) for section in sections):
            raise BadShape(
                f"member '{self.name}': {len(sections)} sections for {len(x)} integration points; give an "
                "ElasticSection or FibreSection for all, or one for each."
            )
        object.__setattr__(self, "sections", sections)


def hinged(
    length: float, section: FibreSection, lp_i: float, lp_j: float, interior: Section | None = None, name: str = "beam"
) -> BeamColumn:
    """A beam-column with fibre hinges of lengths `lp_i` and `lp_j` at its ends and an elastic interior.

    Parameters
    ----------
    interior : Section, optional
        Section between the ends; default: `section.elastic()`, uncracked.
    """
    inner = section.elastic() if interior is None else interior
    return BeamColumn(length, hinge_radau(length, lp_i, lp_j), [section, inner, inner, inner, inner, section], name)


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
    n, rows = dimensions, ROWS[dimensions]
    B = matrix("fibre_beams", B, len(members), rows)
    coefficients, connectivity = flat(B)
    count, total = 2 * n - 1, rows * len(members)
    numbers, states = [coefficients], [np.zeros(2 * total)]
    constants: dict[FibreSection, tuple[int, int]] = {}
    member_table, point_table, fibre_rows = [], [], []
    n_points = sum(isinstance(section, FibreSection) for member in members for section in member.sections)
    first_row = HEADER + MEMBER * len(members) + POINT * n_points
    size = 1

    def used(parts: list[np.ndarray]) -> int:
        return sum(len(part) for part in parts)

    for member in members:
        flexibility, GJ, begin = np.zeros((count, count)), _torsion(member, n), len(point_table)
        for section, x, weight in zip(member.sections, *member.rule, strict=True):
            if isinstance(section, FibreSection):
                flat_section = section.in_plane() if n == 2 else section
                if section not in constants:
                    _checked(member, flat_section.stiffness(n))
                    constants[section] = used(numbers), first_row + len(fibre_rows)
                    numbers.append(flat_section.constants(n))
                    fibre_rows += [number for row in flat_section.rows() for number in row]
                    size = max(size, *(number for _, number in flat_section.rows()))
                point_table += [used(states), *constants[section], len(flat_section.rows()), used(numbers)]
                states.append(flat_section.initial(n))
                numbers.append(np.array([x / member.length, weight]))
            else:
                b = _interpolation(n, x / member.length)
                flexibility += weight * b.T @ np.linalg.inv(_checked(member, section.stiffness(n))) @ b
        member_table += [begin // POINT, len(point_table) // POINT, used(numbers)]
        numbers.append(np.array([member.length, GJ / member.length, *flexibility.ravel()]))
    scratch = used(states)
    states.append(np.zeros(count * (count + 1) + section_forces.WORK * size))
    places = [HEADER, HEADER + len(member_table), first_row + len(fibre_rows)]
    most = max((end - begin for begin, end in zip(member_table[::MEMBER], member_table[1::MEMBER], strict=True)))
    last = used(states)
    kept = last + total
    imbalance = kept + most * (2 * n + n * n)
    states.append(np.zeros(imbalance + 1 - last))
    header = [len(members), iterations, size, 0, total, scratch, 0, *places, last, kept, imbalance]
    integers = np.concatenate([header, member_table, point_table, fibre_rows, connectivity]).astype(np.int64)
    group = FibreBeams(
        name="fibre beams",
        function=_plane() if n == 2 else _space(),
        initial=np.concatenate(states),
        parameters=np.concatenate(numbers),
        integers=integers,
        stiffness=np.zeros((0, 0)),
        members=members,
        B=B,
        dimensions=n,
        imbalance=imbalance,
    )
    object.__setattr__(group, "stiffness", tangent(group, group.initial))
    return group


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
    n, i = group.dimensions, group.integers
    beam = group.members[member]
    member, point = range(len(group.members))[member], range(len(beam.sections))[point]
    if isinstance(beam.sections[point], FibreSection):
        before = sum(isinstance(section, FibreSection) for section in beam.sections[:point])
        at = i[i[8] + POINT * (i[i[7] + MEMBER * member] + before)]
        return SectionResponse(x[at : at + n].copy(), x[at + n : at + 2 * n].copy())
    q = x[i[4] + ROWS[n] * member :][: 2 * n - 1]
    force = _interpolation(n, beam.rule.x[point] / beam.length) @ q
    return SectionResponse(np.linalg.solve(beam.sections[point].stiffness(n), force), force)


def tangent(group: FibreBeams, x: np.ndarray) -> csr_array:
    """Tangent stiffness of the group in state `x`, from the flexibility of its sections and the axial forces.

    The change of the axial force times the rotation of the chord is left out, which keeps the matrix symmetric.
    """
    n, i, p = group.dimensions, group.integers, group.parameters
    count, rows, blocks = 2 * n - 1, ROWS[n], []
    for m, member in enumerate(group.members):
        begin, end, constants = i[i[7] + MEMBER * m : i[7] + MEMBER * (m + 1)]
        F = p[constants + 2 : constants + 2 + count * count].reshape(count, count).copy()
        for s in range(begin, end):
            at, place = i[i[8] + POINT * s], i[i[8] + POINT * s + 4]
            b = _interpolation(n, float(p[place]))
            F += p[place + 1] * b.T @ x[at + 2 * n : at + 2 * n + n * n].reshape(n, n) @ b
        k = np.zeros((rows, rows))
        k[:count, :count] = np.linalg.inv(F)
        if n == 3:
            k[5, 5] = p[constants + 1]
        for row in range(rows - n + 1, rows):
            k[row, row] = x[i[4] + rows * m] * member.length
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
