"""Unscented filters against the Kalman filter, a textbook version and filterpy; drift, the loop, bad input."""

import numpy as np
import pytest

from hyloop.core import Param, block
from hyloop.devices.bouc_wen import bouc_wen
from hyloop.devices.lugre import lugre
from hyloop.devices.viscous import nonlinear_maxwell
from hyloop.errors import BadInput, OutOfBounds, UnknownName
from hyloop.integrators import newmark_explicit
from hyloop.loop import Loop, Site, Wired
from hyloop.structure import rayleigh, shear_frame
from hyloop.updating import covariance, unscented
from hyloop.updating.factors import cholesky, nearest, triangularise

DT = 1 / 1024
SAME = 1e-10  # relative: the same algebra in another order, over some thousand ticks
FACTOR = 1e-13  # relative: a factorisation of eight unknowns in double precision
REPAIRS = ["square-root", "nearest", "none"]
ANY = (-1e12, 1e12)
MAXWELL = {"K": (2e7, 2e8), "C": (1.4e5, 1.4e6), "alpha": (0.09, 0.9)}  # 0.2 to 2 times the start, as in the paper


@block(
    inputs={"d": "m", "v": "m/s"},
    outputs={"f": "N"},
    params={"k": Param("N/m", 1e6), "c": Param("N s/m", 1e3)},
    reference="test",
)
def kelvin(x, u, dt, p):
    """f = k d + c v."""
    return (p[0] * u[0] + p[1] * u[1],), ()


def sine(n, amplitude=0.075, rate=np.pi):
    return amplitude * np.sin(rate * np.arange(n) * DT)


def textbook(law, names, u, f_m, *, noise, process, std, alpha, clip, beta=2.0, kappa=0.0):
    """Weights, sigma points and sums as printed; the law in plain Python. Returns means (in units) and covariances."""
    order, L = list(law.params), len(names)
    start, p, x = np.array([law.params[k] for k in names]), np.array([*law.params.values()]), (*law.initial.values(),)
    lam = alpha**2 * (L + kappa) - L
    Wm = np.full(2 * L + 1, 0.5 / (L + lam))
    Wc = Wm.copy()
    Wm[0] = lam / (L + lam)
    Wc[0] = Wm[0] + 1 - alpha**2 + beta
    m, P, means, covariances = np.ones(L), np.eye(L) * std**2, [], []

    def respond(theta, row):
        p[[order.index(k) for k in names]] = theta * start
        return law.block.function(x, row, DT, p)

    for row, measured in zip(u, f_m, strict=True):
        P = P + np.eye(L) * process**2
        root = np.linalg.cholesky((L + lam) * P)
        X = np.vstack([m, m + root.T, m - root.T])
        Y = np.array([respond(theta, row)[0][0] for theta in X])
        y = Wm @ Y
        Pyy, Pxy = Wc @ (Y - y) ** 2 + noise**2, (Wc * (Y - y)) @ (X - m)
        m, P = np.clip(m + Pxy / Pyy * (measured - y), *clip), P - np.outer(Pxy, Pxy) / Pyy
        x = respond(m, row)[1]
        means.append(m * start)
        covariances.append(P)
    return np.array(means), np.array(covariances)


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
        values, V = np.linalg.eigh(A[:, :n] + A[:, :n].T)
        a = ((V * values) @ V.T).ravel()
        assert n == 1 or (values.min() < 0 and not cholesky(a, 0, n, w, 0, n) and np.isnan(w).any())
        nearest(a, 0, n, w, 0, 1e-11)
        expected = (V * np.maximum(values, 1e-11)) @ V.T
        np.testing.assert_allclose(a.reshape(n, n), expected, rtol=0, atol=FACTOR * n * np.abs(values).max())


@pytest.mark.parametrize("repair", REPAIRS)
def test_for_a_linear_law_it_is_the_kalman_filter(rng, repair):
    n, noise, process, std = 3000, 50.0, 1e-3, 0.2
    u = rng.normal(size=(n, 2)) * [0.01, 0.5]
    f = u @ [1.3e6, 800.0] + rng.normal(0, noise, n)
    for alpha, tolerance in ((1.0, SAME), (1e-3, 10 * SAME)):  # close sigma points lose half of the digits of b
        ours = unscented(kelvin(), {"k": ANY, "c": ANY}, noise=noise, process=process, initial_std=std, alpha=alpha,
                         bounds=None, repair=repair)  # fmt: skip
        history = ours.drive(DT, d=u[:, 0], v=u[:, 1], f_m=f)
        m, P, expected, spread = np.ones(2), np.eye(2) * std**2, np.empty((n, 2)), np.empty((n, 2, 2))
        for k in range(n):
            H = u[k] * [1e6, 1e3]
            P = P + np.eye(2) * process**2
            gain = P @ H / (H @ P @ H + noise**2)
            m, P = m + gain * (f[k] - H @ m), P - np.outer(gain, H @ P)
            expected[k], spread[k] = m, P
        np.testing.assert_allclose(history["k"] / 1e6, expected[:, 0], rtol=tolerance)
        np.testing.assert_allclose(history["c"] / 1e3, expected[:, 1], rtol=tolerance)
        scale = np.abs(spread).max(axis=(1, 2), keepdims=True)
        np.testing.assert_allclose(covariance(ours, history) / scale, spread / scale, atol=tolerance)
        np.testing.assert_allclose(history["f"], history["k"] * u[:, 0] + history["c"] * u[:, 1], rtol=SAME)


