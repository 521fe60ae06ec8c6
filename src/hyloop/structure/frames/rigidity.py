"""Which deformations of a model meet any resistance, whatever its size.

A structure is a mechanism if a motion deforms nothing that resists: B u = 0 for the rows B of all deformations that
have a stiffness. That is a question of geometry. Asked of K = B' k B it is mixed up with how stiff the members are: a
column beside links a billion times as stiff looks as if nothing held the links.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array

from hyloop.structure.frames.members import Fibre, Member, Spring

__all__ = ["resisted", "resisting_rows", "unit_rows"]

NONE = 1e-12  # of the stiffnesses it is made of: below that an eigenvalue of a basic stiffness is round-off of zero


def resisting_rows(member: Member) -> np.ndarray:
    """Rows of the deformations a member resists, from the displacements of its two nodes."""
    if isinstance(member, Fibre):  # the last rows, rotations of the chord, are resisted by axial forces only
        dimensions = 2 if len(member.rows) == 4 else 3
        return member.rows[: 1 - dimensions]
    if isinstance(member, Spring) and member.law.stiffness <= 0.0:
        return member.rows[:0]
    return member.rows if member.stiffness is None else resisted(member.stiffness) @ member.rows


def resisted(k: np.ndarray) -> np.ndarray:
    """Rows that span what a positive semi-definite stiffness resists: k u = 0 exactly where these rows times u are."""
    return _modes(np.ascontiguousarray(k, dtype=float).tobytes(), len(k))


@lru_cache(maxsize=1000)  # hundreds of members have the same section and length
def _modes(numbers: bytes, n: int) -> np.ndarray:
    k = np.frombuffer(numbers).reshape(n, n)
    size = np.sqrt(np.diag(k).clip(min=0.0))
    scale = np.where(size > 0.0, size, 1.0)
    values, vectors = np.linalg.eigh(k / np.outer(scale, scale))
    return vectors[:, values > NONE].T * size


def unit_rows(B: Any, arm: np.ndarray) -> Any:
    """Rows brought to unit length, over displacements times `arm`; that leaves the null space what it is.

    A rotation counts as the displacement at the end of an arm, so that the unit of length is out of it.
    """
    B = csr_array(B @ diags_array(1.0 / arm))
    size = np.sqrt((B * B).sum(axis=1))
    return csr_array(diags_array(1.0 / np.where(size > 0.0, size, 1.0)) @ B)
