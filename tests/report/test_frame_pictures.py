"""Pictures of models: everything is drawn once, where it stands, and bent as beams bend."""

import json

import numpy as np
import pytest
from oracles.pages import Page

from hyloop.report.model_page import write_model
from hyloop.report.model_picture import draw_model
from hyloop.report.model_summary import summarise
from hyloop.structure.fibres.sections import ElasticSection
from hyloop.structure.frames.model import Model

SECTION = ElasticSection(200e9, 1.0, 1e-4, 1e-4, 77e9, 1e-4)
SHOWN = 5e-4  # relative: tables show four digits
DRAWN = 1e-4  # m: coordinates are drawn with five decimals


def column(release=()):
    """A column whose top moves sideways without turning."""
    model = Model(2)
    model.node("foot", 0.0, 0.0)
    model.node("top", 0.0, 4.0)
    model.support("foot")
    model.support("top", ["uy", "rz"])
    model.elastic("column", "foot", "top", SECTION, release=release)
    model.mass("top", ux=1e3)
    return model


def building():
    model = Model(3)
    for k, (x, z) in enumerate([(0, 0), (6, 0), (6, 5), (0, 5)]):
        model.node(f"{k}low", x, 0.0, z)
        model.node(f"{k}high", x, 3.0, z)
        model.support(f"{k}low")
        model.elastic(f"column{k}", f"{k}low", f"{k}high", SECTION)
    model.diaphragm("floor", [f"{k}high" for k in range(4)], mass=2e4, rotary=1e5)
    model.lean_on("leaning", "0low", "floor", 1e5)
    return model


def drawn(model, name, summary=None):
    found = [trace for trace in draw_model(model, summary or summarise(model)).data if trace["name"] == name]
    assert len(found) == 1
    keys = ("x", "y") if model.dimensions == 2 else ("y", "z", "x")  # in space y points up, so the axes are turned
    return np.array([[np.nan if v is None else v for v in found[0][key]] for key in keys]).T, found[0]


@pytest.mark.parametrize(
    ("release", "shape"),
    [((), lambda x: 3 * x**2 - 2 * x**3), (("j",), lambda x: (3 * x**2 - x**3) / 2), (("i", "j"), lambda x: x)],
)
def test_mode_shapes_are_the_deflections_of_beams(release, shape):
    model = column(release)
    if len(release) == 2:
        model.link("spring", "foot", "top", {"ux": 1e5})
    line = drawn(model, "mode 1")[0][1:10]  # without the nodes themselves, to which rigid ends would lead
    height = line[:, 1] / 4.0
    assert np.allclose(line[:, 0], line[-1, 0] * shape(height), atol=DRAWN)
    assert abs(line[-1, 0]) == pytest.approx(0.08 * 4.0, abs=DRAWN)


def test_everything_is_drawn_where_it_stands():
    model = building()
    summary = summarise(model)
    points, trace = drawn(model, "elastic beam-column", summary)
    assert [text for text in trace["text"] if text] == [f"column{k}" for k in range(4) for _ in range(2)]
    for k in range(4):
        assert np.allclose(points[3 * k : 3 * k + 2], [model.nodes[f"{k}low"], model.nodes[f"{k}high"]])
        assert np.isnan(points[3 * k + 2]).all()  # a gap, so that columns are not joined
    corners, mesh = drawn(model, "rigid floor", summary)
    triangles = corners[np.array([mesh["i"], mesh["j"], mesh["k"]]).T]
    sides = triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
    assert np.linalg.norm(np.cross(*sides), axis=1).sum() / 2 == pytest.approx(6.0 * 5.0)
    assert np.allclose(drawn(model, "floor, at its centre of mass", summary)[0], [[3.0, 3.0, 2.5]])
    assert len(drawn(model, "fixed support", summary)[0]) == 4
    assert len(drawn(model, "leaning column", summary)[0]) == 3


def test_buttons_show_one_mode_at_a_time():
    model = building()
    picture = draw_model(model, summarise(model))
    modes = [k for k, trace in enumerate(picture.data) if trace["name"].startswith("mode")]
    buttons = picture.layout["updatemenus"][0]["buttons"]
    assert len(buttons) == 1 + len(modes) == 4
    for k, button in enumerate(buttons):
        change, traces = button["args"]
        assert traces == modes and sum(change["visible"]) == (k > 0)
    assert not any(picture.data[k]["visible"] for k in modes)


def test_page_holds_tables_and_the_picture(tmp_path):
    model = building()
    summary = summarise(model)
    page = Page(write_model(tmp_path / "model.html", "A <building>", model, summary))
    assert page.headings[0] == "A <building>" and all(target.startswith("#") for target in page.loads)
    periods = [float(row[0]) for mode, row in page.rows("Natural modes").items() if mode != "sum"]
    assert periods == pytest.approx(list(summary.periods), rel=SHOWN) and len(periods) == 3
    assert page.rows("Rigid floors")["floor"] == ["3.000", "4", "20.00", "100.0"]
    spec = page.picture
    assert spec["data"] == json.loads(json.dumps(draw_model(model, summary).data)) and len(spec["data"]) >= 8
    ratio = spec["layout"]["scene"]["aspectratio"]
    assert ratio["y"] / ratio["z"] == pytest.approx(6.0 / 3.0) and ratio["x"] / ratio["z"] == pytest.approx(5.0 / 3.0)
