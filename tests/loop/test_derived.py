"""Derived channels: against closed forms, statics and conservation of energy."""

import numpy as np
import pytest
from scipy import sparse

from hyloop import Loop, Site, Structure, shear_frame
from hyloop.devices import bouc_wen, dashpot, spring
from hyloop.errors import BadInput, BadShape, OutOfBounds, RunFailed
from hyloop.hazards import GroundMotion
from hyloop.integrators import mkr_alpha, newmark, newmark_explicit
from hyloop.structure import rayleigh

HEIGHTS = [4.0, 3.2, 3.2]  # m
ROUND_OFF = 1e-9  # of the largest value: sums of a few thousand terms
SECOND_ORDER = 4.0  # halving the step divides the residual by this
NEAR = 0.15  # of the order of convergence: steps are finite


def _frame():
    frame = shear_frame([4e4, 3e4, 2e4], [4e7, 3e7, 2e7], gravity=[4e5, 3e5, 2e5], heights=HEIGHTS)
    return frame.with_damping(rayleigh(frame, 0.02))


def _loop(method, dt, substeps=1, device=None):
    frame = _frame()
    damper = bouc_wen(k=2e7, d_y=2e-3) if device is None else device
    return Loop(frame, [Site("damper", frame.story(1), damper, count=2)], method=method, dt=dt, substeps=substeps)


def _motion(dt, duration=8.0):
    t = np.arange(0.0, duration, dt)
    return 3.0 * np.sin(7.0 * t) * np.exp(-0.2 * t)


def test_accelerations_and_drifts_are_those_of_the_floors():
    ground = _motion(0.005)
    r = _loop(mkr_alpha(0.75), 0.005).run(ground, derived=True)
    for k in (1, 2, 3):
        np.testing.assert_array_equal(r[f"a_abs.{k}"], r[f"a.{k}"] + r["ground"])
        below = r[f"u.{k - 1}"] if k > 1 else 0.0
        np.testing.assert_array_equal(r[f"drift.{k}"], r[f"u.{k}"] - below)
        np.testing.assert_array_equal(r[f"drift_ratio.{k}"], r[f"drift.{k}"] / HEIGHTS[k - 1])
    units = dict(zip(r.names, r.units, strict=True))
    assert units["drift.1"] == "m" and units["a_abs.1"] == "m/s2" and units["energy.input"] == "J"


def test_base_shear_is_what_the_first_story_carries():
    """Inertia of all floors against springs, dampers and device of the lowest story."""
    loop = _loop(newmark_explicit(), 0.005)
    r = loop.run(_motion(0.005), derived=True)
    k1 = 4e7 - 9e5 / HEIGHTS[0]  # P-Delta of all floors
    damping = loop.structure.C.sum(axis=0) @ np.array([r[f"v.{k}"] for k in (1, 2, 3)])
    carried = k1 * r["u.1"] + 2 * r["damper.f"] + damping
    np.testing.assert_allclose(r["base_shear"], carried, atol=ROUND_OFF * np.abs(carried).max())


@pytest.mark.parametrize("method", [mkr_alpha(0.75), newmark_explicit()], ids=["mkr_alpha", "newmark_explicit"])
def test_the_energy_that_is_missing_vanishes_with_the_square_of_the_step(method):
    left = []
    for dt in (0.004, 0.002, 0.001):
        r = _loop(method, dt).run(_motion(dt), derived=True)
        left.append(np.abs(r["energy.residual"]).max() / r["energy.input"].max())
    assert left[-1] < 1e-4
    assert np.divide(left[:-1], left[1:]) == pytest.approx([SECOND_ORDER] * 2, rel=NEAR)


def test_the_average_acceleration_method_keeps_energy_to_round_off():
    """It conserves energy exactly in a linear structure, so every other term must be right to round-off."""
    loop = _loop(newmark(), 0.01, device=spring(k=1e7))
    r = loop.run(_motion(0.01), derived=True)
    assert np.abs(r["energy.residual"]).max() < 1e-8 * r["energy.input"].max()
    stored = 0.5 * 2 * 1e7 * r["damper.d"] ** 2  # two equal springs
    np.testing.assert_allclose(r["energy.devices"], stored, atol=1e-8 * stored.max())


def test_free_vibration_turns_motion_into_heat():
    """A damped oscillator: what it has lost is ½ (k A² - k u² - m v²)."""
    m, k, c = 2e4, 8e6, 4e4
    structure = Structure(M=[m], K=[[k]], floors=["1"])
    loop = Loop(structure, [Site("oil", structure.story(1), dashpot(c=c))], method=newmark_explicit(), dt=1e-4)
    r = loop.run(np.zeros(20000), u0=[0.01], derived=True)
    lost = 0.5 * (k * 0.01**2 - k * r["u.1"] ** 2 - m * r["v.1"] ** 2)
    np.testing.assert_allclose(r["energy.devices"], lost, atol=2e-4 * lost.max())
    assert "drift_ratio.1" not in r.names  # no height is known
    assert r["energy.structure"][0] == 0.0 and r["energy.structure"][-1] < 0.0  # counted from the start


def test_ticks_hold_the_value_of_the_last_step_and_pieces_join():
    ground = _motion(0.005)
    whole = _loop(mkr_alpha(0.75), 0.005, substeps=4).run(ground, derived=True)
    ticks = _loop(mkr_alpha(0.75), 0.005, substeps=4).run(ground, derived=True, every="tick")
    own = [k for k, name in enumerate(whole.names) if name.startswith(("drift", "a_abs", "base", "energy"))]
    np.testing.assert_array_equal(ticks.data[::4][:, own], whole.data[:, own])
    np.testing.assert_array_equal(ticks.data[3::4][:, own], whole.data[:-1][:, own])
    loop = _loop(mkr_alpha(0.75), 0.005, substeps=4)
    derived = loop.derived()
    loop.start(ground[0])
    pieces = [loop.advance(ground[:0], with_present=True)]
    pieces += [loop.advance(part) for part in np.array_split(ground[1:], 7)]
    joined = np.vstack([derived.of(piece) for piece in pieces])
    np.testing.assert_array_equal(joined, whole.data[:, own])  # to the last bit


