"""Large models: the sparse step gives the answer of the full matrices; dead loads and the state at rest."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from hyloop.devices.bilinear import bilinear
from hyloop.devices.bouc_wen import bouc_wen
from hyloop.devices.linear import dashpot, spring
from hyloop.devices.viscous import nonlinear_maxwell
from hyloop.errors import BadInput
from hyloop.integrators import cr, generalized_alpha, kr_alpha, mkr_alpha, newmark, newmark_explicit
from hyloop.loop import Loop, Site, run_ensemble, storage
from hyloop.structure import ElasticSection, Model, Structure, modal_and_stiffness, rayleigh, springs

SAME = 1e-10  # relative to the peak: round-off of some hundred steps with stiff, massless degrees of freedom
METHODS = [mkr_alpha(0.0), mkr_alpha(0.5), mkr_alpha(1.0), kr_alpha(0.75), cr()]
STEPS = 300


@pytest.fixture(autouse=True)
def full_matrices_stay_full(monkeypatch):
    """A loop would make sparse ones of them where these are faster, and compare the sparse step with itself."""
    monkeypatch.setattr(storage, "EACH", np.inf)


def grid(stories=8, bays=4, damping=rayleigh):
    """A frame of springs: floors with mass, joints (vertical, rotation) without, a yielding brace in every story.

    Under its dead load it stands at rest with all joints 2 mm lower: F = K u, and no brace is strained.
    """
    per = 1 + 2 * bays
    n = stories * per
    members, braces = [], []  # stiffness and {degree of freedom: coefficient}

    def floor(s):
        return s * per

    def up(s, b):
        return s * per + 1 + b

    def turn(s, b):
        return s * per + 1 + bays + b

    for s in range(stories):
        chord = {floor(s): 1 / 3} | ({floor(s - 1): -1 / 3} if s else {})
        for b in range(bays):
            members.append((3e8, {up(s, b): 1.0} | ({up(s - 1, b): -1.0} if s else {})))
            members.append((4e7, chord | {turn(s, b): 1.0}))
            members.append((4e7, chord | ({turn(s - 1, b): 1.0} if s else {})))
            if b:
                members.append((5e6, {turn(s, b): 1.0, turn(s, b - 1): 0.5}))
                members.append((5e6, {turn(s, b): 0.5, turn(s, b - 1): 1.0, up(s, b): 0.2}))
        braces.append({floor(s): 0.8} | ({floor(s - 1): -0.8, up(s, 1): 0.6, up(s - 1, 0): -0.6} if s else {}))
    B = _matrix([entries for _, entries in members], n)
    K = sparse.csr_array(B.T @ sparse.diags_array([k for k, _ in members]) @ B)
    floors, joints = [floor(s) for s in range(stories)], [up(s, b) for s in range(stories) for b in range(bays)]
    mass, influence, at_rest = np.zeros(n), np.zeros(n), np.zeros(n)
    mass[floors], influence[floors], at_rest[joints] = 2e4, 1.0, -2e-3
    frame = Structure(
        mass,
        K,
        influence=influence,
        elements=[springs(bouc_wen(k=6e7, d_y=2e-3), _matrix(braces, n))],
        dead_load=K @ at_rest,
        at_rest=at_rest,
    )
    return frame.with_damping(damping(frame, 0.03))


def _matrix(rows, n):
    entries = [(r, c, v) for r, row in enumerate(rows) for c, v in row.items()]
    r, c, v = map(np.array, zip(*entries, strict=True))
    return sparse.csr_array(sparse.coo_array((v, (r, c)), shape=(len(rows), n)))


def modes_and_stiffness(frame, ratio):
    return modal_and_stiffness(frame, ratio, modes=5)


def sites(frame):
    across = np.zeros(frame.n)
    across[[0, 9]] = -0.7, 0.7
    return [
        Site("damper", across, nonlinear_maxwell()),
        Site("dashpot", frame.between(18, 0), dashpot(c=2e5), count=2),
        Site("fuse", frame.between(27, 18), bilinear(k=2e7, f_y=5e4)),
    ]


def ground(steps=STEPS, seed=3):
    return 3.0 * np.random.default_rng(seed).normal(size=steps)


def _agree(a, b):
    assert a.names == b.names
    for kind in ("u.", "v.", "a.", "damper", "fuse"):
        pick = [k for k, name in enumerate(a.names) if name.startswith(kind)]
        x, y = a.data[:, pick], b.data[:, pick]
        scale = np.abs(y - y[0]).max() if pick else 1.0
        assert pick == [] or np.abs(x - y).max() <= SAME * scale, kind


@pytest.mark.parametrize("damping", [rayleigh, modes_and_stiffness], ids=["rayleigh", "modal"])
@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_a_frame_answers_as_with_full_matrices(method, damping):
    frame = grid(damping=damping)
    record = ["u.*", "v.*", "a.*", "damper.*", "fuse.*"]
    thin, full = (Loop(s, sites(frame), method=method, dt=0.01, substeps=2) for s in (frame, frame.dense()))
    a, b = thin.run(ground(), record=record), full.run(ground(), record=record)
    _agree(a, b)
    assert np.abs(b["fuse.f"]).max() > 5e4  # the devices yielded: this is not a linear comparison


def test_a_space_frame_answers_as_with_full_matrices():
    """Six rows a joint, rotations without mass: the factor has panels of every width."""
    model, section = Model(3), ElasticSection(2e11, 2e-2, 3e-4, 2e-4, 8e10, 1e-5)
    for x, y, z in np.ndindex(3, 5, 3):
        here = f"{x}{y}{z}"
        model.node(here, 6.0 * x, 3.5 * y, 5.0 * z)
        if y == 0:
            model.support(here, "fixed")
            continue
        model.mass(here, ux=2e4, uy=2e4, uz=2e4)
        for name, there in (("x", (x - 1, y, z)), ("y", (x, y - 1, z)), ("z", (x, y, z - 1))):
            if min(there) >= 0:
                model.elastic(name + here, "{}{}{}".format(*there), here, section)
    frame = model.structure(lambda s: rayleigh(s, 0.02)).dense()
    thin = replace(frame, **{key: sparse.csr_array(getattr(frame, key)) for key in ("M", "K", "C")})
    brace = Site("fuse", frame.between(frame.dof("111.ux"), frame.dof("020.ux")), bilinear(k=2e7, f_y=2e4))
    a, b = (Loop(s, [brace], method=mkr_alpha(0.75), dt=0.01) for s in (thin, frame))
    assert set(a._plan.matrices.bundle.L.bundle.head[:, 1]) == {1, 2, 4, 8}
    rows = np.column_stack([ground(), ground(seed=4)])
    _agree(*(loop.run(rows, record=["u.*", "v.*", "a.*", "fuse.*"]) for loop in (a, b)))


def test_random_matrices_answer_as_full_ones(rng):
    """Consistent mass, a full mesh of entries, damping of low rank on every row, initial velocity."""
    n = 40
    G = sparse.random_array((3 * n, n), density=0.06, rng=rng)
    H = sparse.random_array((n, n), density=0.05, rng=rng)
    M = sparse.csr_array(H.T @ H + sparse.eye_array(n)) * 1e3
    thin = Structure(M, 1e6 * (G.T @ G) + 1e4 * sparse.eye_array(n), loads=rng.normal(size=(n, 1)))
    thin = thin.with_damping(modal_and_stiffness(thin, 0.05, modes=12))
    rows, v0 = rng.normal(size=(STEPS, 2)), rng.normal(size=n)
    for method in METHODS:
        a, b = (Loop(s, method=method, dt=0.005).run(rows, v0=v0) for s in (thin, thin.dense()))
        _agree(a, b)


def test_live_steps_snapshots_and_ensembles_are_the_same_bits():
    loop = Loop(grid(damping=modes_and_stiffness), sites(grid()), method=mkr_alpha(0.5), dt=0.01)
    whole = loop.run(ground(), record=["u.*", "fuse.*"]).data
    loop.start(ground()[:1])
    first = loop.advance(ground()[1:100], record=["u.*", "fuse.*"])
    kept = loop.snapshot()
    loop.advance(ground()[100:150])
    loop.restore(kept)
    for e in ground()[100:120]:
        assert loop.step(np.array([e])) == 0
    rest = loop.advance(ground()[120:], record=["u.*", "fuse.*"])
    assert np.array_equal(np.vstack([first.data, rest.data]), np.delete(whole, [0, *range(100, 120)], axis=0))
    pair = run_ensemble([(loop.copy(), ground()), (loop.copy(), ground())], workers=2, record=["u.*", "fuse.*"])
    assert all(np.array_equal(member.data, whole) for member in pair)


@pytest.mark.parametrize(
    "method",
    [newmark_explicit(), newmark(), generalized_alpha(0.8), mkr_alpha(0.5, "plain")],
    ids=lambda method: method.name,
)
def test_other_methods_take_full_matrices_of_a_small_model_and_refuse_a_large_one(method):
    n = 20
    drift = sparse.diags_array([np.ones(n), -np.ones(n - 1)], offsets=[0, -1])
    thin = Structure(np.ones(n), 100.0 * drift.T @ drift)
    thin = thin.with_damping(rayleigh(thin, 0.02))
    a, b = (Loop(s, method=method, dt=0.01).run(ground(40)) for s in (thin, thin.dense()))
    assert np.array_equal(a.data, b.data)
    large = Structure(np.ones(300), sparse.eye_array(300))
    with pytest.raises(BadInput, match="no sparse operators; use mkr_alpha"):
        Loop(large, method=method, dt=0.01)


@pytest.mark.parametrize("form", ["sparse", "full"])
@pytest.mark.parametrize("method", [mkr_alpha(0.5), cr(), newmark(), newmark_explicit()], ids=lambda m: m.name)
def test_nothing_moves_under_the_dead_load_alone(form, method):
    """Gravity on a chain of masses: u at rest is K⁻¹F; without excitation it stays there, and devices feel nothing."""
    n = 5
    drift = sparse.diags_array([np.ones(n), -np.ones(n - 1)], offsets=[0, -1])
    K, load = sparse.csr_array(1e4 * drift.T @ drift), -9.81 * np.arange(1.0, n + 1)
    frame = Structure(np.ones(n), K, dead_load=load, at_rest=np.linalg.solve(K.toarray(), load))
    site = Site("tie", frame.between(4, 1), spring(k=3e3))
    loop = Loop(frame if form == "sparse" else frame.dense(), [site], method=method, dt=0.01)
    result = loop.run(np.zeros(200))
    assert np.abs(result["u.5"] - frame.at_rest[4]).max() < 1e-12
    assert np.abs(result["tie.f"]).max() < 1e-8
    # disturbed, it vibrates about the state at rest as the same chain does about zero without the load
    plain = Loop(Structure(np.ones(n), K), [site], method=method, dt=0.01).run(ground(200))
    loaded = loop.run(ground(200))
    for name, rest in (("u.5", frame.at_rest[4]), ("tie.d", 0.0), ("v.2", 0.0)):
        assert np.abs(loaded[name] - rest - plain[name]).max() < SAME * np.abs(plain[name]).max()


def test_a_massless_degree_of_freedom_that_nothing_holds_is_refused():
    K = sparse.csr_array(np.diag([1e4, 0.0, 1e4]))
    with pytest.raises(BadInput, match="nothing resists degree of freedom 2"):
        Loop(Structure([1.0, 0.0, 1.0], K), method=mkr_alpha(0.5), dt=0.01)


def test_no_full_matrix_is_made_for_a_large_model():
    n = 3000
    drift = sparse.diags_array([np.ones(n), -np.ones(n - 1)], offsets=[0, -1])
    chain = Structure(np.ones(n), 1e6 * drift.T @ drift)
    chain = chain.with_damping(modal_and_stiffness(chain, 0.02, modes=10))
    site = Site("tie", chain.between(9, 3), dashpot(c=10.0))
    tracemalloc.start()
    Loop(chain, [site], method=mkr_alpha(0.5), dt=0.01).run(ground(3), record=["u.1"])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < n * n * 8 / 4
