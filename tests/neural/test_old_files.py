"""Files that earlier versions wrote are read for ever; here they are written byte for byte as those versions did."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from oracles.networks import random_tensors
from problems.networks import DT, trained
from safetensors.numpy import save, save_file

from hyloop.errors import BadInput
from hyloop.neural import Card, FrozenStack, HysteresisNetwork, Signal, load_network, recurrent
from hyloop.neural.frozen import MODELS

BRACE = Path(__file__).parents[2] / "studies" / "wang2020" / "brace.safetensors"
CARD = Card(
    (Signal("d", "m", 0.0, 20.0, -0.04, 0.04),), (Signal("f", "N", 100.0, 1e-4),), dt=1 / 256, data="six", seed=3
)


def old_stack(path, architecture, tensors):
    """As `FrozenNetwork.save` wrote: the architecture in the header, no model."""
    digest = hashlib.sha256()
    for key in sorted(tensors):
        digest.update(key.encode() + np.ascontiguousarray(tensors[key], np.float32).tobytes())
    header = {
        "kind": "hyloop network",
        "architecture": json.dumps(architecture.as_json()),
        "digest": digest.hexdigest(),
        "card": json.dumps(CARD.as_json()),
    }
    path.write_bytes(save(tensors, header))


def old_hysteresis(path, network, **changed):
    """As `Network.save` wrote: everything in the card, no digest, no signals."""
    keys = ("error", "mse", "width", "depth", "energy", "stiffness", "dt")
    card = (
        {key: getattr(network, key) for key in keys} | {"training": "brace1", "seed": 4, "command": "train"} | changed
    )
    card = {key: value for key, value in card.items() if value is not None}
    tensors = {key: np.asarray(getattr(network, key), dtype=float) for key in ("weights", "centre", "factor")}
    save_file(tensors, path, metadata={"kind": "hysteresis_network", "card": json.dumps(card)})


def test_a_stack_of_the_first_format(tmp_path, rng):
    architecture = recurrent(1, width=5, depth=1, kind="gru")
    tensors = random_tensors(architecture, rng)
    old_stack(tmp_path / "old.safetensors", architecture, tensors)
    found = load_network(tmp_path / "old.safetensors")
    assert isinstance(found, FrozenStack) and found.card == CARD and found.architecture == architecture
    d = 0.03 * np.sin(np.arange(80) / 7)
    wanted = FrozenStack(architecture, tensors, CARD).device().drive(1 / 256, d=d)["f"]
    assert np.array_equal(found.device().drive(1 / 256, d=d)["f"], wanted)
    found.save(tmp_path / "new.safetensors")
    again = load_network(tmp_path / "new.safetensors")
    assert again.card == CARD and all(np.array_equal(again.tensors[key], tensors[key]) for key in tensors)


def test_a_hysteresis_network_of_the_first_format(tmp_path):
    network, d, _ = trained()
    path = tmp_path / "old.safetensors"
    old_hysteresis(path, network)
    found = load_network(path)
    assert isinstance(found, HysteresisNetwork)
    assert np.array_equal(found.drive(d), network.drive(d))
    for key in ("error", "mse", "width", "depth", "energy", "stiffness", "dt"):
        assert getattr(found, key) == getattr(network, key)
    assert (found.card.data, found.card.seed, found.card.about) == ("brace1", 4, {"command": "train"})
    # the range of the training, which such files do not say, follows from the scaling
    (signal,) = found.card.inputs
    assert (signal.name, signal.unit) == ("d", "m")
    assert (signal.low, signal.high) == pytest.approx((d.min(), d.max()), rel=1e-12)
    old_hysteresis(path, network, dt=None)
    with pytest.raises(BadInput, match=r"old\.safetensors: .*does not say at what rate.*load_network\(path, dt="):
        load_network(path)
    told = load_network(path, dt=DT)
    told.save(path)
    assert load_network(path).card == told.card and told.card.dt == DT


def test_the_network_of_the_study_is_read_and_written_again_without_a_change(tmp_path):
    old = load_network(BRACE)
    assert isinstance(old, HysteresisNetwork) and old.weights.shape == (301,) and old.dt == 0.01
    assert old.card.data == "brace1 of traditional.toml, 25 s of El Centro"
    old.save(tmp_path / "new.safetensors")
    new = load_network(tmp_path / "new.safetensors")
    assert new.card == old.card and (new.error, new.mse) == (old.error, old.mse)
    d = 0.03 * np.sin(np.arange(300) / 20)
    assert np.array_equal(new.drive(d), old.drive(d)) and np.ptp(new.drive(d)) > 1e4


def header_of(path):
    data = path.read_bytes()
    return json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])["__metadata__"]


def test_every_model_has_one_kind_of_file(tmp_path):
    network, _, _ = trained()
    network.save(tmp_path / "net.safetensors", note="kept")
    header = header_of(tmp_path / "net.safetensors")
    assert (header["kind"], header["model"]) == ("hyloop network", "hysteresis")
    assert json.loads(header["card"])["about"] == {"note": "kept"}
    assert set(MODELS) == {"stack", "hysteresis", "law", "guided law", "spring", "state space"}


@pytest.mark.parametrize("damage", ["model", "parts", "tensor", "factor", "digest"])
def test_a_file_that_says_something_else_is_refused(tmp_path, damage):
    network, _, _ = trained()
    path = tmp_path / "net.safetensors"
    network.save(path)
    header = header_of(path)
    tensors = {key: np.asarray(getattr(network, key), dtype=float) for key in ("weights", "centre", "factor")}
    words = {"model": "unknown model 'stak'", "parts": "'width' is missing", "digest": "not those that were saved"}
    if damage == "model":
        header["model"] = "stak"
    elif damage == "parts":
        header["parts"] = json.dumps(
            {key: value for key, value in json.loads(header["parts"]).items() if key != "width"}
        )
    elif damage == "digest":
        tensors["weights"] = tensors["weights"] + 1e-12
    else:
        tensors = tensors | {"tensor": {"more": np.zeros(2)}, "factor": {"factor": np.zeros(7)}}[damage]
        digest = hashlib.sha256()
        for key in sorted(tensors):
            digest.update(key.encode() + tensors[key].tobytes())
        header["digest"] = digest.hexdigest()
        words |= {"tensor": "weights, centre and factor", "factor": "a factor of the scaling is 0"}
    save_file(tensors, path, metadata=header)
    with pytest.raises(BadInput, match=rf"net\.safetensors: no readable network \(.*{words[damage]}"):
        load_network(path)
