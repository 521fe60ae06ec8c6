"""What a run page says first: numbers that follow from the channels, and the building in motion."""

import base64

import numpy as np
import pytest
from models import pulse
from oracles.pages import Page

from hyloop import Loop, Site, shear_frame
from hyloop.devices import bilinear
from hyloop.errors import BadInput, UnknownName
from hyloop.integrators import newmark_explicit
from hyloop.report.response import respond
from hyloop.report.run_page import write_report
from hyloop.structure import rayleigh

DT = 0.005  # s
SINGLE = 1e-6  # relative; the page has single precision
PIXEL = 1e-4  # of the largest displacement: what a picture keeps of it


@pytest.fixture(scope="module")
def runs():
    """A three-story frame with and without yielding braces."""
    frame = shear_frame([3e4] * 3, [3e7] * 3, heights=[4.0, 3.0, 3.0])
    frame = frame.with_damping(rayleigh(frame, 0.02))
    braces = [Site(f"brace{k}", frame.story(k), bilinear(k=2e7, f_y=5e4), count=2) for k in (1, 2, 3)]
    loops = {"braced": Loop(frame, braces, method=newmark_explicit(), dt=DT)}
    loops["without devices"] = Loop(frame, method=newmark_explicit(), dt=DT)
    return {name: loop.run(pulse(DT, amplitude=4.0), derived=True) for name, loop in loops.items()}


def _floats(text):
    return np.frombuffer(base64.b64decode(text), "<f4")


def _moved(movie, key):
    """Displacements in m, a row for each frame."""
    return movie["unit"] * np.frombuffer(base64.b64decode(movie[key]), "<i2").reshape(-1, movie["columns"])


def test_peaks_residuals_and_energies_are_those_of_the_channels(runs):
    r = runs["braced"]
    found = respond(r)
    for k, story in enumerate(found.stories, 1):
        assert story.drift == np.abs(r[f"drift.{k}"]).max() and story.residual == r[f"drift.{k}"][-1]
        assert story.drift_ratio == pytest.approx(story.drift / (4.0 if k == 1 else 3.0), rel=1e-12)
        assert story.acceleration == np.abs(r[f"a_abs.{k}"]).max()
    assert found.base_shear == np.abs(r["base_shear"]).max()
    assert sum(d.energy_of_all for d in found.devices) == pytest.approx(found.energies["devices"], rel=1e-9)
    assert found.share == pytest.approx(found.energies["devices"] / found.energies["input"])
    assert found.worst.story == max(found.stories, key=lambda s: s.drift_ratio).story
    assert set(found.as_dict()) == {
        "stories",
        "devices",
        "peak_base_shear",
        "peak_base_shears",
        "peak_acceleration",
        "energy",
    }


def test_the_page_begins_with_the_answer(tmp_path, runs):
    page = Page(write_report(tmp_path / "page.html", {"braced": runs["braced"]}, title="Frame"))
    found = respond(runs["braced"])
    assert f"in story {found.worst.story}" in page.answer and f"{100 * found.share:.0f}\u00a0%" in page.answer
    labels, values = page.numbers[0::2], page.numbers[1::2]
    assert len(labels) == 3 and float(values[0].removesuffix(" %")) == pytest.approx(
        100 * found.worst.drift_ratio, rel=0.05
    )
    assert float(values[1].removesuffix(" g")) == pytest.approx(found.acceleration / 9.80665, rel=0.05)
    assert page.headings[:4] == ["Frame", "Results", "Over the height", "Energy"]


def test_the_picture_moves_as_the_floors_do(tmp_path, runs):
    r = runs["braced"]
    movie = Page(write_report(tmp_path / "page.html", {"braced": r}, title="x")).picture
    motions = _moved(movie, "motions")
    times = movie["dt"] * np.arange(len(motions))
    # every node of a floor moves with the floor, those on the ground do not
    for x, height, across, up in movie["nodes"]:
        assert up == -1 and x >= 0.0
        if height == 0.0:
            assert across == -1
            continue
        floor = [4.0, 7.0, 10.0].index(height) + 1
        expected = np.interp(times, r.time, r[f"u.{floor}"])
        np.testing.assert_allclose(motions[:, across], expected, atol=PIXEL * np.abs(expected).max())
    devices = [line for line in movie["lines"] if line[2] >= 0]
    assert [movie["loops"][line[2]]["title"] for line in devices] == ["brace1", "brace2", "brace3"]
    for k, (i, j, _) in enumerate(devices):
        assert {movie["nodes"][i][1], movie["nodes"][j][1]} == {[0.0, 4.0, 7.0][k], [4.0, 7.0, 10.0][k]}
    t, d, f = (_floats(part) for part in movie["loops"][0]["lines"][0])
    assert t[-1] == pytest.approx(r.time[-1]) and (np.diff(t) > 0).all()
    np.testing.assert_allclose([d.min(), f.max()], [1e3 * r["brace1.d"].min(), 1e-3 * r["brace1.f"].max()], rtol=SINGLE)


