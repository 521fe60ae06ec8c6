"""Buildings shaken in several directions and loaded at floors: against OpenSees, closed forms, and sums of parts."""

import numpy as np
import pytest
from oracles.opensees_seismic import Shaken
from problems.twisting import INTEGRATOR, MOTIONS, STRUCTURE

from hyloop.files.load import load_experiment
from hyloop.study.build import build

NRMSE = 3e-3  # of the range, of a yielding building: two methods at 1 ms, three times what was found
ROUND_OFF = 1e-12  # of the largest value: the same sum in another order
FLOORS = [f"floor{k}.{dof}" for k in (1, 2) for dof in ("ux", "uz", "ry")]
BOUNCING = [f"{corner}2.uy" for corner in ("AS", "BS", "AN", "BN")]


def made(folder, text):
    path = folder / "experiment.toml"
    path.write_text(text, encoding="utf-8")
    return build(load_experiment(path))


def test_an_asymmetric_building_moves_as_in_opensees(tmp_path):
    """Two horizontal motions and a vertical one, different ones; braces yield and the floors twist."""
    built = made(tmp_path, STRUCTURE + INTEGRATOR + MOTIONS)
    assert built.loop.structure.excitation_names == ("ground.x", "ground.y", "ground.z")
    ours = built.loop.run(built.excitation)
    model, dt = built.experiment.structure.model(), built.experiment.integrator.dt
    ground = built.excitation - 0.0
    assert not np.array_equal(ground[:, 0], -ground[:, 2]), "two motions of one kind are drawn apart"
    names = [*FLOORS, *BOUNCING]
    truth = Shaken(model, 0.02, 6, ground, dt, directions=(1, 2, 3)).run(names, len(ground) - 1)
    for k, name in enumerate(names):
        error = ours[f"u.{name}"] - truth[:, k]
        assert np.sqrt(np.mean(error**2)) < NRMSE * np.ptp(truth[:, k]), name
    yielded = np.abs(ours["u.floor1.ux"]).max() / 3.6
    assert yielded > 0.002 and np.ptp(ours["u.floor2.ry"]) > 1e-3, "braces yield, floors twist"


def one(direction, name="one"):
    return f"""
[excitations.{name}]
kind = "harmonic"
amplitude = "0.2 g"
frequency = "1.3 Hz"
duration = "1 s"
direction = {direction}
"""


def test_an_oblique_motion_is_the_sum_of_its_parts(tmp_path):
    base = STRUCTURE + INTEGRATOR
    oblique = made(tmp_path, base + one('"30 deg"'))
    vector = made(tmp_path, base + one("[0.8660254037844387, 0, 0.5]"))
    along = made(tmp_path, base + one('"x"') + one('"z"', "other"))
    a = along.motions[0].a
    parts = np.column_stack([np.cos(np.pi / 6) * a, np.sin(np.pi / 6) * a])
    assert oblique.loop.structure.directions == ("x", "z")
    for built in (oblique, vector):
        assert np.abs(built.excitation - parts).max() <= ROUND_OFF * np.abs(a).max()
    ours = oblique.loop.run(oblique.excitation, record=["u.floor*"], derived=True)
    sums = along.loop.run(parts, record=["u.floor*"], derived=True)
    assert {"base_shear.x", "base_shear.z", "a_abs.floor2.uz"} <= set(ours.names)
    for name in (*(f"u.{name}" for name in FLOORS), "base_shear.x", "base_shear.z"):
        assert np.abs(ours[name] - sums[name]).max() <= ROUND_OFF * np.abs(sums[name]).max(), name


def test_base_shears_are_what_the_ground_has_to_hold(tmp_path):
    """Under a slow load the base carries all of it, in both directions."""
    push = """
[loads.push]
kind = "harmonic"
at = { "floor2.ux" = "2 kN", "story 1.uz" = "-1 kN" }
frequency = "0.05 Hz"
cycles = [0, 1, 0]
"""
    built = made(tmp_path, STRUCTURE + INTEGRATOR.replace("1 ms", "5 ms") + push)
    r = built.run()
    quarter = 1000  # of the period of 20 s, where the load is greatest
    slow = 0.02  # the building's period over that of the load, squared and a little more
    assert r["load.floor2.ux"][quarter] == pytest.approx(2e3)
    assert r["base_shear.x"][quarter] == pytest.approx(2e3, rel=slow)
    assert r["base_shear.z"][quarter] == pytest.approx(-1e3, rel=slow)
    assert not r["ground.x"].any() and not r["ground.z"].any()


def test_a_load_on_a_node_of_a_floor_turns_it(tmp_path):
    load = '[loads.push]\nkind = "harmonic"\nat = {{ "{at}" = "2 kN" }}\nfrequency = "1 Hz"\ncycles = [0, 1, 0]\n'
    built = made(tmp_path, STRUCTURE + INTEGRATOR + load.format(at="AN2.ux"))
    structure = built.loop.structure
    pattern = structure.loads[:, 0]
    # the node lies 3 m beside the centre of mass, towards z: u_x = u_X + θ_y (z - z_0)
    assert pattern[structure.dof("floor2.ux")] == 1.0
    assert pattern[structure.dof("floor2.ry")] == pytest.approx(3.0)
    assert np.count_nonzero(pattern) == 2
