"""`follows` in experiment files: the loop it means, what it may be combined with, and every refusal."""

from pathlib import Path

import numpy as np
import pytest

from hyloop.core import Param, block
from hyloop.devices import nonlinear_maxwell
from hyloop.errors import BadInput
from hyloop.files import laws
from hyloop.files.load import json_schema, load_experiment
from hyloop.files.updaters import UPDATERS
from hyloop.integrators import mkr_alpha
from hyloop.loop import FreeBlock, Loop, Site
from hyloop.metrics import nrmse
from hyloop.report.display import parameter_names, parameter_panels
from hyloop.structure import shear_frame
from hyloop.study.build import build
from hyloop.study.run import run_file
from hyloop.transfer import sensor
from hyloop.updating import ensemble, recursive_least_squares, unscented

FOLLOWING = Path(__file__).parents[2] / "experiments" / "following_dampers.toml"
FOUND = 0.01  # relative error of a parameter found from noise-free forces, after some seconds of strong motion
STEADY = 1  # kN, change of a friction level that shows that the filter works

FRAME = """
[structure]
kind = "shear_frame"
stories = 3
masses = "40 t"
stiffnesses = "40 kN/mm"

[integrator]
method = "mkr_alpha"
dt = "1/256 s"
substeps = 4

[excitation]
kind = "noise"
rms = "0.3 g"
low = "0.5 Hz"
high = "8 Hz"
duration = "6 s"

[sites.damper1]
story = 1
physical = true
device = { law = "nonlinear_maxwell", K = "26 kN/mm", C = 150e3, alpha = 0.5 }

[sites.damper1.model]
updater = "unscented"
device = { law = "nonlinear_maxwell", K = "20 kN/mm", C = 200e3, alpha = 0.5 }
free = { K = ["4 kN/mm", "40 kN/mm"], C = [40e3, 400e3], alpha = ["20 %", 0.9] }
noise = "100 N"
process = 1e-3

[sites.damper2]
story = 2
follows = "damper1"

[sites.damper3]
story = 3
count = 2
follows = "damper1"
"""


@pytest.fixture
def load(tmp_path):
    def load(text=FRAME, *overrides, **others):
        for name, other in others.items():
            (tmp_path / f"{name}.toml").write_text(other, encoding="utf-8")
        path = tmp_path / "test.toml"
        path.write_text(text, encoding="utf-8")
        return load_experiment(path, overrides)

    return load


def test_it_is_the_loop_written_in_python(load):
    built = build(load())
    frame = shear_frame([40e3] * 3, [40e6] * 3)
    model = nonlinear_maxwell(K=20e6, C=200e3, alpha=0.5)
    sites = [
        Site("damper1", frame.story(1), nonlinear_maxwell(K=26e6, C=150e3, alpha=0.5), physical=True),
        Site("damper2", frame.story(2), model),
        Site("damper3", frame.story(3), model, count=2, shares="damper2"),
    ]
    ukf = unscented(model, {"K": (4e6, 40e6), "C": (40e3, 400e3), "alpha": (0.2, 0.9)}, noise=100.0, process=1e-3)
    wired = FreeBlock(
        "damper1.model",
        ukf,
        {"d": "damper1.d", "f_m": "damper1.f"},
        {key: f"damper2.{key}" for key in ("K", "C", "alpha")},
    )
    loop = Loop(frame, sites, method=mkr_alpha(), dt=1 / 256, substeps=4, blocks=[wired])
    result, expected = built.run(), loop.run(built.excitation, derived=True)
    assert result.names == expected.names
    assert result.data.tobytes() == expected.data.tobytes()
    # and it does what it is for
    assert result["damper2.K"][-1] == pytest.approx(26e6, rel=FOUND)
    assert result["damper2.C"][-1] == pytest.approx(150e3, rel=FOUND)
    assert built.estimates == {"damper2.K": (4e6, 40e6), "damper2.C": (40e3, 400e3), "damper2.alpha": (0.2, 0.9)}


