"""The filter on scales and weights of a network: its formulas, what it recovers, when its guard lets it out."""

from collections import namedtuple

import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys
from problems.networks import DT, motion, perceptron, scaled_inputs, slope, trained

from hyloop.errors import BadInput, OutOfBounds, UnknownName
from hyloop.neural import HysteresisNetwork
from hyloop.transfer import sensor
from hyloop.updating import filtered_network, forgetting_network
from hyloop.updating.networks.diagnosis import CAUSES
from hyloop.updating.networks.filtered_guard import believed, give_out
from hyloop.updating.networks.filtered_memory import filtered_memory

IDEAL = {"offset_std": 0.0, "drift_std": 0.0, "delay_std": 0.0, "shift_std": 0.0, "gain_std": 0.0, "bias_std": 0.0}
FADING, CALM, NAMED_FROM = 0.99, 300.0, 0.08  # of the guard; ticks it counts in advance; mean part that is named
HELD = 0.01  # derivatives by the last force are held within 1, so that they cannot grow without end


def similar(a, b, d):
    """Force of the trained device made stronger and longer."""
    network, _, _ = trained()
    return network.block(force_scale=a, length_scale=b, **network.named).drive(DT, d=d)["f"]


def run_freely(network, theta, d):
    """Force of the network with ln a, ln b and weights, all of it computed anew."""
    a, b = np.exp(theta[:2])
    d_last = f = E = 0.0
    for d_i in d:
        z = scaled_inputs(network, d_i / b, d_last / b, f / a, E / (a * b))
        f = a * (perceptron(theta[2:], z) / network.factor[6] + network.centre[6])
        E, d_last = E + abs(f * d_i), d_i
    return f


def oracle(network, d, f, noise, floor, lasting, scale_std, weight_std, process):
    """Extended Kalman filter on (ln a, ln b, w) of a freely running network, derivatives by differences of whole runs.

    After a correction the run goes on from the force that its derivatives predict, so the oracle corrects once, at the
    last sample: until then the filter is held by a noise that teaches nothing.
    """
    theta = np.r_[0.0, 0.0, network.weights]
    P = np.diag(np.r_[[scale_std**2] * 2, [weight_std**2] * len(network.weights)])
    H = slope(lambda theta: run_freely(network, theta, d), theta)
    S = H @ P @ H + noise**2 + lasting * floor**2
    return theta + P @ H / S * (f[-1] - run_freely(network, theta, d))


@pytest.mark.slow
def test_derivatives_are_those_of_the_freely_running_network():
    """One correction, at the last of 40 samples; those before it are missing and only move the network along."""
    network, _, _ = trained()
    d = motion(300, 5)[150:190] - motion(300, 5)[149]
    f = similar(1.2, 0.9, d)
    settings = {"noise": 50.0, "scale_std": 0.2, "weight_std": 3e-3, "process": 0.0}
    updater = filtered_network(network, noise_d=0.0, evidence=0.0, share=1.0, creep=0.0, **settings, **IDEAL)
    x, y = updater.x0, np.empty(len(updater.block.outputs))
    p = np.array(list(updater.params.values()))
    noise = list(updater.params).index("noise")
    for k, sample in enumerate(zip(d, f, strict=True)):
        p[noise] = 50.0 if k == len(d) - 1 else 1e30
        updater.block.compiled(x, np.array(sample), DT, p, y)
    at = filtered_memory(network.width, network.depth, len(network.weights), 4)[0]
    n = len(network.weights)
    ours = np.r_[x[at.device + 4 : at.device + 6], x[at.w : at.w + n]]
    start = np.r_[0.0, 0.0, network.weights]
    expected = oracle(network, d, f, floor=0.02 / network.factor[6], lasting=50.0, **settings)
    assert np.abs(expected - start).max() > 1e-3
    np.testing.assert_allclose(ours - start, expected - start, atol=HELD * np.abs(expected - start).max())


