"""Many braces as one group: elongation, one fibre of a material, axial force."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, diags_array

from hyloop.core.jit import GROUP, compile_c
from hyloop.errors import BadInput, BadShape, OutOfBounds
from hyloop.structure.elements import Elements
from hyloop.structure.fibres.materials import Material
from hyloop.structure.fibres.rows import deform, flat, load, matrix
from hyloop.structure.fibres.stress import HISTORY, PARAMETERS, WORK, advance

__all__ = ["AxialResponse", "Trusses", "axial_response", "trusses"]

# members, materials, B in the integers and in the parameters, x of the strains; then pairs of kind and members
_HEADER = 5


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
    counts = [(material.kind, int(np.sum(belongs == k))) for material, k in place.items()]
    # rows of strain: the force then enters with the volume A L as A L σ B'/L
    strain_rows = csr_array(diags_array(1.0 / L[sequence]) @ B[sequence])
    coefficients, connectivity = flat(strain_rows)
    numbers = [(A * L)[sequence], *(np.array(material.numbers()) for material in place)]
    history = sum(HISTORY[kind] * count for kind, count in counts)
    header = [members, len(counts), _HEADER + 2 * len(counts), sum(len(part) for part in numbers), 0]
    EA_L = np.array([material.stiffness for material in given]) * A / L
    return Trusses(
        name="trusses",
        function=_trusses(),
        initial=np.zeros(WORK * members + history),
        parameters=np.concatenate([*numbers, coefficients]),
        integers=np.concatenate([header, np.ravel(counts), connectivity]).astype(np.int64),
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
    members = group.integers[0]
    # second comes the force times the length, as `load` wants it for rows of strain
    return AxialResponse(x[:members][group.order], x[members : 2 * members][group.order] / group.lengths)


@cache
def _trusses() -> Any:
    def resist(u, v, dt, x, p, i, r):
        members, materials, b, c = i[0], i[1], i[2], i[3]
        deform(members, u, x, 0, p, c, i, b)
        first, h, q = i[4], WORK * members, members
        commit = members > 0  # always; a plain True would compile every law once more
        for k in range(materials):
            kind, count = i[_HEADER + 2 * k], i[_HEADER + 2 * k + 1]
            advance(kind, count, x, first, members, h, p, q, commit)
            first += count
            h += HISTORY[kind] * count
            q += PARAMETERS[kind]
        for m in range(members):
            x[members + m] *= p[m]
        load(members, x, members, r, p, c, i, b)

    return compile_c(resist, GROUP, resist)
