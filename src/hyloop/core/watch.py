"""Quantities that are watched: member forces and deformations, section forces, reactions, once in a step.

Each is a sum with constant factors over displacements, states of the members and forces of the sites,

    y = c + Σ a u[dof] + Σ b x[place] + Σ g bus[force]

so that whatever a member does is read from what the step has computed anyway, and nothing is calculated twice.
"""

from typing import NamedTuple

from hyloop.core.jit import Floats, Ints, bind, verb

__all__ = ["Watch", "watch"]


class Watch(NamedTuple):
    """Sums by rows: terms start[k] to start[k+1] belong to quantity k, of which there are `Plan.watched`."""

    first: int  # their place on the bus
    constant: Floats
    u_start: Ints
    u_dof: Ints
    u_factor: Floats
    x_start: Ints
    x_place: Ints  # among the states of all element groups
    x_factor: Floats
    f_start: Ints
    f_bus: Ints
    f_factor: Floats


@verb
def watch(plan, state):
    """Put all watched quantities on the bus."""
    w = bind(Watch, plan.watch)
    for k in range(plan.watched):
        y = w.constant[k]
        for j in range(w.u_start[k], w.u_start[k + 1]):
            y += w.u_factor[j] * state.u[w.u_dof[j]]
        for j in range(w.x_start[k], w.x_start[k + 1]):
            y += w.x_factor[j] * state.elements[w.x_place[j]]
        for j in range(w.f_start[k], w.f_start[k + 1]):
            y += w.f_factor[j] * state.bus[w.f_bus[j]]
        state.bus[w.first + k] = y
