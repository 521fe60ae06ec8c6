"""From a built loop to its recurrence under JAX; what that cannot represent exactly is refused by name."""

from typing import Any

import numpy as np

from hyloop.errors import BadInput
from hyloop.integrators import Operators
from hyloop.learn.loops.lanes import lanes
from hyloop.learn.loops.recurrence import Recurrence
from hyloop.structure import Structure

__all__ = ["read"]

FULL = 200  # degrees of freedom up to which sparse matrices are made full


def read(loop: Any, kept: np.ndarray, motion: str) -> Recurrence:
    """The recurrence of a `Loop` that records these positions of its bus, and of the motion some of "uva"."""
    _check(loop)
    plan, structure = loop.parts.plan, loop.structure.dense()
    connections, place = loop.connections, {name: k for k, name in enumerate(loop.channels)}
    instances = [one.instance for one in connections.values()]
    order = lanes(
        instances,
        [[place[channel] for channel in one.inputs.values()] for one in connections.values()],
        [[place[channel] for channel in one.outputs.values()] for one in connections.values()],
        [np.arange(start, start + len(one.block.params)) for start, one in zip(plan.p_start, instances, strict=True)],
    )
    along = np.array([site.along for site in loop.sites]).reshape(-1, structure.n)
    matrices = {
        "K": structure.K,
        "C": structure.C,
        "E": structure.excitation,
        "S": along,
        "dead": structure.dead_load,
        "rest": structure.at_rest,
    }
    return Recurrence(plan, matrices, _operators(loop, structure), order, kept, motion)


def _operators(loop: Any, structure: Structure) -> Operators:
    """Those of the loop; of one that runs with sparse matrices the same ones, full."""
    if not loop.parts.plan.sparse:
        return loop.parts.operators
    Km, Cm = structure.initial_stiffness, structure.C
    for site in loop.sites:
        outer = site.count * np.outer(site.along, site.along)
        Km, Cm = Km + site.stiffness * outer, Cm + site.damping * outer
    return loop.method.operators(structure.M, structure.C, structure.K, loop.dt, Cm=Cm, Km=Km)


def _check(loop: Any) -> None:
    plan, structure = loop.parts.plan, loop.structure
    if plan.implicit:
        raise BadInput(
            f"differentiable: {loop.method.name} is implicit; its iterations are not differentiated. Take an explicit "
            "method such as mkr_alpha() or newmark_explicit()."
        )
    if structure.elements:
        names = ", ".join(group.name for group in structure.elements[:3])
        raise BadInput(
            f"differentiable: the structure has nonlinear elements ({names}), which run compiled alone. Put their laws "
            "at sites, or take a linear structure."
        )
    if plan.sparse and structure.n > FULL:
        raise BadInput(
            f"differentiable: {structure.n} degrees of freedom with sparse matrices; full ones are made of up to "
            f"{FULL}. Condense the structure (hyloop.structure.condense)."
        )
    watched = set(loop.watched)
    for name, one in loop.connections.items():
        block = one.instance.block
        if not block.pure or block.memory:
            raise BadInput(
                f"differentiable: {name}: {block.name} is written in place for Numba alone, so that JAX cannot "
                "differentiate it. Only pure laws (made with `block`) can stand in such a loop."
            )
        if heard := watched.intersection(one.inputs.values()):
            raise BadInput(
                f"differentiable: {name} reads {', '.join(sorted(heard))}, which is watched; channels that are watched "
                "exist in compiled runs alone."
            )
