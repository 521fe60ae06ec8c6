"""Small factors against NumPy; the repair of a covariance, step by step."""

import numpy as np

from hyloop.updating.filters.factors import SHIFT, cholesky, mend, nearest, reflect, triangularise

FACTOR = 1e-13  # relative: a factorisation of eight unknowns in double precision


def test_factors_are_those_of_numpy(rng):
    for n in (1, 2, 3, 8):
        A = rng.normal(size=(n, 2 * n))
        P = A @ A.T
        L = np.linalg.cholesky(P)
        w = A.ravel().copy()
        triangularise(w, 0, n, 2 * n)
        np.testing.assert_allclose(w.reshape(n, 2 * n)[:, :n], L, rtol=0, atol=FACTOR * np.abs(L).max() * n)
        assert not w.reshape(n, 2 * n)[:, n:].any()
        w = np.zeros(n * n)
        assert cholesky(P.ravel(), 0, n, w, 0, n)
        np.testing.assert_allclose(w.reshape(n, n), L, rtol=0, atol=100 * FACTOR * np.abs(L).max())


def test_the_measurement_lowers_the_covariance_as_the_formula_says(rng):
    for n in (1, 2, 3, 8):
        L, g, r = np.tril(rng.normal(size=(n, n))), rng.normal(size=n), 0.3
        s = g @ g + r * r
        S = np.empty(n * n)
        reflect(np.append(g, r), 0, np.sqrt(s), n, L.ravel(), 0, n, S, 0)
        S = S.reshape(n, n)
        np.testing.assert_allclose(S @ S.T, L @ (np.eye(n) - np.outer(g, g) / s) @ L.T, rtol=0, atol=FACTOR * n)


def test_the_factor_keeps_its_rank_where_a_difference_loses_it():
    """One unknown, seen with a noise 1e-20 of its own effect: the standard deviation must become 1e-20, not zero."""
    S = np.empty(1)
    reflect(np.array([1.0, 1e-20]), 0, 1.0, 1, np.array([1.0]), 0, 1, S, 0)
    assert abs(S[0]) == 1e-20
    assert 1.0 - 1.0 / (1.0 + 1e-40) == 0.0  # what the covariance form computes


def test_an_indefinite_matrix_becomes_the_nearest_that_is_not(rng):
    for n in (2, 3, 8):
        A = rng.normal(size=(n, n))
        values, V = np.linalg.eigh(A + A.T)
        a, w = ((V * values) @ V.T).ravel(), np.zeros(n * n)
        assert values.min() < 0 and not cholesky(a, 0, n, w, 0, n) and np.isnan(w).any()
        nearest(a, 0, n, w, 0, SHIFT)
        # Higham: the negative eigenvalues become zero, here the shift
        expected = (V * np.maximum(values, SHIFT)) @ V.T
        np.testing.assert_allclose(a.reshape(n, n), expected, rtol=0, atol=FACTOR * n * np.abs(values).max())
    known = np.array([1.0, 2.0, 2.0, 1.0])  # eigenvalues 3 and -1 along (1, 1) and (1, -1)
    nearest(known, 0, 2, np.zeros(4), 0, 0.0)
    np.testing.assert_allclose(known, 1.5, rtol=1e-15)


def _mended(P, good):
    a, w = np.concatenate([np.ravel(P), np.ravel(good)]), np.zeros(8)
    mend(a, 0, 4, 2, w, 0, 2)
    return a[:4].reshape(2, 2), a[4:].reshape(2, 2)


def test_a_covariance_is_mended_in_the_order_of_the_paper():
    good, fine = np.array([[0.01, 0.0], [0.0, 0.02]]), np.array([[0.04, 0.01], [0.01, 0.09]])
    P, kept = _mended(fine, good)
    assert (fine == P).all() and (kept == fine).all()
    # slightly indefinite: rebuilt, and lifted off zero by the shift
    P, kept = _mended([[1e-4, 2e-4], [2e-4, 1e-4]], good)
    np.testing.assert_allclose(np.linalg.eigvalsh(P), [SHIFT, 3e-4], rtol=1e-5)
    assert (kept == P).all()
    # so large that the shift drowns in round-off: rebuilding does not help, the last good one returns
    P, kept = _mended([[1e9, 1e9], [1e9, 1e9 - 1.0]], good)
    assert (good == P).all() and (kept == good).all()
    P, kept = _mended([[np.nan, 0.0], [0.0, 1.0]], good)
    assert (good == P).all() and (kept == good).all()
