"""Static condensation: by elimination, from flexibilities, inside a model and in a run."""

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse

from hyloop.devices import bilinear
from hyloop.errors import BadInput, BadShape
from hyloop.integrators import mkr_alpha
from hyloop.loop import Loop
from hyloop.structure import Model, Structure, condense, eliminate, flexibility, from_flexibility
from hyloop.structure.fibres.sections import ElasticSection

FREQUENCIES = 1e-6  # relative; round-off of the elimination is far below
RESPONSE = 1e-8  # of the peak; round-off over the whole history
SECTION = ElasticSection(2e11, 2e-2, 3e-4, 2e-4, 8e10, 1e-5)


def space_frame(stories=3):
    """Rigid floors with mass on 2 x 2 columns; joints are massless. A yielding device acts on the first floor."""
    model = Model(3)
    plan = {"a": (0, 0), "b": (5, 0), "c": (5, 4), "d": (0, 4)}
    for name, (x, z) in plan.items():
        model.node(name + "0", x, 0, z)
        model.support(name + "0", "fixed")
    for level in range(1, stories + 1):
        names = [f"{line}{level}" for line in plan]
        for line, (x, z) in plan.items():
            model.node(f"{line}{level}", x, 3.0 * level, z)
            model.elastic(f"column {line}{level}", f"{line}{level - 1}", f"{line}{level}", SECTION)
        for i, j in zip(names, names[1:] + names[:1], strict=True):
            model.elastic(f"beam {i}{j}", i, j, SECTION)
        model.diaphragm(f"floor{level}", names, master=(2.7, 3.0 * level, 2.1), mass=2e4, rotary=1e5)
    return model


@pytest.fixture
def stiffness(rng):
    half = rng.standard_normal((9, 9))
    return half @ half.T + np.eye(9)


def test_elimination_and_flexibility_give_the_same_super_element(stiffness):
    keep = [7, 0, 4]
    K_r, T = eliminate(stiffness, keep)
    F = np.linalg.inv(stiffness)[np.ix_(keep, keep)]
    assert np.allclose(K_r, np.linalg.inv(F), rtol=1e-10)
    assert np.allclose(flexibility(csr_array(stiffness), keep), F, rtol=1e-10)
    assert np.allclose(from_flexibility(flexibility(csr_array(stiffness), keep)), K_r, rtol=1e-10)
    # loads on the kept degrees of freedom give the displacements of the whole
    load = np.array([1.0, -2.0, 0.5])
    whole = np.zeros(9)
    whole[keep] = load
    assert np.allclose(T @ np.linalg.solve(K_r, load), np.linalg.solve(stiffness, whole), rtol=1e-9)


def test_sparse_matrices_stay_sparse_and_give_the_same(stiffness):
    keep = [1, 2, 8]
    K_r, T = eliminate(csr_array(stiffness), keep)
    assert issparse(K_r) and issparse(T)
    assert np.allclose(K_r.toarray(), eliminate(stiffness, keep)[0], rtol=1e-12)
    everything, _ = eliminate(stiffness, range(9))
    assert np.array_equal(everything, stiffness)


def test_super_elements_that_cannot_be_are_refused():
    with pytest.raises(BadShape, match=r"F\[0,1\] = 2 but F\[1,0\] = 1; by Maxwell"):
        from_flexibility([[3.0, 2.0], [1.0, 3.0]])
    with pytest.raises(BadInput, match="not positive definite"):
        from_flexibility([[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(BadShape, match="square matrix"):
        from_flexibility([[1.0, 2.0]])
    with pytest.raises(BadInput, match="singular"):
        eliminate(np.diag([1.0, 0.0, 2.0]), [0])


def test_condensation_of_massless_joints_leaves_the_frequencies():
    model = space_frame()
    full, small = model.structure(), model.structure(condense=[])
    assert full.n == 45 and small.n == 9
    assert np.allclose(small.modes().omega, full.modes().omega, rtol=FREQUENCIES)
    again, T = condense(full, small.names)
    assert np.allclose(again.K, small.K, rtol=1e-9, atol=1e-9 * np.abs(small.K).max())
    assert np.allclose(full.K @ T, np.eye(full.n)[:, [full.dof(n) for n in small.names]] @ again.K, atol=1e-3)
    sparse = Structure(csr_array(full.M), csr_array(full.K), influence=full.influence, names=full.names)
    thin, _ = condense(sparse, small.names)
    assert thin.is_sparse
    assert np.allclose(thin.K.toarray(), small.K, rtol=1e-9, atol=1e-9 * np.abs(small.K).max())
    assert np.array_equal(thin.influence, small.influence)


def test_response_of_the_condensed_model_is_that_of_the_full_one():
    """With a yielding spring on kept degrees of freedom, and a dead load on eliminated ones."""
    model = space_frame(2)
    model.spring("yielding", "a0", "a1", bilinear(k=4e7, f_y=8e3, alpha=0.05), "ux")
    model.load("a2", uy=-2e5, rz=1e4)
    dt = 0.005
    t = dt * np.arange(300)
    ground = np.column_stack([2.0 * np.sin(9 * t), np.sin(14 * t)])
    results = []
    for keep in (None, []):
        structure = model.structure(condense=keep)
        result = Loop(structure, method=mkr_alpha(0.8), dt=dt).run(ground)
        results.append(np.array([result[f"u.{name}"] for name in ("floor1.ux", "floor2.uz", "floor2.ry")]))
    assert np.abs(results[0]).max() > 5e-4  # it yields
    for full, small in zip(*results, strict=True):
        assert np.abs(full - small).max() < RESPONSE * np.abs(full).max()
