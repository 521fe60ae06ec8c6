"""Full or sparse matrices in the time step: whichever is faster.

A step with full matrices reads 4 n² numbers one after the other (K, C, A and B). A sparse step reads K and C side by
side, the factor L twice and some vectors, through lists of places, and each of these numbers takes about as long as
four of the others (`hyloop bench sparse`). So what counts is not the number of degrees of freedom alone: a plane frame
is faster sparse from about 30 on, a shear frame from about 20 on, a condensed structure never. A damping matrix that
is not symmetric, as of whirling parts, needs full matrices.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from hyloop.core.factor import Factor
from hyloop.core.sparse import is_symmetric
from hyloop.integrators import Method
from hyloop.loop.site import Site
from hyloop.structure import Structure

__all__ = ["suited", "unit_spring"]

EACH = 4.0  # time of a number read through a list of places, in that of one read in a row; 3.5 to 5 were measured
VECTORS = 10  # numbers for each degree of freedom that a sparse step touches besides matrices
FULL = 200  # degrees of freedom up to which a method without sparse operators gets full matrices of a sparse structure


def suited(structure: Structure, sites: Sequence[Site], method: Method) -> Structure:
    """The structure with its matrices as this method's step is fastest; sparse ones stay so where they can."""
    if structure.is_sparse:
        return structure.dense() if not method.sparse and structure.n <= FULL else structure
    if method.sparse and _reads_less(structure, sites):
        matrices = {key: sparse.csr_array(getattr(structure, key)) for key in ("M", "K", "C")}
        return replace(structure, **matrices)
    return structure


def _reads_less(structure: Structure, sites: Sequence[Site]) -> bool:
    """Whether a sparse step takes less time than one with full matrices."""
    n = structure.n
    full = 4 * n * n
    M, C = sparse.csr_array(structure.M), sparse.csr_array(structure.C)
    both = (abs(sparse.csr_array(structure.K)) + abs(C)).nnz
    if EACH * (2 * both + VECTORS * n) >= full or not is_symmetric(C):
        return False
    system = sparse.csr_array(structure.initial_stiffness) + M / M.max() * abs(structure.K).max()
    for site in sites:
        if site.stiffness or site.damping:
            system = system + site.count * (site.stiffness + site.damping) * unit_spring(site.along, True)
    try:
        factor = Factor(system)
    except np.linalg.LinAlgError:  # not definite, which full matrices do not mind
        return False
    return bool(factor.pivots.min() > 0.0 and EACH * (2 * both + 2 * factor.lower.nnz + VECTORS * n) < full)


def unit_spring(along: np.ndarray, is_sparse: bool) -> Any:
    """Stiffness of a unit spring along a site."""
    if not is_sparse:
        return np.outer(along, along)
    row = sparse.csr_array(along[None, :])
    return sparse.csr_array(row.T @ row)
