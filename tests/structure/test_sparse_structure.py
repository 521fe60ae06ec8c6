"""Structures with sparse matrices: modes, damping and checks against closed forms and full matrices."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from hyloop.core import LowRank
from hyloop.devices import bouc_wen
from hyloop.errors import BadInput, BadShape, OutOfBounds
from hyloop.structure import (
    Similitude,
    Structure,
    caughey,
    modal,
    modal_and_stiffness,
    rayleigh,
    shear_frame,
    springs,
)

FREQUENCY = 1e-9  # relative: the inverse iteration stops at round-off of the highest 1/ω², six digits above the last
ROUND_OFF = 1e-11  # of the largest entry


def chain(n, mass=3.0, stiffness=700.0, free=False):
    """n equal masses in a row between equal springs, held at one end or free."""
    drift = sparse.diags_array([np.ones(n), -np.ones(n - 1)], offsets=[0, -1]).tocsr()
    drift = drift[1:] if free else drift
    return Structure(np.full(n, mass), stiffness * drift.T @ drift)


def frame_with_massless_joints(rng, floors=12, joints=40):
    """Floors with mass, joints without, random members between them."""
    n = floors + joints
    rows = sparse.random_array((6 * n, n), density=2.5 / n, rng=rng, data_sampler=lambda size: rng.normal(size=size))
    K = sparse.csr_array(1e6 * (rows.T @ rows) + 1e4 * sparse.eye_array(n))
    return Structure(np.concatenate([rng.uniform(1e3, 2e3, floors), np.zeros(joints)]), K)


@pytest.mark.parametrize("n", [20, 450])
def test_modes_of_a_uniform_shear_beam(n):
    """ω_j = 2 sqrt(k/m) sin((2j - 1) π / (2 (2n + 1))); 450 masses take Lanczos' method."""
    modes = chain(n).modes(count=10)
    theory = 2 * np.sqrt(700.0 / 3.0) * np.sin((2 * np.arange(1, 11) - 1) * np.pi / (2 * (2 * n + 1)))
    assert np.allclose(modes.omega, theory, rtol=FREQUENCY)
    assert np.allclose(modes.shapes.T @ (3.0 * modes.shapes), np.eye(10), atol=FREQUENCY)


@pytest.mark.parametrize("n", [20, 450])
def test_a_structure_that_floats_has_a_mode_of_zero_frequency(n):
    """Free chain: ω_j = 2 sqrt(k/m) sin(j π / (2n)), j = 0, 1, ..."""
    omega = chain(n, free=True).modes(count=5).omega
    theory = 2 * np.sqrt(700.0 / 3.0) * np.sin(np.arange(5) * np.pi / (2 * n))
    assert omega[0] < 1e-5 * omega[1]
    assert np.allclose(omega[1:], theory[1:], rtol=1e-7)


def test_massless_degrees_of_freedom_add_no_mode(rng):
    frame = frame_with_massless_joints(rng)
    thin, full = frame.modes(), frame.dense().modes()
    assert len(thin.omega) == len(full.omega) == 12
    assert np.allclose(thin.omega, full.omega, rtol=FREQUENCY)
    turn = np.sign(np.sum(thin.shapes * full.shapes, axis=0))
    assert np.allclose(thin.shapes * turn, full.shapes, atol=1e-7 * np.abs(full.shapes).max())


def test_devices_count_in_the_modes_where_asked():
    extra = sparse.csr_array(np.diag([300.0] + [0.0] * 19))
    thin, full = chain(20).modes(extra), chain(20).dense().modes(extra.toarray())
    assert np.allclose(thin.omega, full.omega, rtol=FREQUENCY)
    assert np.allclose(chain(20).dense().modes(extra).omega, full.omega, rtol=FREQUENCY)


def test_rayleigh_damping_stays_sparse_and_is_that_of_full_matrices():
    C = rayleigh(chain(20), [0.02, 0.04], modes=(1, 5))
    assert sparse.issparse(C) and C.nnz < 80
    assert np.allclose(C.toarray(), rayleigh(chain(20).dense(), [0.02, 0.04], modes=(1, 5)), rtol=1e-8)