@pytest.mark.parametrize(("a", "b"), [(1.4, 0.8), (0.7, 1.3)])
def test_scales_of_a_similar_device_are_found(a, b):
    network, _, f_trained = trained()
    d = b * motion(800, 2)
    noise = 0.002 * np.abs(f_trained).max()
    f = similar(a, b, d)
    heard = f + np.random.default_rng(0).normal(0.0, noise, len(f))
    result = filtered_network(network, noise=noise, adapt="scales").drive(DT, d=d, f_m=heard)
    assert result["force_scale"][-1] == pytest.approx(a, rel=0.08)
    assert result["length_scale"][-1] == pytest.approx(b, rel=0.08)
    assert result["updated"][-1] > 0.9 and result["cause"][-1] == CAUSES.index("other device")


FAULTS = {"none": {}, "offset": {"offset_f": 0.02}, "drift": {"drift_f": 0.04 / 25.0}, "delay": {"delay_f": 1.6}}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_a_sensor_are_found_and_change_no_model(fault):
    """The trained device itself, 60 dB of noise; offset and drift over the peak force, delay in ticks, 25 s."""
    network, _, f_trained = trained()
    peak, d = np.abs(f_trained).max(), motion(2500, 2)
    f = network.drive(d)
    size = {key: np.sqrt(np.mean(x**2)) * 1e-3 for key, x in (("d", d), ("f", f))}
    given = {key: value * (1.0 if key == "delay_f" else peak) for key, value in FAULTS[fault].items()}
    shown = sensor(noise_d=size["d"], noise_f=size["f"], **given).drive(DT, d=d, f=f)
    result = filtered_network(network).drive(DT, d=shown["d"], f_m=shown["f"])
    assert result["force_scale"][-1] == pytest.approx(1.0, abs=0.005) and CAUSES[int(result["cause"][-1])] == fault
    assert result["offset"][-1] == pytest.approx(given.get("offset_f", 0.0), abs=0.005 * peak)  # more is named a fault
    # a network that may change takes part of a slow drift for its own
    drift = 25.0 * given.get("drift_f", 0.0)
    assert 0.3 * drift - 0.008 * peak <= result["drift"][-1] <= drift + 0.008 * peak
    assert result["delay"][-1] / DT == pytest.approx(given.get("delay_f", 0.0), abs=0.15)
    assert result["noise_f"][-1] == pytest.approx(size["f"], rel=0.6)  # third differences of the motion add to it


def test_beyond_the_range_of_the_training_nothing_becomes_a_scale():
    network, _, _ = trained()
    d = 1.6 * motion(2500, 2)
    half = 1.0 / network.factor[0]
    beyond = np.abs(d - network.centre[0]) > half
    f = np.where(beyond, 0.6, 1.0) * network.drive(d)  # a device that nobody has seen out there
    weaker = 0.6 * network.drive(d)
    found = [filtered_network(network, adapt="scales").drive(DT, d=d, f_m=force) for force in (f, weaker)]
    moved = [np.abs(np.log(run["force_scale"])).max() for run in found]
    assert beyond.mean() > 0.03 and moved[0] < 0.1 * moved[1], moved


@pytest.mark.parametrize("snr", [5, 20, 40])
def test_noise_alone_changes_no_model(snr):
    """The trained device itself with noise of known size: whatever the filter does, the models stay as trained."""
    network, _, _ = trained()
    for seed in range(5):
        rng, d = np.random.default_rng(seed), motion(800, 10 + seed)
        f = network.drive(d)
        size = {key: np.sqrt(np.mean(x**2)) * 10 ** (-snr / 20) for key, x in (("d", d), ("f", f))}
        result = filtered_network(network, noise=size["f"], noise_d=size["d"], share=1.0).drive(
            DT, d=d + rng.normal(0.0, size["d"], len(d)), f_m=f + rng.normal(0.0, size["f"], len(f))
        )
        assert not result["updated"].any()
        assert (result["force_scale"] == 1.0).all() and (result["w_3"] == network.weights[3]).all()


