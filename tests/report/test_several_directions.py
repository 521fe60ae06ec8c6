"""Pages of runs in several directions and under loads."""

import numpy as np
import pytest

from hyloop import Loop, Structure
from hyloop.integrators import mkr_alpha
from hyloop.loop.building import describe_building
from hyloop.report.building import building_movie
from hyloop.report.catalogue import read_entry
from hyloop.report.display import ground_panels, history_panels, load_panels, spectrum_panels
from hyloop.report.response import respond

NAMES = ("F.ux", "F.uz", "F.ry")


@pytest.fixture
def recording(rng):
    structure = Structure(
        [1e4, 1e4, 4e4],
        np.diag([4e6, 3e6, 2e7]),
        influence=np.eye(3)[:, :2],
        directions=("x", "z"),
        names=NAMES,
        floors=["F.ux"],
        heights=[3.0],
    ).with_loads(["F.uz", "F.ry"])
    rows = rng.normal(size=(300, 4)) * [1.0, 2.0, 1e3, 2e3]
    return Loop(structure, method=mkr_alpha(), dt=0.01), rows, {"building": describe_building(structure, [])}


def run(recording, *columns):
    loop, rows, about = recording
    kept = np.zeros_like(rows)
    kept[:, columns] = rows[:, columns]
    result = loop.run(kept, derived=True)
    result.attributes.update(about)
    return result


def test_every_component_is_drawn_and_so_are_the_loads(recording):
    shown = {"run": run(recording, 0, 1, 2, 3)}
    titles = [panel.title for panel in history_panels(shown, 200)]
    assert titles == ["u.F.ux", "u.F.uz", "ground.x", "ground.z", "load.F.uz", "load.F.ry"]
    assert [panel.title for panel in spectrum_panels(shown)] == ["ground.x", "ground.z"]
    assert load_panels(shown, 200)[1].y_label == "load [kN m]"


def test_a_ground_at_rest_is_not_drawn(recording):
    shown = {"run": run(recording, 2)}
    assert not ground_panels(shown, 200) and not spectrum_panels(shown)
    assert [panel.title for panel in load_panels(shown, 200)] == ["load.F.uz"]
    assert building_movie(shown["run"]) is not None


def test_base_shears_have_directions(recording):
    result = run(recording, 0, 1)
    found = respond(result)
    assert found.base_shears == {along: np.abs(result[f"base_shear.{along}"]).max() for along in "xz"}
    assert found.base_shear == max(found.base_shears.values())
    movie = building_movie(result)
    assert "Of the ground ground.x is drawn" in movie.caption


def test_a_catalogue_knows_the_largest_component_and_tells_loads_apart(recording, tmp_path):
    one, other = run(recording, 0, 1), run(recording, 0, 1, 2)
    for name, result in (("one", one), ("other", other)):
        result.save(tmp_path / f"{name}.h5")
    entries = [read_entry(tmp_path / f"{name}.h5", tmp_path) for name in ("one", "other")]
    assert entries[0].ground == np.abs(one["ground.z"]).max()
    assert entries[0].motion != entries[1].motion
