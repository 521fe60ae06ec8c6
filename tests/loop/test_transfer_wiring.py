"""Inputs of transfer blocks: what was last measured, and blocks that several sites share."""

import numpy as np
import pytest

from hyloop import Loop, Site, shear_frame
from hyloop.core import Param, block
from hyloop.devices import bilinear, spring
from hyloop.errors import BadInput, OutOfBounds
from hyloop.integrators import mkr_alpha, newmark
from hyloop.loop import Coupled
from hyloop.structure import rayleigh

GAIN = Param("-", 1.0)
ROUND_OFF = 1e-12  # relative: a few products in another order


@block(inputs={"d": "m", "d_m": "m"}, outputs={"d": "m", "heard": "m"}, params={"gain": GAIN}, reference="test")
def corrector(x, u, dt, p):
    """Adds a part of the error seen a tick ago, and tells what it heard."""
    return (u[0] + p[0] * (u[0] - u[1]), u[1]), ()


@block(inputs={"d": "m", "f_m": "N"}, outputs={"d": "m", "heard": "N"}, params={"c": GAIN}, reference="test")
def soft_actuator(x, u, dt, p):
    """Gives way under the force measured last."""
    return (u[0] - p[0] * u[1], u[1]), ()


@block(inputs={"d": "m", "f": "N"}, outputs={"d": "m", "f": "N"}, params={"gain": GAIN}, reference="test")
def reading(x, u, dt, p):
    """Shows all a little too large."""
    return (p[0] * u[0], p[0] * u[1]), ()


@block(
    inputs={"d1": "m", "d2": "m", "f2_m": "N"}, outputs={"d1": "m", "d2": "m", "sum": "m"}, params={}, reference="test"
)
def table(x, u, dt, p):
    """Two axes that disturb each other; the second gives way."""
    return (u[0] + 0.1 * u[1], u[1] - 0.2 * u[0] - 1e-8 * u[2], u[0] + u[1]), ()


@block(inputs={"d1": "m", "d2": "m"}, outputs={"f1": "N", "f2": "N"}, params={"k": Param("N/m", 1e6)}, reference="test")
def plate(x, u, dt, p):
    """A specimen with two axes."""
    return (p[0] * (2.0 * u[0] - u[1]), p[0] * (u[1] - u[0])), ()


@block(inputs={"f": "N"}, outputs={"f": "N"}, params={"k": Param("N/m", 1e6)}, reference="test")
def handed(x, u, dt, p):
    """The force of the specimen."""
    return (u[0],), ()


def frame():
    bare = shear_frame([1e4] * 3, [4e6] * 3)
    return bare.with_damping(rayleigh(bare, 0.03))


def lab(method=None, **transfer):
    site = Site("lab", frame().story(1), bilinear(k=1e6, f_y=3e3), physical=True, transfer=transfer)
    return Loop(frame(), [site], method=method or mkr_alpha(0.75), dt=0.01, substeps=3)


WHOLE = {"compensator": corrector(gain=0.3), "actuator": soft_actuator(c=1e-8), "sensor": reading(gain=1.1)}


def test_inputs_ending_in_m_are_measured_a_tick_ago_and_zero_at_first(rng):
    result = lab(**WHOLE).run(rng.normal(size=60), every="tick")
    heard_d, heard_f = result["lab.compensator.heard"], result["lab.actuator.heard"]
    assert heard_d[1] == heard_f[1] == 0.0 and result["lab.sensor.d"][1] != 0.0
    assert np.array_equal(heard_d[2:], result["lab.sensor.d"][1:-1])
    assert np.array_equal(heard_f[2:], result["lab.sensor.f"][1:-1])
    wanted = 1.3 * result["lab.d"] - 0.3 * heard_d
    np.testing.assert_allclose(result["lab.compensator.d"][1:], wanted[1:], rtol=ROUND_OFF, atol=1e-18)


def test_without_a_sensor_the_actuator_shows_what_it_does(rng):
    result = lab(compensator=corrector(gain=0.3), actuator=soft_actuator(c=1e-8)).run(rng.normal(size=60), every="tick")
    assert np.array_equal(result["lab.compensator.heard"][2:], result["lab.actuator.d"][1:-1])
    assert np.array_equal(result["lab.actuator.heard"][2:], result["lab.f"][1:-1])


def test_an_implicit_method_hears_the_last_tick_and_not_the_last_trial(rng):
    result = lab(newmark(), **WHOLE).run(rng.normal(size=60), every="tick")
    assert np.array_equal(result["lab.compensator.heard"][2:], result["lab.sensor.d"][1:-1])


