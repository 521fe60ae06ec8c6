"""Frozen networks against a plain NumPy network, their range monitor, and their place in a loop."""

import numpy as np
import pytest
from oracles.networks import outputs, random_tensors

from hyloop import Loop, Site, shear_frame
from hyloop.integrators import newmark_explicit
from hyloop.neural import Architecture, Card, FrozenStack, Signal, mlp, ocp_nn, recurrent

DT = 1 / 1024
FLOAT32 = 1e-5  # of the largest output: a few hundred additions in single precision

ARCHITECTURES = {
    "ocp-nn": ocp_nn(),
    "gru": recurrent(2, 2, width=20, depth=2, kind="gru"),
    "tanh": mlp(3, width=17),
    "relu": mlp(2, 3, width=33, depth=3, kind="relu"),
    "mixed": Architecture(3, [[("lstm", 7, (0, 2)), ("gru", 5, (1, 3)), ("tanh", 3)], [("lstm", 50)], [("linear", 2)]]),
}


def network(architecture, rng, **card):
    inputs = tuple(Signal(f"u{k}", "N", 0.1 * k, 0.5 + k, -2.0, 2.0 + k) for k in range(architecture.inputs))
    targets = tuple(Signal(f"y{k}", "N", 3.0 - k, 2.0 / (1 + k)) for k in range(architecture.outputs))
    return FrozenStack(architecture, random_tensors(architecture, rng), Card(inputs, targets, **({"dt": DT} | card)))


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_every_kind_of_layer_equals_the_textbook(name, rng):
    """In units of the signals, so that scaling is part of it; one compiled function serves all architectures."""
    net = network(ARCHITECTURES[name], rng)
    u = rng.normal(size=(300, net.architecture.inputs))
    given = net.drive(DT, **{signal.name: u[:, k] for k, signal in enumerate(net.card.inputs)})
    scaled = np.column_stack([(u[:, k] - 0.1 * k) * (0.5 + k) for k in range(u.shape[1])])
    wanted = outputs(net.architecture, net.tensors, scaled)
    for k in range(wanted.shape[1]):
        y = wanted[:, k] * (1 + k) / 2.0 + 3.0 - k
        assert np.abs(given[f"y{k}"] - y).max() < FLOAT32 * np.abs(y).max()


def test_inputs_outside_the_training_range_are_counted(rng):
    net = network(ocp_nn(), rng)
    u = 1.5 * rng.normal(size=(400, 5))
    given = net.drive(DT, **{f"u{k}": u[:, k] for k in range(5)})
    beyond = np.maximum(-2.0 - u, u - (2.0 + np.arange(5))) / (4.0 + np.arange(5))
    assert np.array_equal(given["outside"], np.cumsum((beyond > 0).any(axis=1)))
    assert given["largest_excess"][-1] == pytest.approx(beyond.max())


def test_a_nan_is_counted_and_comes_out_again(rng):
    u = {"u0": np.array([0.0, np.nan, 0.0]), "u1": np.zeros(3), "u2": np.zeros(3)}
    given = network(mlp(3), rng, dt=0.0).drive(DT, **u)
    assert given["outside"].tolist() == [0, 1, 1] and given["largest_excess"][1] == np.inf
    assert np.isnan(given["y0"]).tolist() == [False, True, False]


def loop(rng, steps):
    """A frame whose damper is a network that also hears the story velocity."""
    tensors = random_tensors(recurrent(2, width=24, depth=2), rng)
    card = Card(
        (Signal("d", "m", 0, 50.0, -0.05, 0.05), Signal("v", "m/s", 0, 3.0, -0.5, 0.5)),
        (Signal("f", "N", 0, 1e-4),),
        dt=0.005,
    )
    net = FrozenStack(recurrent(2, width=24, depth=2), tensors, card)
    frame = shear_frame([1e5], [4e6])
    sites = [Site("damper", frame.story(1), net.device())]
    return Loop(frame, sites, method=newmark_explicit(), dt=0.005), np.random.default_rng(5).normal(size=steps)


def test_in_a_loop_it_resumes_bit_for_bit_from_a_snapshot_of_another_loop():
    """The snapshot holds weights and memory of the network: the second loop is built with other weights."""
    first, ground = loop(np.random.default_rng(1), 600)
    whole = first.run(ground)
    first.start(ground[0])
    first.advance(ground[1:301])
    snapshot = first.snapshot()
    second, _ = loop(np.random.default_rng(2), 600)
    second.start(ground[0])
    second.restore(snapshot)
    assert np.array_equal(second.advance(ground[301:]).data, whole.data[301:])
    assert np.abs(whole["damper.f"]).max() > 100.0 and whole["damper.outside"][-1] == 0
