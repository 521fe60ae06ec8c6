"""All that a linear structure has of a live OpenSees model: matrices, loads at rest, constraints, nodes and elements.

For a model whose process ends afterwards: its analysis is replaced, and nodes are moved to see what moves with them.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hyloop.errors import BadInput
from hyloop.structure.frames.opensees_content import not_linear, tags_of
from hyloop.structure.frames.opensees_import import DOFS, labels_of, matrices

__all__ = ["read_model"]

AT_REST = 1e-4  # of the largest displacement: what a gravity analysis with the usual tolerances leaves
PUSH = 1e-4  # m or rad, of a retained node to see what follows it; small for a tangent, large for round-off
MARK = 10**6  # tags of our own loads


def read_model(ops: Any, told: Sequence[str], linearise: bool) -> dict[str, np.ndarray]:
    """Arrays of numbers and texts, in the units of the model.

    Parameters
    ----------
    ops : module
        ``openseespy.opensees`` with a model in it.
    told : sequence of str
        What else the model has that a linear structure has not, a sentence for each: OpenSees itself does not tell of
        modal damping and of ground motions.
    linearise : bool
        Take the tangent of the present state, and return what is left out as ``left_out``; otherwise refuse.

    Raises
    ------
    BadInput
        If something would be left out, or the loads do not act in the state in which the model is.
    """
    if not ops.getNodeTags():
        raise BadInput("the script leaves no model: OpenSees has no nodes. The function must build it, without `wipe`.")
    left = [f"the nonlinearity of {sentence}" for sentence in not_linear(ops)] + list(told)
    moving = [tag for tag in ops.getNodeTags() if any(ops.nodeVel(tag))]
    left += [f"the velocity of {tags_of('node', moving)}"] if moving else []
    if left and not linearise:
        raise BadInput(
            f"a linear structure would leave out: {'; '.join(left)}. Devices belong in [sites], ground motions in "
            "[excitation]; or say linearise = true to take the tangent stiffness of the state the script leaves."
        )
    _check_chains(ops)
    K, M, C = matrices(ops)
    labels = labels_of(ops, len(K), {})
    if loose := [label for label, k in zip(labels, K.diagonal(), strict=True) if k == 0.0]:
        raise BadInput(f"nothing holds {', '.join(loose[:6])}; the model is a mechanism.")
    rest = _displacements(ops)
    _check_rest(ops, rest)
    names, T = _motions(ops, K, labels)
    ends = [list(ops.eleNodes(tag)) for tag in ops.getEleTags()]
    width = max(map(len, ends), default=0)
    return {
        "dimensions": np.array(ops.getNDM()[0]),
        "K": K,
        "M": M,
        "C": C,
        "labels": np.array(labels),
        "at_rest": np.array([rest[label] for label in labels]),
        "dofs": np.array(names),
        "motions": T,
        "held": np.array([name for name, row in zip(names, T, strict=True) if not row.any()], dtype=str),
        "nodes": np.array(ops.getNodeTags()),
        "places": np.array([ops.nodeCoord(tag) for tag in ops.getNodeTags()]),
        "elements": np.array(ops.getEleTags(), dtype=int),
        "kinds": np.array([ops.eleType(tag) for tag in ops.getEleTags()], dtype=str),
        "ends": np.array([nodes + [-1] * (width - len(nodes)) for nodes in ends], dtype=int),
        "left_out": np.array(left, dtype=str),
    }


def _displacements(ops: Any) -> dict[str, float]:
    """Of every node, by degree of freedom."""
    d = ops.getNDM()[0]
    return {
        f"{tag}.{dof}": float(value)
        for tag in ops.getNodeTags()
        for dof, value in zip(DOFS[d, len(ops.nodeDisp(tag))], ops.nodeDisp(tag), strict=True)
    }


def _check_chains(ops: Any) -> None:
    """OpenSees transforms once, and counts the unknowns of a node that follows another anew: a node that follows such
    a one, even in other directions, moves with the wrong unknown there."""
    following = set(ops.getConstrainedNodes())
    for tag in sorted(following):
        if chained := following.intersection(ops.getRetainedNodes(tag)):
            raise BadInput(
                f"node {tag} follows node {min(chained)}, which follows another node itself; OpenSees gives such a "
                "model the wrong motions. Let both follow the same node."
            )


def _static(ops: Any) -> None:
    ops.wipeAnalysis()
    ops.constraints("Transformation")
    ops.numberer("RCM")
    ops.system("BandGeneral")
    ops.test("NormDispIncr", 1.0, 1)
    ops.algorithm("Linear")
    ops.integrator("LoadControl", 0.0)
    ops.analysis("Static")


def _check_rest(ops: Any, rest: dict[str, float]) -> None:
    """Loads must have been analysed and made constant: then one more step of no load, at any time, moves nothing."""
    loaded = {"node": ops.getNodeLoadTags(), "element": ops.getEleLoadTags()}
    on = " and ".join(tags_of(word, tags) for word, tags in loaded.items() if tags)
    largest = max(map(abs, rest.values()))
    advice = (
        "Analyse them in the script (integrator LoadControl, analysis Static, analyze) and call loadConst('-time', "
        "0.0) before the function returns, or leave them out"
    )
    _static(ops)
    for late in (0.0, 0.7, 10.3):  # s or whatever time is there: a constant load is the same at all of them
        ops.setTime(ops.getTime() + late)
        if ops.analyze(1) != 0 or any(np.isnan(ops.nodeDisp(tag)).any() for tag in ops.getNodeTags()):
            raise BadInput("OpenSees cannot solve the model; is it a mechanism?")
        now = _displacements(ops)
        if max(abs(now[name] - rest[name]) for name in rest) > AT_REST * largest:
            what = f"the loads on {on}" if on else "what the script has done"
            how = "do not act yet" if largest == 0.0 else "would move the model on: it is not at rest under them"
            raise BadInput(f"{what} {how}. {advice}.")


def _motions(ops: Any, K: np.ndarray, labels: Sequence[str]) -> tuple[list[str], np.ndarray]:
    """Names of the degrees of freedom of all nodes, and their motions as rows over the equations.

    A free one is an equation, one that is held does not move. Those that follow others by rigid links, floors or
    equalDOF are found by moving the others one by one; constraints are linear, so any independent motions will do.
    """
    place = {label: k for k, label in enumerate(labels)}
    names = list(_displacements(ops))
    T = np.zeros((len(names), len(labels)))
    for row, name in zip(T, names, strict=True):
        if name in place:
            row[place[name]] = 1.0
    constrained = ops.getConstrainedNodes()
    masters = {node for tag in constrained for node in ops.getRetainedNodes(tag)}
    moved = [k for k, label in enumerate(labels) if int(label.split(".")[0]) in masters]
    followers = [k for k, name in enumerate(names) if int(name.split(".")[0]) in constrained and name not in place]
    if not moved or not followers:
        return names, T
    steps = np.zeros((len(moved), len(names)))
    before = np.array(list(_displacements(ops).values()))
    for step, k in zip(steps, moved, strict=True):
        _push(ops, labels, PUSH * K[:, k])
        step[:] = np.array(list(_displacements(ops).values())) - before
        before = before + step
    own = [names.index(labels[k]) for k in moved]
    followed = np.linalg.solve(steps[:, own], steps[:, followers]).T
    followed[np.abs(followed) < 1e-9 * np.abs(followed).max()] = 0.0  # round-off
    T[np.ix_(followers, moved)] = followed
    return names, T


def _push(ops: Any, labels: Sequence[str], load: np.ndarray) -> None:
    """Load the model so that one equation moves and the others do not, on top of what is there."""
    d = ops.getNDM()[0]
    ops.timeSeries("Constant", MARK)
    ops.pattern("Plain", MARK, MARK)
    loads: dict[int, np.ndarray] = {}
    for label, value in zip(labels, load, strict=True):
        tag, dof = label.split(".")
        dofs = DOFS[d, len(ops.nodeDisp(int(tag)))]
        loads.setdefault(int(tag), np.zeros(len(dofs)))[dofs.index(dof)] = value
    for tag, values in loads.items():
        ops.load(tag, *values.tolist())
    if ops.analyze(1) != 0:
        raise BadInput("OpenSees cannot solve the model for a load on a node that others follow.")
    ops.remove("loadPattern", MARK)
    ops.remove("timeSeries", MARK)
