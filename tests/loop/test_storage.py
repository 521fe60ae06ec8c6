"""Full or sparse matrices in the step: by what a step reads, whatever the structure was given as."""

import numpy as np
import pytest
from scipy import sparse

from hyloop.devices import bouc_wen
from hyloop.errors import BadInput
from hyloop.integrators import cr, kr_alpha, mkr_alpha, newmark, newmark_explicit
from hyloop.loop import Loop, Site, storage
from hyloop.structure import ElasticSection, Structure, modal, plane_frame, rayleigh, shear_frame

SAME = 1e-10  # relative to the peak: round-off of some hundred steps
SECTION = ElasticSection(2e11, 1e-2, 2e-4)


def frame(stories, bays, **options):
    model = plane_frame([6.0] * bays, [3.5] * stories, SECTION, SECTION, masses=2e4)
    return model.structure(lambda s: rayleigh(s, 0.02), **options)


def loop(structure, method=None, along=None):
    along = np.eye(structure.n)[0] if along is None else along
    return Loop(structure, [Site("brace", along, bouc_wen(k=2e6, d_y=2e-3))], method=method or mkr_alpha(0.75), dt=0.01)


def is_sparse(made):
    return bool(made._plan.sparse)


@pytest.mark.parametrize(
    "make, expected",
    [
        (lambda: frame(2, 1), False),  # 12 unknowns
        (lambda: frame(4, 1), False),  # 24
        (lambda: frame(5, 2), True),  # 45
        (lambda: frame(10, 5), True),  # 180, full matrices in the structure
        (lambda: frame(8, 3, condense=[]), False),  # 64, all of them coupled
        (lambda: shear_frame([1e4] * 8, [1e7] * 8), False),
        (lambda: shear_frame([1e4] * 40, [1e7] * 40), True),
    ],
)
def test_the_step_takes_what_is_faster(make, expected):
    structure = make()
    assert not structure.is_sparse  # full for whoever looks at it
    made = loop(structure)
    assert is_sparse(made) is expected
    assert made.structure is structure


def test_damping_of_all_modes_and_sites_across_all_floors_keep_matrices_full():
    plain = shear_frame([1e4] * 60, [1e7] * 60)
    assert is_sparse(loop(plain))
    assert not is_sparse(loop(plain.with_damping(modal(plain, 0.02))))
    assert not is_sparse(loop(plain, along=np.ones(plain.n)))


@pytest.mark.parametrize("method", [mkr_alpha(0.75), kr_alpha(0.5), cr()], ids=lambda method: method.name)
def test_the_answer_does_not_depend_on_it(method, monkeypatch):
    structure, ground = frame(6, 3), 3.0 * np.random.default_rng(3).normal(size=300)
    thin = loop(structure, method)
    monkeypatch.setattr(storage, "EACH", np.inf)
    full = loop(structure, method)
    assert is_sparse(thin) and not is_sparse(full)
    a, b = (made.run(ground, record=["u.*", "brace.*"], v0=np.full(structure.n, 0.1)) for made in (thin, full))
    for name in b.names:
        assert np.abs(a[name] - b[name]).max() <= SAME * max(np.abs(b[name]).max(), 1e-12), name
    assert np.allclose(thin.modes().omega, full.modes().omega, rtol=1e-9)


@pytest.mark.parametrize("method", [newmark_explicit(), newmark(), mkr_alpha(0.5, "plain")], ids=lambda m: m.name)
def test_methods_without_sparse_operators_get_full_ones(method):
    n = 150
    structure = shear_frame([1e4] * n, [1e7] * n)
    thin = Structure(sparse.csr_array(structure.M), sparse.csr_array(structure.K))
    for given in (structure, thin):
        made = loop(given, method)
        assert not is_sparse(made)
        assert np.isfinite(made.run(np.ones(20)).data).all()


def whirling(n=60):
    """A chain whose damping is not symmetric."""
    plain = shear_frame([1e4] * n, [1e7] * n)
    along = np.full(n - 1, 2e5)
    return plain.with_damping(rayleigh(plain, 0.02) + np.diag(along, 1) - np.diag(along, -1))


def test_damping_that_is_not_symmetric_stays_with_full_matrices(monkeypatch):
    """The sparse step uses one half of each matrix; as it stood, this answer was 20 % off."""
    ground = np.random.default_rng(0).normal(size=200)
    made = loop(whirling())
    assert not is_sparse(made)
    monkeypatch.setattr(storage, "EACH", np.inf)
    assert np.array_equal(made.run(ground).data, loop(whirling()).run(ground).data)


def test_sparse_matrices_with_damping_that_is_not_symmetric_are_refused():
    full = whirling()
    thin = Structure(*(sparse.csr_array(matrix) for matrix in (full.M, full.K, full.C)))
    with pytest.raises(BadInput, match=r"C is not symmetric.*Structure.dense\(\)"):
        loop(thin)
    assert np.isfinite(loop(thin.dense()).run(np.ones(5)).data).all()


def test_negative_stiffness_stays_with_full_matrices():
    """Their inverse needs no positive pivots."""
    K = shear_frame([1e4] * 60, [1e7] * 60).K
    K[30, 30] -= 4e7
    M = np.full(60, 1e4)
    M[30] = 0.0
    made = Loop(Structure(M, K), method=mkr_alpha(0.5), dt=0.01)
    assert not is_sparse(made)
