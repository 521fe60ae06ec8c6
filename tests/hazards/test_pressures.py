"""Floor loads from pressures: fields whose resultants are known in closed form."""

import numpy as np
import pytest

from hyloop.errors import BadInput, BadShape, OutOfBounds
from hyloop.hazards.wind import PressureTaps, WindBuilding, WindSite, full_scale_step, pressure_loads

ROUNDING = 1e-12
L_X, L_Z, STORY = 32.6, 51.7, 4.15
BUILDING = WindBuilding(np.arange(1, 41) * STORY, L_X, L_Z)
HOW = {"speed": 44.66, "tunnel_speed": 64 / 3.6, "scale": 150.0}
Q = 0.5 * 1.161 * 44.66**2
FACES = ("north", "south", "east", "west")


def taps(across=8, rows=6, faces=FACES, building=BUILDING):
    """A regular field of taps on each face, each in the middle of the same width."""
    found = []
    for face in faces:
        L = building.length_z if face in ("north", "south") else building.length_x
        s = (np.arange(across) + 0.5) / across * L - L / 2
        z = (np.arange(rows) + 0.5) / rows * building.roof
        found += [(face, a, b) for b in z for a in s]
    names, s, z = zip(*found, strict=True)
    return PressureTaps(names, np.array(s), np.array(z))


def loads(field, pressures, building=BUILDING, **more):
    """Loads (floors, 3) of a constant field of pressure coefficients."""
    found = pressure_loads(building, field, np.tile(pressures, (2, 1)), 1 / 520, **HOW | more)
    return found.values[0].reshape(-1, 3)


@pytest.mark.parametrize(("face", "axis", "sign"), [("north", 0, -1), ("south", 0, 1), ("east", 1, -1), ("west", 1, 1)])
def test_uniform_pressure_on_one_face(face, axis, sign):
    field = taps()
    found = loads(field, 0.8 * np.array([f == face for f in field.faces]))
    L = L_Z if axis == 0 else L_X
    expected = sign * 0.8 * Q * L * BUILDING.tributary
    np.testing.assert_allclose(found[:, axis], expected, rtol=ROUNDING)
    assert np.abs(np.delete(found, axis, axis=1)).max() < ROUNDING * Q * L**2 * STORY
    assert BUILDING.tributary.sum() == pytest.approx(40 * STORY - STORY / 2)


@pytest.mark.parametrize(("face", "sign"), [("north", -1), ("south", 1), ("east", 1), ("west", -1)])
def test_pressure_that_grows_over_the_width_turns(face, sign):
    """p = p0 s/(L/2) gives the torque p0 L²/6 a metre; strips of constant pressure miss 1/n² of it, exactly.

    On the north face, pressure that grows to the east pushes the east side to the south: clockwise from above, so
    negative. On the east face, pressure that grows to the north pushes the north side to the west: positive.
    """
    for across in (4, 8, 16):
        field = taps(across)
        L = L_Z if face in ("north", "south") else L_X
        found = loads(field, np.where(np.array(field.faces) == face, field.along / (L / 2), 0.0))
        expected = sign * Q * L**2 / 6 * BUILDING.tributary * (1.0 - 1.0 / across**2)
        np.testing.assert_allclose(found[:, 2], expected, rtol=1e-10)
        assert np.abs(found[:, :2]).max() < ROUNDING * Q * L * STORY


def test_equal_pressure_all_round_pushes_nowhere():
    field = taps()
    assert np.abs(loads(field, np.ones(len(field.faces)))).max() < ROUNDING * Q * L_Z**2 * STORY


def test_between_rows_the_load_is_linear_in_the_height():
    field = taps(across=3, rows=6, faces=("north",))
    found = loads(field, field.heights / BUILDING.roof)[:, 0] / (-Q * L_Z * BUILDING.tributary)
    lowest, highest = field.heights.min(), field.heights.max()
    np.testing.assert_allclose(found, np.clip(BUILDING.heights, lowest, highest) / BUILDING.roof, rtol=ROUNDING)


