"""Triangular factors of sparse symmetric matrices."""

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from hyloop.core.jit import Table, bind, jit, pointer
from hyloop.core.ordering import MINIMUM_DEGREE, elimination_order
from hyloop.core.panels import Panels, backward, forward, panels

__all__ = ["Factor"]

_AS_GIVEN = MINIMUM_DEGREE | {"permc_spec": "NATURAL"}


class Factor:
    r"""Factors :math:`P A P^T = L D L^T` of a sparse symmetric matrix, in an order that keeps L sparse.

    The order is that of minimum degree (`hyloop.core.ordering`); rows are never exchanged, so that L and D belong to a
    symmetric factorisation and the signs of D are those of the eigenvalues (Sylvester). That is safe for definite
    matrices; for others look at `weakest`.

    Parameters
    ----------
    matrix : sparse array, (n, n)

    Attributes
    ----------
    order : ndarray of int
        Row k of the factors is row order[k] of the matrix.
    lower : scipy.sparse.csc_array
        L without its unit diagonal.
    pivots : ndarray
        The diagonal of D.
    panels : Table
        L as compiled code has it (`hyloop.core.panels`).

    Raises
    ------
    numpy.linalg.LinAlgError
        If a pivot is exactly zero.

    References
    ----------
    Demmel et al. (1999), A supernodal approach to sparse partial pivoting, doi:10.1137/S0895479895291765.
    """

    def __init__(self, matrix: Any) -> None:
        matrix = sparse.csr_array(matrix, copy=True)
        matrix.eliminate_zeros()  # they would count in the order
        first = elimination_order(matrix)
        try:
            lu = splu(sparse.csc_array(matrix[first][:, first]), **_AS_GIVEN)
        except RuntimeError as error:
            raise np.linalg.LinAlgError(str(error)) from error
        if not np.array_equal(lu.perm_r, lu.perm_c):
            raise np.linalg.LinAlgError("a diagonal entry vanished, so that rows had to be exchanged")
        self.order = first[np.argsort(lu.perm_r)]  # SuperLU goes branch by branch through the order given
        self.lower = sparse.csc_array(sparse.tril(lu.L, k=-1))
        self.lower.eliminate_zeros()
        self.lower.sort_indices()
        self.pivots = lu.U.diagonal()
        self.panels = Table(panels(self.lower))  # what SuperLU holds, several times as much, is let go
        self._diagonal = matrix.diagonal()[self.order]

    @property
    def weakest(self) -> tuple[float, int]:
        """The smallest pivot in parts of its own diagonal entry, and its row: zero for a mechanism, negative for
        a matrix that is not positive definite."""
        size = np.abs(self._diagonal)
        ratio = np.where(size > 0.0, self.pivots / np.where(size > 0.0, size, 1.0), -np.inf)
        worst = int(np.argmin(ratio))
        return float(ratio[worst]), int(self.order[worst])

    def forward(self, V: np.ndarray) -> np.ndarray:
        """L⁻¹ P V for columns V, with exact zeros where V cannot reach (`solve` leaves round-off there)."""
        X, start, rows, values = V[self.order], self.lower.indptr, self.lower.indices, self.lower.data
        for j in range(len(X)):
            if X[j].any():
                below = slice(start[j], start[j + 1])
                X[rows[below]] -= values[below, None] * X[j]
        return X

    def solve(self, b: np.ndarray) -> np.ndarray:
        """The solution of A x = b, for one right-hand side or for columns of them."""
        b = np.asarray(b, dtype=float)
        x, y = np.empty_like(b), np.ascontiguousarray(b[self.order].T)
        _solve(self.panels.words, self.pivots, y.reshape(-1, len(b)))
        x[self.order] = y.T
        return x


@jit
def _solve(words, pivots, rows):
    """L D Lᵀ x = b for every row b, in place."""
    p = bind(Panels, words)
    for k in range(len(rows)):
        x = rows[k]
        forward(p, pointer(x))
        x /= pivots
        backward(p, pointer(x))
