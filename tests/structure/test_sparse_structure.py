"""Structures with sparse matrices: modes, damping and checks against closed forms and full matrices."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from hyloop.core import LowRank
from hyloop.core.factor import Factor
from hyloop.devices import bilinear, bouc_wen
from hyloop.errors import BadInput, BadShape, OutOfBounds
from hyloop.structure import (
    ElasticSection,
    Similitude,
    Structure,
    caughey,
    modal,
    modal_and_stiffness,
    plane_frame,
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
    for structure in (
        Structure(np.ones(9), np.eye(9), elements=[thin]),
        Structure(np.ones(9), sparse.eye_array(9), elements=[full]).dense(),
    ):
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


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Structure(sparse.csr_array(np.diag([1.0, -1.0])), np.eye(2)), "cannot be negative"),
        (lambda: Structure(sparse.csr_array([[1.0, 2.0], [2.0, 1.0]]), np.eye(2)), "negative eigenvalue"),
        (lambda: Structure(np.ones(2), sparse.csr_array([[1.0, 2.0], [0.0, 1.0]])), "must be symmetric"),
        (lambda: Structure(np.ones(3), sparse.eye_array(2)), "shape of M"),
        (lambda: Structure(np.ones(2), sparse.csr_array(np.diag([1.0, np.nan]))), "not finite"),
        (lambda: Structure(np.ones(2), np.eye(2), dead_load=[1.0]), "dead_load must be 2 finite numbers"),
        (lambda: Structure(np.ones(2), np.eye(2), at_rest=[np.inf, 0.0]), "at_rest must be 2 finite numbers"),
        (lambda: Structure(np.ones(2), np.eye(2), elements=[springs(bouc_wen(), np.ones(3))]), "structure has 2"),
    ],
)
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


def peak_of(make):
    """What `make` returns, and the largest memory it had at once, in bytes."""
    tracemalloc.start()
    made = make()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return made, peak


def test_springs_of_a_large_model_make_no_full_matrix():
    """Springs of one law are one group with sparse stiffness; that of two is checked by the textbook."""
    section = ElasticSection(2e11, 1e-2, 2e-4)
    model = plane_frame([6.0] * 9, [3.5] * 60, section, section, masses=2e4)
    for s in range(1, 61):
        model.spring(f"fuse {s}", f"A{s - 1}", f"B{s}", bilinear(k=1e6, f_y=1e4))
        model.spring(f"damper {s}", f"C{s - 1}", f"D{s}", bouc_wen(k=2e6, d_y=1e-3), "ux")
    structure, peak = peak_of(model.structure)
    n = structure.n
    assert n == 1800
    assert peak < n * n * 8 / 2
    assert [group.name for group in structure.elements] == ["springs(bilinear)", "springs(bouc_wen)"]
    fuses, dampers = (group.stiffness for group in structure.elements)
    assert sparse.issparse(fuses) and sparse.issparse(dampers)
    c, s = np.array([6.0, 3.5]) / np.hypot(6.0, 3.5)
    at = [structure.dof(name) for name in ("A1.ux", "A1.uy", "B2.ux", "B2.uy")]
    row = np.array([-c, -s, c, s])
    # A1 is the foot of one fuse, B2 the head of the same; B1 and A2 belong to others
    expected = 1e6 * np.outer(row, row)
    assert np.allclose(fuses[at][:, at].toarray(), expected, rtol=1e-12)
    at = [structure.dof(name) for name in ("C1.ux", "D2.ux")]
    assert np.allclose(dampers[at][:, at].toarray(), 2e6 * np.array([[1, -1], [-1, 1]]), rtol=1e-12)


def test_a_tall_shear_frame_is_sparse_and_as_stiff_as_its_stories():
    n = 3000
    rng = np.random.default_rng(2)
    m, k = rng.uniform(1e4, 2e4, n), rng.uniform(1e7, 2e7, n)
    frame, peak = peak_of(lambda: shear_frame(m, k, gravity=1e3, heights=3.0))
    assert frame.is_sparse and peak < n * n * 8 / 20
    # story s carries the loads of the floors above it; the deflection is the sum of the drifts
    F = rng.normal(size=n)
    k = k - 1e3 * np.arange(n, 0, -1) / 3.0
    expected = np.cumsum(np.cumsum(F[::-1])[::-1] / k)
    assert np.allclose(Factor(frame.K).solve(F), expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())
    assert np.array_equal(frame.M.diagonal(), m)


def test_small_shear_frames_are_full_and_the_same():
    m, k = np.linspace(1e4, 2e4, 60), np.linspace(3e7, 2e7, 60)
    small = shear_frame(m, k)
    assert not small.is_sparse
    D = np.eye(60) - np.eye(60, k=-1)
    assert np.array_equal(small.K, D.T @ np.diag(k) @ D)
    large = shear_frame(np.tile(m, 20), np.tile(k, 20))
    assert large.is_sparse
    D = np.eye(1200) - np.eye(1200, k=-1)
    assert np.allclose(large.K.toarray(), D.T @ np.diag(np.tile(k, 20)) @ D, rtol=1e-14)
