"""What a run returns is what a file holds: it is saved, exported, drawn, reported and turned into other tables."""

import json

import numpy as np
import pandas
import pytest

from hyloop import Limits, Loop, Recording, Site, shear_frame
from hyloop.devices import bilinear
from hyloop.errors import BadInput, UnknownName
from hyloop.integrators import mkr_alpha
from hyloop.report import write_report


@pytest.fixture
def loop():
    frame = shear_frame([1e4, 1e4], [4e6, 4e6])
    return Loop(
        frame, [Site("damper1", frame.story(1), bilinear(k=2e6, f_y=8e3), count=3)], method=mkr_alpha(), dt=0.01
    )


@pytest.fixture
def run(loop, rng):
    return loop.run(rng.normal(size=200))


def test_saved_and_loaded_it_is_the_same(run, tmp_path):
    run.save(tmp_path / "run.h5")
    back = Recording.load(tmp_path / "run.h5")
    assert type(back) is type(run) and back.path == tmp_path / "run.h5"
    assert np.array_equal(back.data, run.data) and np.array_equal(back.time, run.time)
    assert (back.names, back.units, dict(back.attributes)) == (run.names, run.units, dict(run.attributes))
    assert back.complete and back.attributes["counts"] == {"damper1": 3.0}
    assert back.attributes["parameters"] == ["damper1.k", "damper1.alpha", "damper1.f_y"]


def test_exported_it_reads_back(run, tmp_path):
    run.select("t", "damper1.?").export(tmp_path / "run.csv")
    table = pandas.read_csv(tmp_path / "run.csv")
    assert list(table.columns)[:3] == ["time [s]", "t [s]", "damper1.d [m]"]
    assert np.array_equal(table["damper1.f [N]"], run["damper1.f"])


def test_pandas_has_names_time_and_units(run):
    frame = run.to_pandas()
    assert frame.index.name == "time" and np.array_equal(frame.index, run.time)
    assert np.array_equal(frame["damper1.f"], run["damper1.f"]) and frame.shape == run.data.shape
    assert frame.attrs["units"]["damper1.f"] == "N"


def test_xarray_has_names_time_and_units(run):
    dataset = run.to_xarray()
    assert dataset["u.2"].attrs["units"] == "m" and dataset["time"].attrs["units"] == "s"
    assert np.array_equal(dataset["u.2"], run["u.2"])
    assert float(dataset["u.2"].sel(time=1.0, method="nearest")) == run["u.2"][100]
    assert json.loads(dataset.attrs["provenance"])["method"] == "mkr_alpha(rho_inf=0.75, form='recast')"


def test_a_library_that_is_missing_is_named(run, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "xarray", None)
    with pytest.raises(BadInput, match=r"xarray.*pip install 'hyloop\[tables\]'"):
        run.to_xarray()


def test_plot_has_a_panel_for_each_unit(run):
    figure = run.plot("u.*", "damper1.f", "damper1.d")
    assert [axis.get_ylabel() for axis in figure.axes] == ["m", "N"]
    drawn = {line.get_label(): line.get_ydata() for axis in figure.axes for line in axis.lines}
    assert set(drawn) == {"u.1", "u.2", "damper1.d", "damper1.f"}
    assert np.array_equal(drawn["damper1.f"], run["damper1.f"])


def test_select_keeps_the_order_and_refuses_what_matches_nothing(run):
    assert run.select("damper1.f", "u.*").names == ("u.1", "u.2", "damper1.f")
    with pytest.raises(UnknownName, match="damper2"):
        run.select("damper2.*")


def test_it_is_reported_without_a_file(run, tmp_path):
    page = write_report(tmp_path / "page.html", {"run": run}, title="From Python")
    assert "From Python" in page.read_text(encoding="utf-8")


def test_a_run_that_stopped_says_so_in_a_file_too(loop, rng, tmp_path):
    stopped = loop.replace(limits=Limits(max_u=1e-4)).run(rng.normal(size=200), on_fault="stop")
    stopped.save(tmp_path / "run.h5")
    back = Recording.load(tmp_path / "run.h5")
    assert not back.complete and "moved by more than 0.0001" in back.fault and back.fault == stopped.fault
    assert 0 < len(back) < 200


def test_replace_builds_what_the_constructor_would(loop, rng):
    motion, frame, stiff = rng.normal(size=300), loop.structure, bilinear(k=4e6, f_y=8e3)
    fresh = Loop(frame, [Site("damper1", frame.story(1), stiff, count=3)], method=mkr_alpha(0.5), dt=0.005, substeps=2)
    other = loop.replace(sites={"damper1": stiff}, method=mkr_alpha(0.5), dt=0.005, substeps=2)
    assert np.array_equal(other.run(motion).data, fresh.run(motion).data)
    assert loop.sites[0].device.params["k"] == 2e6 and loop.dt == 0.01, "the first one must stay as it was"


def test_replace_refuses_what_is_not_there(loop):
    with pytest.raises(UnknownName, match="Did you mean 'damper1'"):
        loop.replace(sites={"damper": bilinear()})
    with pytest.raises(UnknownName, match="'substeps'"):
        loop.replace(substep=2)
