"""Accelerations of rigid floors against exact rotations, and criteria against hand calculations."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from hyloop.errors import BadInput, BadShape, OutOfBounds, UnknownName
from hyloop.metrics import CRITERIA, comfort, corner_accelerations
from hyloop.metrics.comfort import HEADINGS
from hyloop.structure.frames.constraints import Diaphragm, _slaves

G = 9.80665
ROUNDING = 1e-12
SECOND_ORDER = 2e-6  # relative: an angle of 1e-6 rad turns the arm by as much
PRINTED = 5e-3  # relative: limits are compared with hand calculations of three digits


def test_points_move_as_an_exact_rotation_says():
    """Displacements and accelerations of a rigid floor share one map; SciPy turns the arms exactly."""
    angle, places = 1e-6, np.array([(16.3, 25.85), (-16.3, 25.85), (3.0, -7.0)])
    arms = np.column_stack([places[:, 0], np.zeros(3), places[:, 1]])
    exact = (Rotation.from_rotvec([0.0, angle, 0.0]).apply(arms) - arms)[:, [0, 2]]
    found = corner_accelerations([0.0], [0.0], [angle], places)[0]
    assert np.abs(found - exact).max() < SECOND_ORDER * np.abs(exact).max()


def test_points_move_as_the_nodes_of_a_rigid_floor():
    """The same signs as the constraint that a model makes of a floor."""
    nodes = {"NE": (16.3, 3.0, 25.85), "SW": (-16.3, 3.0, -25.85), "SE": (-16.3, 3.0, 25.85)}
    floor = Diaphragm("floor1", tuple(nodes), np.array([0.5, 3.0, -1.0]))
    rows = _slaves({name: np.array(at) for name, at in nodes.items()}, set(), [floor], 3)
    motion = {"floor1.ux": 0.3, "floor1.uz": -0.7, "floor1.ry": 0.01}
    places = np.array([(x - 0.5, z + 1.0) for x, _, z in nodes.values()])
    found = corner_accelerations([0.3], [-0.7], [0.01], places)[0]
    for name, (a_x, a_z) in zip(nodes, found, strict=True):
        assert a_x == pytest.approx(sum(motion[m] * w for m, w in rows[f"{name}.ux"]), rel=ROUNDING)
        assert a_z == pytest.approx(sum(motion[m] * w for m, w in rows[f"{name}.uz"]), rel=ROUNDING)


def floor(a_x, a_z, alpha, name="floor40"):
    return {f"a.{name}.ux": a_x, f"a.{name}.uz": a_z, f"a.{name}.ry": alpha}


def test_peak_and_rms_of_a_turning_floor():
    """Sway and turn in phase over whole cycles: the corner moves along a line, and its amplitude is known."""
    t = np.arange(4000) / 4000 * 10.0
    s = np.sin(2 * np.pi * t)
    a, alpha, L_x, L_z = 0.1, 0.002, 30.0, 50.0
    (found,) = comfort(floor(a * s, 0 * s, alpha * s), ["floor40"], L_x, L_z, frequency=0.2)
    size = np.hypot(a + alpha * L_z / 2, alpha * L_x / 2)  # on the east side the turn adds to the sway to the north
    assert found.centre_peak == pytest.approx(1e3 * a / G, rel=1e-6)
    assert found.centre_rms == pytest.approx(1e3 * a / G / np.sqrt(2.0), rel=1e-9)
    assert found.corner_peak == pytest.approx(1e3 * size / G, rel=1e-6)
    assert found.corner_rms == pytest.approx(1e3 * size / G / np.sqrt(2.0), rel=1e-9)
    assert found.corner in ("NE", "SE")
    assert found.increase == pytest.approx(size / a - 1.0, rel=1e-6)
    assert len(found.row()) == len(HEADINGS)


def test_each_corner_can_be_the_worst():
    for corner, (i, j) in {"NE": (1, 1), "SE": (-1, 1), "SW": (-1, -1), "NW": (1, -1)}.items():
        # at one instant: the turn moves a corner along (r_z, -r_x), the sway goes the same way
        (found,) = comfort(floor([0.0, 0.1 * j], [0.0, -0.1 * i], [0.0, 0.001]), ["floor40"], 30.0, 50.0, frequency=0.2)
        assert found.corner == corner


def test_a_master_away_from_the_middle():
    (found,) = comfort(
        floor([0.0, 0.0], [0.0, 0.0], [0.0, 1e-3]), ["floor40"], 30.0, 50.0, frequency=0.2, master=(3, 4)
    )
    assert found.centre_peak == pytest.approx(1e3 * 1e-3 * 5.0 / G, rel=ROUNDING)
    assert found.corner == "SW"
    assert found.corner_peak == pytest.approx(1e3 * 1e-3 * np.hypot(18.0, 29.0) / G, rel=ROUNDING)


@pytest.mark.parametrize(
    ("name", "frequency", "limit"),
    [
        ("iso10137-office", 0.15, 14.2),  # milli-g: 6.12 f^-0.445
        ("iso10137-residence", 0.15, 9.49),  # milli-g: 4.08 f^-0.445
        ("iso10137-residence", 1.5, 4.08),
        ("iso10137-office", 4.0, 12.24),
        ("nbcc-office", 0.15, 25.0),
        ("nbcc-residence", 0.15, 15.0),
        ("iso6897", 0.15, 5.77),  # exp(-3.65 - 0.41 ln 0.15) = 0.0566 m/s2
    ],
)
def test_limits(name, frequency, limit):
    assert 1e3 * CRITERIA[name].limit(frequency) / G == pytest.approx(limit, rel=PRINTED)


@pytest.mark.parametrize("name", ["iso10137-office", "iso10137-residence"])
def test_the_curve_has_no_jump(name):
    for f in (1.0, 2.0):
        below, above = (CRITERIA[name].limit(f * (1.0 + e)) for e in (-1e-9, 1e-9))
        assert below == pytest.approx(above, rel=1e-8)


def test_what_is_judged_is_what_the_criterion_limits():
    t = np.arange(1000) / 1000 * 10.0
    channels = floor(0.08 * np.sin(2 * np.pi * t), 0 * t, 0 * t)
    (peak,) = comfort(channels, ["floor40"], 30.0, 50.0, frequency=0.2, criterion="nbcc-residence")
    assert peak.ratio == pytest.approx(0.08 / (0.015 * G), rel=1e-4) and peak.holds
    (rms,) = comfort(channels, ["floor40"], 30.0, 50.0, frequency=0.2, criterion="iso6897")
    assert rms.ratio == pytest.approx(0.08 / np.sqrt(2) / np.exp(-3.65 - 0.41 * np.log(0.2)), rel=1e-9)
    assert not rms.holds


def test_bad_input():
    still = floor([0.0, 0.0], [0.0, 0.0], [0.0, 0.0])
    with pytest.raises(UnknownName, match="iso10137-office"):
        comfort(still, ["floor40"], 30.0, 50.0, frequency=0.2, criterion="iso10137-ofice")
    with pytest.raises(OutOfBounds, match=r"0\.06 to 5 Hz"):
        comfort(still, ["floor40"], 30.0, 50.0, frequency=0.01)
    for name, highest in (("iso10137-office", 5.0), ("iso10137-residence", 5.0), ("iso6897", 1.0)):
        assert CRITERIA[name].limit(highest) > 0.0
        with pytest.raises(OutOfBounds, match=f"to {highest:g} Hz"):
            CRITERIA[name].limit(1.01 * highest)
    with pytest.raises(OutOfBounds, match="Hz"):
        CRITERIA["nbcc-office"].limit(0.0)
    with pytest.raises(OutOfBounds, match="plan"):
        comfort(still, ["floor40"], -30.0, 50.0, frequency=0.2)
    with pytest.raises(BadInput, match="one length"):
        corner_accelerations([0.0], [0.0, 0.0], [0.0], [(1.0, 1.0)])
    with pytest.raises(BadInput, match="places"):
        corner_accelerations([0.0], [0.0], [0.0], [1.0, 1.0])
    with pytest.raises(BadShape, match="not finite"):
        corner_accelerations([np.nan], [0.0], [0.0], [(1.0, 1.0)])
