"""A catalogue of a folder: a row for each recording, pairs with their ratios, broken files with the reason."""

import numpy as np
import pytest
from oracles.pages import Page

from hyloop.errors import BadInput
from hyloop.record import Recording
from hyloop.report.catalogue import pairs, read_entry
from hyloop.report.catalogue_page import write_catalogue
from hyloop.report.cells import Link, Spark
from hyloop.report.display import short

G = 9.80665
NAMES = ("ground", "u.1", "drift.1", "x.d", "x.f")


def save(path, drift, *, ground=3.0, complete=True, names=NAMES, **attributes):
    """A recording whose largest drift is given in m."""
    path.parent.mkdir(parents=True, exist_ok=True)
    t = 0.01 * np.arange(200)
    wave = np.sin(2 * np.pi * t)
    data = np.column_stack([ground * wave, 2 * drift * wave, drift * wave, 0.5 * drift * wave, 1e4 * wave])
    notes = {"notes": ["excitation: record kobe, 2 s"], "created": "2026-01-02T03:04:05+00:00"}
    given = {**notes, **attributes}
    Recording(t, data, names, ("m/s2", "m", "m", "m", "N"), given, complete).save(path)


def test_a_row_tells_peaks_state_and_origin(tmp_path):
    save(tmp_path / "one.h5", 0.02, title="A frame", fault="the drift passed its limit", complete=False)
    (tmp_path / "one.html").write_text("a page")
    page = Page(write_catalogue(tmp_path / "catalogue.html", tmp_path, "All"))
    row = page.rows("Peaks")["one"]
    assert [float(cell) for cell in row[1:5]] == pytest.approx([3.0 / G, 20.0, 40.0, 10.0], rel=1e-3)
    assert row[5] == "the drift passed its limit" and "./one.html" in page.loads
    assert page.rows("Where they come from")["one.h5"] == ["A frame", "record kobe, 2 s", "2026-01-02 03:04"]
    assert "1 recording, with peak story drifts from 20 to 20 mm. 1 stopped early." in page.text


def test_pairs_with_and_without_devices(tmp_path):
    sizes = {"kobe": (0.04, 0.02), "loma": (0.05, 0.04), "chi": (0.10, 0.03)}
    for name, (bare, damped) in sizes.items():
        save(tmp_path / f"{name}.h5", damped)
        save(tmp_path / f"{name}-bare.h5", bare)
    page = Page(write_catalogue(tmp_path / "catalogue.html", tmp_path, "All"))
    ratios = np.array([0.5, 0.8, 0.3])
    said = f"with devices is {ratios.mean():.3g} ± {ratios.std(ddof=1):.2g} times that without devices"
    assert said in page.text and "0.3 to 0.8" in page.text and "from chi to loma" in page.text
    shown = page.rows("Peaks of the pairs")
    assert [float(cell) for cell in shown["loma"]] == pytest.approx([50.0, 40.0, 0.8])
    bare, damped = page.picture["data"][1:]
    assert dict(zip(bare["y"], bare["x"], strict=True)) == pytest.approx({"kobe": 40.0, "loma": 50.0, "chi": 100.0})
    assert dict(zip(damped["y"], damped["x"], strict=True)) == pytest.approx({"kobe": 20.0, "loma": 40.0, "chi": 30.0})


def test_pairs_in_two_folders(tmp_path):
    for folder, size in (("weak", 0.01), ("strong", 0.04)):
        save(tmp_path / folder / "kobe.h5", size)
    entries = [read_entry(tmp_path / folder / "kobe.h5", tmp_path) for folder in ("weak", "strong")]
    found = pairs(entries)
    assert (found.first, found.second) == ("strong", "weak") and found.mean == pytest.approx(0.25)
    assert np.isnan(found.spread)
    assert pairs(entries[:1]) is None


def test_a_broken_file_is_listed_with_its_reason(tmp_path):
    save(tmp_path / "good.h5", 0.02)
    (tmp_path / "bad.h5").write_bytes(b"no recording")
    page = Page(write_catalogue(tmp_path / "catalogue.html", tmp_path, "All"))
    assert "cannot be read as a recording" in page.rows("Not read")["bad.h5"][0]
    assert "1 file cannot be read." in page.text and "good" in page.rows("Peaks")


@pytest.mark.parametrize("odd", [{"notes": 3}, {"notes": [1, 2]}, {"overrides": 5}, {"building": ["a", "b"]}])
def test_a_recording_that_cannot_be_summarised_does_not_hide_the_others(tmp_path, odd):
    save(tmp_path / "good.h5", 0.02)
    save(tmp_path / "odd.h5", 0.02, **odd)
    page = Page(write_catalogue(tmp_path / "catalogue.html", tmp_path, "All"))
    assert list(page.rows("Peaks")) == ["good"]
    assert "Error: " in page.rows("Not read")["odd.h5"][0]


