"""No learned or filtering block of any file hears anything but measured channels and commands.

Every file of the project that has such blocks is built, and every input of each is looked at by rules that are written
here anew, from names of channels alone. Files that leak on purpose are refused by name.
"""

import shutil
import tomllib
from pathlib import Path

import numpy as np
import pytest
from oracles.networks import random_tensors

from hyloop.errors import BadInput
from hyloop.files.load import load_experiment
from hyloop.neural import Architecture, Card, FrozenStack, Signal
from hyloop.study.build import build

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
ROOMS = ("hyloop.neural", "hyloop.updating", "hyloop.transfer.compensators")
TABLES = ("structure", "include")  # what an experiment has, and no claims, study or training


def experiments():
    files = sorted([*ROOT.glob("experiments/*.toml"), *ROOT.glob("studies/*/*.toml")])
    return [path for path in files if set(TABLES) & set(tomllib.loads(path.read_text("utf-8")))]


def stand_in(names, dt=1 / 1024):
    """A network of any weights, for a file whose own is made by a training."""
    units = {"f": "N", "d": "m", "v": "m/s", "t": "N", "a": "s"}
    signals = tuple(Signal(name, units[name[0]]) for name in names)
    architecture = Architecture(len(names), [[("lstm", 4)], [("linear", 1)]])
    tensors = random_tensors(architecture, np.random.default_rng(0))
    return FrozenStack(architecture, tensors, Card(signals, (Signal("f", "N"),), dt=dt))