def test_sparse_structures_give_the_same():
    frame, ground = _frame(), _motion(0.005)
    light = Structure(
        sparse.csr_array(frame.M),
        sparse.csr_array(frame.K),
        sparse.csr_array(frame.C),
        floors=[0, 1, 2],
        heights=HEIGHTS,
    )
    runs = [Loop(s, method=mkr_alpha(0.75), dt=0.005).run(ground, derived=True) for s in (frame, light)]
    scale = np.abs(runs[0].data).max(axis=0)
    np.testing.assert_allclose(runs[1].data / (scale + 1e-300), runs[0].data / (scale + 1e-300), atol=1e-7)


def test_a_structure_without_floors_has_accelerations_and_base_shear_alone():
    structure = Structure(M=[1e4, 1e4], K=[[2e6, -1e6], [-1e6, 1e6]])
    r = Loop(structure, method=newmark_explicit(), dt=0.01).run(_motion(0.01), derived=True)
    names = [name.partition(".")[0] for name in r.names]
    assert {"a_abs", "base_shear", "energy"} < set(names) and "drift" not in names


def test_a_ground_motion_runs_as_it_is():
    coarse = GroundMotion(_motion(0.02), 0.02, name="pulse")
    loop = _loop(mkr_alpha(0.75), 0.005)
    fine = loop.run(coarse)
    np.testing.assert_array_equal(fine["ground"], coarse.resampled(0.005).a)


def test_heights_are_checked():
    with pytest.raises(BadShape, match="heights: 2 are needed"):
        Structure(M=[1.0, 1.0], K=np.eye(2), floors=[0, 1], heights=[3.0])
    with pytest.raises(OutOfBounds, match=r"heights: .*positive"):
        Structure(M=[1.0], K=[[1.0]], floors=[0], heights=[-3.0])


def test_base_shear_carries_other_loads_too():
    """A force that is held: the first story carries all of it, and inertia nothing."""
    frame = shear_frame([1e4] * 2, [1e7] * 2)
    frame = Structure(M=frame.M, K=frame.K, loads=[[1.0], [1.0]], floors=[0, 1])
    frame = frame.with_damping(rayleigh(frame, 0.2))
    t = np.arange(0.0, 20.0, 0.005)
    push = 10e3 * np.minimum(t / 5.0, 1.0)  # N on each floor
    loop = Loop(frame, method=newmark_explicit(), dt=0.005)
    r = loop.run(np.column_stack([np.zeros_like(t), push]), derived=True)
    assert r["base_shear"][-1] == pytest.approx(20e3, rel=1e-6)
    np.testing.assert_allclose(r["base_shear"][-1], 1e7 * r["drift.1"][-1], rtol=1e-6)


def test_a_run_that_fails_has_its_derived_channels():
    frame = _frame()
    loop = Loop(frame, [Site("damper", frame.story(1), spring(k=1e5), max_d=1e-3)], method=newmark_explicit(), dt=0.005)
    with pytest.raises(RunFailed) as caught:
        loop.run(_motion(0.005), record="u.1", derived=True)
    result = caught.value.result
    assert result.names[0] == "u.1" and "v.1" not in result.names and "drift.3" in result.names
    assert 1 < len(result) < len(_motion(0.005))


def test_names_of_derived_channels_are_not_given_to_sites():
    frame = _frame()
    for name in ("drift", "energy", "ground"):
        with pytest.raises(BadInput, match=f"'{name}' is the name of"):
            Site(name, frame.story(1), spring(k=1e5))


def test_floors_in_space_have_drifts_and_accelerations_along_z():
    """Two floors that the ground moves along x and z, each on springs of its own."""
    names = ("f1.ux", "f1.uz", "f2.ux", "f2.uz")
    along, across = np.array([[3.0, -1.0], [-1.0, 1.0]]), np.array([[5.0, -2.0], [-2.0, 2.0]])
    K = np.zeros((4, 4))
    K[::2, ::2], K[1::2, 1::2] = 1e6 * along, 1e6 * across
    influence = np.array([[1.0, 0.0], [0.0, 1.0]] * 2)
    frame = Structure(
        M=1e4 * np.eye(4), K=K, influence=influence, names=names, floors=["f1.ux", "f2.ux"], heights=[4, 3]
    )
    ground = np.random.default_rng(0).normal(size=(200, 2))
    run = Loop(frame, method=newmark_explicit(), dt=0.005).run(ground, derived=True)
    np.testing.assert_allclose(run["drift_z.1"], run["u.f1.uz"])
    np.testing.assert_allclose(run["drift_z.2"], run["u.f2.uz"] - run["u.f1.uz"])
    np.testing.assert_allclose(run["drift_ratio_z.2"], run["drift_z.2"] / 3.0)
    for dof, direction in (("ux", 0), ("uz", 1)):
        for floor in ("f1", "f2"):
            np.testing.assert_allclose(run[f"a_abs.{floor}.{dof}"], run[f"a.{floor}.{dof}"] + ground[:, direction])
    assert run.attributes["building"]["across"] == ["f1.uz", "f2.uz"]
    assert np.ptp(run["drift_z.2"]) > 1e-6