OTHERS = {
    "unscented": (
        unscented,
        'process = { K = 1e-3, C = 2e-3, alpha = 0.0 }\nstates = { f_last = ["2 kN", "0.1 kN"] }\ndelay = 2',
        {"process": {"K": 1e-3, "C": 2e-3, "alpha": 0.0}, "states": {"f_last": (2e3, 100.0)}, "delay": 2},
    ),
    "ensemble": (
        ensemble,
        'members = 24\nbounds = "transform"\nseed = 3',
        {"members": 24, "bounds": "transform", "seed": 3},
    ),
    "recursive_least_squares": (
        recursive_least_squares,
        "forgetting = 0.99\ninitial_std = 0.2",
        {"forgetting": 0.99, "initial_std": 0.2},
    ),
}


@pytest.mark.parametrize("updater", OTHERS)
def test_every_updater_gets_its_options(load, updater):
    function, text, options = OTHERS[updater]
    changed = FRAME.replace('updater = "unscented"', f'updater = "{updater}"').replace("process = 1e-3", text)
    made = load(changed).sites["damper1"].model.make()
    free = {"K": (4e6, 40e6), "C": (40e3, 400e3), "alpha": (0.2, 0.9)}
    expected = function(nonlinear_maxwell(K=20e6, C=200e3, alpha=0.5), free, noise=100.0, **options)
    assert made.block is expected.block
    assert (made.params, made.initial) == (expected.params, expected.initial)
    assert {key for key in UPDATERS if "network" not in key} == {*OTHERS, "constant"}


@pytest.mark.parametrize("updater", OTHERS)
def test_a_sensor_with_offset_and_delay_is_found_with_the_model(load, monkeypatch, updater):
    """The followers get the parameters of the law; what is found of the sensor stands beside the updater."""
    monkeypatch.setitem(laws.LAWS, "sensor", sensor)
    faulty = "sites.damper1.transfer.sensor={ law = 'sensor', offset_f = '1.5 kN', delay_f = 2.0, noise_f = 50.0 }"
    model = ['sites.damper1.model.offset=["-5 kN", "5 kN"]', "sites.damper1.model.late=4"]
    right = ["sites.damper1.model.device.K=26e6", "sites.damper1.model.free={ C = [40e3, 400e3] }"]
    frame = FRAME.replace('updater = "unscented"', f'updater = "{updater}"')
    frame = frame if updater == "unscented" else frame.replace("process = 1e-3", "")
    built = build(load(frame, faulty, *model, *right))
    assert list(built.estimates) == ["damper2.C", "damper1.model.sensor_offset", "damper1.model.sensor_delay"]
    assert built.estimates["damper1.model.sensor_offset"] == (-5e3, 5e3)
    names = built.loop.channels
    assert "damper1.model.sensor_delay" in names and not [n for n in names if n.startswith("damper2.sensor")]
    result = built.run()
    assert result["damper2.C"][-1] == pytest.approx(150e3, rel=FOUND)
    assert result["damper1.model.sensor_offset"][-1] == pytest.approx(1.5e3, rel=0.1)
    assert result["damper1.model.sensor_delay"][-1] == pytest.approx(2.0, abs=0.2)
    if updater == "recursive_least_squares":  # which knows no random walk
        return
    options = load(
        frame, *model, "sites.damper1.model.process={ K = 1e-3, C = 1e-3, alpha = 0.0, sensor_offset = 0.1 }"
    )
    made = options.sites["damper1"].model.make().params
    walks = {key: made[f"{key}_process"] for key in ("C", "alpha", "sensor_offset", "sensor_delay")}
    assert walks == {"C": 1e-3, "alpha": 0.0, "sensor_offset": 0.1, "sensor_delay": 1e-4}


