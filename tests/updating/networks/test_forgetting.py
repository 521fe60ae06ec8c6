"""The network retrained in every tick: its steps against dense algebra, its window, its safeguards."""

import numpy as np
import pytest
from problems.networks import DT, motion, perceptron, scaled_inputs, slope, trained

from hyloop.devices import bouc_wen
from hyloop.errors import OutOfBounds
from hyloop.neural import HysteresisNetwork
from hyloop.updating import forgetting_network

DENSE = 1e-6  # relative to the change of the weights: derivatives of the oracle are differences


def heard(n=80, seed=5):
    """Deformation and force of a device that is not the one trained on."""
    d = motion(n, seed)
    return d, bouc_wen(k=2.4e7, d_y=4e-3).drive(DT, d=d)["f"]


def weights(history):
    n = len(trained()[0].weights)
    return np.column_stack([history[f"w_{k}"] for k in range(n)])


def oracle(network, d, f, window, forgetting, damping, iterations, anchor):
    """Levenberg-Marquardt on the window with dense normal equations and weights as printed in Eqs. (4), (5), (16)."""
    w, w0, samples = network.weights.copy(), network.weights, []
    d_last = f_last = E = 0.0
    for d_i, f_i in zip(d, f, strict=True):
        samples.append((scaled_inputs(network, d_i, d_last, f_last, E), (f_i - network.centre[6]) * network.factor[6]))
        E, d_last, f_last, samples = E + abs(f_i * d_i), d_i, f_i, samples[-window:]
        omega = (1 - forgetting) / (1 - forgetting**window) * forgetting ** np.arange(len(samples) - 1, -1, -1.0)

        def residuals(w, samples=samples, omega=omega):
            return np.sqrt(omega) * np.array([perceptron(w, z) - y for z, y in samples])

        def cost(w, residuals=residuals):
            return np.sum(residuals(w) ** 2) + anchor * np.sum((w - w0) ** 2)

        nu = damping
        for _ in range(iterations):
            e = residuals(w)
            J = np.array([slope(lambda v, m=m, residuals=residuals: residuals(v)[m], w) for m in range(len(e))])
            better = False
            while nu < 1e10 and not better:
                step = np.linalg.solve(J.T @ J + (nu + anchor) * np.eye(len(w)), J.T @ e + anchor * (w - w0))
                better = cost(w - step) < cost(w)
                nu *= 0.1 if better else 10.0
            if not better:
                break
            w = w - step
    return w


@pytest.mark.slow
@pytest.mark.parametrize(
    ("window", "forgetting", "anchor", "damping"),
    # one window is longer than the run, which has twelve samples; the last case has so little damping that steps are
    # refused because the anchored error grows
    [(1, 0.5, 0.0, 1e-2), (6, 0.5, 0.0, 1e-2), (6, 0.9, 1e-2, 1e-2), (15, 0.9, 0.0, 1e-2), (6, 0.9, 1e-5, 1e-6)],
)
def test_steps_are_those_of_dense_normal_equations(window, forgetting, anchor, damping):
    network, _, _ = trained()
    d, f = heard(12)
    settings = {"window": window, "forgetting": forgetting, "damping": damping, "iterations": 2, "anchor": anchor}
    ours = weights(forgetting_network(network, fallback=False, **settings).drive(DT, d=d, f_m=f))[-1]
    expected = oracle(network, d, f, **settings)
    assert np.abs(expected - network.weights).max() > 1e-6
    assert np.abs(ours - expected).max() < DENSE * np.abs(expected - network.weights).max() / 1e-2


def test_negligible_samples_are_not_kept():
    """With the paper's forgetting factor a window of 200 holds 15 samples that count; more change nothing."""
    network, _, _ = trained()
    updater = forgetting_network(network, window=200, forgetting=0.1)
    assert updater.block.memory < 25_000
    d, f = heard()
    short = forgetting_network(network, window=15, forgetting=0.1, damping=1e-3)
    long = forgetting_network(network, window=200, forgetting=0.1, damping=1e-3)
    np.testing.assert_allclose(weights(short.drive(DT, d=d, f_m=f)), weights(long.drive(DT, d=d, f_m=f)), atol=1e-10)


def test_learns_while_it_runs():
    network, _, _ = trained()
    d, f = heard(400)
    frozen = network.drive(d)
    result = forgetting_network(network, anchor=1e-2).drive(DT, d=d, f_m=f)
    late = slice(100, None)
    assert np.sqrt(np.mean(result["innovation"][late] ** 2)) < 0.2 * np.sqrt(np.mean((frozen - f)[late] ** 2))


def test_frozen_network_where_it_is_better():
    """A burst of wrong readings: as long as the window shows that the frozen network is better, it is given out."""
    network, d, f = trained()
    wrong = f.copy()
    wrong[100:110] += 5e4
    result = forgetting_network(network, window=6, forgetting=0.5, damping=1e-3, fallback=True).drive(
        DT, d=d, f_m=wrong
    )
    frozen = (weights(result) == network.weights).all(1)
    np.testing.assert_array_equal(frozen, result["updated"] == 0.0)
    assert frozen.any() and not frozen.all()


def test_missing_samples_teach_nothing():
    network, _, _ = trained()
    d, f = heard()
    f = np.where(np.arange(len(f)) == 40, np.nan, f)
    w = weights(forgetting_network(network, fallback=False).drive(DT, d=d, f_m=f))
    np.testing.assert_array_equal(w[40], w[39])
    assert np.isfinite(w).all() and not np.array_equal(w[41], w[40])


def test_budget_stops_the_work_but_not_the_run():
    network, _, _ = trained()
    d, f = heard()
    result = forgetting_network(network, window=15, forgetting=0.9, budget=1e-9).drive(DT, d=d, f_m=f)
    np.testing.assert_array_equal(weights(result), np.broadcast_to(network.weights, (len(d), len(network.weights))))
    ample = forgetting_network(network, window=15, forgetting=0.9, budget=100.0).drive(DT, d=d, f_m=f)
    free = forgetting_network(network, window=15, forgetting=0.9).drive(DT, d=d, f_m=f)
    np.testing.assert_array_equal(weights(ample), weights(free))


@pytest.mark.parametrize(
    "bad",
    [
        {"window": 0},
        {"window": 2.5},
        {"forgetting": 0.0},
        {"forgetting": 1.5},
        {"damping": 0.0},
        {"anchor": -1.0},
        {"budget": 0.0},
        {"iterations": 0},
    ],
)
def test_bad_settings_are_refused(bad):
    network: HysteresisNetwork = trained()[0]
    with pytest.raises(OutOfBounds, match=next(iter(bad))):
        forgetting_network(network, **bad)
