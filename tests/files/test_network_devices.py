"""Trained networks as devices in experiment files: connected, in units, at their rate, read once, or refused."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from oracles.networks import random_tensors
from problems.networks import trained

from hyloop.errors import BadInput, UnknownName
from hyloop.files.load import json_schema, load_experiment
from hyloop.neural import Card, FrozenStack, Signal, mlp, recurrent
from hyloop.study.build import build

FRAME = """
[structure]
kind = "shear_frame"
stories = 2
masses = "40 t"
stiffnesses = "40 kN/mm"

[integrator]
method = "newmark_explicit"
dt = "0.01 s"

[excitation]
kind = "noise"
rms = "0.2 g"
low = "0.5 Hz"
high = "5 Hz"
duration = "2 s"

[sites.damper1]
story = 1
physical = true
device = { law = "bouc_wen", k = "24 kN/mm" }

[sites.damper2]
story = 2
device = { network = "nets/net.safetensors" }
"""
SIGNALS = {"d": ("m", 50.0), "v": ("m/s", 3.0), "f1": ("N", 1e-5), "theta": ("rad", 10.0)}


def stack(inputs=("d", "v"), output=("f", "N"), dt=0.01):
    signals = tuple(Signal(key, SIGNALS[key][0], 0.0, SIGNALS[key][1]) for key in inputs)
    architecture = recurrent(len(inputs), width=4, depth=1) if dt else mlp(len(inputs), width=4)
    tensors = random_tensors(architecture, np.random.default_rng(3))
    return FrozenStack(architecture, tensors, Card(signals, (Signal(*output, 0.0, 1e-4),), dt=dt))


@pytest.fixture
def load(tmp_path):
    """Write a network and an experiment file beside its folder, and load the experiment with changes."""
    (tmp_path / "nets").mkdir()

    def write(network, *changes, text=FRAME):
        if network is not None:
            network.save(tmp_path / "nets" / "net.safetensors")
        (tmp_path / "experiment.toml").write_text(text)
        return load_experiment(tmp_path / "experiment.toml", changes)

    return write


def test_the_device_of_a_site_is_the_network_in_the_file(load, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")  # the file is found beside the experiment
    network = stack()
    result = build(load(network)).run()
    alone = network.drive(0.01, d=result["damper2.d"][1:], v=result["damper2.v"][1:])
    assert np.array_equal(result["damper2.f"][1:], alone["f"]) and np.ptp(alone["f"]) > 100.0


def test_other_inputs_are_wired_to_channels(load):
    network = stack(("f1", "d"))
    result = build(load(network, 'sites.damper2.wiring={ f1 = "damper1.f" }')).run()
    alone = network.drive(0.01, d=result["damper2.d"][1:], f1=result["damper1.f"][1:])
    assert np.array_equal(result["damper2.f"][1:], alone["f"])


def test_stiffness_and_damping_are_declared_in_units(load):
    experiment = load(stack(), "sites.damper2.device.stiffness=3 kN/mm", "sites.damper2.device.damping=2 kN s/m")
    device = build(experiment).loop.sites[1].device
    assert (device.stiffness, device.damping) == (3e6, 2e3)


@pytest.mark.parametrize(
    ("network", "changes", "words"),
    [
        (None, [], ["sites.damper2.device.network: ", "net.safetensors: there is no such file", "`hyloop train`"]),
        (stack(("f1", "d")), [], ["sites.damper2.wiring: input f1", "not connected", '{ f1 = "damper1.f" }']),
        (stack(output=("g", "N")), [], ["sites.damper2.device.network: gives g in N", "f in N"]),
        (stack(output=("f", "kN")), [], ["sites.damper2.device.network: ", "f is in 'kN'", "SI units"]),
        (stack(output=("f", "J")), [], ["sites.damper2.device.network: gives f in J"]),
        (stack(), ["sites.damper2.device.law=spring"], ["sites.damper2.device.network: a law is given too"]),
        (stack(), ["sites.damper2.device={}"], ["sites.damper2.device.law: is missing; give a law, a file"]),
        (
            stack(),
            ["sites.damper2.device.network=3"],
            ["sites.damper2.device.network: got 3, wanted the name of a file"],
        ),
        (stack(), ["sites.damper2.device.stiffness=3 kN"], ["sites.damper2.device.stiffness: ", "3 kN"]),
        (stack(), ["sites.damper2.device.stifness=3"], ["sites.damper2.device.stifness: ", "'stiffness'"]),
        (stack(), ["sites.damper2.device.draw=true"], ["sites.damper2.device.draw: ", "cannot be drawn"]),
    ],
)
def test_what_cannot_run_is_refused_with_its_key(load, network, changes, words):
    with pytest.raises(BadInput) as caught:
        load(network, *changes)
    assert all(word in str(caught.value) for word in ["experiment.toml: ", *words])


def test_a_missing_file_is_reported_once_with_all_that_name_it(load):
    more = '[sites.damper3]\nlike = "damper2"\nstory = 1\n'
    with pytest.raises(BadInput, match=r"sites\.damper2\.device\.network, sites\.damper3\.device\.network: ") as caught:
        load(None, text=FRAME + more)
    assert str(caught.value).count("there is no such file") == 1 and "\n" not in str(caught.value)


def test_a_damaged_file_is_refused(load, tmp_path):
    load(stack())
    path = tmp_path / "nets" / "net.safetensors"
    data = bytearray(path.read_bytes())
    data[-9] ^= 4
    path.write_bytes(data)
    with pytest.raises(BadInput, match=r"sites\.damper2\.device\.network: .*the weights are not those that were saved"):
        load(None)


def test_another_rate_is_refused_with_both_and_what_to_write(load):
    experiment = load(stack(), "integrator.substeps=2")
    words = [
        "experiment.toml: sites.damper2.device.network: network was trained at 100 Hz, ",
        "the controller of this experiment ticks at 200 Hz. ",
        "Write integrator.dt and integrator.substeps so that dt/substeps is 0.01 s",
    ]
    with pytest.raises(BadInput, match=re.escape("".join(words))):
        build(experiment)
    assert build(load(stack(), "integrator.dt=0.02 s", "integrator.substeps=2")).loop.substeps == 2
    assert build(load(stack(dt=0.0), "integrator.substeps=2")).loop.substeps == 2  # no memory, any rate


def test_channels_in_another_unit_or_that_do_not_exist_are_refused(load):
    with pytest.raises(BadInput, match=r"wiring\.f1: channel damper1\.d is in m, but .* trained with f1 in N"):
        build(load(stack(("f1",)), 'sites.damper2.wiring={ f1 = "damper1.d" }'))
    with pytest.raises(UnknownName, match=r"damper9\.f"):
        build(load(stack(("f1",)), 'sites.damper2.wiring={ f1 = "damper9.f" }'))
    with pytest.raises(BadInput, match=r"sites\.damper2\.wiring: input theta of the network is not connected"):
        load(stack(("theta",)))


def test_a_path_in_a_change_is_relative_to_the_working_folder(load, tmp_path, monkeypatch):
    stack().save(tmp_path / "here.safetensors")
    monkeypatch.chdir(tmp_path)
    assert load(None, "sites.damper2.device.network=here.safetensors").sites["damper2"].device.network is not None
    monkeypatch.chdir(tmp_path / "nets")
    with pytest.raises(BadInput, match="there is no such file"):
        load(None, "sites.damper2.device.network=here.safetensors")
    load(None, "sites.damper2.device.network=../here.safetensors")


def test_another_network_or_law_is_another_device(load, tmp_path):
    """Nothing of the old one stays where a file or a site takes over another."""
    base = FRAME.replace("safetensors", 'safetensors", stiffness = "1 kN/mm')
    load(stack(), text=base)
    stack().save(tmp_path / "other.safetensors")
    more = """
    include = ["experiment.toml"]
    [sites.damper1]
    device = { network = "other.safetensors" }
    [sites.damper2]
    device = { law = "spring", k = 5.0 }
    [sites.damper3]
    like = "damper2"
    device = { network = "nets/net.safetensors" }
    """
    (tmp_path / "more.toml").write_text(more)
    sites = load_experiment(tmp_path / "more.toml").sites
    assert sites["damper1"].device.params == {} and sites["damper1"].device.law is None
    assert sites["damper2"].device.params == {"k": 5.0} and sites["damper2"].device.network is None
    assert sites["damper3"].device.params == {} and sites["damper3"].device.law is None


def test_a_network_may_be_a_model_too(load):
    """Of the measured damper, at the site that follows."""
    follows = FRAME.partition("[sites.damper2]")[0] + (
        '[sites.damper1.model]\n{}\n[sites.damper2]\nstory = 2\nfollows = "damper1"\n'
    )
    network = stack()
    for model in (
        'updater = "constant"\ndevice = { network = "nets/net.safetensors" }',
        'updater = "frozen_network"\nnetwork = "nets/net.safetensors"',
    ):
        result = build(load(network, text=follows.replace("{}", model))).run()
        alone = network.drive(0.01, d=result["damper2.d"][1:], v=result["damper2.v"][1:])
        assert np.array_equal(result["damper2.f"][1:], alone["f"])
    for model, words in {
        'updater = "filtered_network"\nnetwork = "nets/net.safetensors"': "holds a stack model; .*hysteresis network",
        'updater = "unscented"\nnoise = 1.0\nfree = { stiffness = [0.0, 1.0] }\n'
        'device = { network = "nets/net.safetensors", stiffness = 0.5 }': "keeps an unnamed memory",
    }.items():
        with pytest.raises(BadInput, match=rf"sites\.damper1\.model\..*{words}"):
            load(network, text=follows.replace("{}", model))


@pytest.fixture
def opened(monkeypatch):
    """Names of the safetensors files that are read."""
    names, read = [], Path.read_bytes

    def counted(path):
        if path.suffix == ".safetensors":
            names.append(path.name)
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", counted)
    return names


@pytest.mark.parametrize("updater", ["filtered_network", "forgetting_network", "frozen_network"])
def test_the_file_of_a_network_is_read_once(load, opened, updater):
    text = FRAME.partition("[sites.damper2]")[0] + (
        f'[sites.damper1.model]\nupdater = "{updater}"\nnetwork = "nets/net.safetensors"\n'
        '[sites.damper2]\nstory = 2\nfollows = "damper1"\n'
    )
    built = build(load(trained()[0], text=text))
    assert opened == ["net.safetensors"] and len(built.loop.sites) == 2


def test_sites_with_one_network_read_it_once_together(load, opened):
    more = '[sites.damper3]\nlike = "damper2"\nstory = 1\n'
    built = build(load(stack(), text=FRAME + more))
    assert opened == ["net.safetensors"]
    assert built.loop.sites[1].device.block is built.loop.sites[2].device.block


def test_the_schema_knows_networks():
    table = json.loads(json_schema())["$defs"]["DeviceSpec"]["properties"]
    assert table["network"]["anyOf"][0]["type"] == ["string", "array"] and "bouc_wen" in table["law"]["enum"]
