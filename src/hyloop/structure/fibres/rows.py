"""Basic deformations of a group of members, e = B u, and their forces, r += B' q; compiled.

B is sparse and stands in the group's flat arrays (`flat`): coefficients in `p`, and in `i` the beginning of every row
followed by the columns.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from hyloop.core.jit import verb
from hyloop.core.memory import tail
from hyloop.errors import BadShape

__all__ = ["Rows", "deform", "flat", "load", "matrix", "rows_at"]


class Rows(NamedTuple):
    """B by rows: entries ``start[row]`` to ``start[row + 1]`` of `column` and `value` are those of a row."""

    start: Any
    column: Any
    value: Any


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
    """Coefficients, and beginnings with columns, for `rows_at`."""
    return B.data.astype(float), np.concatenate([B.indptr, B.indices]).astype(np.int64)


@verb
def rows_at(count, p, coefficients, i, connectivity):
    """B of `count` rows, from where its two parts begin in `p` and `i`."""
    return Rows(tail(i, connectivity), tail(i, connectivity + count + 1), tail(p, coefficients))


@verb
def deform(count, B, u, e):
    """e = B u."""
    for row in range(count):
        total = 0.0
        for k in range(B.start[row], B.start[row + 1]):
            total += B.value[k] * u[B.column[k]]
        e[row] = total


@verb
def load(count, B, q, r):
    """r += B' q."""
    for row in range(count):
        for k in range(B.start[row], B.start[row + 1]):
            r[B.column[k]] += B.value[k] * q[row]