@pytest.mark.parametrize("updater", OTHERS)
def test_a_noise_that_is_not_given_is_estimated(load, updater):
    """A block before the updater writes its noise; where a noise is given there is no such block."""
    plain = FRAME.replace('updater = "unscented"', f'updater = "{updater}"').replace("process = 1e-3", "")
    assert not [name for name in build(load(plain)).loop.channels if name.startswith("damper1.noise")]
    for text in (plain.replace('noise = "100 N"', ""), plain.replace('"100 N"', '"estimated"\nmodel_error = "1 %"')):
        built = build(load(text))
        result = built.run()
        noise = result[next(name for name in result.names if name.startswith("damper1.model") and "_noise" in name)]
        share = 0.01 if "model_error" in text else 0.04
        assert noise[-1] == pytest.approx(share * np.abs(result["damper1.f"]).max(), rel=0.02)
    if updater == "unscented":
        assert result["damper2.C"][-1] == pytest.approx(150e3, rel=0.05)
    with pytest.raises(BadInput, match=r"sites\.damper1\.model\.model_error: .* noise that is estimated"):
        load(plain, "sites.damper1.model.model_error=0.1")


def test_a_constant_model_is_the_guess(load):
    model = '{ updater = "constant", device = { law = "nonlinear_maxwell", K = "20 kN/mm", C = 200e3, alpha = 0.5 } }'
    built = build(load(FRAME, f"sites.damper1.model={model}"))
    follower = built.loop.sites[1]
    assert follower.device.params == nonlinear_maxwell(K=20e6, C=200e3, alpha=0.5).params
    assert built.estimates == {}
    assert not np.ptp(built.run()["damper2.K"])


def test_without_a_follower_the_estimate_is_recorded(load):
    built = build(load(FRAME[: FRAME.index("[sites.damper2]")]))
    result = built.run()
    assert result["damper1.model.K"][-1] == pytest.approx(26e6, rel=FOUND)
    assert set(built.estimates) == {f"damper1.model.{key}" for key in ("K", "C", "alpha")}
    # an observer leaves the run as it is
    without = FRAME[: FRAME.index("[sites.damper1.model]")]
    assert np.array_equal(build(load(without)).run()["u.3"], result["u.3"])


def test_the_updater_reads_what_the_sensors_show(load):
    virtual = 'sites.damper1.device={ law = "brfd_gap_slip", draw = true }'
    gain = 'sites.damper1.transfer.sensor={ law = "spring", k = 1.0 }'  # reads d, gives f
    for override, channel in (("seed=0", "damper1.f"), (virtual, "damper1.f_m"), (gain, "damper1.sensor.f")):
        loop = build(load(FRAME, override)).loop
        layout, k = (
            loop._wiring.layout,
            [i.block.name for i in loop._wiring.instances].index("unscented(nonlinear_maxwell)"),
        )
        inputs = [layout.names[position] for position in loop._wiring.inputs[k]]
        assert inputs[-1] == channel
        assert inputs[0] == ("damper1.d_m" if override == virtual else "damper1.d")