def test_a_site_called_ground_is_not_the_ground(tmp_path):
    names = ("ground.1", "ground.2", "drift.1", "ground.d", "ground.f")
    save(tmp_path / "one.h5", 0.02, names=names)
    entry = read_entry(tmp_path / "one.h5", tmp_path)
    assert entry.ground == pytest.approx(3.0) and entry.force == pytest.approx(1e4)


def test_runs_that_differ_are_drawn_against_the_ground(tmp_path):
    for k in range(3):
        save(tmp_path / f"run{k}.h5", 0.01 * (k + 1), ground=1.0 + k, overrides=[f"sites.a.count={k}", "seed=3"])
    page = Page(write_catalogue(tmp_path / "catalogue.html", tmp_path, "All"))
    dots = {trace["name"]: (trace["x"], trace["y"]) for trace in page.picture["data"]}
    assert list(dots) == ["sites.a.count=0", "sites.a.count=1", "sites.a.count=2"]
    np.testing.assert_allclose(dots["sites.a.count=2"], ([3.0 / G], [30.0]))


def test_folders_without_recordings_are_refused(tmp_path):
    with pytest.raises(BadInput, match="no recordings"):
        write_catalogue(tmp_path / "catalogue.html", tmp_path, "All")
    with pytest.raises(BadInput, match="no such folder"):
        write_catalogue(tmp_path / "catalogue.html", tmp_path / "none", "All")
    assert not list(tmp_path.iterdir())


def test_a_link_never_leaves_and_a_spark_keeps_its_peak():
    assert 'href="./javascript%3Aalert%281%29"' in Link("<x>", "javascript:alert(1)").html()
    assert "&lt;x&gt;" in Link("<x>", "a.html").html()
    values = np.zeros(5000)
    values[1234] = 1.0
    drawn = Spark(values, "a peak").html()
    points = [tuple(map(float, pair.split(","))) for pair in drawn.split('points="')[1].split('"')[0].split()]
    x, y = min(points, key=lambda point: point[1])
    assert y == pytest.approx(1.0) and x == pytest.approx(140 * 1234 / 5000, abs=1.0)
    assert Spark([1.0, 1.0], "flat").html() == ""


def test_drifts_in_mm_are_the_largest_of_all_stories(tmp_path):
    """A tall first story has the largest drift, a low second story the largest ratio."""
    wave = np.sin(np.linspace(0.0, 6.0, 100))
    peak = np.abs(wave).max()
    data = np.column_stack([0.06 * wave, 0.04 * wave, 0.06 * wave / 6.0, 0.04 * wave / 3.0])
    names, units = ("drift.1", "drift.2", "drift_ratio.1", "drift_ratio.2"), ("m", "m", "-", "-")
    Recording(np.linspace(0.0, 1.0, 100), data, names, units).save(tmp_path / "one.h5")
    entry = read_entry(tmp_path / "one.h5", tmp_path)
    assert (entry.drift, entry.size) == pytest.approx((0.06 * peak, 0.06 * peak))
    assert entry.drift_ratio == pytest.approx(0.04 * peak / 3.0)
    page = Page(write_catalogue(tmp_path / "catalogue.html", tmp_path, "All"))
    assert "the largest drift of all stories, in mm" in page.text


def test_a_ratio_is_never_turned_around(tmp_path):
    for name, bare, damped in (("a", 0.02, 0.02032), ("b", 0.02, 0.03)):
        save(tmp_path / f"{name}.h5", damped, ground=damped)
        save(tmp_path / f"{name}-bare.h5", bare, ground=damped)
    page = Page(write_catalogue(tmp_path / "catalogue.html", tmp_path, "All"))
    assert "with devices is 1.26 ± 0.34 times that without devices, mean and spread of 2 pairs." in page.text
    assert "1.02 to 1.5" in page.text and "same ground motion" not in page.text


def test_one_motion_many_times_is_not_many_motions(tmp_path):
    for name in "abc":
        save(tmp_path / f"{name}.h5", 0.02)
        save(tmp_path / f"{name}-bare.h5", 0.04)
    page = Page(write_catalogue(tmp_path / "catalogue.html", tmp_path, "All"))
    assert "is 0.5 times that without devices, in each of 3 pairs. 3 of the pairs have the same ground" in page.text
    save(tmp_path / "d.h5", 0.03, ground=4.0)
    save(tmp_path / "d-bare.h5", 0.04, ground=4.0)
    page = Page(write_catalogue(tmp_path / "catalogue.html", tmp_path, "All"))
    assert "mean and spread of 4 pairs. 3 of the pairs have the same ground motion as another." in page.text


@pytest.mark.parametrize(
    ("value", "text"), [(1634.2, "1630"), (0.01234, "0.0123"), (9999.0, "10000"), (1.016, "1.02"), (2.5e7, "2.5e+07")]
)
def test_numbers_in_sentences_have_no_needless_exponent(value, text):
    assert short(value) == text
