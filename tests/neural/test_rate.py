"""A trained network runs at the sampling rate of its training and at no other, and never without its weights."""

import json

import numpy as np
import pytest
from oracles.networks import random_tensors
from safetensors.numpy import load_file, save_file

from hyloop import Loop, Site, shear_frame
from hyloop.core.tick import same_tick, typed_tick
from hyloop.errors import BadInput
from hyloop.files.units import quantity
from hyloop.identification import MeasuredTest, fit
from hyloop.integrators import newmark_explicit
from hyloop.loop import FreeBlock
from hyloop.neural import Card, FrozenStack, Signal, load_network, mlp, recurrent

RATE = 1024.0  # Hz
INPUTS = (Signal("d", "m", 0, 50.0), Signal("v", "m/s", 0, 3.0))
OUTPUTS = (Signal("f", "N", 0, 1e-4),)


def network(architecture, dt):
    tensors = random_tensors(architecture, np.random.default_rng(3))
    return FrozenStack(architecture, tensors, Card(INPUTS, OUTPUTS, dt=dt))


LSTM = network(recurrent(2, width=6, depth=1), 1 / RATE)
GRU = network(recurrent(2, width=6, depth=1, kind="gru"), 1 / RATE)
MLP = network(mlp(2, width=6), 0.0)


@pytest.mark.parametrize(
    ("tick", "text"),
    [
        (0.01, "0.01"),
        (0.0025, "0.0025"),
        (1 / 256, "1/256"),
        (0.03125 / 32 * (1 + 1e-12), "1/1024"),  # as a step that was divided comes out
        (1 / 300, "1/300"),
        (0.0123456, "0.0123456"),
        (2.0, "2"),
    ],
)
def test_an_interval_is_said_as_a_person_types_it(tick, text):
    assert typed_tick(tick) == text
    assert same_tick(quantity(f"{text} s", "s"), tick)  # and it is taken where it is typed


def loop(device, dt, substeps=1):
    frame = shear_frame([1e5], [4e6])
    return Loop(frame, [Site("damper", frame.story(1), device)], method=newmark_explicit(), dt=dt, substeps=substeps)


@pytest.mark.parametrize("net", [LSTM, GRU], ids=["lstm", "gru"])
@pytest.mark.parametrize(("dt", "substeps"), [(2 / RATE, 1), (1 / RATE, 2), (0.1 / RATE, 1), (10 / RATE, 9)])
def test_a_loop_of_another_rate_cannot_be_built(net, dt, substeps):
    with pytest.raises(BadInput, match=r"damper: network was trained at 1024 Hz.*dt/substeps is 1/1024 s") as it:
        loop(net.device(), dt, substeps)
    assert f"{substeps / dt:g} Hz" in str(it.value) and "train" in str(it.value)


@pytest.mark.slow
def test_what_counts_is_the_tick_and_round_off_does_not():
    """4 ticks of 1/1024 s in a step of 1/256 s; a rate of 300 Hz is no exact binary number, nor is 3 x 1/900 s."""
    assert loop(LSTM.device(), 4 / RATE, 4).substeps == 4
    odd = network(recurrent(2, width=6, depth=1), 1 / 300)
    for dt, substeps in ((1 / 300, 1), (0.01, 3), (1 / 900 * 3, 1), (1 / 300 * (1 + 1e-9), 1)):
        assert loop(odd.device(), dt, substeps).substeps == substeps


def test_a_network_without_memory_runs_at_any_rate():
    """Its answer depends on the present sample alone: the same samples give the same numbers at every step."""
    d, v = np.random.default_rng(1).normal(size=(2, 50)) * [[0.02], [0.3]]
    one, other = (MLP.drive(dt, d=d, v=v)["f"] for dt in (1 / RATE, 0.02))
    assert np.array_equal(one, other) and np.ptp(one) > 1.0
    assert loop(MLP.device(), 0.01).dt == 0.01


def test_driving_fitting_and_free_blocks_are_held_to_the_rate_too():
    d = np.linspace(0.0, 0.01, 20)
    with pytest.raises(BadInput, match="network was trained at 1024 Hz"):
        LSTM.drive(1 / 512, d=d, v=d)
    with pytest.raises(BadInput, match="slow: network was trained at 1024 Hz"):
        fit(
            LSTM.device(stiffness=1.5),
            MeasuredTest(0.01, {"d": d, "v": d}, 1e3 * d, name="slow"),
            {"stiffness": (1, 2)},
        )
    frame = shear_frame([1e5], [4e6])
    heard = FreeBlock("listener", LSTM.device(), {"d": "u.1", "v": "v.1"})
    with pytest.raises(BadInput, match="listener: network was trained at 1024 Hz"):
        Loop(frame, method=newmark_explicit(), dt=0.01, blocks=[heard])


def without_rate(net, path):
    """A file as a program would write it that does not know of rates."""
    net.save(path)
    data = path.read_bytes()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])["__metadata__"]
    card = json.loads(header["card"])
    del card["dt"]
    save_file(load_file(path), path, metadata=header | {"card": json.dumps(card)})
    return path


def test_a_file_that_does_not_say_its_rate_must_be_told(tmp_path):
    path = without_rate(LSTM, tmp_path / "old.safetensors")
    with pytest.raises(BadInput, match=r"old\.safetensors: .*does not say at what rate.*load_network\(path, dt="):
        load_network(path)
    told = load_network(path, dt=1 / RATE)
    assert told.card.dt == 1 / RATE
    told.save(path)
    assert load_network(path).card.dt == 1 / RATE
    assert load_network(without_rate(MLP, tmp_path / "mlp.safetensors")).card.dt == 0.0


def test_a_rate_that_contradicts_the_file_is_refused(tmp_path):
    LSTM.save(tmp_path / "net.safetensors")
    assert load_network(tmp_path / "net.safetensors", dt=1 / RATE).card == LSTM.card
    with pytest.raises(BadInput, match=r"trained at 1024 Hz.*dt = 0\.01 s"):
        load_network(tmp_path / "net.safetensors", dt=0.01)


def test_the_block_of_a_network_carries_its_weights(tmp_path):
    """`block()` is the natural call; it must give the forces of `device()`, not 0 N."""
    LSTM.save(tmp_path / "net.safetensors")
    back = load_network(tmp_path / "net.safetensors")
    d = 0.02 * np.sin(np.arange(100) / 7)
    wanted = LSTM.drive(1 / RATE, d=d, v=10 * d)["f"]
    given = back.block(stiffness=1e3).drive(1 / RATE, d=d, v=10 * d)["f"]
    assert np.abs(wanted).max() > 100.0 and np.array_equal(given, wanted)
