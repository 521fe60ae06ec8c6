"""Triangular factors in panels: any triangle is solved as by full matrices, and orders of elimination keep it small."""

import numba
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.linalg import solve_triangular
from scipy.sparse.linalg import splu, spsolve

from hyloop.core import Factor, Table
from hyloop.core.jit import bind, pointer
from hyloop.core.ordering import MINIMUM_DEGREE, elimination_order, entries_of_factor
from hyloop.core.panels import PANEL, Panels, backward, forward, panels

ROUND_OFF = 1e-12  # of the largest number: sums of some hundred terms, each of order one


@numba.njit
def _down(words, x):
    forward(bind(Panels, words), pointer(x))


@numba.njit
def _up(words, x):
    backward(bind(Panels, words), pointer(x))


def solved(solve, laid_out, b):
    table, x = Table(laid_out), b.copy()
    solve(table.words, x)
    return x


def close(x, exact, scale=1.0):
    return np.abs(x - exact).max() <= ROUND_OFF * max(scale, np.abs(exact).max())


@settings(max_examples=150, deadline=None)
@given(n=st.integers(1, 90), density=st.floats(0.0, 1.0), seed=st.integers(0, 2**32 - 1))
def test_any_triangle_is_solved_both_ways(n, density, seed):
    """Also one that is no factor, with gaps where a factor could not have them."""
    rng = np.random.default_rng(seed)
    full = np.tril(np.where(rng.random((n, n)) < density, rng.uniform(-1, 1, (n, n)), 0.0), -1) / np.sqrt(n)
    lower, b = sparse.csc_array(full), rng.normal(size=n)
    lower.sort_indices()
    made = panels(lower)
    unit = full + np.eye(n)
    for x, exact in (
        (solved(_down, made, b), solve_triangular(unit, b, lower=True)),
        (solved(_up, made, b), solve_triangular(unit.T, b)),
    ):
        assert close(x, exact, np.abs(np.linalg.inv(unit)).max())
    # zeros are stored only where they are paid for by indices
    assert len(made.L) + len(made.row) <= lower.nnz + lower.nnz + n + PANEL * n


def test_a_full_triangle_has_no_index_for_a_number():
    """70 columns: runs of 64 and 6, cut into eights, a four and a two."""
    made = panels(sparse.csc_array(np.tril(np.ones((70, 70)), -1)))
    assert len(made.L) == 70 * 69 // 2
    assert len(made.row) == 70 + 6
    assert made.head[:, 1].tolist() == [8] * 8 + [4, 2]


def test_columns_with_nothing_in_common_stay_apart():
    """Six columns, each with eight rows of its own: nothing to share, so nothing is stored twice."""
    lower = np.zeros((54, 54))
    for j in range(6):
        lower[6 + 8 * j : 14 + 8 * j, j] = 1.0
    made = panels(sparse.csc_array(lower))
    assert made.head[:6, 1].tolist() == [1] * 6
    assert made.head[6, 4] == 48


def definite(n, rng, massless):
    """M + K with K of springs between few unknowns each and masses on a part of them."""
    rows = sparse.random_array((3 * n, n), density=min(1.0, 3.0 / n), rng=rng)
    mass = np.where(rng.random(n) < massless, 0.0, rng.uniform(0.5, 2.0, n))
    return sparse.csr_array(rows.T @ rows + sparse.diags_array(mass + 0.2))


@settings(max_examples=60, deadline=None)
@given(n=st.integers(1, 80), massless=st.floats(0.0, 1.0), seed=st.integers(0, 2**32 - 1))
def test_a_system_is_solved_with_the_panels_of_its_factor(n, massless, seed):
    rng = np.random.default_rng(seed)
    matrix, b = definite(n, rng, massless), rng.normal(size=n)
    factor = Factor(matrix)
    made = panels(factor.lower)
    x = np.empty(n)
    x[factor.order] = solved(_up, made, solved(_down, made, b[factor.order]) / factor.pivots)
    exact = spsolve(sparse.csc_array(matrix), b)
    assert close(x, exact) and close(factor.solve(b), exact)


@settings(max_examples=60, deadline=None)
@given(n=st.integers(1, 40), density=st.floats(0.0, 0.3), seed=st.integers(0, 2**32 - 1))
def test_entries_of_a_factor_are_counted_as_elimination_makes_them(n, density, seed):
    half = np.random.default_rng(seed).random((n, n)) < density
    pattern = half | half.T | np.eye(n, dtype=bool)
    matrix = sparse.csr_array(pattern.astype(float))
    for j in range(n):
        below = np.flatnonzero(pattern[j + 1 :, j]) + j + 1
        pattern[np.ix_(below, below)] = True
    assert entries_of_factor(matrix.indptr, matrix.indices, n) == np.tril(pattern, -1).sum()


def lattice(size, floors):
    """Pattern of K of a space frame: members along x, y and z couple each three pairs of the six rows of their ends.

    A member along an axis couples the displacements along it, the turns about it, and each displacement across with
    the turn in its plane.
    """
    joint = np.arange(size * size * floors).reshape(size, size, floors)
    coupled = {0: [(1, 5), (2, 4)], 1: [(0, 5), (2, 3)], 2: [(0, 4), (1, 3)]}
    entries = []
    for along, crosswise in coupled.items():
        ends = np.moveaxis(joint, along, 0)
        for i, j in zip(ends[:-1].ravel(), ends[1:].ravel(), strict=True):
            pairs = [(row, row) for row in range(6)] + crosswise + [pair[::-1] for pair in crosswise]
            entries += [(6 * a + r, 6 * b + c) for a in (i, j) for b in (i, j) for r, c in pairs]
    rows, columns = np.array(entries).T
    pattern = sparse.csr_array(sparse.coo_array((np.ones(len(rows)), (rows, columns))))
    pattern.sum_duplicates()
    return pattern


def test_rows_of_a_joint_are_eliminated_together_where_that_saves_entries():
    matrix = lattice(5, 6)
    n = matrix.shape[0]
    heavy = sparse.csc_array(matrix + n * sparse.eye_array(n))
    order = elimination_order(sparse.csr_array(heavy))
    assert np.array_equal(np.sort(order), np.arange(n))
    permuted = sparse.csr_array(heavy[order][:, order])
    entries = entries_of_factor(permuted.indptr, permuted.indices, n)
    alone = splu(heavy, **MINIMUM_DEGREE).L.nnz - n
    assert entries < 0.85 * alone
    assert Factor(heavy).lower.nnz == entries


def test_rows_stay_alone_where_neighbours_have_nothing_in_common():
    """A chain whose numbers alternate between its ends: in its own order nothing fills."""
    n = 300
    chain = sparse.diags_array([np.full(n - 1, -1.0), np.full(n, 2.1), np.full(n - 1, -1.0)], offsets=[-1, 0, 1])
    mixed = np.argsort(np.concatenate([np.arange(0, n, 2), np.arange(n - 1, 0, -2)]), kind="stable")
    assert Factor(sparse.csr_array(chain.tocsr()[mixed][:, mixed])).lower.nnz == n - 1


def test_zeros_that_are_stored_do_not_count():
    matrix = sparse.csr_array(np.ones((40, 40)))
    matrix.data[:] = np.eye(40).ravel()
    assert Factor(matrix).lower.nnz == 0
    assert matrix.nnz == 1600  # it is the caller's
