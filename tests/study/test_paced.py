"""Experiment files run on the clock: the recording of a run, and how it kept its time."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from hyloop.errors import BadInput, RunFailed, UnknownName
from hyloop.files.load import load_experiment
from hyloop.loop.realtime import POLICIES
from hyloop.record import Recording
from hyloop.report.pace import pace_sections, pace_sentences
from hyloop.study.build import build
from hyloop.study.pieces import clock_of
from hyloop.study.run import run_experiment

FILE = "experiments/six_story_brb.toml"
LIVE = "experiments/live_six_story.toml"
FARTHEST = 0.5  # of the largest displacement: 4 % were measured with every sixth tick late
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


def test_parts_add_up_to_the_tick_and_what_passes_its_budget_is_named(tmp_path):
    budget = 'pace.budget={ structure = "100 %", "brace*" = 1e-9, brace12 = "100 %" }'
    run = run_experiment(load_experiment(FILE, [*SHORT, budget]), tmp_path / "run.h5", paced=True)
    kept = run.attributes["paced"]
    (section,) = pace_sections({"run": run})
    rows = {name: mean for name, mean, _ in section.tables[1].rows}
    assert len(rows) == 8 + 2 and rows["structure, sites, recording"] == kept["structure"][0] > 0.0
    mean = sum(mean for mean in rows.values())
    assert kept["work"]["50 %"] / 3 < mean < kept["work"]["largest"]
    over = [note for note in run.attributes["notes"] if "budget" in note]
    assert len(over) == 12 and over[0].startswith("brace1 takes ")


def test_what_was_done_about_late_ticks_is_said(runs):
    _, paced = runs
    kept = {**paced.attributes["paced"], "overruns": 7}
    said = {policy: pace_sentences({**kept, "policy": policy, "extrapolated": 5})[0] for policy in POLICIES}
    assert said["go on"].endswith("7 ticks were too late")
    assert said["hold"].endswith("their forces held") and "fallbacks" in said["fall back"]
    assert said["extrapolate"].endswith("forces of models went on along a line in 5, and were held in 2")


def test_what_cannot_be_done_is_refused_before_anything_is_written(tmp_path):
    for words, error, says in (
        ("pace.overrun=fall back", BadInput, "no site has a fallback"),
        ("pace.overrun=extrapolate", BadInput, "less than a tick"),
        ("pace.budget={ brace99 = 0.5 }", UnknownName, "brace9"),
    ):
        with pytest.raises(error, match=says):
            run_experiment(load_experiment(FILE, [*SHORT, words]), tmp_path / "run.h5", paced=True)
    assert [path for path in tmp_path.iterdir() if path.suffix == ".h5"] == []


def test_the_live_example_has_64_channels_and_every_policy():
    built = build(load_experiment(LIVE, ["excitation.duration=2 s"]))
    own, derived = built.recorded()
    assert derived is not None and len(own) + len(derived.names) == 64
    for policy in POLICIES:
        pace = load_experiment(LIVE, [f"pace.overrun={policy}"]).pace
        keeps = clock_of(built.loop, built.excitation[:3], pace)._overrun.bundle.keeps
        held = {place for place, kept in zip(built.loop.connections, keeps, strict=True) if not kept}
        models = {"damper1.model", *(f"damper{k}" for k in range(2, 7))}
        guard = {"damper2.guard", "damper2.backup"} if policy in ("hold", "extrapolate") else set()
        assert held == (set() if policy in ("go on", "stop") else models | guard)


@pytest.mark.slow
def test_64_channels_at_4096_hz_lose_nothing(tmp_path):
    """Five seconds of twenty stories; every row is there, as in the run without a clock to the last bit."""
    (tmp_path / "tall.toml").write_text(
        """
        [structure]
        kind = "shear_frame"
        stories = 20
        masses = "40 t"
        stiffnesses = "80 kN/mm"
        damping = { kind = "rayleigh", ratio = "2 %", modes = [1, 2] }
        [integrator]
        method = "mkr_alpha"
        rho_inf = 0.75
        dt = "1/1024 s"
        substeps = 4
        [excitation]
        kind = "synthetic"
        sds = "1 g"
        sd1 = "0.6 g"
        duration = "5 s"
        [sites.damper]
        story = 1
        device = { law = "bouc_wen", k = "20 kN/mm", d_y = "2 mm" }
        [recording]
        every = "tick"
        derived = false
        channels = ["ground", "u.*", "v.*", "a.*", "damper.[dvf]"]
        """
    )
    experiment = load_experiment(tmp_path / "tall.toml")
    plain = run_experiment(experiment, tmp_path / "plain.h5")
    found = run_experiment(experiment, tmp_path / "paced.h5", paced=True)
    assert len(found.names) == 64 and found.complete
    assert found.time[-1] == pytest.approx(5.0, abs=1e-3) and np.allclose(np.diff(found.time), 1 / 4096, rtol=1e-6)
    assert np.array_equal(found.data, plain.data) and np.array_equal(found.time, plain.time)


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["go on", "hold", "extrapolate", "fall back"])
def test_beside_a_busy_process_on_the_same_core_nothing_diverges(policy, tmp_path):
    """A network, a filter and a compensator in a loop without priority, which must share its core."""
    words = ["excitation.duration=4 s", "pace.priority=0", "pace.core=0", f"pace.overrun={policy}"]
    experiment = load_experiment(LIVE, words)
    calm = run_experiment(experiment, tmp_path / "calm.h5")
    if hasattr(os, "sched_setaffinity"):
        busy = "import os, time; os.sched_setaffinity(0, {0}); print(flush=True)\nend = time.monotonic() + 60\n"
    else:
        busy = "import time; print(flush=True)\nend = time.monotonic() + 60\n"
    script = busy + "while time.monotonic() < end: pass"
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as other:
        try:
            assert other.stdout is not None and other.stdout.readline()  # it is busy by now
            found = run_experiment(experiment, tmp_path / "loaded.h5", paced=True)
        finally:
            other.kill()
    kept = found.attributes["paced"]
    assert found.complete and kept["overruns"] > 0 and kept["lateness"]["largest"] > 0.5 * kept["tick"]
    if policy == "go on":
        assert np.array_equal(found.data, calm.data)
    assert np.abs(found["u.6"] - calm["u.6"]).max() < FARTHEST * np.abs(calm["u.6"]).max()
    assert np.abs(found["damper2.f"]).max() <= 1.05 * 25e3


def test_an_interrupt_brings_rigs_to_safety_and_their_way_is_recorded(tmp_path):
    """Ctrl-C, at a moment that is known: when progress is told."""

    def interrupt(done):
        raise KeyboardInterrupt

    file = Path("experiments/guarded_frame.toml")
    with pytest.raises(KeyboardInterrupt):
        run_experiment(load_experiment(file), tmp_path / "run.h5", source=file, paced=True, progress=interrupt)
    kept = Recording.load(tmp_path / "run.h5")
    (one,) = kept.attributes["interlocks"]
    assert (one["site"], one["reason"], one["reached"]) == ("damper1", "called", True)
    assert kept.fault.startswith("interrupted. The rig is in a safe state") and not kept.complete
    assert np.allclose(np.diff(kept.time), 1 / 256) and kept["damper1.interlock.settled"][-1] == 1.0
    assert kept["damper1.interlock.d"][-1] == 0.0 and kept.time[-1] > one["time"] + 0.1