def test_like_includes_and_overrides(load):
    start = FRAME.index("[sites.damper2]")
    like = '[sites.damper2]\nlike = "damper1"\nstory = 2\nfollows = "damper1"\n'
    like += '[sites.damper3]\nlike = "damper2"\nstory = 3'
    experiment = load(FRAME[:start] + like, "sites.damper1.model.noise=300 N")
    assert [site.follows for site in experiment.sites.values()] == [None, "damper1", "damper1"]
    assert not experiment.sites["damper2"].physical and experiment.sites["damper2"].model is None
    assert experiment.sites["damper1"].model.noise == 300.0
    # a file that builds on one with devices of their own, and back
    plain = FRAME[:start] + '[sites.damper2]\nstory = 2\ndevice = { law = "spring" }'
    over = 'include = ["base.toml"]\n[sites.damper2]\nfollows = "damper1"\n[sites.damper1.model]\nnoise = 50.0'
    experiment = load(over, base=plain)
    assert (experiment.sites["damper2"].device, experiment.sites["damper1"].model.noise) == (None, 50.0)
    assert experiment.sites["damper1"].model.free["C"] == (40e3, 400e3)
    assert load(plain, "sites.damper2.follows=damper1").sites["damper2"].device is None
    back = load(FRAME, 'sites.damper2.device={ law = "spring" }')
    assert (back.sites["damper2"].follows, back.sites["damper3"].follows) == (None, "damper1")
    # another updater is another model: nothing of the old one stays
    other = 'include = ["base.toml"]\n[sites.damper1.model]\nupdater = "constant"\ndevice = { law = "spring" }'
    assert load(other, base=FRAME).sites["damper1"].model.law.block.name == "spring"


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        (["sites.damper2.follows=damper9"], ["sites.damper2.follows: ", "unknown site 'damper9'", "'damper1'"]),
        (["sites.damper2.follows=damper3"], ["sites.damper2.follows: ", "not physical"]),
        (
            ['sites.damper2.device={ law = "spring" }', "sites.damper2.physical=true", "sites.damper3.follows=damper2"],
            ["sites.damper3.follows: ", "has no model", "sites.damper2.model"],
        ),
        (["sites.damper2.device.law=spring"], ["sites.damper2.follows: ", "give one of them"]),
        (["sites.damper2.physical=true"], ["sites.damper2.physical: ", "is a model"]),
        (["sites.damper1.physical=false"], ["sites.damper1.model: ", "physical = true"]),
        (["sites.damper2.follows=3"], ["sites.damper2.follows: ", "unknown site '3'"]),
        (["sites.damper1.model.updater=kalman"], ["sites.damper1.model.updater: ", "'kalman'", "'unscented'"]),
        (["sites.damper1.model={ noise = 1.0 }"], ["sites.damper1.model.updater: ", "is missing"]),
        (["sites.damper1.model.free.C=[50e3, 90e3]"], ["sites.damper1.model.free.C: ", "starts at 200000"]),
        (["sites.damper1.model.free.C=[900e3, 20e3]"], ["sites.damper1.model.free.C: ", "in order"]),
        (["sites.damper1.model.free.C=[20e3]"], ["sites.damper1.model.free.C: ", "lower and the upper"]),
        (["sites.damper1.model.free.C=3"], ["sites.damper1.model.free.C: ", "lower and the upper"]),
        (['sites.damper1.model.free.K=["20 kg", "90 kN"]'], ["sites.damper1.model.free.K: ", "'20 kg'"]),
        (["sites.damper1.model.free.alfa=[1, 2]"], ["sites.damper1.model.free.alfa: ", "Did you mean 'alpha'?"]),
        (["sites.damper1.model.free={}"], ["sites.damper1.model", "at least one free parameter"]),
        (["sites.damper1.model.free=3"], ["sites.damper1.model.free: ", "wanted a table"]),
        (["sites.damper1.model.noise=0"], ["sites.damper1.model.noise: ", "above 0"]),
        (["sites.damper1.model.noise=1 kg"], ["sites.damper1.model.noise: ", "'1 kg'"]),
        (["sites.damper1.model.process=-1"], ["sites.damper1.model.process: ", "at least 0"]),
        (["sites.damper1.model.process={ K = 1e-3, alpha = 1e-3 }"], ["sites.damper1.model", "process lacks C"]),
        (["sites.damper1.model.initial_std=0"], ["sites.damper1.model", "initial_std"]),
        (["sites.damper1.model.beta=-1"], ["sites.damper1.model", "beta"]),
        (["sites.damper1.model.bounds=none"], ["sites.damper1.model.bounds: ", "'clip'"]),
        (
            ["sites.damper1.model.bounds=transform", "sites.damper1.model.free.C=[200e3, 900e3]"],
            ["sites.damper1.model.free.C: ", "on a bound"],
        ),
        (["sites.damper1.model.states={ z = [1, 1] }"], ["sites.damper1.model.states.z: ", "state of nonlin"]),
        (["sites.damper1.model.states={ f_last = [1] }"], ["sites.damper1.model.states.f_last: ", "in a tick"]),
        (["sites.damper1.model.offset=['1 kN', '2 kN']"], ["sites.damper1.model.offset: ", "starts at 0, outside"]),
        (["sites.damper1.model.offset='1 kN'"], ["sites.damper1.model.offset: ", "pair"]),
        (["sites.damper1.model.offset=['1 mm', '2 kN']"], ["sites.damper1.model.offset: ", "1 mm"]),
        (["sites.damper1.model.late=0"], ["sites.damper1.model.late: "]),
        (["sites.damper1.model.velocity=50"], ["sites.damper1.model.velocity: ", "table"]),
        (["sites.damper1.model.members=9"], ["sites.damper1.model.members: ", "unknown key"]),
        (["sites.damper1.model.nois=1"], ["sites.damper1.model.nois: ", "Did you mean 'noise'?"]),
        (["sites.damper1.model.device.alfa=1"], ["sites.damper1.model.device.alfa: ", "Did you mean 'alpha'?"]),
        (["sites.damper1.model.device.law=nonlinear_maxwel"], ["model.device.law: ", "'nonlinear_maxwell'"]),
        (
            ['sites.damper1.model={ updater = "constant", device = { law = "brfd_gap_slip", draw = true } }'],
            ["sites.damper1.model.device.draw: ", "believed"],
        ),
    ],
)
def test_refused(load, overrides, words):
    with pytest.raises(BadInput) as caught:
        load(FRAME, *overrides)
    for word in ["test.toml: ", *words]:
        assert word in str(caught.value)