NONLINEAR = {
    "maxwell": (nonlinear_maxwell(K=8e7, C=6e5, alpha=0.5), nonlinear_maxwell(), MAXWELL, "d", sine(2000)),
    "lugre": (lugre(sigma0=5e6, sigma1=2e4), lugre(), {"sigma0": (1e6, 1e7), "sigma1": (4e3, 4e4)}, "v",
              sine(2000, 0.05, 12.0)),
    "bouc-wen": (bouc_wen(k=8e6, d_y=6e-3), bouc_wen(), {"k": (2e6, 2e7), "alpha": (0.01, 0.1), "d_y": (1e-3, 1e-2),
                 "n": (1.0, 4.0)}, "d", sine(2000, 0.02, 12.0)),
}  # fmt: skip


@pytest.mark.parametrize(
    ("case", "repair"),
    [*((case, "square-root") for case in NONLINEAR), ("maxwell", "nearest"), ("maxwell", "none")],
)
def test_for_a_nonlinear_law_it_is_the_textbook_filter(rng, case, repair):
    law, truth, free, signal, u = NONLINEAR[case]
    f = truth.drive(DT, **{signal: u})["f"] + rng.normal(0, 500.0, len(u))
    ours = unscented(law, free, noise=500.0, process=1e-3, initial_std=0.1, alpha=0.5, repair=repair)
    history = ours.drive(DT, **{signal: u, "f_m": f})
    clip = np.array(list(free.values())).T / [law.params[key] for key in free]
    means, spreads = textbook(law, free, u[:, None], f, noise=500.0, process=1e-3, std=0.1, alpha=0.5, clip=clip)
    np.testing.assert_allclose(np.column_stack([history[k] for k in free]), means, rtol=SAME)
    np.testing.assert_allclose(covariance(ours, history), spreads, atol=SAME * spreads.max())


def test_for_a_nonlinear_law_it_is_the_filter_of_filterpy(rng):
    kalman = pytest.importorskip("filterpy.kalman")
    law, n, std, process, noise = nonlinear_maxwell(K=8e7, C=6e5, alpha=0.5), 1500, 0.1, 2e-3, 800.0
    start, u = np.array([*law.params.values()]), sine(n)
    f = nonlinear_maxwell().drive(DT, d=u)["f"] + rng.normal(0, noise, n)
    x = (0.0, 0.0)
    peer = kalman.UnscentedKalmanFilter(3, 1, DT, lambda m, d: np.array(law.block.function(x, (d,), DT, m * start)[0]),
                                        lambda m, dt: m, kalman.MerweScaledSigmaPoints(3, 0.3, 2.0, 0.5))  # fmt: skip
    peer.x, peer.P, peer.Q, peer.R = np.ones(3), np.eye(3) * std**2, np.eye(3) * process**2, noise**2
    expected = []
    for d, measured in zip(u, f, strict=True):
        peer.predict()
        peer.update(measured, d=d)
        x = law.block.function(x, (d,), DT, peer.x * start)[1]
        expected.append(peer.x * start)
    ours = unscented(law, MAXWELL, noise=noise, process=process, initial_std=std, alpha=0.3, kappa=0.5, bounds=None)
    history = ours.drive(DT, d=u, f_m=f)
    np.testing.assert_allclose(np.column_stack([history[k] for k in MAXWELL]), expected, rtol=SAME)


@pytest.mark.parametrize("bounds", ["clip", "transform"])
def test_it_follows_a_drifting_damper(rng, bounds):
    n, noise = 60 * 1024, 2e3
    t = np.arange(n) * DT
    d = 0.05 * np.sin(2 * np.pi * 0.5 * t) + 0.03 * np.sin(2 * np.pi * 1.3 * t)
    # fluid that warms up: C falls by 30 %, the exponent rises by 10 %, the spring softens by 20 %
    C, alpha, K = 708e3 * (1 - 0.3 * t / 60), 0.457 * (1 + 0.1 * t / 60), 1.02e8 * (1 - 0.2 * t / 60)
    f, x = np.empty(n), np.zeros(2)
    for k in range(n):
        (f[k],), x = nonlinear_maxwell.compiled(x, d[k : k + 1], DT, np.array([K[k], C[k], alpha[k]]))
        x = np.array(x)
    measured = f + rng.normal(0, noise, n)
    ours = unscented(nonlinear_maxwell(K=8e7, C=8.5e5, alpha=0.4), MAXWELL, noise=noise, process=2e-4, bounds=bounds)
    history = ours.drive(DT, d=d, f_m=measured)
    late = t > 10
    for key, truth, error in (("K", K, 0.005), ("C", C, 0.005), ("alpha", alpha, 0.005)):  # rms, of the truth
        assert np.sqrt(np.mean((history[key] / truth - 1)[late] ** 2)) < error, key
    fixed = nonlinear_maxwell(K=8e7, C=8.5e5, alpha=0.4).drive(DT, d=d)["f"]
    updated = np.std((history["f"] - f)[late]) / np.std(f[late])
    assert updated < 0.002 < 0.5 < np.std((fixed - f)[late]) / np.std(f[late])


