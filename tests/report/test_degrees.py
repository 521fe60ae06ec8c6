"""Which displacement a page draws over time, and in which order it lists them."""

import numpy as np
import pytest
from oracles.pages import Page

from hyloop.record import Recording
from hyloop.report.degrees import degrees_of_freedom, telling_degree
from hyloop.report.run_page import write_report

T = 0.01 * np.arange(200)
SWAY = np.sin(6 * T)
# of an OpenSees model in the order of its equations; node 11 settles by much and moves little
CHANNELS = {
    "u.2.ux": ("m", 2e-3 * SWAY),
    "u.11.ux": ("m", 9e-3 * SWAY),
    "u.11.rz": ("rad", 1e-3 * SWAY),
    "u.2.uy": ("m", -0.05 + 1e-5 * SWAY),
    "u.2.rz": ("rad", 2e-3 * SWAY),
    "u.11.uy": ("m", -0.08 + 2e-5 * SWAY),
}


def recording(names=tuple(CHANNELS), **building):
    data = np.column_stack([CHANNELS[name][1] for name in names])
    attributes = {"building": building} if building else {}
    return Recording(T, data, tuple(names), tuple(CHANNELS[name][0] for name in names), attributes)


@pytest.mark.parametrize(
    ("names", "floors", "expected"),
    [
        (CHANNELS, ["2.ux", "11.ux"], "u.11.ux"),  # the top floor
        (CHANNELS, ["11.ux", "2.ux"], "u.2.ux"),
        (CHANNELS, [], "u.11.ux"),  # what moves most, whatever it has settled
        (["u.2.uy", "u.2.ux", "u.11.uy"], ["2.ux", "11.ux"], "u.2.ux"),  # the top floor is not recorded
        (["u.2.uy", "u.11.uy"], ["2.ux"], "u.11.uy"),  # nothing along the ground is
        (["u.2.rz"], ["2.ux"], None),
    ],
)
def test_the_history_is_that_of_the_sway(names, floors, expected):
    assert telling_degree({"run": recording(tuple(names), floors=floors)}) == expected


def test_the_page_draws_it_and_lists_degrees_by_direction_and_node(tmp_path):
    run = recording(floors=["2.ux", "11.ux"])
    page = Page(write_report(tmp_path / "page.html", {"run": run}, title="x"))
    _, drawn = next(
        line for plot in range(len(page.plots)) for key, line in page.lines(plot).items() if key[1] == "run"
    )
    assert np.abs(drawn).max() == pytest.approx(1e3 * np.abs(run["u.11.ux"]).max(), rel=1e-6)
    assert list(page.rows("Peak displacement in mm")) == ["u.2.ux", "u.11.ux", "u.2.uy", "u.11.uy"]
    assert degrees_of_freedom({"run": run}, "rad") == ["u.2.rz", "u.11.rz"]


def test_degrees_of_freedom_without_directions_keep_their_order():
    run = Recording(T, np.column_stack([SWAY] * 3), ("u.roof", "u.2", "u.1"), ("m",) * 3)
    assert degrees_of_freedom({"run": run}, "m") == ["u.roof", "u.2", "u.1"]


def test_the_ground_along_y_comes_first():
    run = recording(("u.2.ux", "u.2.uy", "u.11.uy"), floors=["2.uy", "11.uy"])
    assert degrees_of_freedom({"run": run}, "m") == ["u.2.uy", "u.11.uy", "u.2.ux"]
