"""Wind in an experiment file, from the table to the page."""

import numpy as np
import pytest

from hyloop.errors import BadInput
from hyloop.files.load import load_experiment
from hyloop.hazards import FloorWind, WindBuilding, WindSite
from hyloop.report.run_page import write_report
from hyloop.study.build import build
from hyloop.study.run import run_in_memory

PARTS = """
[structure]
kind = "matrices"
names = ["floor1.ux", "floor1.uz", "floor1.ry", "floor2.ux", "floor2.uz", "floor2.ry"]
M = [[4e6,0,0,0,0,0],[0,4e6,0,0,0,0],[0,0,1.2e9,0,0,0],[0,0,0,4e6,0,0],[0,0,0,0,4e6,0],[0,0,0,0,0,1.2e9]]
K = [[8e7,0,0,-4e7,0,0],[0,2e8,0,0,-1e8,0],[0,0,4e10,0,0,-2e10],
     [-4e7,0,0,4e7,0,0],[0,-1e8,0,0,1e8,0],[0,0,-2e10,0,0,2e10]]
influence = { x = [1,0,0,1,0,0], z = [0,1,0,0,1,0] }
[structure.damping]
kind = "rayleigh"
ratio = "2 %"
[integrator]
method = "mkr_alpha"
rho_inf = 0.75
dt = "1/64 s"
"""
WIND = """
[loads.storm]
kind = "wind"
speed = "150 km/h"
direction = "45 deg"
floors = "floor1..floor2"
stories = "30 m"
plan = ["30 m", "50 m"]
duration = "60 s"
dt = "1/32 s"
ramp_up = "10 s"
comfort = "nbcc-office"
"""
TUNNEL = """
[loads.tunnel]
kind = "pressures"
file = "cp.csv"
taps = "taps.csv"
floors = "floor1..floor2"
stories = "30 m"
plan = ["30 m", "50 m"]
model_scale = 200
tunnel_speed = "15 m/s"
roof_speed = "30 m/s"
rate = "500 Hz"
"""


def experiment(folder, *parts):
    path = folder / "wind.toml"
    path.write_text("\n".join([PARTS, *parts]), "utf-8")
    return load_experiment(path)


def test_a_run_in_wind(tmp_path):
    result = run_in_memory(experiment(tmp_path, WIND))
    body = WindBuilding([30.0, 60.0], 30.0, 50.0)
    mean = FloorWind(body, WindSite(150 / 3.6), np.pi / 4).mean
    late = result.time > 10.0
    for k, name in enumerate(body.at):
        load = result[f"load.{name}"]
        assert load[0] == 0.0
        if k % 3 < 2:  # 50 s of gusts: their mean is that of an hour within its own scatter
            assert abs(load[late].mean() / mean.ravel()[k] - 1.0) < 0.3
    about = result.attributes["comfort"]
    assert about["criterion"] == "nbcc-office" and about["floors"] == ["floor1", "floor2"]
    assert about["frequency"] == pytest.approx(np.sqrt(4e7 / 4e6) * (np.sqrt(5) - 1) / 2 / (2 * np.pi), rel=1e-6)
    assert any("storm" in note and "m/s at the roof" in note for note in result.attributes["notes"])
    page = write_report(tmp_path / "page.html", {"storm": result}, title="Wind").read_text("utf-8")
    assert "nbcc-office" in page


def test_the_seed_of_the_experiment_draws_the_wind(tmp_path):
    one, again = (build(experiment(tmp_path, WIND)).excitation for _ in range(2))
    other = build(experiment(tmp_path, WIND).model_copy(update={"seed": 7})).excitation
    assert one.tobytes() == again.tobytes() and np.abs(one - other).max() > 0.05 * np.abs(one).max()


def test_pressures_beside_the_experiment_file(tmp_path):
    """Files are looked for where the experiment is; 0.7 on the north face alone."""
    (tmp_path / "taps.csv").write_text("tap,face,along,height\nA,north,-10,30\nB,north,10,30\n")
    (tmp_path / "cp.csv").write_text("A,B\n" + "0.7,0.7\n" * 300)
    built = build(experiment(tmp_path, TUNNEL))
    push = -0.5 * 1.161 * 30.0**2 * 0.7 * 50.0
    assert built.loads is not None and built.loads.at[0] == "floor1.ux"
    np.testing.assert_allclose(built.loads.values[5, [0, 3]], [push * 30.0, push * 15.0], rtol=1e-9)
    assert built.loads.duration == pytest.approx(299 * 200 * 15 / 30 / 500, abs=1 / 64)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (WIND.replace("floor1..floor2", "floor1..floor3"), r"floor3\.ux"),
        (WIND.replace("150 km/h", "150 kg"), r"loads\.storm\.speed"),
        (WIND.replace("plan", "paln"), "plan"),
        (WIND.replace('"wind"', '"wnid"'), "'wind'"),
        (TUNNEL, r"loads\.tunnel\.taps.*taps\.csv"),
        (TUNNEL.replace("roof_speed", "speed").replace("30 m/s", "200 m/s"), r"loads\.tunnel\.speed"),
    ],
)
def test_refused(tmp_path, text, words):
    with pytest.raises(BadInput, match=words):
        build(experiment(tmp_path, text))
