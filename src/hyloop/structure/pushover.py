"""Static pushover: one degree of freedom along a given path, the dead loads held."""

from typing import Any, NamedTuple

import numpy as np

from hyloop.errors import BadInput, BadShape
from hyloop.structure.gravity import resisting_force, tangent
from hyloop.structure.structure import Structure

__all__ = ["Pushover", "pushover"]

BALANCE = 1e-9  # unbalanced force in terms of the largest so far
ITERATIONS = 50  # of one step
SMALLEST = 2.0**-6  # part of a step that is tried before giving up


class Pushover(NamedTuple):
    """Force in N along the degree of freedom that is pushed, and all displacements, for each place on the path."""

    force: np.ndarray
    u: np.ndarray


def pushover(structure: Structure, dof: str, path: Any) -> Pushover:
    r"""Push a structure, cyclically if the path turns, through states of equilibrium.

    At each place :math:`K u + r(u) = F_0 + f e`, with e the unit vector of `dof`, is solved by Newton's method for f
    and the other displacements, from the committed state of the members; steps are halved where it fails.

    Parameters
    ----------
    structure : Structure
        At rest under its dead load, see `Model.structure`. Use members iterated to equilibrium
        (``model.structure(iterations=50)``): Newton's method needs forces that are smooth.
    dof : str
        Such as ``"M2.ux"``.
    path : array_like, (steps,)
        Displacements in m from the place of rest.
    """
    path = np.atleast_1d(np.asarray(path, dtype=float))
    if path.ndim != 1 or not np.isfinite(path).all():
        raise BadShape("pushover: the path must be a vector of finite displacements.")
    pushed = structure.dof(dof)
    u, states = structure.at_rest.copy(), [group.initial.copy() for group in structure.elements]
    forces, history, scale = np.zeros(len(path)), np.zeros((len(path), structure.n)), np.abs(structure.dead_load).max()
    for k, place in enumerate(path + structure.at_rest[pushed]):
        part, begin, done = 1.0, u[pushed], 0.0
        while done < 1.0:
            found = _balance(structure, pushed, begin + (done + part) * (place - begin), u, states, scale)
            if found is None:
                part /= 2.0
                if part < SMALLEST:
                    raise BadInput(f"pushover: no equilibrium at {path[k]:g} m of {dof}; take smaller steps, or a "
                                   "shorter path if the structure fails there.")  # fmt: skip
                continue
            u, states, forces[k] = found
            scale, done = max(scale, abs(forces[k])), done + part
            part = min(part, 1.0 - done)
        history[k] = u
    return Pushover(forces, history)


def _balance(structure: Structure, pushed: int, place: float, u: np.ndarray, states: list[np.ndarray],
             scale: float) -> tuple[np.ndarray, list[np.ndarray], float] | None:  # fmt: skip
    free = np.arange(structure.n) != pushed
    u, K = u.copy(), tangent(structure, u, states).toarray()
    u[free] -= np.linalg.solve(K[np.ix_(free, free)], K[free, pushed] * (place - u[pushed]))
    u[pushed] = place
    for _ in range(ITERATIONS):
        trial = [x.copy() for x in states]
        force = resisting_force(structure, u, trial) - structure.dead_load
        if not np.isfinite(force).all():
            return None
        if np.abs(force[free]).max() <= BALANCE * max(scale, abs(force[pushed])):
            return u, trial, float(force[pushed])
        K = tangent(structure, u, states).toarray()
        u[free] -= np.linalg.solve(K[np.ix_(free, free)], force[free])
    return None
