"""Basic deformations of a group of members, e = B u, and their forces, r += B' q; compiled.

B stands in the group's flat arrays: coefficients in `p` from `c` on, and in `i` from `b` on the beginning of every row
followed by the columns.
"""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from hyloop.core.jit import verb
from hyloop.errors import BadShape

__all__ = ["deform", "flat", "load", "matrix"]


def matrix(where: str, given: Any, members: int, rows: int) -> Any:
    """B as a checked sparse matrix with `rows` rows for each of `members` members."""
    B: Any = csr_array(given, dtype=float)
    B.sum_duplicates()
    if B.shape[0] != members * rows:
        raise BadShape(f"{where}: B has {B.shape[0]} rows; {members} members with {rows} each need {members * rows}.")
    if not np.isfinite(B.data).all():
        raise BadShape(f"{where}: B has entries that are not finite.")
    return B


def flat(B: Any) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients, and beginnings with columns, for `deform` and `load`."""
    return B.data.astype(float), np.concatenate([B.indptr, B.indices]).astype(np.int64)


@verb
def deform(rows, u, x, e, p, c, i, b):
    """Write B u to ``x[e:]``."""
    for row in range(rows):
        total = 0.0
        for k in range(i[b + row], i[b + row + 1]):
            total += p[c + k] * u[i[b + rows + 1 + k]]
        x[e + row] = total


@verb
def load(rows, x, q, r, p, c, i, b):
    """Add B' q to r, with q at ``x[q:]``."""
    for row in range(rows):
        for k in range(i[b + row], i[b + row + 1]):
            r[i[b + rows + 1 + k]] += p[c + k] * x[q + row]
