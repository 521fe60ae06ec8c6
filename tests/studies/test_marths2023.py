"""The multi-axial benchmark: its parts against formulas and other solvers, its loop against hyloop's own."""

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.signal import dlsim, lfilter

from hyloop.data.folders import set_folder
from hyloop.errors import BadInput
from hyloop.study.code import load_code

FOLDER = Path(__file__).parents[2] / "studies" / "marths2023"
needs_data = pytest.mark.skipif(set_folder("marths") is None, reason="needs the data of the benchmark")
ROUND_OFF = 1e-9  # relative; recursions of thousands of steps in another order
# commands are many times the third difference of motions, which takes three digits of theirs
SAME_LOOP = 1e-6


@pytest.fixture(scope="module")
def parts():
    name = load_code(FOLDER / "study.py").__name__
    found = {key.rpartition(".")[2]: module for key, module in sys.modules.items() if key.startswith(f"{name}.")}
    __import__(f"{name}.in_hyloop"), __import__(f"{name}.choosing")
    found |= {key: sys.modules[f"{name}.{key}"] for key in ("in_hyloop", "choosing")}
    return SimpleNamespace(**found)


@needs_data
def test_values_of_the_quick_claims(parts):
    """Matrices and plant are those stored; LQG's feedforward is the one its weights were stated with."""
    same = sys.modules[parts.frame.__package__]._same_matrices()
    assert same["frequency response of the plant against its file"] < 1e-12
    assert same["matrices against those of the first port"] < 1e-9
    D = parts.references.lqg().block.memory[-16:].reshape(4, 4)
    assert D[:2, :2] == pytest.approx(np.array([[40.44, -7.46], [2.55, 25.49]]), abs=0.005)


@needs_data
def test_frame_moves_as_the_method_of_the_book_says(parts):
    part, dt = parts.frame.numerical(), parts.frame.DT
    rng = np.random.default_rng(0)
    ag = rng.standard_normal(200)
    bar = part.K + 4.0 / dt**2 * part.M + 2.0 / dt * part.C
    U, V, A = (np.zeros(len(part.M)) for _ in range(3))
    expected = []
    for a in ag:
        R = part.M @ (4.0 / dt**2 * U + 4.0 / dt * V + A) + part.C @ (2.0 / dt * U + V) - part.load * a
        new = np.linalg.solve(bar, R)
        later = 4.0 / dt**2 * (new - U) - 4.0 / dt * V - A
        U, V, A = new, V + dt / 2.0 * (A + later), later
        expected.append(U)
    found = parts.loop.respond(part, ag)
    assert np.abs(found - expected).max() < ROUND_OFF * np.abs(expected).max()


def test_kinematics_there_and_back(parts):
    """Exact for a sway; with the cosine of s for that of asin s a rotation comes back with an error of third order."""
    assert parts.loop.to_node(*parts.loop.to_actuators(3e-3, 0.0)) == pytest.approx((3e-3, 0.0), abs=1e-15)
    errors = []
    for r in (0.02, 0.01):
        x, back = parts.loop.to_node(*parts.loop.to_actuators(3e-3, r))
        assert back == pytest.approx(r, rel=1e-12)
        errors.append(abs(x - 3e-3))
    assert 0.0 < errors[0] < 1e-6 and 7.0 < errors[0] / errors[1] < 9.0


def test_linear_controller_is_the_linear_system(parts):
    rng = np.random.default_rng(1)
    A, B, C, D = (rng.standard_normal(shape) for shape in ((5, 5), (5, 4), (4, 5), (4, 4)))
    A *= 0.9 / np.abs(np.linalg.eigvals(A)).max()
    u = rng.standard_normal((50, 4))
    found = parts.blocks.linear(A, B, C, D).drive(1e-3, **dict(zip(("t1", "t2", "m1", "m2"), u.T, strict=True)))
    expected = dlsim((A, B, C, D, 1.0), u)[1]
    assert np.column_stack([found[key] for key in ("u1", "u2", "p1", "p2")]) == pytest.approx(expected, rel=1e-9)


@needs_data
@pytest.mark.parametrize("coupled", [False, True])
def test_least_squares_against_the_normal_equations(parts, coupled):
    """Without forgetting the recursion is regularised least squares over all that was seen."""
    rng, blocks, n = np.random.default_rng(2), parts.blocks, 600
    smooth = [lfilter([0.02], [1.0, -0.98], rng.standard_normal(n)) for _ in range(4)]
    u = blocks.least_squares(coupled).drive(parts.frame.DT, **dict(zip(("t1", "t2", "m1", "m2"), smooth, strict=True)))
    taps = [np.column_stack([np.concatenate([np.zeros(j), s[: n - j]]) for j in range(blocks.TAPS)]) for s in smooth]
    filtered = [lfilter(blocks.B_FILTER, blocks.A_FILTER, column, axis=0) for column in taps[2:]]
    theta0, P0 = blocks.stored_start()
    for i in range(2):
        used = (0, 1) if coupled else (i,)
        G, t = np.hstack([filtered[k] for k in used]), np.hstack([taps[k] for k in used])
        start = np.concatenate([theta0[k] * (k == i) for k in used])
        known = np.zeros((len(start), len(start)))
        for place, k in enumerate(used):
            own = slice(place * blocks.TAPS, (place + 1) * blocks.TAPS)
            known[own, own] = np.linalg.inv(P0[k])
        told = lfilter(blocks.B_FILTER, blocks.A_FILTER, u[f"u{i + 1}"])
        theta = np.linalg.solve(known + G.T @ G, known @ start + G.T @ told)
        assert u[f"u{i + 1}"][-1] == pytest.approx(theta @ t[-1], rel=1e-5)


@needs_data
def test_a_step_late_is_nearly_the_own_reference(parts):
    """The port has 0.57 % at storey 2; with the reference as distributed perfect control itself has 7 %."""
    cases = parts.cases
    run = cases.run_one("a step late", cases.Variant("own"), parts.references.LATE, 3)
    values = parts.scoring.score(run, cases.own_reference("elcentro", 1.0))
    assert values["storey_vs_reference_nrms"][0] == pytest.approx(0.57, abs=0.05)
    best = cases.perfect("elcentro", distributed=True)["storey_vs_reference_nrms"]
    assert best == pytest.approx(parts.printed.PERFECT["storey_vs_reference_nrms"], abs=0.01)


@needs_data
def test_hard_set_of_other_plants(parts):
    """Two plants of Kobe and Morgan Hill, as in the choice of the settings."""
    found = {
        name: parts.choosing.errors(controller, ((3, 5, 1),))
        for name, controller in (("ours", parts.predictive.predictive(5)), ("RLS", parts.references.rls()))
    }
    assert (found["ours"][:, :2] < 1.3).all()
    assert (found["ours"] < 0.5 * found["RLS"]).all()


@needs_data
@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["published RLS", "ours"])
def test_the_same_numbers_in_the_loop_of_hyloop(parts, scheme):
    cases, hyloop = parts.cases, parts.in_hyloop
    assert hyloop.largest_difference(scheme, cases.HARD, seconds=12.0) < SAME_LOOP


def test_data_that_are_missing(parts, monkeypatch, tmp_path):
    monkeypatch.setenv("HYLOOP_DATA", str(tmp_path))
    with pytest.raises(BadInput, match="HYLOOP_DATA"):
        parts.frame.read("frame_K.csv")