NETWORKS = {
    "experiments/networks/ocp_nn.safetensors": (("f1", "d1", "v1", "t1", "t2", "d", "v", "age"), 1 / 1024),
    "out/fluid_damper_gru.safetensors": (("v",), 1 / 128),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files of the project, with a network wherever one must be trained first."""
    path = tmp_path_factory.mktemp("project")
    for name in ("experiments", "studies"):
        shutil.copytree(ROOT / name, path / name)
    for name, (inputs, dt) in NETWORKS.items():
        if not (path / name).exists():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            stand_in(inputs, dt).save(path / name)
    return path


def hears(one):
    return one.instance.block.function.__module__.startswith(ROOMS)


def may_be_heard(loop, channel, seen=()):
    """By names: a command, a reading, or what a block without a site makes of those."""
    name, _, signal = channel.rpartition(".")
    site = next((site for site in loop.sites if name in (site.name, *(f"{site.name}.{r}" for r in site.given))), None)
    if channel in seen:
        return True
    if site is None:  # of a free block, or a coupled one
        makers = [one for key, one in loop.connections.items() if channel in one.outputs.values()]
        return len(makers) == 1 and all(may_be_heard(loop, c, (*seen, channel)) for c in makers[0].inputs.values())
    role = name.removeprefix(site.name).removeprefix(".") or "device"
    if role == "device" and signal in ("d", "v", "a"):
        return True  # what the structure wants there: a command
    if not site.physical:  # a model: its own chain, or an answer of something that itself hears only what it may
        own = loop.connections.get(name)
        if own is None or channel not in own.outputs.values():
            makers = [one for one in loop.connections.values() if channel in one.outputs.values()]  # an estimate
            return bool(makers) and all(
                may_be_heard(loop, c, (*seen, channel)) for one in makers for c in one.inputs.values()
            )
        return hears(own) and all(may_be_heard(loop, c, (*seen, channel)) for c in own.inputs.values())
    if role in ("sensor", "compensator"):
        return True
    readings, shown = site.given["device"], set(site.given)
    if role == "device":
        if signal in ("t1", "t2", "f_m", "d_m"):
            return "f_m" in readings and channel in readings.values()
        return signal == "f" and "f_m" not in readings and "sensor" not in shown
    return role == "actuator" and signal in ("d", "v", "a") and "d_m" not in readings and "sensor" not in shown


def test_no_block_that_learns_or_filters_hears_what_a_test_could_not(folder):
    found = {}
    for path in experiments():
        try:
            loop = build(load_experiment(folder / path.relative_to(ROOT))).loop
        except BadInput as error:
            assert "--allow-scripts" in str(error) or "allow_scripts" in str(error), error  # a script learns nothing
            continue
        rigs = [site.name for site in loop.sites if site.physical]
        hardware = {*rigs, *(f"{name}.{role}" for name in rigs for role in ("actuator", "specimen", "sensor"))}
        listening = {place: one for place, one in loop.connections.items() if hears(one) and place not in hardware}
        for place, one in listening.items():
            for key, channel in one.inputs.items():
                assert may_be_heard(loop, channel), f"{path}: {place}.{key} hears {channel}"
        found[path.relative_to(ROOT).as_posix()] = sorted(listening)
    assert found["experiments/ocp_nn_two_story.toml"] == ["damper1.compensator", "damper2"]
    assert found["experiments/following_dampers.toml"] and found["studies/wang2020/updated.toml"]
    assert sum(map(bool, found.values())) >= 5


LEAKING = """
seed = 5
[structure]
kind = "shear_frame"
stories = 2
masses = "40 t"
stiffnesses = "40 kN/mm"
[integrator]
method = "newmark_explicit"
dt = "1/1024 s"
[excitation]
kind = "noise"
rms = "0.3 g"
low = "0.5 Hz"
high = "5 Hz"
duration = "1 s"
[sites.damper1]
story = 1
physical = true
device = { law = "brfd_gap_slip", draw = true, level = "18 kN" }
[sites.damper1.transfer.actuator]
law = "first_order_lag"
tau = "5 ms"
[sites.other]
story = 2
device = { law = "bouc_wen", k = "4 kN/mm" }
[sites.damper2]
story = 2
wiring = { f1 = "%s" }
device = { network = "net.safetensors" }
"""
PLAIN = """
[blocks.hidden]
block = { law = "dashpot", c = 1.0 }
inputs = { v = "damper1.actuator.v" }
"""
TRUTH = """
[blocks.afterwards]
block = { law = "brfd_gap_slip", draw = "damper1" }
inputs = { d = "damper2.d", v = "damper2.v", a = "damper2.a" }
"""
FREE = """
[blocks.observer]
block = { network = "net.safetensors" }
inputs = { f1 = "damper1.f", d = "damper1.d_m" }
"""


@pytest.mark.parametrize(
    ("channel", "more", "place"),
    [
        ("damper1.f", "", "damper2: input f1 is connected to damper1.f,"),  # there is a reading, f_m
        ("damper1.Fc_pos", "", "damper2: input f1 is connected to damper1.Fc_pos"),  # a parameter of the specimen
        ("other.f", "", "damper2: input f1 is connected to other.f"),  # a model is no measurement
        ("hidden.f", PLAIN, "damper2: input f1 is connected to hidden.f"),  # made of the true velocity
        (
            "afterwards.f",
            TRUTH,
            "damper2: input f1 is connected to afterwards.f",
        ),  # a specimen, moved by commands alone
        ("afterwards.f_m", TRUTH, "damper2: input f1 is connected to afterwards.f_m"),
        ("damper1.f_m", FREE, "observer: input f1 is connected to damper1.f,"),
    ],
)
def test_a_leak_is_refused_by_name(tmp_path, channel, more, place):
    stand_in(("f1", "d")).save(tmp_path / "net.safetensors")
    (tmp_path / "leak.toml").write_text(LEAKING % channel + more)
    with pytest.raises(BadInput, match="no instrument of a test shows") as caught:
        build(load_experiment(tmp_path / "leak.toml"))
    assert place in str(caught.value) and "leak.toml" in str(caught.value)


def test_readings_commands_and_what_is_made_of_them_may_be_heard(tmp_path):
    stand_in(("f1", "d")).save(tmp_path / "net.safetensors")
    made = PLAIN.replace("actuator.v", "v")  # of the command
    for channel, more in (("damper1.f_m", ""), ("damper1.t2", ""), ("hidden.f", made)):
        (tmp_path / "frame.toml").write_text(LEAKING % channel + more)
        assert build(load_experiment(tmp_path / "frame.toml")).loop.connections["damper2"].inputs["f1"] == channel


def test_the_rules_of_this_test_see_a_leak(tmp_path):
    """Without the refusal, what is looked at above would have told."""
    stand_in(("f1", "d")).save(tmp_path / "net.safetensors")
    (tmp_path / "frame.toml").write_text(LEAKING % "damper1.f_m" + PLAIN)
    loop = build(load_experiment(tmp_path / "frame.toml")).loop
    for channel, allowed in {
        "damper1.f_m": True,
        "damper1.d": True,
        "damper1.f": False,
        "damper1.actuator.d": False,
        "damper1.Fc_pos": False,
        "hidden.f": False,
        "other.f": False,
        "other.d": True,
        "u.1": False,
        "ground": False,
    }.items():
        assert may_be_heard(loop, channel) is allowed, channel