def test_with_and_without_devices_stand_beside_each_other(tmp_path, runs):
    page = Page(write_report(tmp_path / "page.html", runs, title="x"))
    less = 100 * (1 - respond(runs["braced"]).worst.drift_ratio / respond(runs["without devices"]).worst.drift_ratio)
    assert f"{less:.0f}\u00a0% less than the" in page.answer and page.answer.endswith("mm) without devices.")
    others = _moved(page.picture, "others")
    top = np.interp(page.picture["dt"] * np.arange(len(others)), runs["braced"].time, runs["without devices"]["u.3"])
    np.testing.assert_allclose(others[:, -1], top, atol=PIXEL * np.abs(top).max())
    profiles = page.lines(0)
    x, y = profiles["peak drift ratio", "without devices"]
    assert x.max() == pytest.approx(100 * respond(runs["without devices"]).worst.drift_ratio, rel=SINGLE)
    assert y.min() == 0.5 and y.max() == 3.5
    _, put_in = page.lines(1)["braced", "put in by the excitation"]
    assert put_in[-1] == pytest.approx(1e-3 * runs["braced"]["energy.input"][-1], rel=SINGLE)
    assert "agree within" in page.text


def test_a_run_that_stopped_says_so_first(tmp_path, runs):
    from dataclasses import replace

    stopped = replace(runs["braced"], attributes={**runs["braced"].attributes, "fault": "brace1.d passed 20 mm"})
    page = Page(write_report(tmp_path / "page.html", {"a": stopped}, title="x"))
    assert page.answer == f"The run stopped early, at {stopped.time[-1]:.3g} s: brace1.d passed 20\u00a0mm."
    killed = replace(runs["braced"], complete=False)
    page = Page(write_report(tmp_path / "page.html", {"a": killed}, title="x"))
    assert page.answer.startswith("The recording ends at") and "cut off" in page.answer


def test_a_notebook_shows_a_recording_and_the_building(tmp_path, runs):
    r = runs["braced"]
    shown = r._repr_html_()
    assert "largest story drift" in shown and "u.1" in shown and "<script" not in shown
    moving = r.animate(runs["without devices"])
    assert repr(moving).startswith("Animation: ") and len(repr(moving)) < 200
    assert 'srcdoc="' in moving._repr_html_()
    page = Page(moving.save(tmp_path / "moving.html"))
    assert page.picture["others"] and page.picture["loops"][0]["title"] == "brace1"
    with pytest.raises(BadInput, match="does not know its building"):
        r.select("u.*").animate()


def test_loops_are_drawn_by_name(runs):
    figure = runs["braced"].hysteresis()
    assert [axis.get_title() for axis in figure.axes] == ["brace1", "brace2", "brace3"]
    line = runs["braced"].hysteresis("brace2").axes[0].lines[0]
    np.testing.assert_array_equal(line.get_xdata(), 1e3 * runs["braced"]["brace2.d"])
    with pytest.raises(UnknownName, match="brace9"):
        runs["braced"].hysteresis("brace9")
    with pytest.raises(BadInput, match="no site"):
        runs["without devices"].hysteresis()


def test_largest_drifts_of_different_stories_are_not_taken_for_one(tmp_path):
    """Braces in the first story only: the largest drift moves up, and the sentence says whose drift is whose."""
    frame = shear_frame([3e4] * 3, [3e7] * 3)
    frame = frame.with_damping(rayleigh(frame, 0.02))
    brace = Site("brace", frame.story(1), bilinear(k=6e7, f_y=5e6))
    loops = {"braced": Loop(frame, [brace], method=newmark_explicit(), dt=DT)}
    loops["without devices"] = Loop(frame, method=newmark_explicit(), dt=DT)
    runs = {name: loop.run(pulse(DT, amplitude=4.0), derived=True) for name, loop in loops.items()}
    # the truth from the channels
    drifts = {name: [1e3 * np.abs(r[f"drift.{k}"]).max() for k in (1, 2, 3)] for name, r in runs.items()}
    with_, without = drifts["braced"], drifts["without devices"]
    assert np.argmax(with_) == 1 and np.argmax(without) == 0
    page = Page(write_report(tmp_path / "page.html", runs, title="x"))
    less = 100 * (1 - max(with_) / max(without))
    assert page.answer.replace("\u00a0", " ") == (
        f"The largest story drift is {max(with_):.3g} mm, in story 2, {less:.0f} % less than the largest without "
        f"devices, {max(without):.3g} mm in story 1."
    )
    assert page.numbers[0] == f"largest drift, story 2; {max(without):.3g} mm in story 1 without devices"
