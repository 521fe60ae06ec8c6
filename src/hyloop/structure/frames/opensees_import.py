"""A linear `Structure` (or matrices for a super element) from a live OpenSeesPy model."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from hyloop.errors import BadInput, UnknownName
from hyloop.structure.frames.assembly import SYMMETRY
from hyloop.structure.frames.opensees_content import not_linear, tags_of
from hyloop.structure.structure import DENSE, Structure

__all__ = ["DOFS", "labels_of", "left_out", "matrices", "structure"]

# by dimensions and degrees of freedom of a node
DOFS = {
    (1, 1): ("ux",),
    (2, 2): ("ux", "uy"),
    (2, 3): ("ux", "uy", "rz"),
    (3, 3): ("ux", "uy", "uz"),
    (3, 6): ("ux", "uy", "uz", "rx", "ry", "rz"),
}


def structure(
    ops: Any, names: Mapping[int, str] | None = None, ground: Sequence[str] = ("ux",), linearise: bool = False
) -> Structure:
    """Mass and present tangent stiffness of an OpenSeesPy model.

    That is all of an elastic model without loads and damping. Anything else is refused with a list of what would be
    left out (`left_out`), unless `linearise` says that this is meant.

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
    linearise : bool
        Take the tangent stiffness of the present state and leave the rest out.

    Returns
    -------
    Structure
        Linear, undamped, without loads; M and K serve `Model.super_element` as well.

    Examples
    --------
    A mass of 100 kg on a spring of 40 kN/m:

    >>> import numpy as np
    >>> import openseespy.opensees as ops
    >>> ops.wipe()
    >>> ops.model("basic", "-ndm", 1, "-ndf", 1)
    >>> ops.node(1, 0.0); ops.node(2, 1.0, "-mass", 100.0)
    >>> ops.fix(1, 1)
    >>> ops.uniaxialMaterial("Elastic", 1, 4e4)
    >>> ops.element("truss", 1, 1, 2, 1.0, 1)
    >>> structure(ops).modes().periods * 10 / np.pi
    array([1.])
    """
    if not ops.getNodeTags():
        raise BadInput("opensees_import: the OpenSees model has no nodes.")
    missing = [] if linearise else _content(ops)  # looked at before the analysis is replaced
    K, M, C = matrices(ops)
    missing += [] if linearise else _damping(C)
    if missing:
        raise BadInput(
            f"opensees_import: a linear structure would leave out: {'; '.join(missing)}. If that is meant, "
            "give linearise=True: the tangent stiffness of the present state is taken."
        )
    labels = labels_of(ops, len(K), names or {})
    for direction in ground:
        if not any(label.endswith("." + direction) for label in labels):
            raise UnknownName("direction of ground motion", direction, {label.split(".")[1] for label in labels})
    influence = np.array([[float(label.endswith("." + d)) for d in ground] for label in labels])
    difference = np.abs(K - K.T).max() / np.abs(K).max()
    if difference > SYMMETRY:
        raise BadInput(
            f"opensees_import: the tangent stiffness is not symmetric (by {difference:.1e} of its largest "
            "entry); import the model before it yields."
        )
    keep = csr_array if len(K) > DENSE else np.asarray
    directions = [direction[1:] for direction in ground]
    return Structure(M=keep(M), K=keep(K), influence=influence, names=labels, directions=directions)


def left_out(ops: Any) -> list[str]:
    """What of an OpenSees model a linear, undamped structure without loads at rest does not have, a sentence for each.

    The model's own analysis objects are replaced, as by `structure`. OpenSees does not tell of patterns of ground
    motion and imposed displacements, nor of ``modalDamping``.
    """
    return _content(ops) + _damping(matrices(ops)[2])


def _content(ops: Any) -> list[str]:
    found = [f"the nonlinearity of {sentence}" for sentence in not_linear(ops)]
    loaded = (("node", ops.getNodeLoadTags()), ("element", ops.getEleLoadTags()))
    if on := " and ".join(tags_of(word, tags) for word, tags in loaded if tags):
        found.append(f"the loads on {on}")
    moved = [tag for tag in ops.getNodeTags() if any(ops.nodeDisp(tag)) or any(ops.nodeVel(tag))]
    return found + ([f"the displaced or moving state of {tags_of('node', moved)}"] if moved else [])


def _damping(C: np.ndarray) -> list[str]:
    return ["its damping matrix"] if C.any() else []


def matrices(ops: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tangent stiffness, mass and damping of the present state; the model's analysis objects are replaced."""
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
    found = [np.array(ops.printA("-ret")).reshape(n, n)]
    for weights in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)):
        ops.integrator("GimmeMCK", *weights)
        found.append(np.array(ops.printA("-ret")).reshape(n, n))
    K, M, C = found
    return K, M, C


def labels_of(ops: Any, n: int, names: Mapping[int, str]) -> list[str]:
    """The name of every equation that `matrices` has numbered, such as "11.ux"."""
    dimensions, labels = ops.getNDM()[0], [""] * n
    constrained = set(ops.getConstrainedNodes())
    for tag in ops.getNodeTags():
        count = len(ops.nodeDisp(tag))
        if (dimensions, count) not in DOFS:
            raise BadInput(
                f"opensees_import: node {tag} has {count} degrees of freedom in {dimensions} dimensions; "
                f"known are {sorted(DOFS)}."
            )
        # a constrained node lists its own unknowns first and those of its masters behind them
        slave = {dof - 1 for dof in ops.getConstrainedDOFs(tag)} if tag in constrained else set()
        own = [dof for k, dof in enumerate(DOFS[dimensions, count]) if k not in slave]
        for dof, equation in zip(own, ops.nodeDOFs(tag), strict=False):
            if equation >= 0:
                labels[equation] = f"{names.get(tag, tag)}.{dof}"
    return labels
