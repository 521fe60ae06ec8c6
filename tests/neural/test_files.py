"""Files and cards of networks: what is saved comes back, and what is damaged or does not fit is refused."""

import json
import math

import numpy as np
import pytest
from oracles.networks import random_tensors
from safetensors.numpy import load_file, save_file

from hyloop.errors import BadInput, BadShape, OutOfBounds, UnknownName
from hyloop.neural import Architecture, Card, FrozenStack, Signal, load_network, mlp, recurrent

CARD = Card(
    (Signal("d", "m", 0.0, 20.0, -0.04, 0.04), Signal("v", "m/s", 0.0, 2.0)),
    (Signal("f", "N", 100.0, 1e-4),),
    dt=1 / 256,
    data="six earthquakes",
    seed=3,
    metrics={"validation NRMSE": 0.02},
    about={"epochs": 40},
)


@pytest.fixture
def network(rng):
    architecture = recurrent(2, width=5, depth=1, kind="gru")
    return FrozenStack(architecture, random_tensors(architecture, rng), CARD)


@pytest.fixture
def file(network, tmp_path):
    network.save(tmp_path / "net.safetensors")
    return tmp_path / "net.safetensors"


def test_what_is_saved_comes_back(network, file):
    back = load_network(file, units={"d": "m", "v": "m/s", "f": "N"})
    assert back.card == CARD and back.architecture == network.architecture
    assert all(np.array_equal(back.tensors[key], network.tensors[key]) for key in network.tensors)
    assert list(file.parent.iterdir()) == [file]


def test_the_card_is_strict_json_that_others_can_read(file):
    data = file.read_bytes()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])["__metadata__"]

    def refuse(text):
        raise AssertionError(f"{text} is no JSON")

    card = json.loads(header["card"], parse_constant=refuse)
    assert card["inputs"][0]["unit"] == "m" and card["metrics"]["validation NRMSE"] == 0.02
    assert load_network(file).card.inputs[1].high == math.inf


@pytest.mark.parametrize("damage", ["short", "flipped", "text", "missing", "other"])
def test_a_damaged_file_is_refused(file, damage):
    data = bytearray(file.read_bytes())
    if damage == "short":
        data = data[:-40]
    elif damage == "flipped":
        data[-10] ^= 1
    elif damage == "text":
        data = bytearray(b"no network at all")
    elif damage == "other":
        save_file(load_file(file), file, metadata={"kind": "something else"})
        data = bytearray(file.read_bytes())
    file.write_bytes(data)
    if damage == "missing":
        file.unlink()
    with pytest.raises(BadInput, match=r"net\.safetensors: no readable network"):
        load_network(file)


def test_units_that_do_not_match_the_card_are_refused(file, network):
    with pytest.raises(BadInput, match=r"d is in 'mm', but the network was trained with 'm'\. Convert"):
        load_network(file, units={"d": "mm"})
    with pytest.raises(UnknownName, match="unknown signal 'force'"):
        load_network(file, units={"force": "N"})
    with pytest.raises(BadInput, match="f is in 'kN'"):
        network.drive(1 / 256, units={"f": "kN"}, d=np.zeros(3), v=np.zeros(3))
    kilo = Card(CARD.inputs, (Signal("f", "kN"),), dt=1 / 256)
    with pytest.raises(BadInput, match="channels of a loop carry SI units"):
        FrozenStack(network.architecture, network.tensors, kilo).device()


def test_weights_of_the_wrong_shape_or_not_finite_are_refused(network):
    def changed(**tensors):
        return lambda: FrozenStack(network.architecture, {**network.tensors, **tensors}, CARD)

    with pytest.raises(BadShape, match=r"tensor 0\.U has shape \(4, 15\), the architecture wants \(5, 15\)"):
        changed(**{"0.U": np.zeros((4, 15))})()
    with pytest.raises(BadShape, match=r"tensor 0\.b holds numbers that are not finite"):
        changed(**{"0.b": np.full(15, np.nan)})()
    with pytest.raises(BadShape, match=r"9\.W are missing or too many"):
        changed(**{"9.W": np.zeros((1, 1))})()
    with pytest.raises(BadShape, match="2 inputs and 1 outputs, the architecture 3 and 1"):
        FrozenStack(mlp(3), random_tensors(mlp(3), np.random.default_rng(0)), CARD)
    with pytest.raises(BadInput, match="give the card its dt"):
        FrozenStack(network.architecture, network.tensors, Card(CARD.inputs, CARD.outputs))


def test_scalings_come_from_the_data_and_go_back():
    x = [np.array([-2.0, 0.0, 1.0]), np.array([2.0, 6.0])]
    assert Signal.of("d", "m", x).scale([-2.0, 6.0]).tolist() == [-1.0, 1.0]
    with pytest.raises(BadShape, match="empty"):
        Signal.of("d", "m", [])
    assert Signal.of("d", "m", x, "robust").scale([1.0, 3.0]).tolist() == [0.0, 1.0]
    standard = Signal.of("d", "m", x, "standard").scale(np.concatenate(x))
    assert standard.mean() == pytest.approx(0.0, abs=1e-15) and standard.std() == pytest.approx(1.0)
    robust = Signal.of("d", "m", x, "robust")
    assert (robust.low, robust.high) == (-2.0, 6.0) and robust.unscale(robust.scale(1.7)) == pytest.approx(1.7)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Signal.of("d", "m", [1.0, np.nan]), BadShape, "empty or not finite"),
        (lambda: Signal.of("d", "m", [1.0, 1.0]), BadInput, "does not vary"),
        (lambda: Signal.of("d", "m", [1.0, 2.0], "minmax"), UnknownName, "Did you mean 'min-max'"),
        (lambda: Signal("d", "m", factor=0.0), BadInput, "factor not 0"),
        (lambda: Signal("d", "m", low=1.0, high=0.0), BadInput, "is empty"),
        (lambda: Card((Signal("d", "m"),), (Signal("d", "m"),)), BadInput, "different names"),
        (lambda: Card((Signal("d", "m"),), (Signal("f", "N"),), dt=-1.0), BadInput, "dt = -1.0"),
        (lambda: Architecture(2, []), BadInput, "no stage"),
        (lambda: Architecture(2, [[("lstn", 4)]]), UnknownName, "Did you mean 'lstm'"),
        (lambda: Architecture(2, [[("lstm", 0)]]), OutOfBounds, "width in stage 1 = 0"),
        (lambda: Architecture(2, [[("lstm", 4, (1, 3))]]), OutOfBounds, r"reads \(1, 3\), but its stage has 2 inputs"),
    ],
)
def test_bad_signals_cards_and_architectures_are_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_a_signal_without_a_range_covers_every_value():
    signal = Signal("d", "m")
    assert all(signal.low < value < signal.high for value in (-1e30, 0.0, 1e30))