def _followed():
    """A measured damper in the first story, a model of it in the second that follows."""
    frame = shear_frame([4e4] * 2, [4e7] * 2)
    frame = frame.with_damping(rayleigh(frame, 0.03))
    start = nonlinear_maxwell(K=2e7, C=2e5, alpha=0.5)
    specimen = Site("specimen", frame.story(1), nonlinear_maxwell(K=2.6e7, C=1.5e5, alpha=0.4), physical=True)
    model = Site("model", frame.story(2), start)
    free = {"K": (4e6, 4e7), "C": (4e4, 4e5), "alpha": (0.1, 1.0)}
    updater = Wired("ukf", unscented(start, free, noise=100.0, process=1e-4),
                    inputs={"d": "specimen.d", "f_m": "specimen.f"},
                    outputs={key: f"model.{key}" for key in free})  # fmt: skip
    return Loop(frame, [specimen, model], method=newmark_explicit(), dt=1 / 256, substeps=4, blocks=[updater])


def test_in_a_loop_a_model_follows_the_measured_device(rng):
    loop, ground = _followed(), 5.0 * rng.normal(size=4000)
    result = loop.run(ground)
    for key, truth in (("K", 2.6e7), ("C", 1.5e5), ("alpha", 0.4)):
        assert result[f"model.{key}"][-1] == pytest.approx(truth, rel=1e-4)
    error = (result["specimen.f"] - result["ukf.f"])[2000:]
    assert error.std() < 1e-5 * result["specimen.f"].std()
    # the whole filter is in the snapshot
    loop.start(ground[0])
    loop.advance(ground[1:1500])
    snapshot = loop.snapshot()
    other = _followed()
    other.restore(snapshot)
    assert np.array_equal(other.advance(ground[1500:])["model.K"], result["model.K"][1500:])


def test_nothing_is_allocated_in_a_tick():
    from numba.core.runtime import _nrt_python, rtsys

    ours = unscented(nonlinear_maxwell(), MAXWELL, noise=1e3, repair="nearest")
    counts = []
    for n in (100, 1000):
        ours.drive(DT, d=sine(n), f_m=np.zeros(n))
        _nrt_python.memsys_enable_stats()
        before = rtsys.get_allocation_stats().alloc
        ours.drive(DT, d=sine(n), f_m=np.zeros(n))
        counts.append(rtsys.get_allocation_stats().alloc - before)
        _nrt_python.memsys_disable_stats()
    assert counts[0] == counts[1]


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"free": {"sigma9": (1, 2)}}, UnknownName, "sigma0"),
        ({"free": {}}, BadInput, "at least one"),
        ({"free": {"sigma0": (1e7, 2e7)}}, OutOfBounds, "starts at"),
        ({"free": {"sigma0": (0.0, 2e7)}}, OutOfBounds, "inside those of the law"),
        ({"free": {"sigma0": (2e7, 1e6)}}, OutOfBounds, "in order"),
        ({"free": {"sigma0": 2e7}}, BadInput, "pair"),
        ({"free": {"sigma2": (0.0, np.inf)}}, BadInput, "finite bounds"),
        ({"free": {"sigma2": (0.0, 1e3)}, "bounds": "transform"}, OutOfBounds, "on a bound"),
        ({"noise": 0.0}, OutOfBounds, "noise"),
        ({"noise": np.nan}, OutOfBounds, "noise"),
        ({"process": -1e-3}, OutOfBounds, "process"),
        ({"process": {"sigma1": 1e-3}}, UnknownName, "process"),
        ({"initial_std": {}}, BadInput, "lacks sigma0"),
        ({"initial_std": 0.0}, OutOfBounds, "initial_std"),
        ({"alpha": 0.0}, OutOfBounds, "alpha"),
        ({"kappa": -1.0}, OutOfBounds, "kappa"),
        ({"beta": -1.0}, OutOfBounds, "beta"),
        ({"bounds": "clamp"}, UnknownName, "clip"),
        ({"repair": "higham"}, UnknownName, "nearest"),
    ],
)
def test_bad_input_is_refused_with_advice(change, error, message):
    arguments = {"free": {"sigma0": (1e6, 1e7)}, "noise": 100.0} | change
    with pytest.raises(error, match=message):
        unscented(lugre(), arguments.pop("free"), **arguments)


def test_a_law_must_have_a_force():
    @block(inputs={"d": "m"}, outputs={"d": "m"}, params={"gain": Param("-", 1.0)}, reference="test")
    def amplifier(x, u, dt, p):
        """d = gain d."""
        return (p[0] * u[0],), ()

    with pytest.raises(BadInput, match="no output 'f'"):
        unscented(amplifier(), {"gain": (0.5, 2.0)}, noise=1.0)
