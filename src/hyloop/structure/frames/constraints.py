"""Supports, rigid floors and the numbering of degrees of freedom.

All displacements of all nodes follow from the independent ones by one sparse matrix, u_all = T u. A support is an
empty row of T, a node of a rigid floor has the rows of the floor's master; everything a model assembles goes through T.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from hyloop.errors import BadInput, UnknownName

__all__ = ["DOFS", "IN_PLAN", "Diaphragm", "Numbering", "fixed_dofs", "number", "on_supports"]

DOFS = {2: ("ux", "uy", "rz"), 3: ("ux", "uy", "uz", "rx", "ry", "rz")}
IN_PLAN = {2: ("ux",), 3: ("ux", "uz", "ry")}  # what a rigid floor prescribes
SAME_HEIGHT = 1e-6  # m, nodes of one floor


@dataclass(frozen=True)
class Diaphragm:
    """A floor rigid in its plane: ux, uz and ry of its nodes follow those of the master (in the plane: ux)."""

    name: str
    nodes: tuple[str, ...]
    master: np.ndarray


@dataclass(frozen=True, eq=False)
class Numbering:
    """Independent degrees of freedom of a model.

    Attributes
    ----------
    names : tuple of str
        Names such as ``"A1.ux"``, in the order of the unknowns.
    T : csr_array, (all, n)
        All displacements, node by node, from the unknowns.
    own : ndarray of int, (n,)
        Place of each unknown among all displacements.
    """

    names: tuple[str, ...]
    T: Any
    own: np.ndarray


def fixed_dofs(node: str, given: str | Sequence[str], dimensions: int) -> tuple[str, ...]:
    """Degrees of freedom held by a support: "fixed", "pinned" (rotations free) or a list of names."""
    allowed = DOFS[dimensions]
    if given == "fixed":
        return allowed
    if given == "pinned":
        return allowed[:dimensions]
    if isinstance(given, str) and given not in allowed:
        raise UnknownName("support", given, ("fixed", "pinned", *allowed), f"node '{node}'")
    chosen = (given,) if isinstance(given, str) else tuple(given)
    for dof in chosen:
        if dof not in allowed:
            raise UnknownName("degree of freedom", dof, allowed, f"support of node '{node}'")
    return chosen


def number(
    nodes: Mapping[str, np.ndarray], held: Collection[str], diaphragms: Sequence[Diaphragm], stiff: np.ndarray
) -> Numbering:
    """Number the independent degrees of freedom.

    Parameters
    ----------
    nodes : mapping
        Coordinates, masters included, by name.
    held : collection of str
        Degrees of freedom held by supports.
    stiff : ndarray of bool, (all,)
        Displacements that a member, a mass or a load has to do with. A rotation nothing resists, as in a truss, is
        not a degree of freedom.
    """
    dimensions = len(next(iter(nodes.values())))
    dofs = DOFS[dimensions]
    place = _places(nodes)
    slaves = _slaves(nodes, held, diaphragms, dimensions)
    used = stiff.copy()
    for dof, terms in slaves.items():
        for master, coefficient in terms:
            used[place[master]] |= stiff[place[dof]] and coefficient != 0.0
    masters = {floor.name for floor in diaphragms}
    names = []
    for node in nodes:
        for dof in IN_PLAN[dimensions] if node in masters else dofs:
            key = f"{node}.{dof}"
            rotation_of_nothing = dof.startswith("r") and not used[place[key]]
            if key not in held and key not in slaves and not rotation_of_nothing:
                names.append(key)
    if not names:
        raise BadInput("model: every degree of freedom is held; nothing can move.")
    column = {name: k for k, name in enumerate(names)}
    entries = [(place[name], k, 1.0) for name, k in column.items()]
    for dof, terms in slaves.items():
        entries += [(place[dof], column[master], value) for master, value in terms if master in column]
    rows, columns, values = zip(*entries, strict=True)
    T = csr_array((values, (rows, columns)), shape=(len(place), len(names)))
    return Numbering(tuple(names), T, np.array([place[name] for name in names]))


def on_supports(nodes: Mapping[str, np.ndarray], held: Collection[str], diaphragms: Sequence[Diaphragm]) -> Any:
    """Forces at held degrees of freedom from those on all displacements: (all, held), to be transposed.

    What acts on a node of a rigid floor whose master is held ends at the master.
    """
    place, column = _places(nodes), {name: k for k, name in enumerate(held)}
    entries = [(place[name], k, 1.0) for name, k in column.items()]
    slaves = _slaves(nodes, held, diaphragms, len(next(iter(nodes.values()))))
    for dof, terms in slaves.items():
        entries += [(place[dof], column[master], value) for master, value in terms if master in column]
    rows, columns, values = zip(*entries, strict=True)
    return csr_array((values, (rows, columns)), shape=(len(place), len(column)))


def _places(nodes: Mapping[str, np.ndarray]) -> dict[str, int]:
    """Place of every displacement among all, node by node."""
    dofs = DOFS[len(next(iter(nodes.values())))]
    return {f"{node}.{dof}": len(dofs) * k + d for k, node in enumerate(nodes) for d, dof in enumerate(dofs)}


def _slaves(nodes, held, diaphragms: Sequence[Diaphragm], dimensions: int) -> dict[str, list[tuple[str, float]]]:
    """Every dependent displacement as a sum over those of its master."""
    slaves: dict[str, list[tuple[str, float]]] = {}
    for floor in diaphragms:
        for node in floor.nodes:
            dx = nodes[node] - floor.master
            terms = {"ux": [(f"{floor.name}.ux", 1.0)]}
            if dimensions == 3:
                # u + ry × (x - x_master)
                turn = f"{floor.name}.ry"
                terms["ux"].append((turn, dx[2]))
                terms |= {"uz": [(f"{floor.name}.uz", 1.0), (turn, -dx[0])], "ry": [(turn, 1.0)]}
            for dof, sum_of in terms.items():
                key = f"{node}.{dof}"
                if key in slaves:
                    other = slaves[key][0][0].split(".")[0]
                    raise BadInput(f"diaphragm '{floor.name}': node '{node}' already belongs to '{other}'.")
                if key in held:
                    raise BadInput(
                        f"diaphragm '{floor.name}': {key} is held by a support; "
                        f"support '{floor.name}' instead, or leave the node out."
                    )
                slaves[key] = [(master, value) for master, value in sum_of if value != 0.0]
    return slaves
