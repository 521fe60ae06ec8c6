"""Recursive least squares against the batch, wind-up, and a law that is not linear."""

import numpy as np
import pytest
from problems.filters import ANY, DT, MAXWELL, kelvin, wandering

from hyloop.devices.viscous import nonlinear_maxwell
from hyloop.errors import OutOfBounds, UnknownName
from hyloop.updating import covariance, recursive_least_squares

SAME = 1e-9  # relative: a recursion of thousands of ticks against one orthogonal factorisation
FREE = dict.fromkeys("kcm", ANY)


def test_it_is_the_batch_of_weighted_least_squares(rng):
    n, noise, std, forgetting = 2000, 50.0, 0.2, 0.995
    u, start = rng.normal(size=(n, 3)) * [0.01, 0.5, 1.0], np.array([1e6, 1e3, 200.0])
    f = u @ [1.3e6, 800.0, 250.0] + rng.normal(0, noise, n)
    ours = recursive_least_squares(kelvin(), FREE, noise=noise, forgetting=forgetting, initial_std=std)
    history = ours.drive(DT, d=u[:, 0], v=u[:, 1], a=u[:, 2], f_m=f)
    for k in (1, 10, 500, n):
        # one row for each sample and one for each parameter's start, all by their standard deviations
        weight = np.append(forgetting ** (0.5 * np.arange(k)[::-1]) / noise, [forgetting ** (0.5 * k) / std] * 3)
        A = np.vstack([u[:k] * start, np.eye(3)]) * weight[:, None]
        batch = np.linalg.lstsq(A, np.append(f[:k], np.ones(3)) * weight, rcond=None)[0]
        np.testing.assert_allclose([history[key][k - 1] for key in "kcm"], batch * start, rtol=SAME)
        P = covariance(ours, history)[k - 1]
        # after the last sample the covariance has been divided once more
        np.testing.assert_allclose(P, np.linalg.inv(A.T @ A), rtol=1e-7, atol=1e-12)


def test_the_covariance_does_not_wind_up_at_rest(rng):
    rest, moving, noise = 60_000, 400, 50.0
    d = np.concatenate([0.01 * rng.normal(size=moving), np.zeros(rest), 0.01 * rng.normal(size=moving)])
    f = 1.2e6 * d + rng.normal(0, noise, len(d))
    still, last = np.zeros(len(d)), moving + rest
    jump, traces = {}, {}
    for windup in (1.0, 1e30):
        ours = recursive_least_squares(kelvin(c=0.0, m=0.0), {"k": ANY}, noise=noise, windup=windup)
        history = ours.drive(DT, d=d, v=still, a=still, f_m=f)
        traces[windup] = history["S_0_0"] ** 2
        jump[windup] = abs(history["k"][last] / 1.2e6 - 1)
    assert traces[1.0].max() <= 0.1**2 * (1 + 1e-12)
    assert traces[1e30][last - 1] > 1e15
    assert np.abs(history["k"][:last] / 1.2e6 - 1)[100:].max() < 0.01
    # the first movement after the rest, a small one, decides alone where nothing limits the covariance
    assert jump[1.0] < 0.02


def test_it_finds_the_parameters_of_a_nonlinear_law(rng):
    n, noise = 20_000, 1e3
    d, truth = 5 * wandering(n), {"K": 1.2e8, "C": 6e5, "alpha": 0.4}
    f = nonlinear_maxwell(**truth).drive(DT, d=d)["f"] + rng.normal(0, noise, n)
    history = recursive_least_squares(nonlinear_maxwell(), MAXWELL, noise=noise).drive(DT, d=d, f_m=f)
    for key, true in truth.items():
        assert history[key][n // 2 :].mean() == pytest.approx(true, rel=0.01), key
    assert all((history[key] >= low).all() and (history[key] <= high).all() for key, (low, high) in MAXWELL.items())


def test_a_missing_sample_neither_teaches_nor_fades(rng):
    d, still = 0.01 * rng.normal(size=100), np.zeros(100)
    f = 1.2e6 * d
    f[50:] = np.nan
    history = recursive_least_squares(kelvin(), {"k": ANY}, noise=50.0).drive(DT, d=d, v=still, a=still, f_m=f)
    assert np.ptp(history["k"][50:]) == 0.0 and np.ptp(history["S_0_0"][50:]) == 0.0


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"free": {"q": ANY}}, UnknownName, "unknown parameter 'q'"),
        ({"forgetting": 0.0}, OutOfBounds, "forgetting"),
        ({"forgetting": 1.1}, OutOfBounds, "forgetting"),
        ({"noise": 0.0}, OutOfBounds, "noise"),
        ({"windup": -1.0}, OutOfBounds, "windup"),
        ({"bounds": "shrink"}, UnknownName, "clip"),
    ],
)
def test_bad_input_is_refused_with_advice(change, error, message):
    arguments = {"free": {"k": ANY}, "noise": 50.0} | change
    with pytest.raises(error, match=message):
        recursive_least_squares(kelvin(), arguments.pop("free"), **arguments)
