"""Static condensation."""

import numpy as np
from scipy.linalg import solve

from hyloop.core.low_rank import LowRank
from hyloop.errors import BadInput
from hyloop.structure.structure import Structure
from hyloop.structure.super_element import eliminate

__all__ = ["condense"]


def condense(structure: Structure, keep) -> tuple[Structure, np.ndarray]:
    r"""Condense a linear structure statically onto the degrees of freedom in `keep`.

    .. math:: u = T u_r, \qquad T = \begin{bmatrix} I \\ -K_{cc}^{-1} K_{cr} \end{bmatrix}, \qquad
              M_r = T^T M T, \quad C_r = T^T C T, \quad K_r = T^T K T

    Exact for static loads on the kept degrees of freedom, and for the dynamics too where the others are massless,
    undamped and unloaded (Guyan reduction otherwise).

    Parameters
    ----------
    keep : sequence of int or str
        Indices or names to keep, in the new order.

    Returns
    -------
    structure, T : Structure, array (sparse if the structure is)
        The condensed structure and the matrix that recovers all displacements from the kept ones. It has stories
        only if every floor is kept.

    References
    ----------
    Guyan (1965), doi:10.2514/3.2874.
    """
    kept = [structure.dof(name) for name in keep]
    if len(set(kept)) != len(kept) or not kept:
        raise BadInput(f"condense: {list(keep)} must name each degree of freedom to keep once.")
    if structure.elements:
        raise BadInput("condense: the structure has nonlinear elements; condense first, then add them.")
    if isinstance(structure.C, LowRank):
        raise BadInput("condense: the damping matrix has a part of low rank; condense first, then add damping.")
    K, T = eliminate(structure.K, kept)
    M = structure.M
    M_r = T.T @ M @ T
    rest = np.setdiff1d(np.arange(structure.n), kept)
    influence = structure.influence[kept]
    if abs(M[rest]).sum() > 0.0:
        # the ground moves the kept degrees of freedom by `influence` and the others by their own
        full = M_r.toarray() if structure.is_sparse else M_r
        influence = solve(full, T.T @ M @ structure.influence, assume_a="sym")
    # story numbers keep their meaning only if every floor stays
    stay = set(structure.floors) <= set(kept)
    floors = [kept.index(structure.dof(floor)) for floor in structure.floors] if stay else ()
    small = Structure(
        M=M_r,
        K=K,
        C=T.T @ structure.C @ T,
        influence=influence,
        loads=T.T @ structure.loads,
        names=[structure.names[i] for i in kept],
        dead_load=T.T @ structure.dead_load,
        at_rest=structure.at_rest[kept],
        floors=floors,
        heights=structure.heights if stay else (),
        directions=structure.directions,
        load_names=structure.load_names,
    )
    return small, T
