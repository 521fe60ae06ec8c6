"""Sparse matrices laid out for the compiled step, and inverses of them as factors."""

from typing import Any

import numpy as np
from scipy import sparse

from hyloop.core.factor import Factor
from hyloop.core.low_rank import split
from hyloop.core.sparse_products import Matrices
from hyloop.errors import BadInput

__all__ = ["SparseInverse", "is_symmetric", "matrices"]

SYMMETRY = 1e-9  # of the largest entry: matrices from a file keep about ten digits


class SparseInverse:
    r"""The inverse of a sparse or `LowRank` matrix times a number, as factors; ``inverse @ b`` solves.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the sparse part is not positive definite; the message names the row.
    """

    def __init__(self, matrix: Any, multiple: float = 1.0) -> None:
        S, self.V, self.e = split(matrix)
        empty = np.flatnonzero(S.diagonal() <= 0.0)
        if len(empty):
            raise np.linalg.LinAlgError(f"nothing resists degree of freedom {empty[0] + 1}")
        self.factor, self.multiple = Factor(S), multiple
        ratio, worst = self.factor.weakest
        if not ratio > 0.0:
            raise np.linalg.LinAlgError(f"the pivot of degree of freedom {worst + 1} is not positive")
        self.U = self.factor.forward(self.V)
        inner = self.U.T @ (self.U / self.factor.pivots[:, None])
        self.H = np.linalg.solve(np.eye(len(self.e)) + self.e[:, None] * inner, np.diag(self.e))

    def __rmul__(self, scalar: float) -> "SparseInverse":
        other = object.__new__(SparseInverse)
        other.__dict__.update(self.__dict__, multiple=self.multiple * scalar)
        return other

    __array_ufunc__ = None  # a product with a NumPy scalar is left to this class

    def __matmul__(self, b: np.ndarray) -> np.ndarray:
        y = self.factor.solve(b)
        return self.multiple * (y - self.factor.solve(self.V @ (self.H @ (self.V.T @ y))))


def matrices(K: Any, C: Any, A: SparseInverse, B: Any, rho: float) -> Matrices:
    """Lay sparse matrices out for the compiled step; `B` may be empty.

    Raises
    ------
    BadInput
        If C is not symmetric: factors and products use one half of each matrix.
    """
    sparse_part, V, d = split(C)
    if not is_symmetric(sparse_part):
        raise BadInput(
            "C is not symmetric, and a step with sparse matrices takes it for symmetric. Give full matrices "
            "(Structure.dense()), which may have any C."
        )
    both = sparse.csr_array(K + 1j * sparse_part)  # real and imaginary parts stand side by side in memory
    right = sparse.csr_array(sparse.triu(0.5 * (both + both.T), k=1))  # symmetric but for the digits of a file
    right.sort_indices()
    rows, reached = np.flatnonzero(V.any(axis=1)), np.flatnonzero(A.U.any(axis=1))
    assert np.array_equal(V, A.V)  # the method's matrix contains C, and devices add nothing of low rank
    B = sparse.csr_array(B) if B.shape == K.shape else sparse.csr_array(K.shape)
    return Matrices(
        diagonal=both.diagonal().view(float),
        start=_ints(right.indptr),
        column=_ints(right.indices),
        pair=right.data.view(float),
        rank=len(d),
        V_rows=len(rows),
        V_row=_ints(rows),
        V=V[rows].copy(),
        d=d,
        B_start=_ints(B.indptr),
        B_column=_ints(B.indices),
        B=np.asarray(B.data, float),
        rho=float(rho),
        order=_ints(A.factor.order),
        L=A.factor.panels,
        scale=A.multiple / A.factor.pivots,
        U_rows=len(reached),
        U_row=_ints(reached),
        U=A.U[reached].copy(),
        H=np.ascontiguousarray(A.H / A.multiple),
    )


def is_symmetric(matrix: Any) -> bool:
    """Whether a sparse matrix is symmetric, but for the last digits of a file."""
    return abs(matrix - matrix.T).max() <= SYMMETRY * abs(matrix).max()


def _ints(values: np.ndarray) -> np.ndarray:
    return np.asarray(values, dtype=np.int64)
