"""A sparse matrix plus one of low rank, kept apart: damping by modes fills a matrix that is otherwise nearly empty."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

__all__ = ["LowRank", "split"]


@dataclass(frozen=True, eq=False)
class LowRank:
    r"""The symmetric matrix :math:`S + V\, \mathrm{diag}(d)\, V^T`, never multiplied out.

    Sums with sparse matrices, multiples and products with vectors are understood; two of them add by putting
    their columns side by side, unless the columns are the same.

    Attributes
    ----------
    sparse : scipy.sparse.csr_array, (n, n)
    factor : ndarray, (n, k)
        The columns V.
    weights : ndarray, (k,)
        The diagonal d.
    """

    sparse: Any
    factor: np.ndarray
    weights: np.ndarray

    __array_ufunc__ = None  # NumPy scalars shall leave a product with this class to the class

    @property
    def shape(self) -> tuple[int, int]:
        return self.sparse.shape

    def __matmul__(self, x: np.ndarray) -> np.ndarray:
        along = self.factor.T @ x
        weights = self.weights if along.ndim == 1 else self.weights[:, None]
        return self.sparse @ x + self.factor @ (weights * along)

    def __add__(self, other: Any) -> "LowRank":
        if isinstance(other, LowRank) and other.factor is self.factor:
            return LowRank(self.sparse + other.sparse, self.factor, self.weights + other.weights)
        if isinstance(other, LowRank):
            return LowRank(
                self.sparse + other.sparse,
                np.hstack([self.factor, other.factor]),
                np.concatenate([self.weights, other.weights]),
            )
        if sparse.issparse(other):
            return LowRank(sparse.csr_array(self.sparse + other), self.factor, self.weights)
        return NotImplemented

    __radd__ = __add__

    def __sub__(self, other: Any) -> "LowRank":
        return self + -1.0 * other

    def __rsub__(self, other: Any) -> "LowRank":
        return -1.0 * self + other

    def __mul__(self, scalar: float) -> "LowRank":
        return LowRank(self.sparse * scalar, self.factor, self.weights * scalar)

    __rmul__ = __mul__

    def toarray(self) -> np.ndarray:
        """The full matrix, for small ones."""
        return self.sparse.toarray() + self.factor * self.weights @ self.factor.T


def split(matrix: Any) -> tuple[Any, np.ndarray, np.ndarray]:
    """The sparse part of a sparse or `LowRank` matrix, then V and d (without columns where there are none)."""
    if isinstance(matrix, LowRank):
        return matrix.sparse, matrix.factor, matrix.weights
    return matrix, np.zeros((matrix.shape[0], 0)), np.zeros(0)
