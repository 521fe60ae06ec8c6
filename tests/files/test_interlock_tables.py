"""Interlocks in files: units, what is refused and where, and an experiment that trips, to its recording and page."""

from pathlib import Path

import numpy as np
import pytest
from oracles.pages import Page

from hyloop.errors import BadInput, RunFailed
from hyloop.files.load import load_experiment
from hyloop.record import Recording
from hyloop.report.run_page import write_report
from hyloop.report.tracking import tracked
from hyloop.study.build import build
from hyloop.study.ideal import without_rigs
from hyloop.study.run import run_file

FILE = Path(__file__).parents[2] / "experiments" / "guarded_frame.toml"
LOCK = "sites.damper1.interlock"
SHORT = ("excitation.duration=5s", "safety.within=2s")


def _load(*changes):
    return load_experiment(FILE, list(changes))


def test_units_and_defaults():
    spec = _load().sites["damper1"].interlock.make()
    assert (spec.params["max_rate"], spec.params["ramp"], spec.params["max_f"]) == (0.3, 0.02, 6e3)
    assert spec.params["max_added"] == 0.2 and spec.params["smoothing"] == 0.01 and spec.params["max_a"] == 1e30
    assert build(_load()).loop.limits.wind_down == 5.0
    linked = _load(f"{LOCK}.max_age=20ms", 'sites.damper1.transfer.sensor={law="link", delay="2 ms"}')
    assert "damper1.sensor.age" in build(linked).loop.channels


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ([f"{LOCK}.max_rate=0"], r"interlock\.max_rate: .*above 0"),
        ([f"{LOCK}.safe_state=off"], r"interlock\.safe_state"),
        ([f"{LOCK}.safe_state=hold"], r"interlock\.ramp: .*leave it out"),
        ([f"{LOCK}.ramp=0.4 m/s"], r"interlock\.ramp: .*faster than max_rate"),
        ([f"{LOCK}.max_v=0.5 m/s"], r"interlock\.max_rate: .*never reached"),
        ([f"{LOCK}.safe_state=zero force"], r"interlock\.tolerance: .*missing"),
        ([f"{LOCK}.safe_state=zero force", f"{LOCK}.tolerance=5 N"], r"interlock\.tolerance: the noise_f"),
        ([f"{LOCK}.tolerance=50 N"], r"interlock\.tolerance: .*zero force"),
        ([f"{LOCK}.smoothing=5 ms"], r"interlock\.smoothing: is for max_a"),
        ([f"{LOCK}.jump_d=0.4 m/s"], r"interlock\.jump_d: the noise_d of the sensor"),
        ([f"{LOCK}.max_error=0.01 mm"], r"interlock\.max_error: the noise_d"),
        ([f"{LOCK}.max_age=20 ms"], r"interlock\.max_age: .*link"),
        ([f"{LOCK}.ramp=1 mm/s"], r"interlock\.ramp: from max_d .* takes 30 s"),
        (["sites.damper1.physical=false"], r"sites\.damper1\.interlock: is for a physical site"),
        ([f"{LOCK}.frozen_f=0.1 ms"], r"interlock\.frozen_f: .*less than two ticks"),
        ([f"{LOCK}.max_g=1"], r"unknown key 'max_g'"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_what_makes_no_sense_is_refused_where_it_stands(changes, said):
    with pytest.raises(BadInput, match=said):
        build(_load(*changes))


def test_an_ideal_rig_has_no_interlock():
    assert "stop" not in build(without_rigs(_load())).loop.channels


def test_a_run_that_trips_leaves_a_recording_and_a_page_that_say_so(tmp_path):
    path = tmp_path / "run.h5"
    with pytest.raises(RunFailed) as failed:
        run_file(FILE, (*SHORT, "sites.damper1.transfer.sensor.freeze_at=4s"), path)
    said = str(failed.value)
    assert said.startswith("the interlock of damper1 tripped at 4.0") and "damper1 was back at rest" in said
    assert failed.value.result.path == path
    recording = Recording.load(path)
    one = recording.attributes["interlocks"][0]
    assert (one["site"], one["reason"], one["reached"]) == ("damper1", "deformation frozen", True)
    assert 4.0 < one["time"] < 4.1 and one["time"] == pytest.approx(one["tick"] / 4096)
    assert not recording.complete and recording.fault == said
    end = one["time"] + one["seconds"] + 0.1
    assert recording.time[-1] == pytest.approx(end, abs=2 / 256) and recording["damper1.interlock.d"][-1] == 0.0
    assert np.allclose(np.diff(recording.time), 1 / 256)
    assert all(found.time[-1] <= one["time"] for found in tracked(recording))  # what follows is nobody's tracking
    page = Page(write_report(tmp_path / "run.html", {"run": recording}, title="t"))
    assert page.answer.startswith("The interlock of damper1 tripped at 4.0") and "back at rest" in page.answer
    assert page.rows("What has tripped")["damper1"][2] == str(one["tick"])
    lines = page.lines(page.chart("Command, measured deformation"))
    assert lines["damper1: deformation", "command"][1][-1] == 0.0
    assert lines["damper1: deformation", "trip"][0] == pytest.approx(one["time"])
