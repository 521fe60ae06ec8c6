"""Models that follow: the force without updating is that of the law, errors and times at a bound are counted right."""

from pathlib import Path

import numpy as np
import pytest
from oracles.pages import Page

from hyloop.devices import bilinear
from hyloop.metrics import nrmse
from hyloop.record import Recording
from hyloop.report.following import followed, following_answer, following_sections
from hyloop.report.page import write_page
from hyloop.study.run import run_file

FOLLOWING = Path(__file__).parents[2] / "experiments" / "following_dampers.toml"
ROUND_OFF = 1e-9
TICK = 0.01
SAME = (
    'sites.damper1.device={law="gap_slip"}',
    'recording.channels=["damper?.[dvaf]", "damper1.model.innovation", "damper2.Fc_*"]',
)


def test_a_model_that_is_the_device_has_no_error_without_updating(tmp_path, monkeypatch):
    """The law driven by the recorded motion is the very device of the loop, tick by tick."""
    monkeypatch.setenv("HYLOOP_DATA", str(tmp_path))
    recording = run_file(FOLLOWING, ("excitation.fallback.duration=2 s", *SAME), tmp_path / "run.h5")
    (one,) = followed(recording)
    assert one.followers == ["damper2", "damper3"] and one.ahead
    assert np.ptp(one.f) > 5e3
    np.testing.assert_allclose(one.constant, one.f, atol=ROUND_OFF * np.ptp(one.f))


def made(innovation=True, every=1):
    """A bilinear device whose model believes in half its strength, updated by a filter that is off by 100 N."""
    t = TICK * np.arange(401)
    d = 0.01 * np.sin(3.0 * t)
    true, guess = (bilinear(k=2e6, alpha=0.02, f_y=f_y) for f_y in (1e4, 5e3))
    f = np.concatenate([[0.0], true.drive(TICK, d=d[1:])["f"]])
    estimate = np.where(np.arange(401) < 100, 2e3, 9e3)  # at its lower bound for the first second
    estimate[0] = 5e3
    names = ["x.d", "x.f", "y.f_y"]
    columns = [d, f, estimate]
    if innovation:
        names.append("x.model.innovation")
        columns.append(np.full(401, 100.0))
    model = {
        "law": "bilinear",
        "parameters": dict(guess.params),
        "inputs": {"d": "x.d", "f": "x.f"},
        "followers": ["y"],
    }
    attributes = {"models": {"x": model}, "estimates": {"y.f_y": [2e3, 2e4]}, "dt": TICK, "substeps": 1}
    units = ["m", *["N"] * (len(names) - 1)]
    data = np.column_stack(columns)[::every]
    expected = nrmse(f[1:], guess.drive(TICK, d=d[1:])["f"])
    return Recording(t[::every], data, tuple(names), tuple(units), attributes), expected, 100.0 / np.ptp(f[1:])


def test_errors_before_and_after_stand_on_the_page(tmp_path):
    recording, before, after = made()
    (one,) = followed(recording)
    assert one.error(one.constant) == pytest.approx(before) and one.error(one.updated) == pytest.approx(after)
    answer = following_answer(recording)
    assert f"updating lowers the error from {100 * before:.3g} % to {100 * after:.3g} %" in answer.sentence
    assert [value for value, _ in answer.numbers] == [f"{100 * before:.3g} %", f"{100 * after:.3g} %", "0.99 s"]
    page = Page(write_page(tmp_path / "page.html", "x", answer, following_sections({"run": recording})))
    row = [float(cell) for cell in page.rows("Estimates")["y.f_y [kN]"]]
    assert row == pytest.approx([5.0, 2.0, 9.0, 9.0, 2.0, 20.0, 0.99, 100 * 0.99 / 4.0], rel=1e-3)
    loops = page.lines()
    assert {name for _, name in loops} == {"measured", "model", "estimate", "bound"}


def test_what_was_not_recorded_is_not_told():
    without, before, _ = made(innovation=False)
    (one,) = followed(without)
    assert one.updated is None and one.error(one.constant) == pytest.approx(before)
    assert following_answer(without) is None
    coarse, *_ = made(every=2)  # every second tick: the law would take other steps than the loop
    assert followed(coarse)[0].constant is None
    assert following_answer(coarse).numbers[0][0] == "–"
    assert "with an error of" in following_answer(coarse).sentence
    assert following_sections({"none": Recording(np.arange(3.0), np.zeros((3, 1)), ("u.1",), ("m",))}) == []
