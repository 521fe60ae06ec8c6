r"""A structure with commanded devices in state space, and its exact discretisation.

With x = [u, v], forces f of the devices (each site has `count` of them along Λ) and ground acceleration a_g,

.. math::
    \dot x = A x + B f + E a_g, \qquad
    A = \begin{bmatrix} 0 & I \\ -M^{-1}K & -M^{-1}C \end{bmatrix}, \quad
    B = \begin{bmatrix} 0 \\ -M^{-1}\Lambda \end{bmatrix}, \quad
    E = \begin{bmatrix} 0 \\ -\iota \end{bmatrix}

and absolute accelerations :math:`\ddot u + \iota a_g = -M^{-1}(K u + C v + \Lambda f)` do not depend on a_g directly.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import expm

from hyloop.errors import BadInput, OutOfBounds
from hyloop.loop import Site
from hyloop.structure import Structure

__all__ = ["MOST", "Plant", "held", "noise_of_a_step", "plant", "ramped", "sampled_cost"]

MOST = 100  # degrees of freedom: a Riccati equation of twice as many takes about a second


class Plant(NamedTuple):
    """Matrices of the structure with its commanded devices; rows of `accelerations` and `drifts` are [u, v] and f."""

    A: np.ndarray
    B: np.ndarray
    E: np.ndarray
    accelerations: tuple[np.ndarray, np.ndarray]  # absolute, of every degree of freedom
    drifts: tuple[np.ndarray, np.ndarray]  # of every story
    deformations: tuple[np.ndarray, np.ndarray]  # of the devices


def plant(structure: Structure, sites: Sequence[Site], others: Sequence[Site] = ()) -> Plant:
    """State space of a structure whose `sites` are forces; `others` are taken for their stiffness and damping."""
    structure = structure.dense()
    n = structure.n
    if not sites:
        raise BadInput("a controller needs at least one site to command.")
    if n > MOST:
        raise OutOfBounds(
            f"the structure has {n} degrees of freedom; a controller is designed for at most {MOST}. Condense it first "
            "(hyloop.structure.condense)."
        )
    if structure.influence.shape[1] != 1:
        raise BadInput("a controller is designed for one direction of the ground; this structure has several.")
    if np.linalg.matrix_rank(structure.M) < n:
        raise BadInput(
            "a controller needs mass at every degree of freedom. Condense those without (structure.condense)."
        )
    if not structure.floors:
        raise BadInput(
            "the structure does not know its floors, whose drifts are controlled; name them: floors = [...]."
        )
    K, C = np.array(structure.initial_stiffness), np.array(structure.C)
    for site in others:
        K += site.count * site.stiffness * np.outer(site.along, site.along)
        C += site.count * site.damping * np.outer(site.along, site.along)
    along = np.array([site.along for site in sites])
    held_by_mass = -np.linalg.solve(structure.M, np.hstack([K, C, (along * [[s.count] for s in sites]).T]))
    zero, m = np.zeros((n, n)), len(sites)
    A = np.vstack([np.hstack([zero, np.eye(n)]), held_by_mass[:, : 2 * n]])
    B = np.vstack([np.zeros((n, m)), held_by_mass[:, 2 * n :]])
    E = np.concatenate([np.zeros(n), -structure.influence[:, 0]])[:, None]
    stories = np.array([structure.story(k + 1) for k in range(len(structure.floors))])
    return Plant(
        A,
        B,
        E,
        (A[n:], B[n:]),
        (np.hstack([stories, np.zeros_like(stories)]), np.zeros((len(stories), m))),
        (np.hstack([along, np.zeros_like(along)]), np.zeros((m, m))),
    )


def held(A: np.ndarray, B: np.ndarray, dt: float) -> tuple[np.ndarray, np.ndarray]:
    """Exact step of ẋ = A x + B f over `dt` with f held."""
    n, m = B.shape
    step = expm(dt * np.block([[A, B], [np.zeros((m, n + m))]]))
    return step[:n, :n], step[:n, n:]


def ramped(A: np.ndarray, B: np.ndarray, dt: float) -> np.ndarray:
    """What a unit change of f along a straight line over `dt` adds to x at its end."""
    n, m = B.shape
    whole = np.zeros((n + 2 * m, n + 2 * m))
    whole[:n, :n], whole[:n, n : n + m], whole[n : n + m, n + m :] = A, B, np.eye(m) / dt
    return expm(dt * whole)[:n, n + m :]


def sampled_cost(A: np.ndarray, B: np.ndarray, Q: np.ndarray, dt: float) -> np.ndarray:
    """Cost of a step, ∫ [x, f]ᵀ Q [x, f] dt with f held, as a matrix of [x, f] at its beginning (Van Loan)."""
    n, m = B.shape
    both = np.block([[A, B], [np.zeros((m, n + m))]])
    size = n + m
    whole = expm(dt * np.block([[-both.T, Q], [np.zeros((size, size)), both]]))
    cost = whole[size:, size:].T @ whole[:size, size:]
    return 0.5 * (cost + cost.T)


def noise_of_a_step(A: np.ndarray, E: np.ndarray, intensity: float, dt: float) -> np.ndarray:
    """Covariance that white noise of an intensity, entering through E, adds to x in a step (Van Loan)."""
    n = len(A)
    whole = expm(dt * np.block([[-A, intensity * (E @ E.T)], [np.zeros((n, n)), A.T]]))
    covariance = whole[n:, n:].T @ whole[:n, n:]
    return 0.5 * (covariance + covariance.T)
