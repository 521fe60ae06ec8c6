"""What a person asks of a model first: how many of what, how heavy, which modes, and whether it stands."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyloop.errors import OutOfBounds
from hyloop.files.units import GRAVITY
from hyloop.structure.fibres.sections import FibreSection
from hyloop.structure.frames.assembly import numbering
from hyloop.structure.frames.members import Brace, Elastic, Fibre, LeanOn, Link, Member, Spring
from hyloop.structure.frames.model import Model
from hyloop.structure.structure import Structure

__all__ = ["KINDS", "ModelSummary", "materials", "summarise"]

# name for a person, of every kind of member, in the order in which they are drawn and counted
KINDS: Mapping[type[Member], str] = {
    Elastic: "elastic beam-column",
    Fibre: "fibre beam-column",
    Brace: "brace",
    Link: "link",
    Spring: "device",
    LeanOn: "leaning column",
}


@dataclass(frozen=True, eq=False)
class ModelSummary:
    """A model in numbers, in SI units.

    Attributes
    ----------
    structure : Structure
        At rest under the dead load, all degrees of freedom retained.
    counts : dict
        Nodes, floors, supported nodes, degrees of freedom, and members by kind.
    mass : dict of direction to float
        What moves when the building moves by one in that direction, in kg.
    dead_load : float
        Sum of the vertical dead loads in N, downward positive.
    periods : ndarray, (modes,)
        In s.
    participation : dict of direction to ndarray, (modes,)
        Effective modal mass over that mass.
    shapes : ndarray, (modes, nodes, dofs of a node)
        Displacements and rotations of all nodes, in the order of `Model.nodes`.
    settlement : (float, str)
        Largest displacement under the dead load in m, and the node where it is.
    checks : tuple of str
        What was checked when the structure was made, and what to look at.
    """

    structure: Structure
    counts: dict[str, int]
    mass: dict[str, float]
    dead_load: float
    periods: np.ndarray
    participation: dict[str, np.ndarray]
    shapes: np.ndarray
    settlement: tuple[float, str]
    checks: tuple[str, ...]

    @property
    def weight(self) -> float:
        """Of the mass that moves horizontally, in N."""
        return GRAVITY * self.mass["ux"]


def summarise(model: Model, modes: int = 10) -> ModelSummary:
    """Assemble a model, put it under its dead load, and find its first modes.

    Raises
    ------
    BadInput
        If it is a mechanism, comes apart, buckles, or has no mass; the message names nodes or members.
    """
    if modes < 1:
        raise OutOfBounds(f"modes: {modes} asked for; ask for one at least.")
    directions = model.dofs[: model.dimensions]
    structure = model.structure(ground=directions)
    moved = structure.M @ structure.influence
    total = {d: float(structure.influence[:, k] @ moved[:, k]) for k, d in enumerate(directions)}
    if not any(total.values()):
        raise OutOfBounds("the model has no mass, so it has no modes; add masses, or a mass to the floors.")
    found = structure.modes(count=min(modes, structure.n))
    effective = (moved.T @ found.shapes) ** 2
    participation = {d: effective[k] / total[d] for k, d in enumerate(directions) if total[d] > 0.0}
    all_of = numbering(model).T
    shapes = (all_of @ found.shapes).T.reshape(len(found.omega), len(model.nodes), len(model.dofs))
    moved_down = np.linalg.norm(
        (all_of @ structure.at_rest).reshape(len(model.nodes), -1)[:, : model.dimensions], axis=1
    )
    worst = int(np.argmax(moved_down))
    settlement = float(moved_down[worst]), list(model.nodes)[worst]
    load = 0.0 - sum(value for name, value in model.loads.items() if name.endswith(".uy"))  # and not -0
    return ModelSummary(
        structure,
        _counts(model, structure),
        total,
        load,
        found.periods,
        participation,
        shapes,
        settlement,
        _checks(model, structure, participation, load, settlement),
    )


def materials(model: Model) -> dict[Any, int]:
    """Materials of braces and fibres, and how many braces or members of fibres have them."""
    found: Counter[Any] = Counter()
    for member in model.members.values():
        if isinstance(member, Brace):
            found[member.material] += 1
        elif isinstance(member, Fibre):
            fibres = [section for section in member.beam.sections if isinstance(section, FibreSection)]
            found.update({material for section in fibres for material in section.materials})
    return dict(found)


def _counts(model: Model, structure: Structure) -> dict[str, int]:
    kinds = Counter(type(member) for member in model.members.values())
    members = {f"{name}s": kinds[kind] for kind, name in KINDS.items() if kinds[kind]}
    if model.super_elements:
        members["super elements"] = len(model.super_elements)
    supported = {name.split(".")[0] for name in model.held}
    counts = {
        "nodes": len(model.nodes) - len(model.floors),
        "rigid floors": len(model.floors),
        "supported nodes": len(supported),
        "degrees of freedom": structure.n,
        "degrees of freedom without mass": _massless(structure),
        "members": len(model.members),
        **members,
        "materials": len(materials(model)),
    }
    return {name: count for name, count in counts.items() if count or name in ("nodes", "members")}


def _massless(structure: Structure) -> int:
    return int((structure.M.diagonal() == 0.0).sum())


def _checks(
    model: Model, structure: Structure, participation: dict[str, np.ndarray], load: float, settlement: tuple[float, str]
) -> tuple[str, ...]:
    # the first three are refused when they fail, so they hold wherever a summary exists
    passed = ["every node is connected with a support", "no mechanism", "stable under its axial forces"]
    if model.loads:
        passed.append(
            f"at rest under the dead load of {load / 1e3:.4g} kN; node {settlement[1]} moves most, "
            f"{1e3 * settlement[0]:.3g} mm"
        )
    else:
        passed.append("no dead load is given: members start without forces")
    for direction, parts in participation.items():
        if direction != "uy":
            passed.append(f"the modes listed carry {100 * parts.sum():.1f} % of the mass in {direction}")
    if _massless(structure):
        passed.append(
            f"{_massless(structure)} of {structure.n} degrees of freedom have no mass: where only elastic "
            "members meet they follow statics (condense = [] eliminates them); where a device, a load or a "
            "yielding member acts they answer like a filter of the method, over about 16 steps at "
            "rho_inf = 0.75 and without end at 1: take a smaller step to have their response"
        )
    return tuple(passed)
