"""Files and cards of networks: what is saved comes back, and what is damaged or does not fit is refused."""

import json
import math
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from oracles.networks import random_tensors
from safetensors.numpy import load_file, save_file

from hyloop.errors import BadInput, BadShape, OutOfBounds, UnknownName
from hyloop.neural import Architecture, Card, FrozenStack, Signal, load_network, mlp, recurrent
from hyloop.neural.file import CHECKPOINT

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


@pytest.mark.parametrize("damage", ["short", "flipped", "text", "other"])
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
    with pytest.raises(BadInput, match=r"net\.safetensors: no readable network"):
        load_network(file)


def test_a_file_that_is_not_there_says_how_to_make_it(tmp_path):
    with pytest.raises(BadInput, match=r"net\.safetensors: there is no such file\. Make it with `hyloop train`"):
        load_network(tmp_path / "net.safetensors")


def test_a_checkpoint_names_the_network_to_take(file):
    for name, words in {
        "net-seed1.checkpoint.safetensors": r"Take net-seed1\.safetensors beside it",
        "other.safetensors": "Take the network beside it",
    }.items():
        save_file(load_file(file), file.with_name(name), metadata={"kind": CHECKPOINT})
        with pytest.raises(BadInput, match=rf"is the checkpoint of a training, .*{words}"):
            load_network(file.with_name(name))


def test_a_folder_that_is_not_there_is_not_made(network, tmp_path):
    with pytest.raises(BadInput, match=r"there is no folder .*absent\. Make the folder first"):
        network.save(tmp_path / "absent" / "net.safetensors")
    assert list(tmp_path.iterdir()) == []


def test_a_write_that_fails_leaves_nothing(network, file, monkeypatch):
    (file.parent / "folder.safetensors").mkdir()
    with pytest.raises(BadInput, match="cannot write"):
        network.save(file.parent / "folder.safetensors")
    before, plain = file.read_bytes(), Path.write_bytes

    def full(path, data):
        plain(path, data[:10])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(BadInput, match="No space left"):
        network.save(file)
    assert file.read_bytes() == before and {path.suffix for path in file.parent.iterdir()} == {".safetensors"}


def test_several_writers_do_not_meet(network, file):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: network.save(file), range(64)))
    assert load_network(file).card == CARD and list(file.parent.iterdir()) == [file]


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
