"""Pushover: closed forms of elastic, bilinear and softening frames, what yields, and what is refused."""

import numpy as np
import pytest

from hyloop.devices import bilinear, dashpot
from hyloop.errors import BadInput, BadShape, OutOfBounds, UnknownName
from hyloop.structure import (
    Bilinear,
    ElasticSection,
    Model,
    PushedDevice,
    cycles,
    plane_frame,
    pushover,
    shear_frame,
    springs,
)
from hyloop.structure.frames.load_patterns import load_pattern

EXACT = 1e-7  # of the largest value: equilibrium is found to 1e-8 of the largest force
SECTION = ElasticSection(E=25e9, A=0.16, Iz=0.16 * 0.4**2 / 12)
K1, K2, FY, ALPHA = 3e7, 2e7, 1e5, 0.1


def two_story(alpha=ALPHA, gravity=None):
    """Two floors of 20 t: a bilinear story below an elastic one, 3 and 4 m high."""
    frame = shear_frame([2e4, 2e4], [0.0, K2], heights=[3.0, 4.0], gravity=gravity)
    return frame.with_elements(springs(bilinear(k=K1, alpha=alpha, f_y=FY), frame.story(1)))


def test_an_elastic_frame_follows_its_flexibility():
    model = plane_frame(6.0, [3.5, 3.0], SECTION, SECTION, masses=2e4, gravity=2e5, leaning=4e5)
    frame = model.structure()
    curve = pushover(frame, 0.05, "triangle", "B2.ux", steps=7, model=model)
    heights = {"1": 3.5, "2": 6.5}
    load = frame.M @ frame.influence[:, 0] * [heights.get(name.split(".")[0][-1], 0.0) for name in frame.names]
    load /= load.sum()
    assert curve.load == pytest.approx(load, abs=1e-15)
    shape = np.linalg.solve(frame.K, load)
    force = curve.displacement / shape[frame.dof("B2.ux")]
    assert curve.displacement == pytest.approx(np.linspace(0.0, 0.05, 8))
    assert curve.base_shear == pytest.approx(force, rel=EXACT)
    assert np.abs(curve.u - frame.at_rest - np.outer(force, shape)).max() < EXACT * 0.05
    assert curve.height == 6.5 and not curve.hinges and curve.complete


def test_a_bilinear_story_yields_where_it_must():
    curve = pushover(two_story(), 0.05, "uniform", steps=500)
    V = curve.base_shear
    # the upper story carries half of it
    lower = np.where(V <= FY, V / K1, FY / K1 + (V - FY) / (ALPHA * K1))
    assert curve.displacement == pytest.approx(lower + V / 2 / K2, rel=EXACT)
    assert curve.drifts[:, 0] == pytest.approx(lower, rel=EXACT, abs=1e-12)
    assert V.max() > 1.4 * FY
    (hinge,) = curve.hinges
    at_yield = FY / K1 + FY / 2 / K2
    assert (hinge.member, hinge.kind) == ("spring 1", "spring")
    assert curve.displacement[hinge.row] == pytest.approx(at_yield, abs=0.05 / 500)
    assert hinge.ductility == pytest.approx(lower[-1] / (FY / K1), rel=0.05)  # to a step at yield


def test_cycles_follow_masing():
    d = np.array([0.01, 0.03])
    curve = pushover(two_story(), cycles(d, repeat=2), {"2": 1.0}, steps=120)
    assert cycles(d, repeat=2) == [0.01, -0.01] * 2 + [0.03, -0.03] * 2 + [0.0]
    # with all load at the roof both stories carry it, in series: a bilinear spring, whose branches are known
    k, k_y = 1 / (1 / K1 + 1 / K2), 1 / (1 / (ALPHA * K1) + 1 / K2)
    d_y, V, before = FY / k, [0.0], 0.0
    for now in curve.displacement[1:]:
        trial = V[-1] + k * (now - before)
        V.append(float(np.clip(trial, k_y * now - (FY - k_y * d_y), k_y * now + (FY - k_y * d_y))))
        before = now
    assert np.abs(curve.base_shear - V).max() < EXACT * max(V)


def test_gravity_makes_the_plastic_branch_fall():
    P = 4e5
    curve = pushover(two_story(alpha=0.0, gravity=[P, 0.0]), 0.2, {"1": 1.0}, "1", steps=200)
    behind = curve.displacement > 2 * FY / K1
    assert curve.base_shear[behind] == pytest.approx(FY - P / 3.0 * curve.displacement[behind], rel=EXACT)
    assert curve.base_shear[-1] < 0.8 * FY and curve.complete


