"""A linear `Structure` (or matrices for a super element) from a live OpenSeesPy model."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from hyloop.errors import BadInput, UnknownName
from hyloop.structure.assembly import SYMMETRY
from hyloop.structure.structure import DENSE, Structure

__all__ = ["structure"]

# by dimensions and degrees of freedom of a node
DOFS = {(1, 1): ("ux",), (2, 2): ("ux", "uy"), (2, 3): ("ux", "uy", "rz"), (3, 3): ("ux", "uy", "uz"),
        (3, 6): ("ux", "uy", "uz", "rx", "ry", "rz")}  # fmt: skip


def structure(ops: Any, names: Mapping[int, str] | None = None, ground: Sequence[str] = ("ux",)) -> Structure:
    """Mass and present tangent stiffness of an OpenSeesPy model.

    The model's own analysis objects are replaced (call its ``wipeAnalysis`` and set them again afterwards); nodes,
    elements and their states stay as they are. Constraints are treated by transformation, so rigid floors and
    ``equalDOF`` work. OpenSees hands the matrices over as full lists: meant for up to a few thousand unknowns.

    Parameters
    ----------
    ops : module
        ``openseespy.opensees``, with a model in it.
    names : mapping, optional
        Names of nodes by tag; default the tag itself, so that node 11 has the degree of freedom ``"11.ux"``.
    ground : sequence of str
        Directions of ground motion.

    Returns
    -------
    Structure
        Linear, undamped, without loads; M and K serve `Model.super_element` as well.

    Examples
    --------
    >>> import openseespy.opensees as ops  # doctest: +SKIP
    >>> tower = opensees_import.structure(ops, ground=("ux", "uy"))  # doctest: +SKIP
    """
    if not ops.getNodeTags():
        raise BadInput("opensees_import: the OpenSees model has no nodes.")
    K, M = _matrices(ops)
    labels = _labels(ops, len(K), names or {})
    for direction in ground:
        if not any(label.endswith("." + direction) for label in labels):
            raise UnknownName("direction of ground motion", direction, {label.split(".")[1] for label in labels})
    influence = np.array([[float(label.endswith("." + d)) for d in ground] for label in labels])
    difference = np.abs(K - K.T).max() / np.abs(K).max()
    if difference > SYMMETRY:
        raise BadInput(f"opensees_import: the tangent stiffness is not symmetric (by {difference:.1e} of its largest "
                       "entry); import the model before it yields.")  # fmt: skip
    if len(K) > DENSE:
        return Structure(M=csr_array(M), K=csr_array(K), influence=influence, names=labels)
    return Structure(M=M, K=K, influence=influence, names=labels)


def _matrices(ops: Any) -> tuple[np.ndarray, np.ndarray]:
    ops.wipeAnalysis()
    ops.constraints("Transformation")
    ops.numberer("RCM")
    ops.system("FullGeneral")
    ops.test("NormDispIncr", 1.0, 1)
    ops.algorithm("Linear")
    # the "integrator" whose matrix is m M + c C + k K; a step of zero length numbers the equations and moves nothing
    ops.integrator("GimmeMCK", 0.0, 0.0, 1.0)
    ops.analysis("Transient")
    if ops.analyze(1, 0.0) != 0:
        raise BadInput("opensees_import: OpenSees cannot factorise the stiffness; is the model a mechanism?")
    n = ops.systemSize()
    K = np.array(ops.printA("-ret")).reshape(n, n)
    ops.integrator("GimmeMCK", 1.0, 0.0, 0.0)
    return K, np.array(ops.printA("-ret")).reshape(n, n)


def _labels(ops: Any, n: int, names: Mapping[int, str]) -> list[str]:
    """The name of every equation."""
    dimensions, labels = ops.getNDM()[0], [""] * n
    constrained = set(ops.getConstrainedNodes())
    for tag in ops.getNodeTags():
        count = len(ops.nodeDisp(tag))
        if (dimensions, count) not in DOFS:
            raise BadInput(f"opensees_import: node {tag} has {count} degrees of freedom in {dimensions} dimensions; "
                           f"known are {sorted(DOFS)}.")  # fmt: skip
        # a constrained node lists its own unknowns first and those of its masters behind them
        slave = {dof - 1 for dof in ops.getConstrainedDOFs(tag)} if tag in constrained else set()
        own = [dof for k, dof in enumerate(DOFS[dimensions, count]) if k not in slave]
        for dof, equation in zip(own, ops.nodeDOFs(tag), strict=False):
            if equation >= 0:
                labels[equation] = f"{names.get(tag, tag)}.{dof}"
    return labels
