"""What an updater found behind an unexpected force stands on the page: its cause in words and over time, the sensor."""

import numpy as np
import pytest
from oracles.pages import Page
from problems.networks import DT, trained

from hyloop.record import Recording
from hyloop.report import diagnosis
from hyloop.report.diagnosis import cause_sentence, cause_strip, cause_tables
from hyloop.report.run_page import write_report
from hyloop.updating import filtered_network
from hyloop.updating.networks.diagnosis import CAUSES

T = 0.1 * np.arange(101)
FOUND = 0.2  # of an offset: the rest goes to the error of the network itself and to the drift
OFFSET, DRIFT = CAUSES.index("offset"), CAUSES.index("drift")


def recorded(cause, **others):
    """A recording with a model at x; its first row stands before the first tick."""
    signals = {"x.d": ("m", np.sin(T)), "x.f": ("N", np.cos(T)), "x.model.innovation": ("N", np.full(101, 0.1))}
    if cause is not None:
        signals["x.model.cause"] = ("-", cause)
    signals |= {f"x.model.{key}": pair for key, pair in others.items()}
    data = np.column_stack([np.broadcast_to(values, 101) for _, values in signals.values()])
    attributes = {"models": {"x": {"inputs": {"d": "x.d", "f": "x.f"}, "followers": ["y"]}}, "dt": 0.1}
    return Recording(T, data, tuple(signals), tuple(unit for unit, _ in signals.values()), attributes)


def stretches(drawing):
    """(cause, begin, end) of everything drawn."""
    trace = drawing.data[0]
    return [(trace["y"][k], trace["x"][k], trace["x"][k + 1]) for k in range(0, len(trace["x"]), 3)]


def test_the_cause_at_the_end_is_told_with_its_beginning():
    recording = recorded(np.where(T < 2.95, 0.0, np.where(T < 4.95, DRIFT, OFFSET)))
    said = cause_sentence(recording, "x")
    assert said == "Since 5 s, the updater of x finds an offset of the load cell; before, mostly nothing."
    assert "From the first tick to the last, the updater of x finds nothing" in cause_sentence(recorded(0.0 * T), "x")
    always = recorded(np.where(T > 0.0, DRIFT, 0.0))
    assert (
        cause_sentence(always, "x")
        == "From the first tick to the last, the updater of x finds a drift of the load cell."
    )
    assert cause_sentence(recorded(None), "x") == ""


def test_strip_and_times_are_those_of_the_channel():
    recording = recorded(np.where(T < 2.95, 0.0, np.where(T < 4.95, DRIFT, OFFSET)))
    strip = cause_strip(recording, "x")
    expected = {0: (0.1, 3.0), DRIFT: (3.0, 5.0), OFFSET: (5.0, 10.0)}
    assert {k: (a, b) for k, a, b in stretches(strip)} == {k: pytest.approx(ends) for k, ends in expected.items()}
    assert strip.layout["yaxis"]["ticktext"] == list(CAUSES)
    (named,) = cause_tables(recording, "x")  # nothing of the sensor was recorded
    assert [row[0] for row in named.rows] == ["none", "offset", "drift"]
    assert [row[1] for row in named.rows] == pytest.approx([2.9, 5.1, 2.0])
    assert sum(row[2] for row in named.rows) == pytest.approx(100.0)


def test_a_short_naming_in_a_long_test_is_drawn(monkeypatch):
    monkeypatch.setattr(diagnosis, "_BINS", 10)
    drawn = stretches(cause_strip(recorded(np.where(np.arange(101) == 57, DRIFT, 0.0)), "x"))
    ((begin, end),) = [(a, b) for k, a, b in drawn if k == DRIFT]
    assert begin <= 5.7 <= end and end - begin < 1.01
    assert [(a, b) for k, a, b in drawn if k == 0] == [(pytest.approx(0.1), pytest.approx(10.0))]


def test_causes_that_are_not_known_yet_have_a_row_and_a_name():
    beyond = len(CAUSES)
    recording = recorded(np.where(T < 1.0, np.nan, beyond))
    assert f"finds cause {beyond}." in cause_sentence(recording, "x")
    assert cause_strip(recording, "x").layout["yaxis"]["ticktext"] == [*CAUSES, f"cause {beyond}"]
    assert cause_sentence(recorded(np.full(101, np.nan)), "x") == "" and not cause_tables(recorded(None), "x")


def test_a_page_names_the_offset_that_the_updater_found(tmp_path):
    """An updater under a force with an offset of 5 % of the range, recorded and shown."""
    network, d, f = trained()
    shift = 0.05 * np.ptp(f)
    signals = {"d": d, "f_m": f + shift}
    found = filtered_network(network).drive(DT, **signals)
    keys = ("innovation", "offset", "drift", "delay", "shift", "noise_f", "updated", "cause")
    units = ("m", "N", "N", "N", "N", "s", "m", "N", "-", "-")
    rows = np.column_stack([*signals.values(), *(found[key] for key in keys)])
    rows = np.vstack([np.zeros(len(keys) + 2), rows])
    names = ("x.d", "x.f", *(f"x.model.{key}" for key in keys))
    models = {"x": {"inputs": {"d": "x.d", "f": "x.f"}, "followers": []}}
    recording = Recording(DT * np.arange(len(rows)), rows, names, units, {"models": models, "dt": DT})
    page = Page(write_report(tmp_path / "page.html", {"run": recording}, title="x"))
    assert "an offset of the load cell" in page.answer
    sensor = page.rows("Sensor of x")
    assert float(sensor["offset of the force [kN]"][0]) == pytest.approx(1e-3 * found["offset"][-1], rel=1e-3)
    assert float(sensor["offset of the force [kN]"][0]) == pytest.approx(1e-3 * shift, rel=FOUND)
    assert {"delay of the force [ms]", "offset of the deformation [mm]", "noise of the force [kN]"} <= set(sensor)
    assert page.chart("Cause that the updater of x names") >= 0