def test_a_snapshot_holds_what_was_measured(rng):
    motion = rng.normal(size=100)
    one, two = lab(**WHOLE), lab(**WHOLE)
    whole = one.run(motion)
    one.start(motion[0])
    one.advance(motion[1:50])
    two.restore(one.snapshot())
    assert np.array_equal(two.advance(motion[50:]).data, whole.data[50:])


def test_what_nobody_measures_cannot_be_heard():
    @block(inputs={"d": "m", "v_m": "m/s"}, outputs={"d": "m"}, params={}, reference="test")
    def listener(x, u, dt, p):
        """Wants a velocity."""
        return (u[0],), ()

    with pytest.raises(BadInput, match="input v_m of listener: nothing at this site measures v; measured are d, f"):
        lab(actuator=listener(), sensor=reading())


def two_axes(**changes):
    rig, specimen = Coupled("rig", table()), Coupled("plate", plate(k=5e5))
    sensors = reading(gain=1.1), reading(gain=1.2)
    sites = {
        name: {
            "along": frame().story(k + 1),
            "device": handed(),
            "physical": True,
            "transfer": {
                "compensator": corrector(gain=0.2),
                "actuator": rig.axis(k + 1),
                "specimen": specimen.axis(k + 1),
                "sensor": sensors[k],
            },
        }
        for k, name in enumerate("xy")
    }
    for name, change in changes.items():
        sites[name] |= change
    return [Site(name, **parts) for name, parts in sites.items()]


def test_a_coupled_plant_and_a_coupled_specimen_run_between_the_blocks_of_their_sites(rng):
    bystander = Site("z", frame().story(3), spring(k=1e5))
    x, y = two_axes()
    r = Loop(frame(), [x, bystander, y], method=mkr_alpha(0.75), dt=0.01).run(rng.normal(size=80))
    later, before = slice(1, None), slice(None, -1)
    command1, command2 = r["x.compensator.d"][later], r["y.compensator.d"][later]
    given2 = command2 - 0.2 * command1 - 1e-8 * r["y.sensor.f"][before]
    np.testing.assert_allclose(r["rig.d1"][later], command1 + 0.1 * command2, rtol=ROUND_OFF, atol=1e-18)
    np.testing.assert_allclose(r["rig.d2"][later], given2, rtol=ROUND_OFF, atol=1e-18)
    np.testing.assert_allclose(r["y.f"][later], 5e5 * (r["rig.d2"] - r["rig.d1"])[later], rtol=ROUND_OFF, atol=1e-10)
    np.testing.assert_allclose(r["y.sensor.d"], 1.2 * r["rig.d2"], rtol=ROUND_OFF)
    assert np.array_equal(r["x.compensator.heard"][later], r["x.sensor.d"][before])
    assert np.abs(r["x.f"]).max() > 0.0 and "rig.sum" in r.names
    assert (y.own["d"], y.measured["f"], y.feedback) == ("rig.d2", "y.sensor.f", "y.sensor.f")


def test_parameters_of_a_coupled_block_can_be_changed():
    loop = Loop(frame(), two_axes(), method=mkr_alpha(0.75), dt=0.01)
    assert loop.copy({"plate.k": 1e5})["plate.k"] == 1e5


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: two_axes()[:1], "rig: axis 2 of 2 stands at no site"),
        (lambda: two_axes(y={"physical": False}), "rig: axis 2 of 2 stands at no site.*all of them physical, or none"),
        (lambda: [*two_axes(), *two_axes()[:1]], "exists twice"),
    ],
)
def test_axes_without_a_site_are_refused(make, message):
    with pytest.raises(BadInput, match=message):
        Loop(frame(), make(), method=mkr_alpha(0.75), dt=0.01)


def test_one_axis_at_two_sites_and_a_block_in_two_roles_are_refused():
    rig = Coupled("rig", table())
    roles = [{"actuator": rig.axis(1)}, {"actuator": rig.axis(1)}], [{"actuator": rig.axis(1)}, {"sensor": rig.axis(2)}]
    for transfers, message in zip(roles, ["axis 1 of 2 stands at x and y", "as actuator and sensor"], strict=True):
        sites = [Site(n, frame().story(1), spring(), transfer=t) for n, t in zip("xy", transfers, strict=True)]
        with pytest.raises(BadInput, match=message):
            Loop(frame(), sites, method=mkr_alpha(0.75), dt=0.01)
    with pytest.raises(OutOfBounds, match="axis = 3, but its axes are 1 to 2"):
        rig.axis(3)
    with pytest.raises(BadInput, match="input d, f of reading bears no number"):
        Coupled("rig", reading())
    with pytest.raises(BadInput, match="a specimen is an axis of a Coupled block"):
        Site("x", [1.0], spring(), transfer={"specimen": spring()})
