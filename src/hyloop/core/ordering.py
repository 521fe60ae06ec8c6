"""In which order a sparse symmetric matrix is eliminated so that its factor stays sparse."""

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import spilu

from hyloop.core.jit import jit

__all__ = ["MINIMUM_DEGREE", "elimination_order", "entries_of_factor"]

# Rows that are numbered one after the other mostly belong to one joint, and a joint eliminated as a whole leaves a
# better order of those to come: a space frame of 9 x 9 x 22 joints has 2.0 million entries by six, 2.9 by one. Joints
# have six, three (in the plane, or under a rigid floor) or other numbers of rows; the best count is taken.
TOGETHER = (1, 2, 3, 6)
WORTH = 0.9  # of the entries of rows alone: orders of those leave longer runs of columns, where entries take less time

MINIMUM_DEGREE: Any = {"permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}


def elimination_order(matrix: Any) -> np.ndarray:
    """Rows of a sparse symmetric matrix in the order of elimination: minimum degree, alone or by some rows together.

    References
    ----------
    Liu (1985), Modification of the minimum-degree algorithm by multiple elimination, doi:10.1145/214392.214398.
    """
    n = matrix.shape[0]
    pattern = sparse.csr_array((np.ones(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape)
    best, limit = np.arange(n), np.inf
    for count in TOGETHER:
        group = np.arange(n) // count
        order = np.argsort(_minimum_degree(pattern, group)[group], kind="stable")
        permuted = sparse.csr_array(pattern[order][:, order])
        entries = entries_of_factor(permuted.indptr, permuted.indices, n)
        if entries < limit:
            best, limit = order, WORTH * entries if count == 1 else entries
    return best


def _minimum_degree(pattern: Any, group: np.ndarray) -> np.ndarray:
    """Position of each group of rows in minimum-degree order of the groups."""
    n = len(group)
    gather = sparse.csr_array((np.ones(n), (group, np.arange(n))))
    joined = sparse.csc_array(gather @ pattern @ gather.T)
    # SuperLU orders by the pattern alone; a factorisation that drops all entries costs nothing beside it, and a heavy
    # diagonal makes it succeed whatever the matrix
    joined = joined + (1.0 + joined.sum()) * sparse.eye_array(group[-1] + 1)
    return spilu(sparse.csc_array(joined), drop_tol=np.inf, fill_factor=1, **MINIMUM_DEGREE).perm_c


@jit
def entries_of_factor(start, column, n):
    """Entries below the diagonal of the factor of a symmetric matrix in its own order, the matrix given by rows.

    Row i of the factor has those columns that are met on the way up the elimination tree from the entries of row i of
    the matrix: Liu (1990), The role of elimination trees in sparse factorization, doi:10.1137/0611010.
    """
    parent, seen = np.full(n, -1), np.full(n, -1)
    count = 0
    for i in range(n):
        seen[i] = i
        for k in range(start[i], start[i + 1]):
            j = column[k]
            while j < i and seen[j] != i:
                if parent[j] < 0:
                    parent[j] = i
                seen[j] = i
                count += 1
                j = parent[j]
    return count
