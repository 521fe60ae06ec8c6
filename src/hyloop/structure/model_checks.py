"""Checks of a model before it runs; every message names the node or member to look at."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, diags_array, eye_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import eigsh

from hyloop.core.factor import Factor
from hyloop.errors import BadInput
from hyloop.structure.members import LeanOn

if TYPE_CHECKING:
    from hyloop.structure.model import Model

__all__ = ["connected", "lowest", "no_mechanism", "stable"]

FEW = 200  # unknowns up to which all eigenvalues are found
SHIFT = 1e-14  # added to the unit diagonal so that a singular matrix can be factorised
MECHANISM = 1e-12  # stiffness of a mode relative to that of its parts; a model of 100 beams in a row is at about 1e-9
MOVING = 0.3  # of the largest displacement: what is named as moving in a mechanism


def connected(model: "Model") -> None:
    """Every node belongs to a member and hangs together with a support."""
    names = list(model.nodes)
    index = {name: k for k, name in enumerate(names)}
    # a lean-on column has no stiffness, so it connects nothing
    pairs = [(member.i, member.j) for member in model.members.values() if not isinstance(member, LeanOn)]
    for part in model.super_elements:
        shared = [dof.split(".")[0] for dof in part.dofs]
        pairs += [(shared[0], node) for node in shared]
    in_members = {node for pair in pairs for node in pair} | set(model.floors)
    if not names:
        raise BadInput("model: there are no nodes.")
    for name in names:
        if name not in in_members:
            raise BadInput(f"node '{name}' is not connected to any member; connect it or leave it out.")
    pairs += [(floor.name, node) for floor in model.floors.values() for node in floor.nodes]
    held = {dof.split(".")[0] for dof in model.held}
    if not held:
        raise BadInput("model: no node is supported; use support(node, 'fixed').")
    ends = np.array([[index[i], index[j]] for i, j in pairs])
    graph = csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(len(names), len(names)))
    _, part_of = connected_components(graph, directed=False)
    standing = {part_of[index[name]] for name in held}
    adrift = [name for name in names if part_of[index[name]] not in standing]
    if adrift:
        floors = [name for name in adrift if name in model.floors]
        what = f"floor '{floors[0]}'" if floors else f"node '{adrift[0]}'"
        raise BadInput(f"{what} and {len(adrift) - 1} other nodes ({_some(adrift)}) are not connected with any "
                       "support; add the members in between.")  # fmt: skip


def no_mechanism(K: Any, names: Sequence[str]) -> None:
    """No mode of motion without stiffness."""
    free = np.flatnonzero(K.diagonal() <= 0.0)
    if len(free):
        raise BadInput(f"mechanism: nothing resists {_some([names[k] for k in free.tolist()])}. Add a member, "
                       "hold it by a support, or take out a hinge.")  # fmt: skip
    value, shape = lowest(K)
    if value < MECHANISM:
        raise BadInput(f"mechanism: {_moving(shape, names)} can move without resistance. Add a member or a "
                       "support, or take out a hinge.")  # fmt: skip


def stable(K: Any, names: Sequence[str], cause: str = "the given axial forces") -> None:
    """Stiffness with the effect of axial forces is positive definite."""
    value, shape = lowest(K)
    if value < MECHANISM:
        raise BadInput(f"buckling: {cause} exceed the critical load; {_moving(shape, names)} would move by itself. "
                       "Reduce the loads or stiffen the members there.")  # fmt: skip


def lowest(K: Any) -> tuple[float, np.ndarray]:
    """The lowest eigenvalue of K scaled to a unit diagonal, and its mode.

    Scaling makes forces and moments comparable. Of a large matrix the pivots tell whether an eigenvalue is negative;
    if none is, inverse iteration finds the lowest.
    """
    diagonal = np.abs(K.diagonal())
    scale = diags_array(1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0)))
    S: Any = csr_array(scale @ K @ scale)
    if S.shape[0] <= FEW:
        values, shapes = np.linalg.eigh(S.toarray())
        return float(values[0]), scale @ shapes[:, 0]
    x = np.random.default_rng(0).standard_normal(S.shape[0])
    try:
        factor = Factor(S + SHIFT * eye_array(S.shape[0]))
    except np.linalg.LinAlgError:  # a pivot vanished, which no positive definite matrix does
        factor = None
    if factor is None or factor.pivots.min() <= 0.0:
        values, shapes = eigsh(S, k=1, which="SA", v0=x)
        return float(values[0]), scale @ shapes[:, 0]
    for _ in range(20):
        x = factor.solve(x / np.abs(x).max())
    x /= np.linalg.norm(x)
    return float(x @ (S @ x)), scale @ x


def _moving(shape: np.ndarray, names: Sequence[str]) -> str:
    # in steps of a tenth, so that what moves alike keeps the order of the model
    size = np.round(np.abs(shape) / np.abs(shape).max(), 1)
    order: list[int] = np.argsort(-size, kind="stable").tolist()
    return _some([names[k] for k in order if size[k] > MOVING])


def _some(names: Sequence[str], most: int = 6) -> str:
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")
