"""Gains and estimators against independent solutions: closed forms, Hamiltonian eigenvectors, a textbook filter."""

import numpy as np
import pytest
from scipy.linalg import expm

from hyloop import Loop, Site
from hyloop.control import Weights, clipped_optimal, design_lqg, passive_off
from hyloop.control.plant import held, noise_of_a_step, plant, sampled_cost
from hyloop.devices import mr_damper, spring
from hyloop.errors import BadInput, OutOfBounds, UnknownName
from hyloop.integrators import newmark_explicit
from hyloop.structure import Structure, rayleigh, shear_frame

DT = 1.0 / 1024.0
CLOSE = 1e-8  # relative: Riccati solvers lose half of the digits where poles lie close together
SHORT = 1e-6  # s: a step for which the sampled problem is the continuous one but for its own size
# per second of step, of the root mean square: what ground and force do within a step is not yet heard; 14 to 16 seen
FIRST_ORDER = 20.0
WEIGHTS = Weights(drift=2e-3, acceleration=1.0, force=1e3)


def three(masses=300.0):
    structure = shear_frame([masses] * 3, [120e3] * 3)
    structure = structure.with_damping(rayleigh(structure, 0.02, (1, 2)))
    return structure, Site("damper1", structure.story(1), mr_damper(i=0.0))


def hamiltonian_gain(A, B, Q, S, R):
    """Gain of the continuous regulator from the stable eigenvectors of its Hamiltonian matrix."""
    n, shifted = len(A), A - B @ np.linalg.solve(R, S.T)
    H = np.block([[shifted, -B @ np.linalg.solve(R, B.T)], [-(Q - S @ np.linalg.solve(R, S.T)), -shifted.T]])
    values, vectors = np.linalg.eig(H)
    stable = vectors[:, values.real < 0.0]
    P = np.real(stable[n:] @ np.linalg.inv(stable[:n]))
    return np.linalg.solve(R, B.T @ P + S.T), values[values.real < 0.0]


def test_one_degree_of_freedom_is_the_closed_form():
    """Undamped, cost of the drift alone: ω² becomes sqrt(ω⁴ + q/r), damping follows; no acceleration counts."""
    m, k, d1, f1 = 300.0, 120e3, 2e-3, 1e3
    structure = shear_frame([m], [k])
    site = Site("damper1", structure.story(1), mr_damper())
    gain = design_lqg(structure, [site], Weights(d1, 1e12, f1), dt=SHORT).gain[0]
    w2, b = k / m, 1.0 / m
    closed = np.sqrt(w2**2 + b**2 * (f1 / d1) ** 2)
    p = (closed - w2) / b  # -f = ... : the force acts against the motion, so the gain of u is minus this
    rate = np.sqrt(2.0 * (closed - w2)) / b
    np.testing.assert_allclose(-gain, [p, rate], rtol=1e-4)  # of order SHORT times the closed-loop frequency
    poles = np.roots([1.0, -gain[1] * b, w2 - gain[0] * b])
    np.testing.assert_allclose(np.abs(poles) ** 2, closed, rtol=1e-4)


def test_gain_is_that_of_the_hamiltonian_eigenvectors():
    structure, site = three()
    model = plant(structure, [site])
    drift, acceleration = np.hstack(model.drifts) / 2e-3, np.hstack(model.accelerations)
    cost = drift.T @ drift + acceleration.T @ acceleration + np.diag([0.0] * 6 + [1e-6])
    gain, poles = hamiltonian_gain(model.A, model.B, cost[:6, :6], cost[:6, 6:], cost[6:, 6:])
    ours = design_lqg(structure, [site], WEIGHTS, dt=SHORT).gain
    np.testing.assert_allclose(ours, gain, rtol=0, atol=1e-3 * np.abs(gain).max())
    closed = np.linalg.eigvals(model.A - model.B @ ours)
    assert np.max(np.abs(np.sort_complex(closed) - np.sort_complex(poles))) < 1e-2 * np.abs(poles).max()


