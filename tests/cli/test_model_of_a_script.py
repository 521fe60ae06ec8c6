"""`hyloop model` on a structure that an OpenSeesPy script builds."""

import json
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from oracles.pages import Page

from hyloop.cli.main import main

EXPERIMENT = Path(__file__).parents[2] / "experiments" / "opensees_portal.toml"
pytestmark = pytest.mark.skipif(find_spec("openseespy") is None, reason="OpenSeesPy is not installed (extra: peers)")


def hyloop(monkeypatch, capsys, *words):
    monkeypatch.setattr(sys, "argv", ["hyloop", *map(str, words)])
    main()
    return capsys.readouterr().out


@pytest.mark.slow
def test_the_portal_is_shown(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    said = json.loads(hyloop(monkeypatch, capsys, "model", EXPERIMENT, "--allow-scripts", "--json"))
    # a portal with fixed feet: 24 EI/h3 (1 + 6 k) / (4 + 6 k), k = stiffness of the beam over that of a column
    k = (231e-6 / 6.0) / (149e-6 / 4.0)
    stiffness = 24 * 200e9 * 149e-6 / 4.0**3 * (1 + 6 * k) / (4 + 6 * k)
    period = 2 * 3.14159265 * (40e3 / stiffness) ** 0.5
    assert said["modes"][0]["period"] == pytest.approx(period, rel=0.01)  # columns and beam also stretch
    assert said["mass"] == {"ux": 40e3, "uy": 40e3} and said["dead_load"] == pytest.approx(400e3)
    assert said["counts"]["ElasticBeam2d"] == 3 and said["settlement"]["displacement"] == pytest.approx(
        3.39e-4, rel=0.01
    )
    page = Page(Path(said["report"]))
    assert float(page.rows("Natural modes")["1"][0]) == pytest.approx(said["modes"][0]["period"], rel=5e-4)
    beams = next(trace for trace in page.picture["data"] if trace["name"] == "ElasticBeam2d")
    assert beams["x"] == [0, 0, None, 6, 6, None, 0, 6, None] and beams["y"] == [0, 4, None, 0, 4, None, 4, 4, None]
    shape = next(trace for trace in page.picture["data"] if trace["name"] == "mode 1")
    assert shape["x"][1] == pytest.approx(0.08 * 52**0.5, rel=1e-3) or shape["x"][1] < 0


def test_it_is_refused_without_the_flag(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stop:
        hyloop(monkeypatch, capsys, "model", EXPERIMENT)
    assert stop.value.code == 2 and "--allow-scripts" in capsys.readouterr().err and not list(tmp_path.iterdir())


def test_sites_are_shown_and_a_frame_without_loads_does_not_stand_under_them(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    words = ["model", EXPERIMENT, "--allow-scripts", "--set", "structure.arguments.weight=0.0"]
    said = json.loads(hyloop(monkeypatch, capsys, *words, "--json"))
    assert said["sites"] == [{"site": "damper1", "where": "between 1 and 4", "devices": 1.0, "device": "bilinear"}]
    page = Page(Path(said["report"]))
    assert page.rows("Sites") == {"damper1": ["between 1 and 4", "1", "bilinear"]}
    drawn = next(trace for trace in page.picture["data"] if trace["name"] == "site of a device")
    assert (drawn["x"], drawn["y"]) == ([0, 6, None], [0, 4, None])  # from node 1 to node 4
    assert "loads" not in page.answer and page.rows("Totals")["dead load [kN]"] == ["0"]
    assert "│ dead load, kN                │     0 │" in hyloop(monkeypatch, capsys, *words, "--no-report")
    loaded = json.loads(hyloop(monkeypatch, capsys, *words[:3], "--json"))
    assert "stand under their loads" in Page(Path(loaded["report"])).answer
