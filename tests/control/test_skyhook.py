"""Skyhook logic by hand, its velocity by theory, and constant commands."""

import numpy as np
import pytest

from hyloop import Loop, Site
from hyloop.control import passive_off, passive_on, skyhook
from hyloop.devices import mr_damper, spring, variable_friction
from hyloop.errors import BadInput, OutOfBounds
from hyloop.integrators import newmark_explicit
from hyloop.structure import shear_frame

DT = 1.0 / 1024.0


def frame():
    structure = shear_frame([300.0, 300.0], [120e3, 120e3])
    return structure, Site("damper1", structure.story(2), mr_damper(i=0.0))


@pytest.mark.parametrize("full", [0.0, 0.02])
def test_the_command_is_on_where_absolute_and_relative_velocity_agree(full):
    structure, site = frame()
    *_, switch = skyhook("sky", structure, site, full=full, level=0.8)
    assert switch.inputs == {"a": "a.2", "ground": "ground", "v": "sky.kinematics.v"}
    rng = np.random.default_rng(2)
    a, g, v = rng.normal(size=(3, 400))
    run = switch.block.drive(DT, a=a, ground=g, v=v)
    v_abs, w, expected = 0.0, 2 * np.pi * 0.1, []
    for k in range(400):
        v_abs = np.exp(-w * DT) * v_abs + (1 - np.exp(-w * DT)) / w * (a[k] + g[k])
        part = min(abs(v_abs) / full, 1.0) if full else 1.0
        expected.append(0.8 * part if v_abs * v[k] > 0.0 else 0.0)
    np.testing.assert_allclose(run["command"], expected, rtol=1e-9)


def test_the_absolute_velocity_is_that_of_the_floor():
    """Integrated above 0.1 Hz, at 2 Hz: amplitude within (0.1/2)²/2 and half a tick of delay."""
    structure, site = frame()
    *_, switch = skyhook("sky", structure, site)
    t = DT * np.arange(1, 40_000)
    w = 2 * np.pi * 2.0
    run = switch.block.drive(DT, a=np.cos(w * t), ground=0 * t, v=np.ones_like(t))
    late = run["v_abs"][20_000:] - np.sin(w * t[20_000:]) / w
    assert np.max(np.abs(late)) < (0.1 / 2.0 + w * DT) / w


def test_noise_is_heard_with_its_size():
    structure, site = frame()
    *_, switch = skyhook("sky", structure, site, noise=0.3, lowest=1e3, seed=5)
    zero = np.zeros(20_000)
    v = switch.block.drive(DT, a=zero, ground=zero, v=zero)["v_abs"]
    # with the integration forgetting at once v is noise/(2π lowest) times a known low-pass
    fade, w = np.exp(-2 * np.pi * 1e3 * DT), 2 * np.pi * 1e3
    expected = 0.3 * (1 - fade) / w / np.sqrt(1 - fade**2)
    assert np.std(v) == pytest.approx(expected, rel=0.03)  # 20 000 samples: 0.5 %, six times


def test_in_the_loop_a_commanded_damper_switches_and_a_constant_one_does_not():
    structure, site = frame()
    t = DT * np.arange(3000)
    ground = (1.5 * np.sin(2 * np.pi * 1.8 * t))[:, None]
    run = {}
    for name, (one, blocks) in {
        "off": (passive_off(site), []),
        "on": (passive_on(site), []),
        "half": (passive_on(site, 0.5), []),
        "sky": (passive_off(site), skyhook("sky", structure, site)),
    }.items():
        run[name] = Loop(structure, [one], method=newmark_explicit(), dt=DT, blocks=blocks).run(ground)
    assert {k: set(np.unique(run[k]["damper1.i"])) for k in ("off", "on", "half")} == {
        "off": {0.0},
        "on": {1.0},
        "half": {0.5},
    }
    assert set(np.unique(run["sky"]["damper1.i"])) == {0.0, 1.0}
    agree = run["sky"]["sky.v_abs"] * run["sky"]["sky.kinematics.v"] > 0.0
    np.testing.assert_array_equal(run["sky"]["damper1.i"] == 1.0, agree)


def test_friction_is_commanded_too():
    structure, _ = frame()
    site = Site("damper1", structure.story(1), variable_friction(N=0.0, N_max=2e3, k=1e6))
    *_, switch = skyhook("sky", structure, site)
    assert switch.outputs == {"command": "damper1.N"} and switch.block.block.outputs["command"] == "N"


def test_what_cannot_be_is_refused():
    structure, site = frame()
    with pytest.raises(BadInput, match="obeys no command"):
        skyhook("sky", structure, Site("damper1", structure.story(1), spring()))
    with pytest.raises(BadInput, match="'1' does not lengthen the device of damper1"):
        skyhook("sky", structure, site, at="1")
    with pytest.raises(OutOfBounds, match="full = -1"):
        skyhook("sky", structure, site, full=-1.0)
    with pytest.raises(OutOfBounds, match="at most 1 A"):
        passive_on(site, 2.0)