def test_sampled_gain_minimises_the_sampled_cost():
    """Iterating the Riccati recurrence from zero ends at the same gain, and closed-loop poles lie inside the circle."""
    structure, site = three()
    model = plant(structure, [site])
    drift, acceleration = np.hstack(model.drifts) / 2e-3, np.hstack(model.accelerations)
    cost = drift.T @ drift + acceleration.T @ acceleration + np.diag([0.0] * 6 + [1e-6])
    J, (Ad, Bd) = sampled_cost(model.A, model.B, cost, 0.01), held(model.A, model.B, 0.01)
    P = np.zeros((6, 6))
    for _ in range(4000):
        K = np.linalg.solve(J[6:, 6:] + Bd.T @ P @ Bd, Bd.T @ P @ Ad + J[6:, :6])
        P = J[:6, :6] + Ad.T @ P @ Ad - (Ad.T @ P @ Bd + J[:6, 6:]) @ K
        P = 0.5 * (P + P.T)
    ours = design_lqg(structure, [site], WEIGHTS, dt=0.01).gain
    np.testing.assert_allclose(ours, K, rtol=0, atol=CLOSE * np.abs(K).max())
    assert np.abs(np.linalg.eigvals(Ad - Bd @ ours)).max() < 1.0


def test_discretisation_is_that_of_quadrature():
    structure, site = three()
    model = plant(structure, [site])
    rng = np.random.default_rng(0)
    Q = rng.normal(size=(7, 7))
    Q = Q @ Q.T
    t, w = np.polynomial.legendre.leggauss(24)
    t, w, dt = (t + 1) / 2, w / 2, 0.02
    both = np.block([[model.A, model.B], [np.zeros((1, 7))]])
    expected = dt * sum(wk * expm(both * tk * dt).T @ Q @ expm(both * tk * dt) for tk, wk in zip(t, w, strict=True))
    np.testing.assert_allclose(sampled_cost(model.A, model.B, Q, dt), expected, rtol=1e-9, atol=1e-12)
    E = model.E @ model.E.T
    expected = dt * sum(
        wk * expm(model.A * tk * dt) @ E @ expm(model.A * tk * dt).T for tk, wk in zip(t, w, strict=True)
    )
    np.testing.assert_allclose(noise_of_a_step(model.A, model.E, 3.0, dt), 3.0 * expected, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("noise_d", [None, 1e-5])
def test_the_block_is_a_textbook_kalman_filter(noise_d):
    """Wanted forces of the compiled block, against a filter with a covariance of its own, run until it is steady."""
    structure, site = three()
    sizes = {"dt": DT, "drift": 2e-3, "acceleration": 1.0, "force": 1e3, "noise_d": noise_d}
    (free,) = clipped_optimal("lqg", structure, [site], noise=0.05, **sizes)
    design = design_lqg(structure, [site], WEIGHTS, dt=DT, noise=0.05, noise_d=noise_d)
    model = plant(structure, [site])
    q = len(design.Cm)
    R = np.diag([0.05**2] * 3 + [noise_d**2] * (q - 3) if noise_d else [0.05**2] * 3)
    process, P = noise_of_a_step(model.A, model.E, 1.0 / 20.0, DT), np.eye(6)
    for _ in range(20_000):
        L = P @ design.Cm.T @ np.linalg.inv(design.Cm @ P @ design.Cm.T + R)
        P = design.Ad @ (P - L @ design.Cm @ P) @ design.Ad.T + process
    np.testing.assert_allclose(design.correction, L, rtol=0, atol=1e-6 * np.abs(L).max())

    rng = np.random.default_rng(4)
    count = 300
    a, f, d = rng.normal(size=(count, 3)), rng.normal(0.0, 100.0, count), rng.normal(0.0, 1e-3, count)
    signals = {f"a_{k}": a[:, k] for k in range(3)} | {"ground": np.zeros(count), "f_0": f}
    signals |= {"d_0": d} if noise_d else {}
    block = free.block.block(noise_a=0.0)
    heard = block.drive(DT, **signals)
    x, wanted, earlier = np.zeros(6), [], 0.0
    t, w = np.polynomial.legendre.leggauss(8)  # ∫ e^{A (dt - s)} B s/dt ds
    Rd = (
        DT
        / 2
        * sum(wk * expm(model.A * DT * (1 - tk) / 2) @ model.B * (tk + 1) / 2 for tk, wk in zip(t, w, strict=True))
    )
    for k in range(count):
        y = np.append(a[k], earlier) if noise_d else a[k]
        x = x + Rd[:, 0] * (f[k] - (f[k - 1] if k else 0.0))
        x = x + L @ (y - design.Cm @ x - design.Dm @ f[k : k + 1])
        x = design.Ad @ x + design.Bd @ f[k : k + 1]
        wanted.append(-(design.gain @ x)[0])
        earlier = d[k]
    np.testing.assert_allclose(heard["f_damper1"], wanted, rtol=0, atol=1e-5 * np.max(np.abs(wanted)))
    on = (heard["f_damper1"] - f) * f > 0.0
    np.testing.assert_array_equal(heard["command_damper1"], np.where(on, 1.0, 0.0))


def test_a_command_in_proportion_is_bounded_by_its_level():
    structure, site = three()
    (free,) = clipped_optimal(
        "lqg", structure, [site], dt=DT, drift=2e-3, acceleration=1.0, force=1e3, full=200.0, level=0.7
    )
    rng = np.random.default_rng(5)
    f = rng.normal(0.0, 50.0, 500)
    run = free.block.drive(DT, a_0=f / 50, a_1=f / 60, a_2=f / 40, ground=0.0 * f, f_0=f)
    wanted, command = run["f_damper1"], run["command_damper1"]
    on = (wanted - f) * f > 0.0
    np.testing.assert_allclose(command, np.where(on, 0.7 * np.minimum(np.abs(wanted) / 200.0, 1.0), 0.0), rtol=1e-12)
    assert 0 < on.sum() < 500 and command.max() <= 0.7


@pytest.mark.parametrize("physical", [False, True])
@pytest.mark.parametrize("substeps", [1, 4])
def test_in_the_loop_the_estimate_is_the_motion(substeps, physical):
    """Nearly silent accelerometers: the wanted force is -K x with the true x, within what the step leaves open."""
    structure, site = three()
    site = Site("damper1", structure.story(1), mr_damper(i=0.0), physical=physical)
    step = substeps * DT
    settings = {"dt": step, "substeps": substeps, "drift": 2e-3, "acceleration": 1.0, "force": 1e3}
    blocks = clipped_optimal("lqg", structure, [site], noise=1e-4, **settings)
    gain = design_lqg(structure, [site], WEIGHTS, dt=step, substeps=substeps, noise=1e-4).gain
    loop = Loop(structure, [site], method=newmark_explicit(), dt=step, substeps=substeps, blocks=blocks)
    t = np.arange(round(6.0 / step)) * step
    result = loop.run((1.5 * np.sin(2 * np.pi * 1.3 * t))[:, None])
    x = np.column_stack([result[f"{s}.{k}"] for s in "uv" for k in (1, 2, 3)])
    true, estimated = -(x @ gain[0]), result["lqg.f_damper1"]
    assert np.sqrt(np.mean((estimated - true) ** 2)) < FIRST_ORDER * step * np.sqrt(np.mean(true**2))
    assert set(np.unique(result["damper1.i"])) == {0.0, 1.0}


def test_what_cannot_be_is_refused():
    structure, site = three()
    settings = {"dt": DT, "drift": 2e-3, "acceleration": 1.0, "force": 1e3}
    with pytest.raises(BadInput, match="site other: the device is spring, which obeys no command"):
        clipped_optimal("lqg", structure, [Site("other", structure.story(1), spring())], **settings)
    with pytest.raises(UnknownName, match="degree of freedom 'roof'"):
        clipped_optimal("lqg", structure, [site], measured=["roof"], **settings)
    with pytest.raises(BadInput, match="nothing is measured"):
        clipped_optimal("lqg", structure, [site], measured=[], **settings)
    with pytest.raises(BadInput, match="name each degree of freedom once"):
        clipped_optimal("lqg", structure, [site], measured=["1", "1"], **settings)
    with pytest.raises(BadInput, match="at least one site"):
        clipped_optimal("lqg", structure, [], **settings)
    with pytest.raises(BadInput, match="named twice"):
        clipped_optimal("lqg", structure, [site, site], **settings)
    with pytest.raises(OutOfBounds, match=r"level = 3.0 A must be positive and at most 1 A"):
        clipped_optimal("lqg", structure, [site], level=3.0, **settings)
    for key in ("drift", "acceleration", "force", "ground", "noise", "noise_d"):
        with pytest.raises(OutOfBounds, match=f"{key} = -1"):
            clipped_optimal("lqg", structure, [site], **{**settings, key: -1.0})
    with pytest.raises(BadInput, match="does not know its floors"):
        bare = Structure(np.eye(2), np.eye(2))
        clipped_optimal("lqg", bare, [Site("damper1", np.array([1.0, 0.0]), mr_damper())], **settings)
    blocks = clipped_optimal("lqg", structure, [site], **settings)
    with pytest.raises(BadInput, match=r"lqg: .*Set dt and substeps"):
        Loop(structure, [passive_off(site)], method=newmark_explicit(), dt=2 * DT, blocks=blocks)