def test_an_offset_is_told_by_what_is_shown_at_rest():
    """At rest the network has a force of its own, as every network has one; it is no offset of the load cell."""
    network, _, f_trained = trained()
    peak, rng = np.abs(f_trained).max(), np.random.default_rng(2)
    d = np.concatenate([np.zeros(100), motion(1500, 2)])
    f = np.concatenate([np.zeros(100), network.drive(motion(1500, 2))])
    for offset, cause in ((0.0, "none"), (0.01, "offset"), (-0.01, "offset")):
        heard = f + offset * peak + rng.normal(0.0, 5e-4 * peak, len(f))
        result = filtered_network(network).drive(DT, d=d + rng.normal(0.0, 1e-5, len(d)), f_m=heard)
        assert CAUSES[int(result["cause"][-1])] == cause
    shown = d + 0.02 / network.factor[0]  # an offset of the other instrument
    result = filtered_network(network).drive(DT, d=shown + rng.normal(0.0, 1e-5, len(d)), f_m=f)
    assert CAUSES[int(result["cause"][-1])] == "shift"


def test_a_witness_that_errs_stops_what_would_be_given_out():
    """Another device for 12 s, then the trained one: what was learned is wrong from there on, and models lose it."""
    network, _, _ = trained()
    d = motion(2400, 3)
    f = np.where(np.arange(len(d)) < 1200, similar(1.4, 1.0, d), network.drive(d))
    heard, deaf = (filtered_network(network, recent=recent).drive(DT, d=d, f_m=f) for recent in (0.99, 0.0))
    assert heard["updated"][1199] > 0.8 and deaf["updated"][1199] > 0.8
    after = slice(1250, 1500)
    assert heard["updated"][after].mean() < 0.5 * deaf["updated"][after].mean()


@pytest.mark.parametrize(
    ("saved", "given"), [(0.0, 0.0), (0.099, 0.0), (0.15, 0.5), (0.2, 1.0), (0.9, 1.0), (-0.5, 0.0)]
)
def test_what_saves_less_than_a_tenth_of_the_error_is_not_given_out(saved, given):
    """A witness that has erred so much less than the network as it is, in every tick alike."""
    sums = namedtuple("Sums", ["sum_witness", "sum_alone", "long_witness", "long_alone"])
    s, q = sums(*(np.zeros(1) for _ in range(4))), namedtuple("Guard", ["recent", "fading"])(0.99, 0.999)
    assert believed(s, q, False, 0.0, 1.0 - saved, 1.0) == 0.0  # there was nothing to give, so nothing is proven
    for _ in range(5):
        part = believed(s, q, False, 0.3, 1.0 - saved, 1.0)
    assert part == pytest.approx(given, abs=1e-9)


def creep(network, result, states):
    """Root mean square of the force that the last weights add in a tick without motion, over half the range."""
    n = len(network.weights)
    w = np.array([result[f"w_{k}"][-1] for k in range(n)])
    return np.sqrt(
        np.mean(
            [
                (perceptron(w, z) - perceptron(network.weights, z)) ** 2
                for z in (scaled_inputs(network, d, d, f, energy) for d, f, energy in states)
            ]
        )
    )


@pytest.mark.parametrize(("change", "given"), [(0.9e-3, 1.0), (1.1e-3, np.exp(1.1e-3)), (-1.1e-3, np.exp(-1.1e-3))])
def test_a_change_of_less_than_a_thousandth_is_not_given_out(change, given):
    memory, settings = namedtuple("memory", "device frozen w"), namedtuple("settings", "share")
    y = np.empty(3)
    device = np.array([0.0, 0.0, 0.0, 0.0, 2.0 * change, 0.5 * change])
    give_out(1, memory(device, np.array([0.3]), np.array([0.4])), settings(0.0), 0.5, y)
    assert y[0] == pytest.approx(given, rel=1e-12) and y[2] == 0.3
    assert (y[1] == 1.0) == (given == 1.0)


