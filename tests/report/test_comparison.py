"""Recordings compared: differences are those of common times, and what cannot be subtracted says why."""

import numpy as np
import pytest
from oracles.pages import Page

from hyloop.errors import BadInput
from hyloop.record import Recording
from hyloop.report.comparison import common_rows, compare, motions_differ
from hyloop.report.comparison_page import comparison_name, write_comparison

DT = 0.01


def made(amplitude=1.0, dt=DT, seconds=2.0, begin=0.0, names=("u.1", "x.f"), units=("m", "N")):
    t = begin + dt * np.arange(round(seconds / dt) + 1)
    wave = amplitude * np.sin(2 * np.pi * t)
    return Recording(t, np.column_stack([0.01 * wave, 1e4 * wave]), names, units)


def test_differences_of_two_waves():
    first, other = made(), made(0.6)
    displacement, force = compare(first, other)
    assert displacement.peaks == pytest.approx((0.01, 0.006)) and displacement.ratio == pytest.approx(0.6)
    expected = 0.4 * first["u.1"]
    np.testing.assert_allclose(displacement.values, -expected, atol=1e-15)
    assert displacement.rms == pytest.approx(np.sqrt(np.mean(expected**2)))
    assert displacement.largest == pytest.approx(0.004) and displacement.at == pytest.approx(0.25)
    assert displacement.part == pytest.approx(displacement.rms / 0.02)
    assert force.largest == pytest.approx(4e3)


@pytest.mark.parametrize(
    ("dt", "seconds", "begin", "count"),
    [(DT, 2.0, 0.0, 201), (DT / 4, 2.0, 0.0, 201), (2 * DT, 2.0, 0.0, 101), (DT, 1.0, 0.0, 101), (DT, 2.0, 0.5, 151)],
)
def test_common_times_of_other_steps_lengths_and_starts(dt, seconds, begin, count):
    first, other = made(), made(dt=dt, seconds=seconds, begin=begin)
    rows = common_rows(first, other)
    times = first.time[rows[0]], other.time[rows[1]]
    assert len(times[0]) == count
    np.testing.assert_allclose(times[0], times[1], atol=1e-12)
    assert max(d.largest for d in compare(first, other)) < 1e-10  # the same wave, sampled otherwise


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (made(dt=0.003), "neither is a multiple of the other"),
        (made(begin=0.004), "differ by a part of a step"),
        (made(begin=5.0), "no common times"),
        (made(units=("m", "kg")), "in N and in kg"),
    ],
)
def test_what_cannot_be_subtracted_says_why(other, why):
    refused = [d for d in compare(made(), other) if d.refused]
    assert refused and all(why in d.refused and np.isnan(d.rms) for d in refused)
    assert all(d.peaks[0] > 0.0 for d in refused)  # peaks stand side by side all the same


def test_values_that_are_not_finite_are_left_out():
    other = made(0.5)
    other.data[50:, 0] = np.nan
    displacement, _ = compare(made(), other)
    assert len(displacement.values) == 50 and np.isfinite(displacement.rms)


def test_the_page_has_the_numbers(tmp_path):
    path = write_comparison(tmp_path / "page.html", {"bare": made(), "damped": made(0.6)}, "Two")
    page = Page(path)
    assert "peak displacement u.1 is 10 mm in bare and 6 mm in damped, 40 % less" in page.text
    assert "× 0.6" in page.text and "4 mm" in page.text
    assert [float(cell) for cell in page.rows("Peaks")["u.1 [mm]"]] == pytest.approx([10.0, 6.0, 0.6])
    row = [float(cell) for cell in page.rows("damped less bare")["x.f [kN]"]]
    assert row == pytest.approx([4 / np.sqrt(2), 100 * 0.2 / np.sqrt(2), 4.0, 0.25], rel=5e-3)
    lines = page.lines()
    np.testing.assert_allclose(np.abs(lines["difference from bare", "damped"][1]).max(), 4.0, rtol=1e-5)
    np.testing.assert_allclose(np.abs(lines["u.1", "bare"][1]).max(), 10.0, rtol=1e-5)


def test_several_recordings_and_refusals_on_the_page(tmp_path):
    odd = made(0.3, dt=0.003, names=("u.1", "y.f"))
    page = Page(write_comparison(tmp_path / "page.html", {"a": made(), "b": made(1.5), "c": odd}, "Three"))
    assert "Of 3 recordings c has the least peak displacement u.1, 3 mm, and b the greatest, 15 mm." in page.text
    assert "neither is a multiple of the other: u.1." in page.text and "Only in c: y.f." in page.text


def test_equal_recordings_are_said_to_be_equal(tmp_path):
    page = Page(write_comparison(tmp_path / "page.html", {"a": made(), "b": made()}, "Same"))
    assert "a and b are the same in all 2 common channels, bit for bit." in page.text


def test_nothing_in_common_is_said(tmp_path):
    page = Page(write_comparison(tmp_path / "page.html", {"a": made(), "b": made(names=("u.2", "y.f"))}, "Apart"))
    assert "a and b have no channel in common." in page.text
    with pytest.raises(BadInput, match="two recordings or more"):
        write_comparison(tmp_path / "one.html", {"a": made()}, "One")


def test_names_of_pages(tmp_path):
    assert comparison_name([tmp_path / "bare.h5", tmp_path / "damped.h5"]) == "bare-vs-damped.html"
    assert comparison_name([tmp_path / "a" / "kobe.h5", tmp_path / "b" / "kobe.h5"]) == "a-kobe-vs-b-kobe.html"
    assert comparison_name([tmp_path / f"r{k}.h5" for k in range(5)]) == "r0-vs-r1-vs-r2-and-2-more.html"


def test_different_motions_are_not_taken_for_an_effect(tmp_path):
    names, units = ("u.1", "ground"), ("m", "m/s2")
    runs = {"a": made(names=names, units=units), "b": made(0.6, names=names, units=units)}
    page = Page(write_comparison(tmp_path / "page.html", runs, "Two"))
    assert "Under different motions: The peak displacement u.1 is 10 mm in a and 6 mm in b; that tells" in page.text
    assert "root mean square" not in page.text and "% less" not in page.text
    assert "not the effect of anything in the structure" in page.text
    runs["c"] = runs["b"]
    assert "Under different motions: Of 3" in Page(write_comparison(tmp_path / "three.html", runs, "Three")).text
    assert motions_differ(compare(runs["a"], runs["b"])) and not motions_differ(compare(runs["b"], runs["c"]))
