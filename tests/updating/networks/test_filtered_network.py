"""The filter on scales and weights of a network: its formulas, what it recovers, when its guard lets it out."""

import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys
from problems.networks import DT, motion, perceptron, scaled_inputs, slope, trained

from hyloop.errors import BadInput, OutOfBounds, UnknownName
from hyloop.neural import HysteresisNetwork
from hyloop.updating import filtered_network, forgetting_network

OPEN = {"evidence": 0.0, "gain": np.inf}  # no guard
DIFFERENCES = 1e-5  # derivatives of the oracle are central differences


def similar(a, b, d):
    """Force of the trained device made stronger and longer."""
    network, _, _ = trained()
    return network.block(force_scale=a, length_scale=b, **network.named).drive(DT, d=d)["f"]


def oracle(network, d, f, noise, floor, scale_std, weight_std, noise_d, process):
    """Textbook extended Kalman filter on (ln a, ln b, w) with derivatives by differences."""
    theta = np.r_[0.0, 0.0, network.weights]
    prior = np.diag(np.r_[[scale_std**2] * 2, [weight_std**2] * len(network.weights)])
    P = prior
    d_last = f_last = E = 0.0
    for d_i, f_i in zip(d, f, strict=True):

        def h(theta, d_i=d_i, d_last=d_last, f_last=f_last, E=E):
            a, b = np.exp(theta[:2])
            z = scaled_inputs(network, d_i / b, d_last / b, f_last / a, E / (a * b))
            return a * (perceptron(theta[2:], z) / network.factor[6] + network.centre[6])

        H = slope(h, theta)
        by_f = slope(
            lambda v, d_i=d_i, d_last=d_last, E=E, theta=theta: _force(network, theta, d_i, d_last, v[0], E),
            np.array([f_last]),
            h=1e-3,
        )[0]
        by_d = slope(
            lambda v, f_last=f_last, E=E, theta=theta: _force(network, theta, *v, f_last, E),
            np.array([d_i, d_last]),
            h=1e-8,
        )
        S = H @ P @ H + floor**2 + noise**2 * (1 + by_f**2) + noise_d**2 * np.sum(by_d**2)
        K = P @ H / S
        theta = theta + K * (f_i - h(theta))
        P = P - np.outer(K, K) * S + process**2 * prior
        E, d_last, f_last = E + abs(f_i * d_i), d_i, f_i
    return theta


def _force(network, theta, d, d_last, f_last, E):
    a, b = np.exp(theta[:2])
    z = scaled_inputs(network, d / b, d_last / b, f_last / a, E / (a * b))
    return a * (perceptron(theta[2:], z) / network.factor[6] + network.centre[6])


@pytest.mark.slow
@pytest.mark.parametrize(("noise_d", "process"), [(0.0, 0.0), (5e-5, 0.0), (0.0, 0.2)])
def test_filter_is_the_textbook_one(noise_d, process):
    network, _, _ = trained()
    d = motion(60, 5)
    f = similar(1.2, 0.9, d)
    floor = 0.01 / network.factor[6]
    settings = {"noise": 50.0, "scale_std": 0.2, "weight_std": 3e-3, "noise_d": noise_d, "process": process}
    result = filtered_network(network, **settings, **OPEN).drive(DT, d=d, f_m=f)
    ours = np.r_[
        np.log(result["force_scale"][-1]),
        np.log(result["length_scale"][-1]),
        [result[f"w_{k}"][-1] for k in range(len(network.weights))],
    ]
    expected = oracle(network, d, f, floor=floor, **settings)
    start = np.r_[0.0, 0.0, network.weights]
    assert np.abs(expected - start).max() > 1e-2
    np.testing.assert_allclose(ours, expected, atol=DIFFERENCES * np.abs(expected - start).max() * 10)


@pytest.mark.parametrize(("a", "b"), [(1.4, 0.8), (0.7, 1.3)])
def test_scales_of_a_similar_device_are_found(a, b):
    network, _, f_trained = trained()
    d = b * motion(800, 2)
    noise = 0.002 * np.abs(f_trained).max()
    f = similar(a, b, d)
    heard = f + np.random.default_rng(0).normal(0.0, noise, len(f))
    result = filtered_network(network, noise=noise, adapt="scales").drive(DT, d=d, f_m=heard)
    assert result["force_scale"][-1] == pytest.approx(a, rel=0.05)
    assert result["length_scale"][-1] == pytest.approx(b, rel=0.05)
    assert result["updated"][-1] == 1.0