def test_weights_that_change_leave_the_force_at_rest_alone():
    """A device of another shape; forces at rest at states that the filter was never told of."""
    network, _, f_trained = trained()
    d = motion(2000, 4)
    f = similar(1.0, 1.0, d)
    f = f + 0.15 * f * np.abs(f) / np.abs(f).max()  # a shape that no scale has
    rng, half = np.random.default_rng(5), np.abs(f_trained).max()
    states = [(rng.uniform(-1, 1) * np.abs(d).max(), rng.uniform(-1, 1) * half, 0.0) for _ in range(200)]
    free, held = (
        filtered_network(network, creep=bound, share=1.0, evidence=0.0, recent=0.0).drive(DT, d=d, f_m=f)
        for bound in (0.0, 3e-3)
    )
    assert creep(network, free, states) > 2.0 * creep(network, held, states) > 0.0


def test_models_get_the_pretrained_network_while_the_guard_is_shut():
    network, _, _ = trained()
    d = motion(400, 2)
    result = filtered_network(network).drive(DT, d=d, f_m=similar(1.5, 1.0, d))
    shut = result["updated"] == 0.0
    assert shut.any() and (~shut).any()
    assert (result["force_scale"][shut] == 1.0).all() and (result["force_scale"][~shut] != 1.0).all()


def test_weights_learn_for_the_filter_and_are_given_out_only_if_asked_for():
    """What holds for motions like those of the measured device alone stays with it."""
    network, _, _ = trained()
    d = motion(1500, 2)
    f = similar(1.4, 0.9, d)
    kept, shared = (filtered_network(network, **share).drive(DT, d=d, f_m=f) for share in ({}, {"share": 0.7}))
    assert kept["updated"][-1] > 0.5 and abs(kept["force_scale"][-1] - 1.0) > 0.1
    for k, weight in enumerate(network.weights):
        assert (kept[f"w_{k}"] == weight).all()
    assert any(shared[f"w_{k}"][-1] != weight for k, weight in enumerate(network.weights))


def test_another_device_is_named_by_what_was_given_out_over_the_memory_of_the_guard():
    """The channel counts parts of updates with the fading of the guard, over its weight: the cause follows from it."""
    network, _, _ = trained()
    d = motion(1200, 2)
    result = filtered_network(network, fading=FADING).drive(DT, d=d, f_m=similar(1.4, 1.0, d))
    given, weight, other = 0.0, CALM, []
    for part in result["updated"]:
        given, weight = FADING * given + part, FADING * weight + 1.0
        other.append(given > NAMED_FROM * weight)
    other = np.array(other)
    assert (~other).any() and other.any()
    np.testing.assert_array_equal(result["cause"] == CAUSES.index("other device"), other)


def test_covariance_stays_definite_and_the_run_finite_under_bad_samples():
    network, _, _ = trained()
    updater = filtered_network(network, noise=100.0, evidence=0.0)
    rng = np.random.default_rng(3)
    d = np.concatenate([np.zeros(300), motion(1500, 4), np.full(300, 0.03), rng.normal(0.0, 0.5, 300)])
    f = rng.normal(0.0, 1e5, len(d))
    f[::17], d[::23] = np.nan, np.inf
    result = updater.drive(DT, d=d, f_m=f)
    assert all(np.isfinite(result[key]).all() for key in ("force_scale", "length_scale", "w_0", "f"))
    x = updater.x0
    _advance(updater, x, d, f)
    at, free = filtered_memory(network.width, network.depth, len(network.weights), 4)[0], len(network.weights) + 6
    P = x[at.P_device : at.P_device + free * free].reshape(free, free)
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
    [
        {"noise": -1.0},
        {"noise_d": np.nan},
        {"scale_std": 0.0},
        {"fading": 1.0},
        {"share": 1.5},
        {"process": -1e-3},
        {"recent": 1.0},
        {"creep": -1e-3},
    ],
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
        filtered_network(exact, noise=0.0)
