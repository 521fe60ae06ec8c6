"""What an updater hears of velocity and acceleration: nothing that no instrument of the site shows."""

from pathlib import Path

import numpy as np
import pytest

from hyloop.core import Param, block
from hyloop.devices import spring
from hyloop.errors import BadInput
from hyloop.files.load import load_experiment
from hyloop.loop import Site
from hyloop.study.build import build
from hyloop.study.following import described_models
from hyloop.transfer import kinematics, sensor

FOLLOWING = Path(__file__).parents[2] / "experiments" / "following_dampers.toml"
SHORT = ["excitation={ kind = 'noise', rms = '0.3 g', low = '0.5 Hz', high = '8 Hz', duration = '2 s' }"]
EVERYTHING = 'recording.channels=["*"]'


def built(*overrides):
    return build(load_experiment(FOLLOWING, [*SHORT, EVERYTHING, *overrides]))


def heard(loop, name):
    """Channels that a block reads."""
    k = [i.block.name for i in loop._wiring.instances].index(name)
    return [loop._wiring.layout.names[position] for position in loop._wiring.inputs[k]]


def test_a_specimen_that_shows_its_deformation_is_heard_by_it_alone():
    made = built()
    assert heard(made.loop, "kinematics") == ["damper1.d_m"]
    own = ["damper1.d_m", "damper1.kinematics.v", "damper1.kinematics.a", "damper1.f_m"]
    assert heard(made.loop, "unscented(gap_slip)") == own
    result = made.run()
    # the first row is before the first tick
    expected = kinematics(cutoff=50.0).drive(1 / 1024, d=result["damper1.d_m"][1:])
    for key in ("v", "a"):
        assert np.array_equal(result[f"damper1.kinematics.{key}"][1:], expected[key])
        assert described_models(made.experiment, made.loop.sites)["damper1"]["inputs"][key] == own["dva".index(key)]
    error = result["damper1.kinematics.v"] - result["damper1.v"]
    assert 0.0 < error.std() < 0.2 * result["damper1.v"].std()  # late by 4.5 ms: 20 % at 7 Hz


@pytest.mark.parametrize(("overrides", "cutoff"), [([], 50.0), (["integrator.substeps=1"], 50.0), (["--"], 30.0)])
def test_the_cut_off_is_as_chosen(overrides, cutoff):
    chosen = ["sites.damper1.model.velocity={ cutoff = '30 Hz' }"] if overrides == ["--"] else overrides
    loop = built(*chosen).loop
    assert next(i for i in loop._wiring.instances if i.block.name == "kinematics").params["cutoff"] == cutoff


def test_a_slow_controller_lowers_it_and_refuses_more():
    slow = ["integrator.substeps=1", "integrator.dt=1/100 s"]
    loop = built(*slow).loop
    assert next(i for i in loop._wiring.instances if i.block.name == "kinematics").params["cutoff"] == 25.0
    with pytest.raises(BadInput, match=r"sites\.damper1\.model: velocity\.cutoff: 30 Hz .* 100 Hz; give at most 25 Hz"):
        built(*slow, "sites.damper1.model.velocity={ cutoff = '30 Hz' }")


def test_laws_of_the_deformation_need_no_velocity():
    model = "{ updater = 'unscented', noise = 1.0, device = { law = 'bilinear' }, free = { k = [1e5, 1e9] } }"
    names = built(f"sites.damper1.model={model}", EVERYTHING).loop.channels
    assert not [name for name in names if "kinematics" in name]


@block(
    inputs={"d": "m", "v": "m/s"}, outputs={"d": "m", "v": "m/s"}, params={"gain": Param("-", 1.0)}, reference="test"
)
def tachometer(x, u, dt, p):
    """Shows a deformation and a velocity."""
    return (p[0] * u[0], p[0] * u[1]), ()


def test_a_velocity_counts_only_with_the_deformation_it_belongs_to():
    plain = Site("a", [1.0], spring(k=1.0), physical=True)
    assert plain.measured == {"d": "a.d", "f": "a.f"}
    shown = Site("a", [1.0], spring(k=1.0), physical=True, transfer={"actuator": tachometer()})
    assert shown.measured == {"d": "a.actuator.d", "v": "a.actuator.v", "f": "a.f"}
    behind = Site(
        "a", [1.0], spring(k=1.0), physical=True, transfer={"actuator": tachometer(), "sensor": sensor(noise_d=1e-6)}
    )
    assert behind.measured == {"d": "a.sensor.d", "f": "a.sensor.f"}
