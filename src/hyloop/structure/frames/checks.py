"""Checks of a model before it runs; every message names the node or member to look at."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, diags_array, eye_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator, eigsh

from hyloop.core.factor import Factor
from hyloop.errors import BadInput
from hyloop.structure.frames.members import LeanOn
from hyloop.structure.frames.rigidity import unit_rows

if TYPE_CHECKING:
    from hyloop.structure.frames.model import Model

__all__ = ["connected", "lowest", "no_mechanism", "resolved", "stable"]

FEW = 200  # unknowns up to which all eigenvalues are found
SHIFTS = (1e-14, 1e-12, 1e-8, 1e-4, 1.0, 1e4)  # added to the unit diagonal until the matrix is positive definite
MECHANISM = 1e-14  # square of the deformation in a motion of one: a bar askew by 1e-7; round-off leaves 1e-15
# Round-off changes a stiffness by 1e-16 of the diagonal of K. Where a motion has but 1e-13 of that as its own
# stiffness, this is a part in a thousand (measured in frames with stiff links: 3e-4 of the first period)
RESOLVED = 1e-13
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
        raise BadInput(
            f"{what} and {len(adrift) - 1} other nodes ({_some(adrift)}) are not connected with any "
            "support; add the members in between."
        )


def no_mechanism(B: Any, names: Sequence[str], length: float) -> None:
    """No motion that deforms nothing.

    B has the rows of all deformations that something resists; `length` is that of a typical member.
    """
    arm = np.array([length if name.split(".")[1].startswith("r") else 1.0 for name in names])
    B = unit_rows(B, arm)
    free = np.flatnonzero((B * B).sum(axis=0) < MECHANISM)
    if len(free):
        raise BadInput(
            f"mechanism: nothing resists {_some([names[k] for k in free.tolist()])}. Add a member, "
            "hold it by a support, or take out a hinge."
        )
    value, shape = _lowest(csr_array(B.T @ B))
    if value < MECHANISM:
        raise BadInput(
            f"mechanism: {_moving(shape / arm, names)} can move without resistance. Add a member or a "
            "support, or take out a hinge."
        )


def resolved(K: Any, names: Sequence[str]) -> None:
    """Double precision can tell the stiffness of every motion from the stiffness of the parts that move together."""
    value, shape = lowest(K)
    if value < -RESOLVED:
        raise BadInput(
            f"instability: the stiffness is negative for the motion of {_moving(shape, names)}. Look at the "
            "super elements and devices there."
        )
    if value < RESOLVED:
        worst = int(np.argmax(K.diagonal() * shape**2))
        raise BadInput(
            f"round-off: the stiffness at {names[worst]} ({K.diagonal()[worst]:.3g} in SI units) is so "
            f"large that the resistance to the motion of {_moving(shape, names)} is lost in its last digits "
            f"({max(value, 0.0):.0e} of it). For rigid parts use offsets of members or a diaphragm, or "
            "make links only 1e3 to 1e6 times as stiff as what they join."
        )


def stable(K: Any, names: Sequence[str], cause: str = "the given axial forces") -> None:
    """Stiffness with the effect of axial forces is positive definite."""
    value, shape = lowest(K)
    if value < MECHANISM:
        raise BadInput(
            f"buckling: {cause} exceed the critical load; {_moving(shape, names)} would move by itself. "
            "Reduce the loads or stiffen the members there."
        )


def lowest(K: Any) -> tuple[float, np.ndarray]:
    """The lowest eigenvalue of K scaled to a unit diagonal, and its mode.

    Scaling makes forces and moments comparable.
    """
    diagonal = np.abs(K.diagonal())
    scale = diags_array(1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0)))
    value, shape = _lowest(csr_array(scale @ K @ scale))
    return value, scale @ shape


def _lowest(S: Any) -> tuple[float, np.ndarray]:
    """The lowest eigenvalue of a matrix with entries of about one.

    In a large matrix Lanczos' method finds it from the inverse of a matrix shifted until its pivots, and so its
    eigenvalues, are positive.
    """
    if S.shape[0] <= FEW:
        values, shapes = np.linalg.eigh(S.toarray())
        return float(values[0]), shapes[:, 0]
    factor, shift = _positive(S)
    inverse: Any = LinearOperator(shape=S.shape, matvec=factor.solve, dtype=float)  # pyright: ignore[reportCallIssue]
    begin = np.random.default_rng(0).standard_normal(S.shape[0])  # fixed: the same answer every time
    x = eigsh(S, k=1, sigma=-shift, OPinv=inverse, v0=begin)[1][:, 0]
    return float(x @ (S @ x)), x


def _positive(S: Any) -> tuple[Factor, float]:
    """Factors of S with the smallest of a few shifts that makes it positive definite."""
    for shift in SHIFTS:
        try:
            factor = Factor(S + shift * eye_array(S.shape[0]))
        except np.linalg.LinAlgError:  # a pivot vanished, which no positive definite matrix does
            continue
        if factor.pivots.min() > 0.0:
            return factor, shift
    raise BadInput("stiffness: the matrix is so far from positive definite that it cannot be that of a structure.")


def _moving(shape: np.ndarray, names: Sequence[str]) -> str:
    # in steps of a tenth, so that what moves alike keeps the order of the model
    size = np.round(np.abs(shape) / np.abs(shape).max(), 1)
    order: list[int] = np.argsort(-size, kind="stable").tolist()
    return _some([names[k] for k in order if size[k] > MOVING])


def _some(names: Sequence[str], most: int = 6) -> str:
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")
