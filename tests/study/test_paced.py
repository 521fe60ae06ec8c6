"""Experiment files run on the clock: the recording of a run, and how it kept its time."""

import numpy as np
import pytest

from hyloop.errors import RunFailed
from hyloop.files.load import load_experiment
from hyloop.record import Recording
from hyloop.report.pace import pace_sections, pace_sentences
from hyloop.study.run import run_experiment

FILE = "experiments/six_story_brb.toml"
SHORT = ["excitation={kind='synthetic', sds='1 g', sd1='0.6 g', duration='1 s'}"]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder, experiment = tmp_path_factory.mktemp("paced"), load_experiment(FILE, SHORT)
    plain = run_experiment(experiment, folder / "plain.h5")
    return plain, run_experiment(experiment, folder / "paced.h5", paced=True)


def test_the_recording_is_that_of_a_run_to_the_last_bit(runs):
    plain, paced = runs
    assert plain.names == paced.names
    assert np.array_equal(plain.data, paced.data) and np.array_equal(plain.time, paced.time)


def test_it_says_how_it_kept_its_time(runs):
    plain, paced = runs
    kept, ticks = paced.attributes["paced"], len(paced.time) - 1
    assert "paced" not in plain.attributes
    assert kept["tick"] == pytest.approx(1e6 * paced.time[1], rel=1e-6)
    for name in ("lateness", "work"):
        quantiles = list(kept[name].values())
        assert quantiles == sorted(quantiles) and sum(kept[f"{name}, histogram"]) == ticks
    assert paced.attributes["timing"]["time of the run [s]"] >= 1.0
    assert f"a tick every {kept['tick']:g} µs" in pace_sentences(kept)[0]
    (section,) = pace_sections({"run": paced})
    assert len(section.charts) == 1 and pace_sections({"run": plain}) == []


def test_an_overrun_may_end_it_and_the_recording_stays(tmp_path):
    """No tick of 10 ms begins within 0.01 ns of its time."""
    experiment = load_experiment(FILE, [*SHORT, "pace.overrun=stop", "pace.allowed=1e-12"])
    with pytest.raises(RunFailed, match="later than"):
        run_experiment(experiment, tmp_path / "late.h5", paced=True)
    kept = Recording.load(tmp_path / "late.h5")
    assert not kept.complete and 2 <= len(kept.time) < 10


def test_an_interrupt_brings_rigs_to_safety_and_their_way_is_recorded(tmp_path):
    """Ctrl-C, at a moment that is known: when progress is told."""

    def interrupt(done):
        raise KeyboardInterrupt

    experiment = load_experiment("experiments/guarded_frame.toml")
    with pytest.raises(KeyboardInterrupt):
        run_experiment(experiment, tmp_path / "run.h5", paced=True, progress=interrupt)
    kept = Recording.load(tmp_path / "run.h5")
    (one,) = kept.attributes["interlocks"]
    assert (one["site"], one["reason"], one["reached"]) == ("damper1", "called", True)
    assert kept.fault.startswith("interrupted. The rig is in a safe state") and not kept.complete
    assert np.allclose(np.diff(kept.time), 1 / 256) and kept["damper1.interlock.settled"][-1] == 1.0
    assert kept["damper1.interlock.d"][-1] == 0.0 and kept.time[-1] > one["time"] + 0.1
