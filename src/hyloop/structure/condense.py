"""Static condensation."""

import numpy as np
from scipy.linalg import solve

from hyloop.errors import BadInput
from hyloop.structure.structure import Structure

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
    structure, T : Structure, ndarray
        The condensed structure and the matrix that recovers all displacements from the kept ones.

    References
    ----------
    Guyan (1965), doi:10.2514/3.2874.
    """
    kept = [structure.dof(name) for name in keep]
    if len(set(kept)) != len(kept) or not kept:
        raise BadInput(f"condense: {list(keep)} must name each degree of freedom to keep once.")
    if structure.elements:
        raise BadInput("condense: the structure has nonlinear elements; condense first, then add them.")
    rest = [i for i in range(structure.n) if i not in set(kept)]
    T = np.zeros((structure.n, len(kept)))
    T[kept, range(len(kept))] = 1.0
    if rest:
        K = structure.K
        T[rest] = -solve(K[np.ix_(rest, rest)], K[np.ix_(rest, kept)], assume_a="sym")
    # the ground moves the kept degrees of freedom by `influence` and the others by their own
    M_r = T.T @ structure.M @ T
    influence = solve(M_r, T.T @ structure.M @ structure.influence, assume_a="sym")
    small = Structure(M=M_r, K=_symmetrised(T.T @ structure.K @ T), C=T.T @ structure.C @ T, influence=influence,
                      loads=T.T @ structure.loads, names=[structure.names[i] for i in kept])  # fmt: skip
    return small, T


def _symmetrised(matrix: np.ndarray) -> np.ndarray:
    return (matrix + matrix.T) / 2
