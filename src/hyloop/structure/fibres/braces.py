"""Many braces as one group: elongation, one fibre of a material, axial force."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, diags_array

from hyloop.core.jit import GROUP, compile_c
from hyloop.core.memory import Growing, columns, entry, read, tail
from hyloop.errors import BadInput, BadShape, OutOfBounds
from hyloop.structure.elements import Elements
from hyloop.structure.fibres.materials import Material
from hyloop.structure.fibres.rows import deform, flat, load, matrix, rows_at
from hyloop.structure.fibres.section_forces import FibreRow
from hyloop.structure.fibres.stress import HISTORY, PARAMETERS, WORK, Work, advance

__all__ = ["AxialPlaces", "AxialResponse", "Trusses", "axial_places", "axial_response", "trusses"]


class Header(NamedTuple):
    """The first integers of a group. Its parameters are the volumes of the members, the numbers of the materials and B;
    its state is the `Work` of all members, then their histories."""

    members: int
    materials: int
    rows: int  # in i: table of `FibreRow`, one for each material
    connectivity: int  # in i: B (`rows_at`)
    coefficients: int  # in p: B


@dataclass(frozen=True, eq=False)
class Trusses(Elements):
    """A group of trusses, with what is needed to read their state."""

    order: Any = None  # member k stands at place order[k] of the group's arrays
    lengths: Any = None


def trusses(materials: Material | Sequence[Material], areas, lengths, B) -> Trusses:
    r"""A group of trusses, :math:`N = A\,\sigma(e/L)`.

    Parameters
    ----------
    materials : Material or sequence of Material
        One for all members, or one for each.
    areas, lengths : float or array_like, (members,)
        Area in m² and the length in m that is strained; the rest of a brace with rigid ends does not count.
    B : sparse array, (members, n)
        Elongations from the displacements.
    """
    members = np.shape(B)[0]
    B = matrix("trusses", B, members, 1)
    given = (materials,) * members if isinstance(materials, Material) else tuple(materials)
    if members == 0 or len(given) != members:
        raise BadShape(f"trusses: {len(given)} materials for the {members} rows of B; give one, or one for each row.")
    if not all(isinstance(material, Material) for material in given):
        raise BadInput("trusses: materials must be Elastic, Bilinear, Concrete or Steel.")
    A, L = (_positive(name, values, members) for name, values in (("areas", areas), ("lengths", lengths)))
    # members of one material stand together and are advanced in one loop
    place = {material: k for k, material in enumerate(dict.fromkeys(given))}
    belongs = np.array([place[material] for material in given])
    sequence = np.argsort(belongs, kind="stable")
    rows = [FibreRow(material.kind, int(np.sum(belongs == k))) for material, k in place.items()]
    # rows of strain: the force then enters with the volume A L as A L σ B'/L
    strain_rows = csr_array(diags_array(1.0 / L[sequence]) @ B[sequence])
    coefficients, connectivity = flat(strain_rows)
    p, i, n_header = Growing(), Growing(np.int64), len(Header._fields)
    p.add((A * L)[sequence])
    for material in place:
        p.add(material.numbers())
    first = n_header + len(FibreRow._fields) * len(rows)
    i.add(Header(members, len(rows), n_header, first, p.add(coefficients)))
    i.add(rows)
    i.add(connectivity)
    EA_L = np.array([material.stiffness for material in given]) * A / L
    return Trusses(
        name="trusses",
        function=_trusses(),
        initial=np.zeros(WORK * members + sum(HISTORY[row.kind] * row.fibres for row in rows)),
        parameters=p.vector(),
        integers=i.vector(),
        stiffness=csr_array(B.T @ diags_array(EA_L) @ B),
        order=np.argsort(sequence),
        lengths=L,
    )


def _positive(name: str, values, members: int) -> np.ndarray:
    values = np.asarray(values, dtype=float)
    if values.ndim > 1 or (values.ndim == 1 and len(values) != members):
        raise BadShape(f"trusses: {name} of shape {values.shape} for {members} members; give one number, or one each.")
    values = np.broadcast_to(values, members)
    if not (np.isfinite(values).all() and values.min() > 0.0):
        worst = int(np.argmin(np.where(np.isfinite(values), values, -np.inf)))
        raise OutOfBounds(f"trusses: {name} of member {worst} is {values[worst]:g}; it must be positive and finite.")
    return values


class AxialResponse(NamedTuple):
    """Strain and axial force in N (tension positive) of every member."""

    strain: np.ndarray
    force: np.ndarray


def axial_response(group: Trusses, x: np.ndarray) -> AxialResponse:
    """Strains and axial forces from the state `x` of a group, in the order the members were given."""
    places = axial_places(group)
    return AxialResponse(x[places.strain], x[places.force_length] / group.lengths)


class AxialPlaces(NamedTuple):
    """Where strain, and force times length, of every member stand in the state of a group."""

    strain: np.ndarray
    force_length: np.ndarray  # as `load` wants it for rows of strain


def axial_places(group: Trusses) -> AxialPlaces:
    """Places in the state, in the order the members were given: those of `Work`."""
    return AxialPlaces(group.order, read(Header, group.integers, 0).members + group.order)


@cache
def _trusses() -> Any:
    def resist(u, v, dt, x, p, i, r):
        header = read(Header, i, 0)
        members = header.members
        B, all_members = rows_at(members, p, header.coefficients, i, header.connectivity), columns(Work, x, members)
        deform(members, B, u, all_members.strain)
        first, history, numbers = 0, tail(x, WORK * members), tail(p, members)
        commit = members > 0  # always; a plain True would compile every law once more
        for k in range(header.materials):
            row = entry(FibreRow, i, header.rows, k)
            advance(row.kind, row.fibres, columns(Work, tail(x, first), members), history, numbers, commit)
            first += row.fibres
            history, numbers = tail(history, HISTORY[row.kind] * row.fibres), tail(numbers, PARAMETERS[row.kind])
        force = all_members.stress
        for m in range(members):
            force[m] *= p[m]
        load(members, B, force, r)

    return compile_c(resist, GROUP, resist)
