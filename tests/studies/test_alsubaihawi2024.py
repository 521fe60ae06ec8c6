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


@pytest.fixture(scope="module")
def parts():
    return import_module(f"{studies._load(FOLDER / 'study.py').__name__}.device_test")


def _short(parts, seconds):
    t = np.arange(round(seconds / parts.DT)) * parts.DT
    d = 0.05 * np.sin(2 * np.pi * 0.4 * t) + 0.02 * np.sin(2 * np.pi * 1.1 * t)
    return d, parts.SPECIMENS["Cd x 0.8"].force(d, parts.DT) + np.random.default_rng(5).normal(0.0, 8e3, len(d))


def test_the_printed_filter_and_ours_are_one(parts):
    """Ours adds the walk before drawing sigma points, the print after: P0 = Q there is P0 = 0 here."""
    d, f = _short(parts, 8)
    start = np.array([*parts.START.values()]) / [1e3, 1e3, 1]
    theirs, ticks = parts.printed_filter(start, d, f / 1e3, parts.DT, 8.0, 0.005)
    assert ticks == len(d)
    ours = unscented(
        nonlinear_maxwell(**parts.START),
        parts.FREE,
        noise=8e3,
        process=0.005,
        initial_std=1e-9,
        alpha=1e-3,
        bounds="shrink",
    ).drive(parts.DT, d=d, f_m=f)
    assert np.ptp(theirs[:, 1]) > 0.1 * start[1]
    for i, (key, unit) in enumerate((("K", 1e3), ("C", 1e3), ("alpha", 1.0))):
        np.testing.assert_allclose(theirs[:, i] * unit, ours[key], rtol=SAME)


def test_in_single_precision_the_printed_sums_fail(parts):
    d, f = _short(parts, 2)
    start = np.array([*parts.START.values()]) / [1e3, 1e3, 1]
    _, ticks = parts.printed_filter(start.astype(np.float32), d, f / 1e3, parts.DT, 8.0, 0.005)
    assert ticks < len(d)


def test_a_specimen_that_does_not_change_is_the_law(parts):
    d, _ = _short(parts, 2)
    expected = nonlinear_maxwell(**parts.START).drive(parts.DT, d=d)["f"]
    assert np.array_equal(parts.SPECIMENS["nothing changed"].force(d, parts.DT), expected)
    rubbing = parts.SPECIMENS["nothing changed"]._replace(friction=20e3).force(d, parts.DT) - expected
    assert np.abs(rubbing).max() == pytest.approx(20e3)


def test_quick_run_without_records(tmp_path, monkeypatch):
    monkeypatch.setenv("HYLOOP_DATA", str(tmp_path))
    result = studies.run_study("alsubaihawi2024", tmp_path / "out", quick=True, progress=lambda what, part: None)
    assert "missing, synthetic" in result.notes[0]
    assert result.verdicts == [] and "can judge none of 3 claims" in result.sentence  # nothing without the records
    page = Page(result.report)
    updated, constant = (
        page.rows("NRMSE of the eleven modelled dampers in %, wind")["alpha x 1.14"][k] for k in (1, 3)
    )
    assert float(updated.split(" to ")[1]) < float(constant.split(" to ")[0])
    assert page.rows("Covariance over all tests")["our sums, nearest definite"][0] == "0 of 8"
    described = ("Force against", "Histories", "Parameters")
    loops, histories, parameters = (page.lines(page.chart(text)) for text in described)
    for record in ("earthquake", "wind"):
        d, _ = loops["d20NE", f"{record}, damper"]
        assert np.abs(d).max() > 1.0  # mm
        force = {
            name: np.ptp(histories["d20NE.f", f"{record}, {name}"][1]) for name in ("damper", "updated", "constant")
        }
        # drawn as judged: the model that is updated lies closer to the damper
        assert abs(force["updated"] - force["damper"]) < abs(force["constant"] - force["damper"])
        assert np.ptp(parameters["filter.alpha", f"{record}, updated"][1]) > 0.01  # it has been updated
    assert set(page.rows("Bound rules")) == {"earthquake", "wind"}
