"""Forces of supports and base shears, as sums over what the members of a frame ask of them."""

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

import numpy as np
from scipy.sparse import csr_array

from hyloop.errors import BadInput, UnknownName
from hyloop.structure.frames.constraints import on_supports
from hyloop.structure.frames.frame_sums import FrameSums, Sums
from hyloop.structure.watched import Watched

__all__ = ["reactions"]

BALANCED = 1e-9  # of a super element's stiffness: forces that add up to less stay within the structure


def reactions(frame: FrameSums, patterns: Sequence[str] | None) -> list[Watched]:
    """Forces of supports, those of super elements that stand on the ground by themselves, and base shears."""
    model, held = frame.model, list(frame.model.held)
    H = on_supports(model.nodes, model.held, list(model.floors.values()))
    sums = Sums(
        csr_array(H.T @ frame.whole.K @ frame.whole.T),
        csr_array((len(held), frame.size)),
        H.T @ (frame.whole.K @ frame.whole.c - frame.whole.load),
    )
    for name in frame.forces:
        member = model.members[name]
        asked = csr_array(H[frame.places(member)].T @ member.rows.T)
        if asked.nnz:
            sums = sums.plus(frame.basic_forces(member).times(asked))
    acts = (abs(sums.u).sum(axis=1) > 0.0) | (abs(sums.x).sum(axis=1) > 0.0) | (sums.c != 0.0)
    chosen = np.flatnonzero(acts) if patterns is None else _supports(held, patterns)
    _no_inertia(frame, [held[h] for h in chosen])
    found = [frame.channel(f"reaction.{held[h]}", _force(held[h]), sums, int(h), reaction=True) for h in chosen]
    feet = list(_super_elements(frame))
    found += [frame.channel(f"reaction.{name}", _force(name), foot, reaction=True) for name, foot in feet]
    for dof in ("ux", "uz")[: model.dimensions - 1]:
        total = sums.times([[-1.0 if name.endswith(f".{dof}") else 0.0 for name in held]])
        for name, foot in feet:
            total = total.plus(foot.times([[-1.0]])) if name.endswith(f".{dof}") else total
        found.append(frame.channel(f"support_shear.{dof[1]}", "N", total, shear=dof))
    return found


def _super_elements(frame: FrameSums) -> Iterable[tuple[str, Sums]]:
    """Forces of the ground on super elements, by name: what their own forces do not balance."""
    model, T, c = frame.model, frame.whole.T, frame.whole.c
    for number, part in enumerate(model.super_elements, 1):
        split = [name.split(".") for name in part.dofs]
        places = np.array([frame.start[node] + model.dofs.index(dof) for node, dof in split])
        for dof in model.dofs[: model.dimensions]:
            row = -np.array([float(own == dof) for _, own in split]) @ part.K
            if np.abs(row).max() > BALANCED * np.abs(part.K).max():
                u = csr_array(csr_array(row[None]) @ T[places])
                yield (
                    f"super element {number}.{dof}",
                    Sums(u, csr_array((1, frame.size)), np.array([row @ c[places]])),
                )


def _no_inertia(frame: FrameSums, chosen: Sequence[str]) -> None:
    """Refuse a support whose force contains inertia: that of a super element with mass there."""
    for part in frame.model.super_elements:
        for name in set(part.dofs) & set(chosen):
            if part.M[part.dofs.index(name)].any():
                raise BadInput(
                    f"reactions: a super element has mass at {name}, whose inertia is no force of a member; "
                    "name other supports."
                )


def _force(dof: str) -> str:
    return "N m" if dof.rpartition(".")[2].startswith("r") else "N"


def _supports(held: Sequence[str], patterns: Sequence[str]) -> list[int]:
    """Held degrees of freedom that patterns of nodes, or of degrees of freedom, take."""
    chosen: set[int] = set()
    for pattern in patterns:
        taken = {
            h
            for h, name in enumerate(held)
            if fnmatchcase(name, pattern) or fnmatchcase(name.partition(".")[0], pattern)
        }
        if not taken:
            nodes = {name.partition(".")[0] for name in held}
            raise UnknownName("support", pattern, held if "." in pattern else nodes, "reactions")
        chosen |= taken
    return sorted(chosen)
