"""A six-story frame with twelve degrading, pinching braces: one history from four drivers."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from analytic import observed_orders
from models import BRACE, COSINE, STORIES, braced_frame, braced_loop, pulse
from scipy.integrate import solve_ivp

from hyloop.devices.bwbn import bouc_wen_baber_noori
from hyloop.integrators import central_difference, cr, mkr_alpha, newmark_explicit
from hyloop.loop import Snapshot

ORDER_TOLERANCE = 0.1
ERROR_BOUND = 5e-4  # of the largest displacement, at Δt = 1.25 ms


def _reference(duration=3.0):
    """Twelve braces written out again as one first-order system and integrated by SciPy to 1e-9."""
    frame = braced_frame()
    p = bouc_wen_baber_noori(**BRACE).params
    D = np.eye(STORIES) - np.eye(STORIES, k=-1)
    inverse = np.linalg.inv(frame.M)

    def ground(t):
        return 6.0 * np.sin(np.pi * t / duration) * (np.sin(2 * np.pi * 2.1 * t) + 0.4 * np.sin(2 * np.pi * 5.3 * t))

    def rates(t, y):
        u, v, z, eps = np.split(y, 4)  # both braces of a story move alike
        d, rate = COSINE * D @ u, COSINE * D @ v
        force = p["alpha"] * p["k0"] * d + (1 - p["alpha"]) * p["k0"] * z
        A, nu, eta = p["A0"] - p["delta_A"] * eps, 1 + p["delta_nu"] * eps, 1 + p["delta_eta"] * eps
        z_max = (A / (nu * (p["beta"] + p["gamma"]))) ** (1 / p["n"])
        zeta_1 = p["zeta_s"] * (1 - np.exp(-p["p"] * eps))
        zeta_2 = (p["psi"] + p["delta_psi"] * eps) * (p["lambda_"] + zeta_1)
        h = 1 - zeta_1 * np.exp(-(((z * np.sign(rate) - p["q"] * z_max) / zeta_2) ** 2))
        n = p["n"]
        z_rate = (
            h
            / eta
            * (
                A * rate
                - nu * (p["beta"] * np.abs(rate) * np.abs(z) ** (n - 1) * z + p["gamma"] * rate * np.abs(z) ** n)
            )
        )
        restoring = frame.K @ u + 2 * COSINE * D.T @ force
        a = inverse @ (-restoring - frame.C @ v) - ground(t)
        return np.concatenate([v, a, z_rate, (1 - p["alpha"]) * p["k0"] * rate * z])

    times = np.linspace(0.0, duration, 301)
    solution = solve_ivp(
        rates,
        (0.0, duration),
        np.zeros(4 * STORIES),
        t_eval=times,
        rtol=1e-9,
        atol=1e-12,
        method="LSODA",
        max_step=2e-3,
    )
    return solution.y[:STORIES]


def test_compiled_live_and_resumed_runs_are_the_same_bits(tmp_path):
    ground = pulse(0.01)
    loop = braced_loop()
    compiled = loop.run(ground)
    assert np.abs(compiled["u.6"]).max() > 0.05

    loop.start(ground[0])
    rows = ground[:, None]
    half = len(ground) // 2
    live = [compiled.data[0]]
    for i in range(1, len(ground)):
        assert loop.step(rows[i]) == 0
        live.append([loop[name] for name in compiled.names])
        if i == half:
            loop.snapshot().save(tmp_path / "half.npz")
    assert np.array_equal(np.array(live), compiled.data)

    # a new process builds the loop again, restores the file and goes on
    script = (
        "import sys, numpy as np\n"
        "from models import braced_loop, pulse\n"
        "from hyloop.loop import Snapshot\n"
        "loop = braced_loop()\n"
        "loop.restore(Snapshot.load(sys.argv[1]))\n"
        "np.save(sys.argv[2], loop.advance(pulse(0.01)[int(sys.argv[3]):]).data)\n"
    )
    subprocess.run(
        [sys.executable, "-c", script, tmp_path / "half.npz", tmp_path / "rest.npy", str(half + 1)],
        check=True,
        cwd=Path(__file__).parents[1],
    )
    assert np.array_equal(np.load(tmp_path / "rest.npy"), compiled.data[half + 1 :])


@pytest.mark.parametrize(
    "method", [newmark_explicit(), central_difference(), cr(), mkr_alpha(0.75)], ids=lambda m: m.name
)
def test_converges_to_an_independent_integration(method, reference):
    steps = [0.005, 0.0025, 0.00125]
    errors = []
    for dt in steps:
        result = braced_loop(method, dt).run(pulse(dt), record=["u.*"])
        stride = round(0.01 / dt)
        errors.append(np.abs(result.data[::stride].T - reference).max() / np.abs(reference).max())
    assert abs(observed_orders(steps, errors)[-1] - 2.0) < ORDER_TOLERANCE, errors
    assert errors[-1] < ERROR_BOUND, errors


@pytest.fixture(scope="module")
def reference():
    return _reference()


def test_a_snapshot_brings_back_every_bit():
    loop = braced_loop(substeps=4)
    ground = pulse(0.01)
    loop.start(ground[0])
    loop.advance(ground[1:100])
    kept = loop.snapshot()
    first = loop.advance(ground[100:])
    loop.restore(kept)
    assert np.array_equal(loop.advance(ground[100:]).data, first.data)
    assert isinstance(kept, Snapshot)