def test_a_model_may_need_only_what_is_measured(load, monkeypatch):
    """The law is refused when the file is built: which signals there are shows only then."""

    @block(inputs={"d": "m", "t9": "N"}, outputs={"f": "N"}, params={"k": Param("N/m", 1e6, 0.0)}, reference="test")
    def hears(x, u, dt, p):
        """Needs a tension."""
        return (p[0] * u[0] + u[1],), ()

    monkeypatch.setitem(laws.LAWS, "hears", hears)
    model = '{ updater = "unscented", noise = 1.0, device = { law = "hears" }, free = { k = [1e5, 1e7] } }'
    experiment = load(FRAME, f"sites.damper1.model={model}")
    with pytest.raises(BadInput, match=r"test\.toml: sites\.damper1\.model: .* needs t9, .* measured are d, f, "):
        build(experiment)


def test_schema_knows_followers():
    text = json_schema()
    assert '"follows"' in text and '"unscented"' in text and '"Constant"' in text


def test_example_beats_its_own_guess(tmp_path, monkeypatch):
    """The virtual damper driven by the motion of the followers is the truth; the guess is the same law, not updated."""
    monkeypatch.setenv("HYLOOP_DATA", str(tmp_path))  # the fallback motion, on every machine
    short = ["excitation.fallback.duration=8 s", 'recording.channels=["*"]']
    built = build(load_experiment(FOLLOWING, short))
    result = built.run()
    specimen, guess = built.loop.sites[0].device, built.loop.sites[1].device
    for site in ("damper2", "damper3"):
        signals = {key: result[f"{site}.{key}"] for key in ("d", "v", "a")}
        truth = specimen.drive(1 / 1024, **{key: signals[key] for key in specimen.block.inputs})["f"]
        constant = guess.drive(1 / 1024, **signals)["f"]
        assert nrmse(truth, result[f"{site}.f"]) < 0.6 * nrmse(truth, constant)
    bounds = built.estimates["damper2.Fc_pos"]
    assert bounds[0] <= result["damper2.Fc_pos"].min() < result["damper2.Fc_pos"].max() <= bounds[1]


def test_recording_and_figure_show_the_estimates_with_their_bounds(tmp_path, monkeypatch):
    monkeypatch.setenv("HYLOOP_DATA", str(tmp_path))
    recording = run_file(FOLLOWING, ("excitation.fallback.duration=4 s",), tmp_path / "run.h5")
    assert recording.attributes["estimates"] == {"damper2.Fc_pos": [4e3, 40e3], "damper2.Fc_neg": [4e3, 40e3]}
    names = parameter_names({"run": recording})
    assert {"damper2.Fc_pos", "damper2.Fc_neg"} == set(names)
    panel = parameter_panels({"run": recording}, ["damper2.Fc_pos"], 500)[0]
    assert [line.y.tolist() for line in panel.lines[:2]] == [[4.0, 4.0], [40.0, 40.0]]  # kN
    assert (panel.lines[2].name, panel.lines[0].series) == ("run", None)
    assert np.ptp(panel.lines[2].y) > STEADY
