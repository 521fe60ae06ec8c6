"""From a `Model` to a `Structure`: sparse assembly, element groups, checks, condensation and the gravity stage.

With B the rows of basic deformations of all elastic members over all displacements, k their basic stiffness and
u_all = T u the constraints, the stiffness is K = T' B' k B T; a nonlinear group gets its own rows B T.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import block_diag, coo_array, csr_array, diags_array, vstack

from hyloop.core.factor import Factor
from hyloop.errors import BadInput, UnknownName
from hyloop.structure.elements import Elements, springs
from hyloop.structure.fibres.beams import ITERATIONS, fibre_beams
from hyloop.structure.fibres.braces import trusses
from hyloop.structure.frames.checks import connected, no_mechanism, resolved, stable
from hyloop.structure.frames.constraints import Numbering, number
from hyloop.structure.frames.gravity import rest
from hyloop.structure.frames.members import Brace, Fibre, Member, Spring
from hyloop.structure.frames.rigidity import resisted, resisting_rows
from hyloop.structure.structure import DENSE, Structure
from hyloop.structure.super_element import eliminate

if TYPE_CHECKING:
    from hyloop.structure.frames.model import Model

__all__ = [
    "SYMMETRY",
    "Whole",
    "acting",
    "deformations",
    "element_groups",
    "numbering",
    "on",
    "spring_groups",
    "structure",
    "whole",
]

STATIC = 50  # iterations of the sections in the gravity stage
SYMMETRY = 1e-9  # of the largest entry: matrices from a file keep about ten digits


def structure(
    model: "Model",
    damping: Callable[[Structure], Any] | None = None,
    gravity: bool = True,
    ground: Sequence[str] | None = None,
    condense: Sequence[str] | None = None,
    iterations: int = ITERATIONS,
) -> Structure:
    """The structure of a model.

    Parameters
    ----------
    damping : callable, optional
        Makes C from the structure, for instance ``lambda s: rayleigh(s, 0.02)``.
    gravity : bool
        Apply the dead loads by a static stage; the structure then starts from rest under them.
    ground : sequence of str, optional
        Directions of ground motion. Default: ("ux",) in the plane, ("ux", "uz") in space.
    condense : sequence of str, optional
        Condense statically all degrees of freedom without mass and without nonlinear members, except those named
        here (where devices will be attached; ``*`` and ``?`` match as in a shell). Exact for the others. A degree of
        freedom without mass on which a device, a load or a yielding member acts is no statics but a filter of the
        method (docs/frames.md).
    iterations : int
        Section iterations of the fibre beams in a time step; more are made where a section is far from balance.
    """
    connected(model)
    numbered = numbering(model)
    T, names = numbered.T, numbered.names
    K, geometric, M = (T.T @ matrix @ T for matrix in (*_stiffness(model), _mass(model)))
    groups = element_groups(model, T, iterations)
    initial = K + sum((csr_array(group.stiffness) for group in groups), csr_array(K.shape))
    no_mechanism(_resisting(model) @ T, names, _typical_length(model))
    resolved(initial, names)
    if geometric.nnz:
        stable(initial + geometric, names)
    ground = (("ux",) if model.dimensions == 2 else ("ux", "uz")) if ground is None else tuple(ground)
    K, load, influence = K + geometric, T.T @ _vector(model, model.loads), _influence(model, names, ground)
    if condense is not None:
        keep = _kept(M, _touched(model, T), names, condense)
        K, R = eliminate(K, keep)
        M, load, influence = M[keep][:, keep], R.T @ load, influence[keep]
        names, T = [names[k] for k in keep], T @ R
        groups = element_groups(model, T, iterations)
    if len(names) <= DENSE:
        K, M = K.toarray(), M.toarray()
    directions = [direction[1:] for direction in ground]
    made = Structure(M=M, K=K, influence=influence, elements=groups, names=names, directions=directions)
    if gravity and load.any():
        # Newton's method needs forces that are smooth in u: the same members, iterated to equilibrium
        exact = rest(replace(made, elements=element_groups(model, T, STATIC)), load)
        groups = [replace(g, initial=e.initial) for g, e in zip(groups, exact.elements, strict=True)]
        made = replace(exact, elements=groups)
    return made if damping is None else made.with_damping(damping(made))


def numbering(model: "Model") -> Numbering:
    """Independent degrees of freedom of a model and how all displacements follow from them."""
    B, k = _elastic(model)
    stiff = np.zeros(B.shape[1], dtype=bool)
    for rows in (B[np.flatnonzero(abs(k).sum(axis=1))], _rows(model, _nonlinear(model))):
        stiff[rows.indices] = True
    for part in model.super_elements:
        stiff[_places(model, part.dofs)[part.K.any(axis=1)]] = True
    stiff |= (_vector(model, model.masses) != 0.0) | (_vector(model, model.loads) != 0.0)
    return number(model.nodes, model.held, list(model.floors.values()), stiff)


def deformations(model: "Model", members: Sequence[Member], T: Any) -> Any:
    """Basic deformations of some members from unknowns, of which T gives all displacements; sparse."""
    return csr_array(_rows(model, members) @ T)


def on(model: "Model", made: Structure, i: str, j: str, rows: np.ndarray) -> np.ndarray:
    """A row over the displacements of two nodes, on the degrees of freedom of a structure of this model."""
    numbered = numbering(model)
    row = (_rows(model, [Member("device", i, j, rows)]) @ numbered.T).toarray()[0]
    direction = np.zeros(made.n)
    place = {name: k for k, name in enumerate(made.names)}
    for k in np.flatnonzero(row):
        name = numbered.names[k]
        if name not in place:
            raise UnknownName(
                "degree of freedom",
                name,
                made.names,
                f"device between '{i}' and '{j}' (name it in `condense` to keep it)",
            )
        direction[place[name]] = row[k]
    if not direction.any():
        raise BadInput(f"device between '{i}' and '{j}': both ends move alike or not at all.")
    return direction


class Whole(NamedTuple):
    """A model on all displacements of all nodes, which follow from those of a structure as T u + c."""

    T: Any
    c: np.ndarray
    K: Any  # of all elastic parts, with that of their axial forces
    load: np.ndarray  # dead load


def whole(model: "Model", made: Structure) -> Whole:
    """All displacements of a model, whatever of them a structure has.

    Condensed degrees of freedom follow by statics: from the others, and from dead loads on themselves, which c has.
    """
    numbered, K_all, load = numbering(model), csr_array(sum(_stiffness(model))), _vector(model, model.loads)
    T, place, c = numbered.T, {name: k for k, name in enumerate(numbered.names)}, np.zeros(len(load))
    K, there = T.T @ K_all @ T, [place[name] for name in made.names if name in place]
    if len(there) == made.n and made.names != numbered.names:
        rest, own = np.setdiff1d(np.arange(len(place)), there), T.T @ load
        full, (K, R) = csr_array(K), eliminate(K, there)
        if len(rest) and (made.dead_load.any() or not (R.T @ own).any()):  # else it was made without gravity
            alone = np.zeros(len(place))
            alone[rest] = Factor(full[rest][:, rest]).solve(own[rest])
            c = T @ alone
        T = csr_array(T @ R)
    if K.shape != made.K.shape or abs(K - csr_array(made.K)).max() > SYMMETRY * abs(K).max():
        raise BadInput(
            "watch: the structure is none of this model: its stiffness is another. Make it by model.structure()."
        )
    return Whole(T, c, K_all, load if made.dead_load.any() or not (T.T @ load).any() else np.zeros(len(load)))


def element_groups(model: "Model", T: Any, iterations: int = ITERATIONS) -> list[Elements]:
    """Nonlinear members as element groups on the unknowns: beams in one, braces in one, springs by their law."""
    groups = []
    beams = [member for member in model.members.values() if isinstance(member, Fibre)]
    if beams:
        groups.append(
            fibre_beams(
                [member.beam for member in beams],
                _rows(model, beams) @ T,
                dimensions=model.dimensions,
                iterations=iterations,
            )
        )
    braces = [member for member in model.members.values() if isinstance(member, Brace)]
    if braces:
        groups.append(
            trusses(
                [b.material for b in braces],
                [b.area for b in braces],
                [b.length for b in braces],
                _rows(model, braces) @ T,
            )
        )
    for members in spring_groups(model):
        groups.append(springs([m.law for m in members], _rows(model, members) @ T))
    return groups


def spring_groups(model: "Model") -> list[list[Spring]]:
    """Springs by their law, a list for each group."""
    devices = sorted((m for m in model.members.values() if isinstance(m, Spring)), key=_block)
    return [list(same) for _, same in groupby(devices, key=_block)]


def _block(member: Spring) -> tuple[str, int]:
    return member.law.block.name, id(member.law.block)


def _nonlinear(model: "Model") -> list[Member]:
    return [member for member in model.members.values() if member.stiffness is None]


def _places(model: "Model", names: Iterable[str]) -> np.ndarray:
    """Places of degrees of freedom among all displacements."""
    start = {node: len(model.dofs) * k for k, node in enumerate(model.nodes)}
    split = (name.split(".") for name in names)
    return np.array([start[node] + model.dofs.index(dof) for node, dof in split], dtype=int)


def _vector(model: "Model", values: dict[str, float]) -> np.ndarray:
    vector = np.zeros(len(model.nodes) * len(model.dofs))
    vector[_places(model, values)] = list(values.values())
    return vector


def _rows(model: "Model", members: Sequence[Member]) -> Any:
    """Rows of basic deformations of some members over all displacements."""
    count = len(model.dofs)
    shape = (sum(len(member.rows) for member in members), count * len(model.nodes))
    if not members:
        return csr_array(shape)
    start = {node: count * k for k, node in enumerate(model.nodes)}
    rows, columns, values, first = [], [], [], 0
    for member in members:
        places = np.concatenate([start[member.i] + np.arange(count), start[member.j] + np.arange(count)])
        r, c = np.nonzero(member.rows)
        rows.append(first + r)
        columns.append(places[c])
        values.append(member.rows[r, c])
        first += len(member.rows)
    return coo_array((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=shape).tocsr()


def _resisting(model: "Model") -> Any:
    """Rows of all deformations that something resists, over all displacements."""
    size = len(model.nodes) * len(model.dofs)
    rows = [_rows(model, [Member(m.name, m.i, m.j, resisting_rows(m)) for m in model.members.values()])]
    for part in model.super_elements:
        B = resisted(part.K)
        r, c = np.nonzero(B)
        rows.append(csr_array((B[r, c], (r, _places(model, part.dofs)[c])), shape=(len(B), size)))
    return csr_array(vstack(rows))


def _typical_length(model: "Model") -> float:
    """Mean length of all members that have one."""
    lengths = [float(np.linalg.norm(model.nodes[m.j] - model.nodes[m.i])) for m in model.members.values()]
    return float(np.mean([length for length in lengths if length > 0.0] or [1.0]))


def _elastic(model: "Model", geometric: bool = False) -> tuple[Any, Any]:
    """Rows of all elastic members and their basic stiffness (or that of their axial forces)."""
    members = [member for member in model.members.values() if member.stiffness is not None]
    if not members:
        return _rows(model, members), csr_array((0, 0))
    blocks = [
        (np.zeros_like(m.stiffness) if m.geometric is None else m.geometric) if geometric else m.stiffness
        for m in members
    ]
    return _rows(model, members), csr_array(block_diag(blocks, format="csr"))


def _stiffness(model: "Model") -> tuple[Any, Any]:
    """Stiffness of all elastic parts on all displacements, and that of their axial forces."""
    B, k = _elastic(model)
    _, g = _elastic(model, geometric=True)
    return csr_array(B.T @ k @ B + _super(model, [part.K for part in model.super_elements])), csr_array(B.T @ g @ B)


def _mass(model: "Model") -> Any:
    return csr_array(
        diags_array(_vector(model, model.masses)) + _super(model, [part.M for part in model.super_elements])
    )


def _super(model: "Model", matrices: Sequence[np.ndarray]) -> Any:
    """Matrices of the super elements, on all displacements."""
    size = len(model.nodes) * len(model.dofs)
    total = csr_array((size, size))
    for part, matrix in zip(model.super_elements, matrices, strict=True):
        places = _places(model, part.dofs)
        r, c = np.nonzero(matrix)
        total = total + csr_array((matrix[r, c], (places[r], places[c])), shape=(size, size))
    return total


def acting(model: "Model", made: Structure, name: str) -> np.ndarray:
    """Load pattern of a unit load on a degree of freedom of any node, also of one that moves with a floor."""
    node, _, dof = name.partition(".")
    if node not in model.nodes:
        raise UnknownName("node", node, model.nodes)
    if dof not in model.dofs:
        raise UnknownName("degree of freedom", name, [f"{node}.{known}" for known in model.dofs])
    numbered = numbering(model)
    row = numbered.T[_places(model, [name])].toarray()[0]
    place = {other: k for k, other in enumerate(made.names)}
    if not row.any():
        raise BadInput(f"'{name}' is held, so that a load there moves nothing.")
    pattern = np.zeros(made.n)
    for k in np.flatnonzero(row):
        if numbered.names[k] not in place:
            gone = (
                f"'{numbered.names[k]}', on which a load on '{name}' acts,"
                if numbered.names[k] != name
                else f"'{name}'"
            )
            raise BadInput(f"{gone} has been condensed; name it in `condense` to keep it.")
        pattern[place[numbered.names[k]]] = row[k]
    return pattern


def _influence(model: "Model", names: Sequence[str], chosen: Sequence[str]) -> np.ndarray:
    for direction in chosen:
        if direction not in model.dofs[: model.dimensions]:
            raise UnknownName("direction of ground motion", direction, model.dofs[: model.dimensions])
    return np.array([[float(name.endswith("." + direction)) for direction in chosen] for name in names])


def _touched(model: "Model", T: Any) -> np.ndarray:
    """Which unknowns have to do with a nonlinear member."""
    touched = np.zeros(T.shape[1], dtype=bool)
    touched[(_rows(model, _nonlinear(model)) @ T).indices] = True
    return touched


def _kept(M: Any, touched: np.ndarray, names: Sequence[str], named: Sequence[str]) -> np.ndarray:
    chosen = np.zeros(len(names), dtype=bool)
    for name in named:
        found = [fnmatchcase(own, name) for own in names]
        if not any(found):
            raise UnknownName("degree of freedom", name, names, "condense")
        chosen |= found
    keep = touched | (abs(M).sum(axis=1) > 0.0) | chosen
    if not keep.any():
        raise BadInput("condense: no degree of freedom has mass; add masses, or name some to keep.")
    return np.flatnonzero(keep)
