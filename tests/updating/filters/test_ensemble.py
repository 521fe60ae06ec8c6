"""The ensemble filter: sampling error, repeatability, laws with memory."""

import numpy as np
import pytest
from oracles.filters import kalman
from problems.filters import ANY, DT, kelvin, wandering

from hyloop.devices.bouc_wen import bouc_wen
from hyloop.errors import OutOfBounds, UnknownName
from hyloop.updating import covariance, ensemble

FREE = dict.fromkeys("kcm", ANY)
START = [1e6, 1e3, 200.0]


@pytest.mark.slow
def test_the_sampling_error_falls_with_the_root_of_the_members():
    n, noise, std, seeds = 2000, 50.0, 0.2, 6
    rng = np.random.default_rng(5)
    u = rng.normal(size=(n, 3)) * [0.01, 0.5, 1.0]
    f = u @ [1.3e6, 800.0, 250.0] + rng.normal(0, noise, n)
    means, covariances = kalman(u * START, f, noise=noise, process=1e-3, std=std)
    errors, spreads = [], []
    for members in (32, 128):
        runs = []
        for seed in range(seeds):
            ours = ensemble(kelvin(), FREE, noise=noise, process=1e-3, initial_std=std, members=members, seed=seed)
            history = ours.drive(DT, d=u[:, 0], v=u[:, 1], a=u[:, 2], f_m=f)
            error = np.column_stack([history[key] for key in "kcm"]) / START - means
            runs.append(np.sqrt(np.mean(error[500:] ** 2, axis=0)))
            spread = covariance(ours, history)[500:].mean(axis=0).diagonal()
        errors.append(np.mean(runs, axis=0))
        spreads.append(spread / covariances[500:].mean(axis=0).diagonal())
    # four times as many members: half the error, to within the scatter of six seeds
    ratio = errors[0] / errors[1]
    assert (ratio > 1.5).all() and (ratio < 3.0).all(), ratio
    assert (np.abs(spreads[1] - 1.0) < 0.2).all() and (np.abs(spreads[1] - 1.0) < np.abs(spreads[0] - 1.0)).all()


def test_members_start_with_the_mean_and_the_covariance_given():
    ours = ensemble(kelvin(), FREE, noise=1.0, initial_std={"k": 0.1, "c": 0.2, "m": 0.3}, members=32, seed=4)
    np.testing.assert_allclose(covariance(ours, ours.initial), np.diag([0.01, 0.04, 0.09]), rtol=1e-12, atol=1e-15)
    assert np.mean([ours.initial[f"m_c_{j}"] for j in range(32)]) == pytest.approx(1.0, rel=1e-14)


def test_a_seed_names_the_run(rng):
    u = rng.normal(size=(300, 3)) * [0.01, 0.5, 1.0]
    signals = dict(zip("dva", u.T, strict=True)) | {"f_m": u @ [1.3e6, 800.0, 250.0]}
    runs = [ensemble(kelvin(), FREE, noise=50.0, members=32, seed=seed).drive(DT, **signals)["k"] for seed in (1, 1, 2)]
    assert np.array_equal(runs[0], runs[1]) and not np.array_equal(runs[0], runs[2])


@pytest.mark.slow
def test_members_with_their_own_state_find_stiffness_and_yield_deformation():
    n, noise, truth = 20_000, 500.0, {"k": 1e7, "d_y": 5e-3}
    d = wandering(n)
    f = bouc_wen(**truth).drive(DT, d=d)["f"]
    for seed in range(3):
        measured = f + np.random.default_rng(seed).normal(0, noise, n)
        ours = ensemble(
            bouc_wen(k=7e6, d_y=7e-3),
            {"k": (2e6, 3e7), "d_y": (1e-3, 2e-2)},
            noise=noise,
            process=1e-4,
            initial_std=0.3,
            members=32,
            seed=seed,
        )
        history = ours.drive(DT, d=d, f_m=measured)
        for key, true in truth.items():
            assert history[key][-1024:].mean() == pytest.approx(true, rel=0.03), (seed, key)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"members": 3}, OutOfBounds, "members"),
        ({"members": 16.5}, OutOfBounds, "whole"),
        ({"seed": -1}, OutOfBounds, "seed"),
        ({"noise": 0.0}, OutOfBounds, "noise"),
        ({"bounds": "shrink"}, UnknownName, "transform"),
        ({"free": {"q": ANY}}, UnknownName, "unknown parameter 'q'"),
        ({"free": {"k": (2e6, 3e6)}}, OutOfBounds, "starts at"),
    ],
)
def test_bad_input_is_refused_with_advice(change, error, message):
    arguments = {"free": FREE, "noise": 50.0} | change
    with pytest.raises(error, match=message):
        ensemble(kelvin(), arguments.pop("free"), **arguments)