@pytest.mark.parametrize("snr", [5, 20, 40])
def test_noise_alone_changes_no_model(snr):
    """The trained device itself with noise of known size: whatever the filter does, the models stay as trained."""
    network, _, _ = trained()
    for seed in range(5):
        rng, d = np.random.default_rng(seed), motion(800, 10 + seed)
        f = network.drive(d)
        size = {key: np.sqrt(np.mean(x**2)) * 10 ** (-snr / 20) for key, x in (("d", d), ("f", f))}
        result = filtered_network(network, noise=size["f"], noise_d=size["d"]).drive(
            DT, d=d + rng.normal(0.0, size["d"], len(d)), f_m=f + rng.normal(0.0, size["f"], len(f))
        )
        assert not result["updated"].any()
        assert (result["force_scale"] == 1.0).all() and (result["w_3"] == network.weights[3]).all()


def test_models_get_the_pretrained_network_while_the_guard_is_shut():
    network, _, _ = trained()
    d = motion(400, 2)
    result = filtered_network(network).drive(DT, d=d, f_m=similar(1.5, 1.0, d))
    shut = result["updated"] == 0.0
    assert shut.any() and (~shut).any()
    assert (result["force_scale"][shut] == 1.0).all() and (result["force_scale"][~shut] != 1.0).all()


def test_covariance_stays_definite_and_the_run_finite_under_bad_samples():
    network, _, _ = trained()
    updater = filtered_network(network, noise=100.0, **OPEN)
    rng = np.random.default_rng(3)
    d = np.concatenate([np.zeros(300), motion(1500, 4), np.full(300, 0.03), rng.normal(0.0, 0.5, 300)])
    f = rng.normal(0.0, 1e5, len(d))
    f[::17], d[::23] = np.nan, np.inf
    result = updater.drive(DT, d=d, f_m=f)
    assert all(np.isfinite(result[key]).all() for key in ("force_scale", "length_scale", "w_0", "f"))
    free = len(network.weights) + 2
    x = updater.x0
    _advance(updater, x, d, f)
    start = len(updater.block.state) + 2 * len(network.weights) + 14
    P = x[start : start + free * free].reshape(free, free)
    np.testing.assert_allclose(P, P.T, atol=1e-12)
    assert np.linalg.eigvalsh(P).min() > 0.0


def _advance(instance, x, d, f):
    p, y = np.array(list(instance.params.values())), np.empty(len(instance.block.outputs))
    for sample in zip(d, f, strict=True):
        instance.block.compiled(x, np.array(sample), DT, p, y)


@pytest.mark.slow
@pytest.mark.parametrize("make", [filtered_network, forgetting_network])
def test_ticks_allocate_nothing(make):
    network, _, _ = trained()
    updater, d = make(network), motion(400, 5)
    f = similar(1.2, 1.0, d)
    counts = []
    _nrt_python.memsys_enable_stats()
    for n in (50, 400):
        before = rtsys.get_allocation_stats().alloc
        updater.drive(DT, d=d[:n], f_m=f[:n])
        counts.append(rtsys.get_allocation_stats().alloc - before)
    assert counts[0] == counts[1]


@pytest.mark.parametrize(
    "bad",
    [{"noise": -1.0}, {"noise_d": np.nan}, {"scale_std": 0.0}, {"fading": 1.0}, {"gain": 0.0}, {"process": -1e-3}],
)
def test_bad_settings_are_refused(bad):
    with pytest.raises(OutOfBounds, match=next(iter(bad))):
        filtered_network(trained()[0], **bad)


def test_unknown_part_and_a_network_without_error_are_refused():
    network, _, _ = trained()
    with pytest.raises(UnknownName, match="adaptive part"):
        filtered_network(network, adapt="some")
    exact = HysteresisNetwork(
        network.weights, network.centre, network.factor, 0.0, DT, width=network.width, depth=network.depth
    )
    with pytest.raises(BadInput, match="state the noise"):
        filtered_network(exact)
