"""Unscented filters against a textbook version and filterpy on nonlinear laws; drift, allocation, bad input."""

import numpy as np
import pytest
from oracles.filters import textbook_unscented
from problems.filters import DT, MAXWELL, sine

from hyloop.core import Param, block
from hyloop.devices.brfd import brfd_gap_slip
from hyloop.devices.lugre import lugre
from hyloop.devices.viscous import nonlinear_maxwell
from hyloop.errors import BadInput, OutOfBounds, UnknownName
from hyloop.updating import covariance, unscented

SAME = 1e-10  # relative: the same algebra in another order, over some thousand ticks


def motion(n, amplitude, rate):
    """Deformation, velocity and acceleration of a harmonic test."""
    t = np.arange(n) * DT
    return {
        "d": amplitude * np.sin(rate * t),
        "v": amplitude * rate * np.cos(rate * t),
        "a": -amplitude * rate**2 * np.sin(rate * t),
    }


NONLINEAR = {
    "maxwell": (nonlinear_maxwell(K=8e7, C=6e5, alpha=0.5), nonlinear_maxwell(), MAXWELL, motion(2000, 0.075, np.pi)),
    "lugre": (
        lugre(sigma0=5e6, sigma1=2e4),
        lugre(),
        {"sigma0": (1e6, 1e7), "sigma1": (4e3, 4e4)},
        motion(1000, 0.05 / 12, 12.0),
    ),
    # a law written in place, with a gap, and seven free parameters
    "gap-slip": (
        brfd_gap_slip(Fc_pos=15e3, Fc_neg=12e3, c=4e3),
        brfd_gap_slip(),
        {
            "kp": (1e5, 1e8),
            "kn": (1e5, 1e8),
            "Fc_pos": (5e3, 4e4),
            "Fc_neg": (5e3, 4e4),
            "dF_pos": (1.0, 2e4),
            "dF_neg": (1.0, 2e4),
            "c": (0.0, 5e4),
        },
        motion(600, 0.02, 12.0),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(("case", "repair"), [*((case, "square-root") for case in NONLINEAR), ("maxwell", "nearest")])
def test_for_a_nonlinear_law_it_is_the_textbook_filter(rng, case, repair):
    law, truth, free, moved = NONLINEAR[case]
    signals = {key: moved[key] for key in law.block.inputs}
    f = truth.drive(DT, **signals)["f"]
    f = f + rng.normal(0, 500.0, len(f))
    ours = unscented(law, free, noise=500.0, process=1e-3, initial_std=0.1, alpha=0.5, repair=repair)
    history = ours.drive(DT, **signals, f_m=f)
    means, spreads = textbook_unscented(
        law, free, np.column_stack(list(signals.values())), f, DT, noise=500.0, process=1e-3, std=0.1, alpha=0.5
    )
    assert np.ptp(means, axis=0).min() > 0
    np.testing.assert_allclose(np.column_stack([history[k] for k in free]), means, rtol=SAME)
    np.testing.assert_allclose(covariance(ours, history), spreads, atol=SAME * spreads.max())


def test_for_a_nonlinear_law_it_is_the_filter_of_filterpy(rng):
    kalman = pytest.importorskip("filterpy.kalman")
    law, n, std, process, noise = nonlinear_maxwell(K=8e7, C=6e5, alpha=0.5), 1500, 0.1, 2e-3, 800.0
    start, u = np.array([*law.params.values()]), sine(n)
    f = nonlinear_maxwell().drive(DT, d=u)["f"] + rng.normal(0, noise, n)
    x = (0.0, 0.0)
    peer = kalman.UnscentedKalmanFilter(
        3,
        1,
        DT,
        lambda m, d: np.array(law.block.function(x, (d,), DT, m * start)[0]),
        lambda m, dt: m,
        kalman.MerweScaledSigmaPoints(3, 0.3, 2.0, 0.5),
    )
    peer.x, peer.P, peer.Q, peer.R = np.ones(3), np.eye(3) * std**2, np.eye(3) * process**2, noise**2
    expected = []
    for d, measured in zip(u, f, strict=True):
        peer.predict()
        peer.update(measured, d=d)
        x = law.block.function(x, (d,), DT, peer.x * start)[1]
        expected.append(peer.x * start)
    free = {"K": (1.0, 1e12), "C": (1.0, 1e12), "alpha": (0.05, 1.0)}  # never reached
    ours = unscented(law, free, noise=noise, process=process, initial_std=std, alpha=0.3, kappa=0.5)
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
