"""Networks that follow a measured device in experiment files."""

import numpy as np
import pytest
from problems.networks import trained

from hyloop.errors import BadInput
from hyloop.files.load import load_experiment
from hyloop.study.build import build
from hyloop.study.run import run_file
from hyloop.updating import filtered_network, forgetting_network

FRAME = """
[structure]
kind = "shear_frame"
stories = 3
masses = "40 t"
stiffnesses = "40 kN/mm"
damping = {{ kind = "rayleigh", ratio = "5 %", modes = [1, 2] }}

[integrator]
method = "newmark_explicit"
dt = "0.01 s"

[excitation]
kind = "noise"
rms = "0.2 g"
low = "0.5 Hz"
high = "5 Hz"
duration = "5 s"

[sites.brace1]
story = 1
physical = true
device = {{ law = "bouc_wen", k = "36 kN/mm", d_y = "4 mm" }}

[sites.brace1.model]
network = "nets/brace.safetensors"
{updater}

[sites.brace2]
story = 2
follows = "brace1"

[sites.brace3]
story = 3
follows = "brace1"
"""
UPDATERS = {"frozen_network": None, "forgetting_network": forgetting_network, "filtered_network": filtered_network}


@pytest.fixture
def experiment(tmp_path):
    """Write an experiment file beside a folder with a trained network."""
    (tmp_path / "nets").mkdir()
    trained()[0].save(tmp_path / "nets" / "brace.safetensors")

    def write(updater, name="experiment.toml"):
        path = tmp_path / name
        path.write_text(FRAME.format(updater=updater))
        return path

    return write


@pytest.mark.parametrize("kind", UPDATERS)
def test_models_are_driven_by_what_the_updater_gives_them(experiment, kind):
    """Open loop with the recorded deformation and force, the updater gives the weights that the models had."""
    built = build(load_experiment(experiment(f'updater = "{kind}"')))
    result = built.loop.run(built.excitation)
    make = UPDATERS[kind]
    network = trained()[0]
    assert {f"brace2.w_{k}" for k in range(len(network.weights))} <= set(result.names)
    assert not any(name.startswith("brace3.w_") for name in result.names)  # shared
    if make is None:
        np.testing.assert_array_equal(result["brace2.w_5"], network.weights[5])
        alone = network.drive(result["brace3.d"][1:])
        np.testing.assert_array_equal(result["brace3.f"][1:], alone)
        return
    alone = make(network).drive(0.01, d=result["brace1.d"][1:], f_m=result["brace1.f"][1:])
    np.testing.assert_array_equal(result["brace2.w_5"][1:], alone["w_5"])
    np.testing.assert_array_equal(result["brace1.model.updated"][1:], alone["updated"])
    assert alone["updated"].any()


def test_snapshot_resumes_the_learning(experiment):
    loop = (built := build(load_experiment(experiment('updater = "filtered_network"')))).loop
    whole = loop.run(built.excitation)
    loop.start(built.excitation[0])
    loop.advance(built.excitation[1:200])
    snapshot = loop.snapshot()
    loop.advance(built.excitation[200:])
    other = build(load_experiment(experiment('updater = "filtered_network"', "again.toml"))).loop
    other.restore(snapshot)
    rest = other.advance(built.excitation[200:])
    for channel in ("u.3", "brace3.f", "brace2.force_scale", "brace2.w_7"):
        np.testing.assert_array_equal(rest[channel], whole[channel][200:])


def test_file_of_the_network_lies_beside_the_experiment(experiment, tmp_path, monkeypatch):
    path = experiment('updater = "filtered_network"\nnoise = "0.2 kN"\nadapt = "scales"')
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    found, weights = run_file(path, (), tmp_path / "run.h5"), trained()[0].weights
    assert found.attributes["timing"]["controller ticks"] == 500
    assert np.ptp(found["brace2.force_scale"]) > 0.0  # followed ...
    np.testing.assert_array_equal(found["brace2.w_5"], weights[5])  # ... by its scales alone, as the file says


@pytest.mark.parametrize(
    ("updater", "message"),
    [
        ('updater = "filtered_network"\nnoise = "-1 N"', "sites.brace1.model.noise"),
        ('updater = "filtered_network"\nadapt = "many"', "sites.brace1.model.adapt"),
        ('updater = "forgetting_network"\nwindow = 0', "sites.brace1.model.window"),
        ('updater = "forgetting_network"\nbudget = "2 m"', "sites.brace1.model.budget"),
        ('updater = "filterd_network"', "filtered_network"),
        ('updater = "frozen_network"\nnoise = 1.0', "sites.brace1.model.noise"),
    ],
)
def test_bad_tables_name_the_key(experiment, updater, message):
    with pytest.raises(BadInput, match=message.replace(".", r"\.")):
        load_experiment(experiment(updater))


def test_an_experiment_of_another_rate_is_refused(experiment):
    path = experiment('updater = "filtered_network"')
    built = build(load_experiment(path, ["integrator.dt=0.02 s", "integrator.substeps=2"]))
    assert built.loop.substeps == 2
    with pytest.raises(BadInput, match=r"experiment\.toml: .*hysteresis_network was trained at 100 Hz.* at 200 Hz"):
        build(load_experiment(path, ["integrator.dt=0.01 s", "integrator.substeps=2"]))


def test_missing_network_names_the_key(experiment, tmp_path):
    path = experiment('updater = "frozen_network"')
    (tmp_path / "nets" / "brace.safetensors").unlink()
    with pytest.raises(BadInput, match=r"sites\.brace1\.model\.network.*there is no such file"):
        load_experiment(path)
