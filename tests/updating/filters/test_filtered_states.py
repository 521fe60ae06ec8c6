"""Parameters and hidden states filtered together: against the textbook, and what only this form can identify."""

import numpy as np
import pytest
from oracles.filters import textbook_unscented
from problems.filters import DT, wandering

from hyloop.devices.bilinear import bilinear
from hyloop.devices.bouc_wen import bouc_wen
from hyloop.errors import BadInput, OutOfBounds, UnknownName
from hyloop.updating import covariance, unscented

SAME = 1e-9  # relative: weighted sums and reflections of the same numbers, over 1500 ticks
FOUND = 0.01  # of the truth, mean of the last second
NOISE, SEEDS = 500.0, range(3)
BOUC_WEN = {"k": (2e6, 3e7), "d_y": (1e-3, 2e-2)}
BILINEAR = {"k": (2e6, 3e7), "alpha": (0.005, 0.5), "f_y": (1e4, 2e5)}


def _measured(law, n, seed):
    d = wandering(n)
    return d, law.drive(DT, d=d)["f"] + np.random.default_rng(seed).normal(0, NOISE, n)


def test_it_is_the_textbook_filter():
    d, f = _measured(bouc_wen(), 1500, 7)
    law, states = bouc_wen(k=7e6, d_y=7e-3), {"z": (0.01, 1e-3)}
    ours = unscented(law, BOUC_WEN, noise=NOISE, process=1e-4, initial_std=0.1, alpha=0.5, states=states)
    history = ours.drive(DT, d=d, f_m=f)
    means, P = textbook_unscented(
        law, BOUC_WEN, d[:, None], f, DT, noise=NOISE, process=1e-4, std=0.1, alpha=0.5, states=states
    )
    for i, key in enumerate(("k", "d_y", "x_z")):
        np.testing.assert_allclose(history[key], means[:, i], rtol=SAME, atol=SAME)
    # ours has already made the random walk of the next tick
    expected = P[:, :2, :2] + np.eye(2) * 1e-8
    np.testing.assert_allclose(covariance(ours, history), expected, rtol=0, atol=SAME * expected.max())


def test_stiffness_and_yield_deformation_of_bouc_wen():
    law, truth = bouc_wen(k=7e6, d_y=7e-3), bouc_wen()
    for seed in SEEDS:
        d, f = _measured(truth, 20_000, seed)
        runs = {
            states: unscented(
                law, BOUC_WEN, noise=NOISE, process=1e-5, initial_std=0.3, states={"z": (0.0, 1e-4)} if states else None
            ).drive(DT, d=d, f_m=f)
            for states in (True, False)
        }
        for key in BOUC_WEN:
            assert runs[True][key][-1024:].mean() == pytest.approx(truth.params[key], rel=FOUND), (seed, key)
        # with one state for all sigma points the two drift apart until a bound stops one of them
        assert runs[False]["k"][-1] > 2 * truth.params["k"] and runs[False]["d_y"][-1] < 0.5 * truth.params["d_y"]


def test_three_parameters_of_the_bilinear_law():
    # a law with a corner needs sigma points that reach across it; settings found with other seeds
    law, truth = bilinear(k=7e6, alpha=0.08, f_y=7e4), bilinear(k=1e7, alpha=0.05, f_y=5e4)
    for seed in SEEDS:
        d, f = _measured(truth, 20_000, seed)
        ours = unscented(
            law, BILINEAR, noise=NOISE, process=1e-5, initial_std=0.3, alpha=0.5, states={"d_p": (0.0, 1e-6)}
        )
        history = ours.drive(DT, d=d, f_m=f)
        for key in BILINEAR:
            assert history[key][-1024:].mean() == pytest.approx(truth.params[key], rel=FOUND), (seed, key)


def test_a_state_that_was_not_known_at_the_start_is_found():
    """The device has yielded before the test; the filter is told so, and finds by how much."""
    truth = bilinear(k=1e7, alpha=0.05, f_y=5e4, initial={"d_p": 3e-3})
    d, f = _measured(truth, 2000, 0)
    law = bilinear(k=1e7, alpha=0.05, f_y=5e4)
    settings = {"noise": NOISE, "process": 1e-5, "initial_std": 0.02, "alpha": 0.5}
    told = unscented(law, BILINEAR, states={"d_p": (3e-3, 1e-6)}, **settings).drive(DT, d=d, f_m=f)
    untold = unscented(law, BILINEAR, states={"d_p": (0.0, 1e-6)}, **settings).drive(DT, d=d, f_m=f)
    early = truth.drive(DT, d=d)["d_p"][20]
    assert abs(told["x_d_p"][20] - early) < 0.1e-3 < 0.5e-3 < abs(untold["x_d_p"][20] - early)


def test_a_missing_force_lets_the_device_move_on():
    d, f = _measured(bouc_wen(), 1000, 1)
    f[300:600] = np.nan
    history = unscented(bouc_wen(), BOUC_WEN, noise=NOISE, process=1e-5, states={"z": (0.0, 1e-4)}).drive(
        DT, d=d, f_m=f
    )
    assert np.isnan(history["innovation"][300:600]).all() and np.isfinite(history["f"]).all()
    expected = bouc_wen().drive(DT, d=d)["z"]
    assert np.ptp(history["x_z"][300:600]) > 0.1 and np.abs(history["x_z"] - expected)[300:600].max() < 0.05


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"states": {"y": (0.0, 1e-3)}}, UnknownName, "unknown state 'y'"),
        ({"states": {"z": 1e-3}}, OutOfBounds, "two standard deviations"),
        ({"states": {"z": (0.0, 0.0)}}, OutOfBounds, "positive"),
        ({"states": {"z": (-1.0, 1e-3)}}, OutOfBounds, "not negative"),
        ({"repair": "nearest"}, BadInput, "square-root"),
        ({"bounds": "shrink"}, BadInput, "shrink"),
    ],
)
def test_bad_input_is_refused_with_advice(change, error, message):
    with pytest.raises(error, match=message):
        unscented(bouc_wen(), BOUC_WEN, noise=NOISE, **({"states": {"z": (0.0, 1e-3)}} | change))