@pytest.mark.parametrize("make", ["sparse", "full"])
def test_modal_and_stiffness_damping_has_one_ratio_below_and_a_rising_one_above(make, rng):
    frame = frame_with_massless_joints(rng)
    C = modal_and_stiffness(frame if make == "sparse" else frame.dense(), 0.03, modes=7)
    assert isinstance(C, LowRank if make == "sparse" else np.ndarray)
    modes = frame.dense().modes()
    damping = modes.shapes.T @ (C @ modes.shapes)
    theory = 0.03 * np.maximum(1.0, modes.omega / modes.omega[6])
    assert np.allclose(np.diag(damping) / (2 * modes.omega), theory, rtol=1e-8)
    assert np.abs(damping - np.diag(np.diag(damping))).max() < 1e-8 * damping.max()


def test_modal_damping_of_a_sparse_structure_is_that_of_full_matrices():
    thin, full = modal(chain(20), [0.02, 0.05, 0.01]), modal(chain(20).dense(), [0.02, 0.05, 0.01])
    assert np.allclose(thin.toarray(), full, atol=1e-9 * np.abs(full).max())


def test_springs_on_sparse_rows_are_those_on_full_ones(rng):
    rows = sparse.random_array((15, 9), density=0.3, rng=rng)
    thin, full = springs(bouc_wen(), rows), springs(bouc_wen(), rows.toarray())
    assert np.array_equal(thin.parameters, full.parameters) and np.array_equal(thin.integers, full.integers)
    assert sparse.issparse(thin.stiffness)
    assert np.allclose(thin.stiffness.toarray(), full.stiffness, atol=ROUND_OFF * full.stiffness.max())
    for structure in (Structure(np.ones(9), np.eye(9), elements=[thin]),
                      Structure(np.ones(9), sparse.eye_array(9), elements=[full]).dense()):  # fmt: skip
        exact = np.eye(9) + full.stiffness
        assert np.allclose(structure.initial_stiffness, exact, atol=ROUND_OFF * full.stiffness.max())


def test_no_full_matrix_is_made_of_a_large_model():
    n = 3000
    tracemalloc.start()
    frame = chain(n)
    frame = frame.with_damping(modal_and_stiffness(frame, 0.02, modes=20))
    _ = frame.excitation, frame.initial_stiffness
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < n * n * 8 / 4


def test_the_dead_load_and_the_shape_at_rest_scale_as_force_and_length():
    frame = Structure(np.ones(2), np.eye(2), dead_load=[-8.0, -4.0], at_rest=[-8.0, -4.0])
    half = Similitude(length=0.5).scale(frame)
    assert np.allclose(half.dead_load, [-2.0, -1.0]) and np.allclose(half.at_rest, [-4.0, -2.0])
    assert np.allclose(half.K @ half.at_rest, half.dead_load)


@pytest.mark.parametrize(("make", "words"), [
    (lambda: Structure(sparse.csr_array(np.diag([1.0, -1.0])), np.eye(2)), "cannot be negative"),
    (lambda: Structure(sparse.csr_array([[1.0, 2.0], [2.0, 1.0]]), np.eye(2)), "negative eigenvalue"),
    (lambda: Structure(np.ones(2), sparse.csr_array([[1.0, 2.0], [0.0, 1.0]])), "must be symmetric"),
    (lambda: Structure(np.ones(3), sparse.eye_array(2)), "shape of M"),
    (lambda: Structure(np.ones(2), sparse.csr_array(np.diag([1.0, np.nan]))), "not finite"),
    (lambda: Structure(np.ones(2), np.eye(2), dead_load=[1.0]), "dead_load must be 2 finite numbers"),
    (lambda: Structure(np.ones(2), np.eye(2), at_rest=[np.inf, 0.0]), "at_rest must be 2 finite numbers"),
    (lambda: Structure(np.ones(2), np.eye(2), elements=[springs(bouc_wen(), np.ones(3))]), "structure has 2"),
])  # fmt: skip
def test_a_wrong_matrix_is_refused(make, words):
    with pytest.raises((BadShape, OutOfBounds), match=words):
        make()


def test_damping_that_would_fill_a_sparse_matrix_is_refused():
    with pytest.raises(BadInput, match="fill a sparse matrix"):
        caughey(chain(20), [0.02] * 3, (1, 2, 3))
    with pytest.raises(BadInput, match="a ratio for each"):
        modal(chain(20), 0.02)
    with pytest.raises(OutOfBounds, match="has 12"):
        modal_and_stiffness(frame_with_massless_joints(np.random.default_rng(1)), 0.02, modes=13)
    with pytest.raises(OutOfBounds, match="count"):
        shear_frame([1.0], [1.0]).modes(count=0)
