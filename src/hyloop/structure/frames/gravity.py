"""The gravity stage: a structure at rest under its dead load, found by Newton's method on the members' own code."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from hyloop.core.factor import Factor
from hyloop.errors import BadInput
from hyloop.structure.frames.checks import MECHANISM, lowest, stable
from hyloop.structure.structure import Structure

__all__ = ["balance", "colours_of", "resisting_force", "rest", "tangent"]

BALANCE = 1e-10  # residual force in terms of the load
ROUND_OFF = 1e-15  # of the terms of K u: what remains of them in their sum, however large the load
ITERATIONS = 30  # of one load step
STEPS = 160  # load steps beyond which no smaller ones are tried
SLOW = 0.1  # the tangent is renewed where an iteration leaves more than this of the residual
DIFFERENCE = 1e-6  # of the displacement: one-sided difference of the members' forces, far above their round-off


def rest(structure: Structure, load: np.ndarray, steps: int = 10) -> Structure:
    r"""The structure with its members at rest under a dead load.

    Solves :math:`K u + r(u) = F_0` in `steps` equal load steps. Each trial starts from a copy of the committed
    states of the members; the states left behind are the initial states of the result. Velocities are zero, so
    purely viscous members carry nothing.

    Parameters
    ----------
    load : ndarray, (n,)
        Dead load in N.
    steps : int
        Load steps; loads are brought up in proportion, because members remember. Smaller ones are tried where
        Newton's method fails.

    Returns
    -------
    Structure
        With `dead_load`, `at_rest` and groups in their new state.
    """
    if not structure.elements:
        return replace(structure, dead_load=load, at_rest=Factor(csr_array(structure.K)).solve(load))
    u, states = _loaded(structure, load, steps)
    # a member at a corner of its law is softer one way than the other; an unstable structure moves both ways
    both_ways = [tangent(structure, u, states, sign=sign) for sign in (1.0, -1.0)]
    K_t = max(both_ways, key=lambda K: lowest(K)[0])
    if _resistance(structure, u, states, lowest(K_t)[1]) < MECHANISM:
        stable(K_t, structure.names, "the dead loads")
    groups = [replace(group, initial=x) for group, x in zip(structure.elements, states, strict=True)]
    return replace(structure, dead_load=load, at_rest=u, elements=groups)


def _resistance(structure: Structure, u: np.ndarray, states: list[np.ndarray], shape: np.ndarray) -> float:
    """Stiffness against a motion along a shape, the way in which it is larger.

    The columns of a tangent by differences mix loading and unloading where members yield, so that it may have a
    negative eigenvalue although the structure resists every motion; this is asked of the members themselves.
    """

    def force(u):
        return _of_members(structure, u, [x.copy() for x in states])

    h = DIFFERENCE * max(float(np.abs(u).max()), 1e-6) / np.abs(shape).max()
    at_u = force(u)
    members = max(float(shape @ (force(u + h * sign * shape) - at_u)) * sign / h for sign in (1.0, -1.0))
    return members + float(shape @ (structure.K @ shape))


def _loaded(structure: Structure, load: np.ndarray, steps: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """Displacements and states of all groups under the full load, with smaller steps where those asked for fail."""
    colours = colours_of(structure)
    states = [group.initial.copy() for group in structure.elements]
    u, K_t = np.zeros(structure.n), csr_array(structure.initial_stiffness)
    try:
        for step in range(1, steps + 1):
            u, states, K_t, _ = balance(structure, load * step / steps, u, states, K_t, colours, load)
        # members that carry unbalanced forces on settle when they are called again
        for _ in range(ITERATIONS):
            u, states, K_t, iterations = balance(structure, load, u, states, K_t, colours, load)
            if iterations == 0:
                break
    except BadInput:
        if steps >= STEPS:
            raise
        return _loaded(structure, load, 4 * steps)
    return u, states


def balance(
    structure: Structure,
    F: np.ndarray,
    u: np.ndarray,
    states: list[np.ndarray],
    K_t: Any,
    colours: Any,
    load: np.ndarray,
) -> tuple[np.ndarray, list[np.ndarray], Any, int]:
    """Newton's method from u and committed states: the new ones, the last tangent and the number of iterations."""
    scale, before, residual = np.abs(load).max(), np.inf, F
    for iteration in range(ITERATIONS):
        trial = [x.copy() for x in states]
        residual = F - resisting_force(structure, u, trial)
        error = (np.abs(residual) - ROUND_OFF * (abs(structure.K) @ np.abs(u))).max() / scale
        if error < BALANCE:
            return u, trial, K_t, iteration
        if not np.isfinite(error):
            break
        if error > SLOW * before:
            K_t = tangent(structure, u, states, colours)
        try:
            u, before = u + Factor(K_t).solve(residual), error
        except np.linalg.LinAlgError:  # the tangent is singular
            break
    worst = int(np.argmax(np.nan_to_num(np.abs(residual), nan=np.inf)))
    part = F @ load / (load @ load)
    raise BadInput(
        f"gravity: no equilibrium at {part:.0%} of the dead load; the largest unbalanced "
        f"force is at {structure.names[worst]}. Are the members there strong enough?"
    )


