"""The study of Al-Subaihawi et al. (2024): its parts against each other, and a quick run without any record."""

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from oracles.pages import Page

from hyloop.devices import nonlinear_maxwell
from hyloop.study import studies
from hyloop.updating import unscented

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[2] / "studies" / "alsubaihawi2024"
SAME = 1e-5  # relative: the printed sums lose six digits to weights of a million, and the loss adds up over the ticks
FITTED = 0.01  # relative: sizes of members were chosen for these frequencies, of which three digits are printed


@pytest.fixture(scope="module")
def study():
    return studies._load(FOLDER / "study.py").__name__


@pytest.fixture(scope="module")
def filters(study):
    return import_module(f"{study}.filters")


@pytest.fixture(scope="module")
def specimens(study):
    return import_module(f"{study}.specimens")


def _short(specimens, seconds):
    t = np.arange(round(seconds / specimens.DT)) * specimens.DT
    d = 0.05 * np.sin(2 * np.pi * 0.4 * t) + 0.02 * np.sin(2 * np.pi * 1.1 * t)
    return d, specimens.SPECIMENS["Cd x 0.8"].force(d) + np.random.default_rng(5).normal(0.0, 8e3, len(d))


def test_the_printed_filter_and_ours_are_one(filters, specimens):
    """Ours adds the walk before drawing sigma points, the print after: P0 = Q there is P0 = 0 here."""
    d, f = _short(specimens, 8)
    start = np.array([*specimens.START.values()]) / [1e3, 1e3, 1]
    theirs, ticks = filters.printed_filter(start, d, f / 1e3, specimens.DT, 8.0, 0.005)
    assert ticks == len(d)
    ours = unscented(
        nonlinear_maxwell(**specimens.START),
        filters.FREE,
        noise=8e3,
        process=0.005,
        initial_std=1e-9,
        alpha=1e-3,
        bounds="shrink",
    ).drive(specimens.DT, d=d, f_m=f)
    assert np.ptp(theirs[:, 1]) > 0.1 * start[1]
    for i, (key, unit) in enumerate((("K", 1e3), ("C", 1e3), ("alpha", 1.0))):
        np.testing.assert_allclose(theirs[:, i] * unit, ours[key], rtol=SAME)


def test_in_single_precision_the_printed_sums_fail(filters, specimens):
    d, f = _short(specimens, 2)
    start = np.array([*specimens.START.values()]) / [1e3, 1e3, 1]
    _, ticks = filters.printed_filter(start.astype(np.float32), d, f / 1e3, specimens.DT, 8.0, 0.005)
    assert ticks < len(d)


def test_a_specimen_that_does_not_change_is_the_law(specimens):
    d, _ = _short(specimens, 2)
    expected = nonlinear_maxwell(**specimens.START).drive(specimens.DT, d=d)["f"]
    assert np.array_equal(specimens.SPECIMENS[specimens.SAME].force(d), expected)


@pytest.mark.parametrize("hazard", ["earthquake", "wind"])
def test_files_of_the_tower(study, hazard):
    """One damper is measured, eleven follow it, nothing leaks; frequencies are the printed ones."""
    hybrid, checks = (import_module(f"{study}.{name}") for name in ("hybrid", "tower_checks"))
    words = ("loads.wind.duration=20 s", "loads.wind.ramp_up=5 s", "loads.wind.ramp_down=5 s")
    ready = hybrid.built(hazard, words if hazard == "wind" else (), False)
    physical = [site.name for site in ready.loop.sites if site.physical]
    assert physical == [hybrid.MEASURED[hazard]]
    assert sorted(site.name for site in ready.loop.sites) == sorted(hybrid.PLACES)
    assert {site.count for site in ready.loop.sites} == {5.0 if hazard == "earthquake" else 3.0}
    found = checks.frequencies(hazard)["found"][:5]
    assert found == pytest.approx(checks.PRINTED_FREQUENCIES[hazard], rel=FITTED)


def test_quick_run_without_records(tmp_path, monkeypatch):
    monkeypatch.setenv("HYLOOP_DATA", str(tmp_path))
    result = studies.run_study("alsubaihawi2024", tmp_path / "out", quick=True, progress=lambda what, part: None)
    assert any("missing" in note for note in result.notes)
    assert result.verdicts == []  # nothing can be judged without the records
    page = Page(result.report)
    for hazard in ("earthquake", "wind"):
        row = page.rows(f"NRMSE of eleven followers in %, {hazard}")["alpha x 1.14"]
        updated, _, constant = (float(cell.split(" ± ")[0]) for cell in row[1:4])
        assert updated < constant
    assert page.rows("Covariance over all tests")["our sums, nearest"][0] == "0 of 4"
