"""Static condensation: the stiffness of a linear part on the degrees of freedom it shares with the rest."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.sparse import coo_array, csr_array, issparse

from hyloop.core.factor import Factor
from hyloop.errors import BadInput, BadShape

__all__ = ["eliminate", "flexibility", "from_flexibility"]

SYMMETRY = 1e-6  # of the largest entry: measured or printed flexibilities have few digits


def eliminate(K: Any, keep: Sequence[int] | np.ndarray) -> tuple[Any, Any]:
    r"""Stiffness on the kept degrees of freedom r, the others c eliminated.

    .. math:: u = T u_r, \qquad T_r = I, \quad T_c = -K_{cc}^{-1} K_{cr}, \qquad K_r = K_{rr} + K_{rc} T_c

    Parameters
    ----------
    K : ndarray or sparse array, (n, n)
    keep : sequence of int
        In the new order.

    Returns
    -------
    K_r, T
        Sparse if K is.
    """
    sparse, K = issparse(K), csr_array(K)
    keep = np.asarray(keep, dtype=int)
    rest = np.setdiff1d(np.arange(K.shape[0]), keep)
    K_cr = K[rest][:, keep]
    T_c = coo_array((len(rest), len(keep)))
    if len(rest):
        # a column nothing eliminated is coupled to stays empty, so T_c is as sparse as the structure allows
        coupled = np.unique(K_cr.nonzero()[1])
        solved = _factor(K[rest][:, rest]).solve(-K_cr[:, coupled].toarray())
        r, c = np.nonzero(solved)
        T_c = coo_array((solved[r, c], (r, coupled[c])), shape=(len(rest), len(keep)))
    K_r = csr_array(K[keep][:, keep] + K_cr.T @ T_c)
    K_r = csr_array((K_r + K_r.T) / 2)
    rows = np.concatenate([keep, rest[T_c.row]])
    columns = np.concatenate([np.arange(len(keep)), T_c.col])
    values = np.concatenate([np.ones(len(keep)), T_c.data])
    T = csr_array((values, (rows, columns)), shape=(K.shape[0], len(keep)))
    return (K_r, T) if sparse else (K_r.toarray(), T.toarray())


def flexibility(K: Any, keep: Sequence[int] | np.ndarray) -> np.ndarray:
    """Displacements of the kept degrees of freedom under a unit load on each of them, in columns."""
    keep = np.asarray(keep, dtype=int)
    unit = np.zeros((K.shape[0], len(keep)))
    unit[keep, np.arange(len(keep))] = 1.0
    return _factor(K).solve(unit)[keep]


def from_flexibility(columns: Any) -> np.ndarray:
    """Stiffness of a part from its flexibility: column k holds the displacements under a unit load on freedom k.

    The columns may be computed (`flexibility`) or measured, load by load; small asymmetry is averaged out.
    """
    F = np.array(columns, dtype=float)
    if F.ndim != 2 or F.shape[0] != F.shape[1] or not np.isfinite(F).all():
        raise BadShape(f"from_flexibility: a square matrix of finite numbers is needed, got shape {F.shape}.")
    worst = np.unravel_index(np.argmax(np.abs(F - F.T)), F.shape)
    if abs(F - F.T)[worst] > SYMMETRY * np.abs(F).max():
        i, j = int(worst[0]), int(worst[1])
        raise BadShape(
            f"from_flexibility: F[{i},{j}] = {F[i, j]:g} but F[{j},{i}] = {F[j, i]:g}; "
            "by Maxwell's theorem they are equal. Are loads and displacements in one order?"
        )
    try:
        K = cho_solve(cho_factor((F + F.T) / 2), np.eye(len(F)))
    except LinAlgError:
        raise BadInput(
            "from_flexibility: the matrix is not positive definite; a stable part yields under every load."
        ) from None
    return (K + K.T) / 2


def _factor(K: Any) -> Factor:
    try:
        return Factor(K)
    except np.linalg.LinAlgError:
        raise BadInput(
            "condensation: the stiffness of the part to be eliminated is singular; it has a mechanism "
            "while the kept degrees of freedom stand still."
        ) from None