def resisting_force(structure: Structure, u: np.ndarray, states: list[np.ndarray]) -> np.ndarray:
    """K u and the forces of all groups at rest; the states (of all groups) are advanced in place."""
    return structure.K @ u + _of_members(structure, u, states)


def _of_members(structure: Structure, u: np.ndarray, states: list[np.ndarray]) -> np.ndarray:
    v, groups = np.zeros_like(u), zip(structure.elements, states, strict=True)
    return sum((group.forces(u, v, 1.0, x) for group, x in groups), v)


def tangent(
    structure: Structure, u: np.ndarray, states: list[np.ndarray], colours: Any = None, sign: float = 1.0
) -> Any:
    """Tangent stiffness at u from the committed `states`: K, and one-sided differences of the members' forces.

    Unknowns that share no member are displaced together (Curtis, Powell and Reid 1974, doi:10.1093/imamat/13.1.117),
    so the work does not grow with the size of the model.
    """
    pattern, colour = colours_of(structure) if colours is None else colours

    def force(u):
        return _of_members(structure, u, [x.copy() for x in states])

    h = sign * DIFFERENCE * max(float(np.abs(u).max()), 1e-6)
    at_u = force(u)
    rows, columns = pattern.nonzero()
    values = np.zeros(len(rows))
    for c in range(int(colour.max()) + 1):
        change = (force(u + h * (colour == c)) - at_u) / h
        here = colour[columns] == c
        values[here] = change[rows[here]]
    K = csr_array((values, (rows, columns)), shape=pattern.shape)
    return csr_array(csr_array(structure.K) + (K + K.T) / 2)


def colours_of(structure: Structure) -> tuple[Any, np.ndarray]:
    """Where the tangent can have entries, and a colour for each unknown such that no row holds one colour twice."""
    K = csr_array(structure.K)
    entries = abs(K) + sum((abs(csr_array(group.stiffness)) for group in structure.elements), csr_array(K.shape))
    # by whole nodes: P-Delta couples displacements of a node that the initial stiffness leaves apart
    nodes = np.unique([name.split(".")[0] for name in structure.names], return_inverse=True)[1]
    of_node = csr_array((np.ones(structure.n), (np.arange(structure.n), nodes)))
    pattern = csr_array(of_node @ (of_node.T @ entries @ of_node) @ of_node.T)
    near = csr_array(pattern @ pattern)
    colour = np.full(structure.n, -1)
    for k in range(structure.n):
        taken = set(colour[near.indices[near.indptr[k] : near.indptr[k + 1]]])
        colour[k] = next(c for c in range(structure.n) if c not in taken)
    return pattern, colour