def test_rows_may_have_different_taps_and_stand_in_any_order():
    s, z = np.array([-20.0, 0.0, 20.0, -10.0, 10.0]), np.array([50.0, 50.0, 50.0, 120.0, 120.0])
    order = np.array([3, 0, 4, 2, 1])
    one = loads(PressureTaps(["north"] * 5, s, z), np.arange(5.0))
    other = loads(PressureTaps(["north"] * 5, s[order], z[order]), np.arange(5.0)[order])
    np.testing.assert_allclose(one, other, rtol=ROUNDING)
    # by hand at 50 m and below: widths 15.85, 20, 15.85
    assert one[0, 0] == pytest.approx(-Q * STORY * (0 * 15.85 + 1 * 20.0 + 2 * 15.85), rel=1e-12)


def test_the_moment_is_about_the_master():
    moved = WindBuilding(BUILDING.heights, L_X, L_Z, master=(1.6, 2.6))
    field = taps()
    cp = np.random.default_rng(0).normal(size=len(field.faces))
    about_middle, about_master = loads(field, cp), loads(field, cp, moved)
    np.testing.assert_array_equal(about_middle[:, :2], about_master[:, :2])
    # M' = M + (-master) x F
    expected = about_middle[:, 2] - 2.6 * about_middle[:, 0] + 1.6 * about_middle[:, 1]
    np.testing.assert_allclose(about_master[:, 2], expected, rtol=1e-9)


def test_time_at_full_scale():
    """Section 4.2 of the paper: 1:150, 520 Hz, 64 km/h in the tunnel, 177 km/h of exposure B at the roof."""
    V = float(WindSite(177 / 3.6, "B").mean(166.0))
    step = full_scale_step(1 / 520, 150.0, 64 / 3.6, V)
    assert step == pytest.approx(150 * (64 / 3.6) / 520 / 44.659, rel=1e-5)  # 0.1148 s
    # what matters is that the reduced frequency f D / U stays: ten cycles in the tunnel are ten at full scale
    f_model, D_model = 12.0, 32.6 / 150
    f_full = f_model * (1 / 520) / step
    assert f_full * 32.6 / V == pytest.approx(f_model * D_model / (64 / 3.6), rel=ROUNDING)
    field = taps(2, 2)
    found = pressure_loads(BUILDING, field, np.ones((3000, 16)), 1 / 520, **HOW | {"speed": V}, up=30.0, down=30.0)
    assert found.dt == step and len(found) == 3000
    assert found.values[0, 0] == 0.0 and abs(found.values[-1, 0]) == 0.0


def test_bad_input():
    field = taps(2, 2)
    with pytest.raises(BadShape, match="16 taps"):
        loads(field, np.ones(15))
    with pytest.raises(BadShape, match="sample 0 of tap '3'"):
        loads(field, np.where(np.arange(16) == 2, np.nan, 1.0))
    with pytest.raises(OutOfBounds, match=r"tap '1'.*north face, which is 51\.7 m wide"):
        loads(PressureTaps(["north"], np.array([30.0]), np.array([10.0])), np.ones(1))
    with pytest.raises(OutOfBounds, match="166 m high"):
        loads(PressureTaps(["north"], np.array([0.0]), np.array([170.0])), np.ones(1))
    loads(PressureTaps(["north"], np.array([0.0]), np.array([0.0])), np.ones(1))  # a tap may stand at the foot
    with pytest.raises(BadInput, match="two taps stand"):
        loads(PressureTaps(["north"] * 2, np.zeros(2), np.ones(2)), np.ones(2))
    with pytest.raises(BadInput, match="'top'"):
        PressureTaps(["top"], np.zeros(1), np.ones(1))
    with pytest.raises(BadShape, match="2 faces, 1 places"):
        PressureTaps(["north", "south"], np.zeros(1), np.ones(1))
    with pytest.raises(OutOfBounds, match="tunnel_speed"):
        loads(field, np.ones(16), tunnel_speed=0.0)
