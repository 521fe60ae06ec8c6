"""Numbers that are too large for a page, or are none, leave gaps; the page is written."""

import base64

import numpy as np
import pytest
from oracles.pages import Page

from hyloop.record import Recording
from hyloop.report.charts import Chart, Drawing
from hyloop.report.display import Line, Panel
from hyloop.report.movie import Loops, Movie
from hyloop.report.page import Answer, Section, write_page
from hyloop.report.run_page import write_report

HUGE = 1.7e308
FLOAT32 = float(np.finfo(np.float32).max)


def page_of(path, picture):
    answer = Answer("It diverged.", [("1", "a"), ("2", "b"), ("3", "c")], picture)
    return Page(write_page(path, "Large", answer, [Section("One", ["Text."])]))


def test_lines_leave_out_what_is_not_finite(tmp_path):
    x, y = np.array([0.0, 1.0, 2.0, np.nan, 4.0]), np.array([HUGE, np.inf, -HUGE, 1.0, np.nan])
    panel = Panel("f", "deformation [mm]", "force [kN]", (Line(x, y, "run", 0),))
    page = page_of(tmp_path / "page.html", Chart([panel], "A line."))
    (drawn,) = page.lines().values()
    np.testing.assert_array_equal(drawn, ([0.0, 2.0], [HUGE, -HUGE]))
    assert np.isfinite(page.picture["layout"]["yaxis"]["autorangeoptions"]["include"]).all()


def test_drawings_have_gaps(tmp_path):
    trace = {"type": "scatter", "x": [0.0, 1.0, 2.0], "y": [1.0, np.inf, float("nan")], "name": "run"}
    page = page_of(
        tmp_path / "page.html", Drawing([trace], {"height": 300, "xaxis": {"range": [0.0, np.inf]}}, "Dots.")
    )
    assert page.picture["data"][0]["y"] == [1.0, None, None]
    assert page.picture["layout"]["xaxis"]["range"] == [0.0, None]


def test_a_movie_holds_what_single_precision_holds(tmp_path):
    t, wild = np.arange(4.0), np.array([1.0, 1e200, -np.inf, np.nan])
    loops = Loops("a", "mm", "kN", t, wild, wild)
    movie = Movie(0.02, wild[:, None], [(0.0, 3.0, 0, -1)], [], [loops], (t, wild), "A building.")
    page = page_of(tmp_path / "page.html", movie)
    shown = np.frombuffer(base64.b64decode(page.picture["motions"]), "<i2") * page.picture["unit"]
    np.testing.assert_allclose(shown, [0.0, FLOAT32, -FLOAT32, 0.0], rtol=1e-12)  # 1 is nothing beside these
    drawn = np.frombuffer(base64.b64decode(page.picture["loops"][0]["lines"][0][1]), "<f4")
    np.testing.assert_array_equal(drawn, np.array([1.0, FLOAT32, -FLOAT32, 0.0], np.float32))


def test_a_page_sends_nothing_and_has_no_other_base(tmp_path):
    page = page_of(tmp_path / "page.html", None)
    assert {"default-src 'none'", "base-uri 'none'", "form-action 'none'"} <= set(page.policy.split("; "))


@pytest.mark.parametrize("largest", [1e40, 1e300, HUGE])
def test_the_page_of_a_run_that_diverged_is_written(tmp_path, largest):
    t = 0.01 * np.arange(400)
    wave = np.geomspace(1e-3, largest, len(t)) * np.sin(20.0 * t)
    names, units = ("ground", "u.1", "x.d", "x.f"), ("m/s2", "m", "m", "N")
    recording = Recording(t, np.column_stack([np.sin(t), wave, wave, wave]), names, units, complete=False)
    with np.errstate(over="ignore"):  # of the change to mm
        page = Page(write_report(tmp_path / "page.html", {"run": recording}, title="Diverged"))
    assert "stopped early" in page.text and page.specs
