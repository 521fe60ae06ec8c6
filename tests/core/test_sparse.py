"""Factors, low-rank sums and inverses of sparse matrices against full ones."""

import numpy as np
import pytest
from scipy import sparse

from hyloop.core import Factor, LowRank
from hyloop.core.sparse import SparseInverse

ROUND_OFF = 1e-12  # of the largest entry: about a hundred operations on numbers of order one


@pytest.fixture
def matrix(rng):
    """Positive definite, with about one entry in ten."""
    A = sparse.random_array((60, 60), density=0.03, rng=rng)
    return sparse.csr_array(A @ A.T + sparse.diags_array(rng.uniform(0.5, 2.0, 60)))


def test_the_factors_give_the_matrix_back(matrix):
    factor = Factor(matrix)
    L = np.eye(60) + factor.lower.toarray()
    permuted = matrix.toarray()[np.ix_(factor.order, factor.order)]
    assert np.allclose(L * factor.pivots @ L.T, permuted, atol=ROUND_OFF)


def test_a_system_is_solved(matrix, rng):
    b = rng.normal(size=(60, 3))
    assert np.allclose(Factor(matrix).solve(b), np.linalg.solve(matrix.toarray(), b), atol=ROUND_OFF)


def test_the_weakest_pivot_tells_a_matrix_that_is_not_definite(matrix):
    assert Factor(matrix).weakest[0] > 0.0
    lowest = np.linalg.eigvalsh(matrix.toarray())[0]
    assert Factor(matrix - 1.01 * lowest * sparse.eye_array(60)).weakest[0] < 0.0


@pytest.mark.parametrize("diagonal", [[1.0, 0.0, 2.0], [0.0, 0.0], [0.0]])
def test_a_singular_matrix_is_told(diagonal):
    with pytest.raises(np.linalg.LinAlgError):
        Factor(sparse.csr_array(np.diag(diagonal)))
    with pytest.raises(np.linalg.LinAlgError):
        Factor(sparse.diags_array(diagonal))  # zeros that are stored


@pytest.fixture
def low_rank(matrix, rng):
    return LowRank(matrix, rng.normal(size=(60, 4)), np.array([2.0, 0.0, -0.01, 1.0]))


def test_sums_multiples_and_products_are_those_of_the_full_matrix(matrix, low_rank, rng):
    full, other = low_rank.toarray(), LowRank(matrix, rng.normal(size=(60, 2)), np.ones(2))
    x = rng.normal(size=(60, 2))
    assert np.allclose(low_rank @ x, full @ x, atol=100 * ROUND_OFF)
    assert np.allclose(low_rank @ x[:, 0], full @ x[:, 0], atol=100 * ROUND_OFF)
    assert np.allclose((np.float64(2.0) * low_rank - matrix).toarray(), 2 * full - matrix.toarray(), atol=ROUND_OFF)
    assert np.allclose((matrix - low_rank).toarray(), matrix.toarray() - full, atol=ROUND_OFF)
    assert np.allclose((matrix + low_rank + other).toarray(), matrix.toarray() + full + other.toarray(), atol=ROUND_OFF)
    assert (low_rank - 0.5 * low_rank).factor is low_rank.factor  # no column twice


def test_the_inverse_is_that_of_the_full_matrix(low_rank, rng):
    b = rng.normal(size=60)
    exact = 3.0 * np.linalg.solve(low_rank.toarray(), b)
    assert np.allclose(3.0 * SparseInverse(low_rank) @ b, exact, atol=100 * ROUND_OFF)


def test_an_inverse_that_does_not_exist_names_the_place(matrix):
    without = matrix.tolil()
    without[7] = without[:, 7] = 0.0
    with pytest.raises(np.linalg.LinAlgError, match="degree of freedom 8"):
        SparseInverse(sparse.csr_array(without))
    with pytest.raises(np.linalg.LinAlgError, match="not positive"):
        SparseInverse(sparse.csr_array(np.array([[1.0, 2.0], [2.0, 1.0]])))