def test_where_the_displacement_cannot_grow_the_path_ends_and_is_kept():
    # floor 1 falls by P/h for each metre; the elastic story above it springs back faster than that
    P = 2.0 * K2 * 3.0
    frame = shear_frame([2e4, 2e4], [0.0, K2], heights=[3.0, 4.0], gravity=[P, 0.0])
    frame = frame.with_elements(springs(bilinear(k=3 * K2, alpha=0.0, f_y=FY), frame.story(1)))
    curve = pushover(frame, 0.1, {"2": 1.0}, steps=50)
    k = 3 * K2 - P / 3.0  # of the first story before it yields
    V = k * FY / (3 * K2)
    assert not curve.complete and "no equilibrium was found beyond 2 = " in curve.fault
    assert curve.displacement[-1] == pytest.approx(V / k + V / K2, rel=1e-2)  # to the smallest step
    assert curve.base_shear.max() == pytest.approx(V, rel=1e-2)
    led = pushover(frame, 0.1, {"2": 1.0}, "1", steps=50)  # the first floor goes on
    assert led.complete and led.base_shear[-1] < 0.0 < V


def test_braces_and_sections_have_their_names():
    model = Model()
    for name, x, y in (("A", 0.0, 0.0), ("B", 3.0, 0.0), ("C", 3.0, 4.0)):
        model.node(name, x, y)
    model.support("A", "pinned")
    model.support("B", "pinned")
    model.brace("diagonal", "A", "C", Bilinear(3e8, 2e11, 0.02), 1e-3)
    model.brace("post", "B", "C", Bilinear(3e8, 2e11, 0.02), 1.0)
    model.mass("C", ux=1e4, uy=1e4)
    frame = model.structure()
    curve = pushover(frame, 0.04, "uniform", "C.ux", steps=400, model=model)
    (hinge,) = curve.hinges
    strength = 3e8 * 1e-3 * 0.6  # cosine of the diagonal
    at = curve.base_shear[hinge.row]
    assert hinge.member == "diagonal" and hinge.kind == "brace" and at == pytest.approx(strength, rel=0.02)
    # elongation is 0.6 of the sway, the post hardly gives
    assert hinge.ductility == pytest.approx(0.6 * 0.04 / 5.0 / (3e8 / 2e11), rel=0.02)


def test_devices_count_from_rest_and_those_of_velocity_are_left_out():
    model = Model()
    model.node("A", 0.0, 0.0)
    model.node("B", 0.0, 4.0)
    model.support("A")
    model.elastic("column", "A", "B", SECTION)
    model.mass("B", ux=1e4)
    model.load("B", ux=5e4)
    frame = model.structure()
    along = frame.between("B.ux")
    k = 1 / np.linalg.inv(frame.K)[frame.dof("B.ux"), frame.dof("B.ux")]
    law = bilinear(k=2 * k, alpha=0.0, f_y=1e4)
    devices = {"one": PushedDevice(law, along, 3), "two": PushedDevice(dashpot(c=1e6), along)}
    curve = pushover(frame, 0.02, "uniform", devices=devices, steps=100)
    assert abs(frame.at_rest[frame.dof("B.ux")]) > 1e-3 and curve.left_out == ("two",)
    expected = k * curve.displacement + 3 * np.minimum(2 * k * curve.displacement, 1e4)
    assert curve.base_shear == pytest.approx(expected, rel=EXACT, abs=EXACT * 1e4)
    d, f = curve.devices["one"]
    assert d == pytest.approx(curve.displacement) and f[-1] == pytest.approx(1e4)
    assert [hinge.member for hinge in curve.hinges] == ["one"]


def test_patterns():
    frame = two_story()
    assert load_pattern(frame, "uniform").load == pytest.approx([0.5, 0.5])
    assert load_pattern(frame, "triangle").load == pytest.approx([0.3, 0.7])
    shape = frame.modes().shapes[:, 0]
    assert load_pattern(frame, "first_mode").load == pytest.approx(shape / shape.sum())
    assert load_pattern(frame, {"1": 3.0, "2": 1.0}).load == pytest.approx([0.75, 0.25])
    assert load_pattern(frame, [1.0, -1.0]).load == pytest.approx([1.0, -1.0])  # no base shear: as given


@pytest.mark.parametrize(
    ("kind", "wrong", "said"),
    [
        (OutOfBounds, {"targets": [0.0]}, "not all of them zero"),
        (OutOfBounds, {"targets": [np.nan]}, "finite"),
        (OutOfBounds, {"targets": 0.1, "steps": 0}, "steps"),
        (OutOfBounds, {"targets": cycles([0.1] * 300), "steps": 1000}, "fewer steps"),
        (UnknownName, {"targets": 0.1, "pattern": "first"}, "first_mode"),
        (UnknownName, {"targets": 0.1, "control": "3"}, "degree of freedom"),
        (BadShape, {"targets": 0.1, "pattern": [1.0]}, "2 loads"),
        (OutOfBounds, {"targets": 0.1, "pattern": [0.0, 0.0]}, "not all zero"),
    ],
)
def test_refused(kind, wrong, said):
    with pytest.raises(kind, match=said):
        pushover(two_story(), **wrong)
    with pytest.raises(BadInput, match="height of 1 is not known"):
        pushover(shear_frame([1.0], [1.0]), 0.1, "triangle")
