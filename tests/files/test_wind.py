"""Wind in experiment files: what a table means, and what is refused."""

from typing import get_args

import numpy as np
import pytest
from pydantic import ValidationError

from hyloop.errors import BadInput
from hyloop.files.wind import Pressures, Wind, WindFactors, read_taps
from hyloop.hazards import FloorWind, WindBuilding, WindCoefficients, WindSite
from hyloop.metrics import CRITERIA

BODY = {"floors": "floor5..floor44", "stories": "4.15 m", "plan": ["32.6 m", "51.7 m"]}
WIND = {"kind": "wind", "speed": "177 km/h", "direction": "45 deg", "duration": "325 s", **BODY}
RAMPS = {"ramp_up": "30 s", "ramp_down": "30 s"}
STEP = 0.01  # s, of an integrator that these loads do not look at


def test_a_table_is_the_wind_it_says():
    found = Wind.model_validate(WIND | RAMPS).history(STEP, 3, None)
    body = WindBuilding(np.arange(1, 41) * 4.15, 32.6, 51.7, [f"floor{k}" for k in range(5, 45)])
    same = FloorWind(body, WindSite(177 / 3.6), np.pi / 4).sample(325.0, 0.05, 3, up=30.0, down=30.0)
    assert found.at == same.at and found.at[0] == "floor5.ux"
    np.testing.assert_allclose(found.values, same.values, rtol=1e-9, atol=1e-6)


def test_lists_and_options():
    given = WIND | {
        "speed": "180 km/h",
        "floors": ["a", "b"],
        "stories": ["5 m", "4 m"],
        "master": ["1 m", "-2 m"],
        "exposure": "C",
        "profile": "log",
        "spectrum": "von_karman",
        "averaging": 1.06,
        "coefficients": {"lift": 0.1, "eccentricity": "5 %"},
        "duration": "20 s",
        "dt": "0.1 s",
    }
    wind = Wind.model_validate(given).wind()
    assert wind.building.heights.tolist() == [5.0, 9.0] and wind.building.master == (1.0, -2.0)
    assert wind.site == WindSite(50.0, "C", "log", averaging=1.06)
    assert wind.spectrum == "von_karman"
    assert wind.coefficients == WindCoefficients(lift=0.1, eccentricity=0.05)


def test_every_criterion_may_be_named():
    assert set(get_args(Wind.model_fields["comfort"].annotation)) == set(CRITERIA)


def test_defaults_are_those_of_python():
    assert WindCoefficients(**WindFactors().model_dump()) == WindCoefficients()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"speed": "177 m"}, "not a unit of the kind m/s"),
        ({"speed": "900 km/h"}, "at most 150 m/s"),
        ({"exposure": "A"}, "'B', 'C' or 'D'"),
        ({"direction": 45}, "at most 6.28"),
        ({"floors": "floor44..floor5"}, "floor5..floor44"),
        ({"floors": "all"}, "floor5..floor44"),
        ({"stories": ["4 m", "4 m"]}, "2 stories for 40 floors"),
        ({"plan": ["30 m"]}, "two lengths"),
        ({"plan": ["30 m", "300 m"], "direction": 0.0}, "D/B = 0.1"),
        ({"ramp_up": "300 s", "ramp_down": "30 s"}, "exceed the 325 s"),
        ({"coefficients": {"lfit": 0.1}}, "lift"),
        ({"coefficients": {"bandwidth": 1.0}}, "at most 0.99"),
        ({"coefficients": {"density": "1.2 kg"}}, "kg/m3"),
        ({"duration": "0 s"}, "above 0"),
        ({"gust": 1}, "unknown key"),
        ({"dt": "0.1 ms"}, "300000 at most"),
        ({"comfort": "iso"}, "nbcc-office"),
    ],
)
def test_refused(change, words):
    with pytest.raises(ValidationError, match=words.replace(".", r"\.")):
        Wind.model_validate(WIND | change)


@pytest.fixture
def tunnel(tmp_path):
    """Two rows of two taps on the north face, pressures of 0.8 and 0.4, with a time."""
    taps = tmp_path / "taps.csv"
    taps.write_text(
        "tap,face,along,height\nP1,north,-12.9,40\nP2,north,12.9,40\nP3,north,-12.9,120\nP4,north,12.9,120\n"
    )
    cp = tmp_path / "cp.csv"
    rows = [f"{k / 520:.9f},0.8,0.8,0.4,0.4" for k in range(600)]
    cp.write_text("\n".join(["t,P1,P2,P3,P4", *rows]))
    return {
        "kind": "pressures",
        "file": str(cp),
        "taps": str(taps),
        "model_scale": 150,
        "tunnel_speed": "64 km/h",
        "speed": "177 km/h",
        **BODY,
    }


def test_pressures_of_a_file(tunnel):
    found = Pressures.model_validate(tunnel | {"ramp_up": "30 s"}).history(STEP, 0, None)
    V = 0.45 * 16.6**0.25 * 177 / 3.6
    assert found.dt == pytest.approx(150 * (64 / 3.6) / 520 / V, rel=1e-5)  # times of nine digits
    q = 0.5 * 1.161 * V**2
    assert found.values[-1, 0] == pytest.approx(-q * 0.8 * 51.7 * 4.15, rel=1e-9)  # floor5, 4.15 m up
    level = 20 * 4.15  # floor24
    share = 0.8 - 0.4 * (level - 40) / 80
    assert found.values[-1, found.at.index("floor24.ux")] == pytest.approx(-q * share * 51.7 * 4.15, rel=1e-9)
    assert np.abs(found.values[0]).max() == 0.0
    direct = Pressures.model_validate({k: v for k, v in tunnel.items() if k != "speed"} | {"roof_speed": V})
    np.testing.assert_allclose(direct.history(STEP, 0, None).values[-1], found.values[-1], rtol=1e-9)


def test_a_rate_in_place_of_times(tunnel, tmp_path):
    short = tmp_path / "no_times.csv"
    short.write_text("P4,P3,P2,P1\n" + "0.4,0.4,0.8,0.8\n" * 50)
    timed = Pressures.model_validate(tunnel).history(STEP, 0, None)
    found = Pressures.model_validate(tunnel | {"file": str(short), "rate": "520 Hz"}).history(STEP, 0, None)
    assert found.dt == pytest.approx(timed.dt, rel=1e-6)
    np.testing.assert_allclose(found.values[0], timed.values[0], rtol=1e-9)
    with pytest.raises(BadInput, match=r"loads\.rate"):
        Pressures.model_validate(tunnel | {"file": str(short)}).history(STEP, 0, None)


def test_refused_pressures(tunnel, tmp_path):
    with pytest.raises(ValidationError, match="either the mean speed at the roof"):
        Pressures.model_validate(tunnel | {"roof_speed": "40 m/s"})
    bad = tmp_path / "bad.csv"
    for text, words in (
        ("tap,face,along\nP1,north,0\n", "no column height"),
        ("tap,face,along,height\nP1,top,0,40\n", "'top'"),
        ("tap,face,along,height\nP1,north,middle,40\n", "line 2"),
        ("tap,face,along,height\n", "no column"),
    ):
        bad.write_text(text)
        with pytest.raises(BadInput, match=words):
            read_taps(bad)
    with pytest.raises(BadInput, match="cannot be read"):
        read_taps(tmp_path / "none.csv")
    bad.write_text("tap,face,along,height\nP9,north,0,40\n")
    with pytest.raises(BadInput, match="P9"):
        Pressures.model_validate(tunnel | {"taps": str(bad)}).history(STEP, 0, None)
