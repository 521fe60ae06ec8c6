"""Runs that are killed or interrupted go on: what is recorded is what an uninterrupted run records, to the last bit."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest
from problems.everything import write

import hyloop
from hyloop.cli.main import app
from hyloop.errors import BadInput, HyloopError, HyloopWarning, RunFailed
from hyloop.files.load import load_experiment
from hyloop.record import Recording, picture_path, resume_path
from hyloop.record.room import NoRoom
from hyloop.report.pace import pace_sentences
from hyloop.study.build import build
from hyloop.study.run import run_file

ATTEMPTS, TESTS = Path(__file__).with_name("attempts.py"), Path(__file__).parents[1]
SOURCES = Path(hyloop.__file__).parent


def same(one: Path, other: Path) -> bool:
    """Whether all datasets of two recordings have the same bytes."""
    with h5py.File(one) as a, h5py.File(other) as b:
        assert set(a) == set(b)
        return all(np.asarray(a[key]).tobytes() == np.asarray(b[key]).tobytes() for key in a)


def attempted(folder: Path, *words: object) -> list[list[int]]:
    environment = os.environ | {"PYTHONPATH": f"{TESTS}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    command = [sys.executable, str(ATTEMPTS), str(folder), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=900)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_everything_that_draws_random_numbers_is_in_it(tmp_path):
    """One block at least of every file in which a block has a seed; each draws, and from a counter that it keeps."""
    loop = build(load_experiment(write(tmp_path))).loop
    drawing = {
        c.instance.block.name for c in loop.connections.values() if any("seed" in key for key in c.instance.params)
    }
    sources = {path.stem for path in SOURCES.rglob("*.py") if 'seed": Param(' in path.read_text("utf-8")}
    assert sources == {"brfd", "sensor", "link", "ensemble", "skyhook", "clipped"}
    assert len({name.partition("_")[0] for name in drawing}) == len(sources), drawing


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked and killed as on POSIX systems")
@pytest.mark.parametrize(
    ("kills", "how", "every"),
    [
        pytest.param(3, "straight", 0.0, id="3"),
        pytest.param(20, "straight", 0.05, id="20", marks=pytest.mark.slow),
        pytest.param(20, "straight", 0.0, id="20, kept all the time", marks=pytest.mark.slow),
        pytest.param(6, "paced", 0.1, id="6 on the clock", marks=pytest.mark.slow),
    ],
)
def test_killed_at_random_times_it_equals_the_uninterrupted_run(tmp_path, kills, how, every):
    """With everything that remembers or is random; what is left at the end is gone on with in yet another process."""
    file = write(tmp_path)
    if how == "paced":
        file.write_text(file.read_text().replace('duration = "20 s"', 'duration = "6 s"'))
    gone_on = attempted(tmp_path, 1, kills, how, every)
    out = tmp_path / "run.h5"
    if out.exists():
        found = run_file(file, (), out, resume=resume_path(out).exists(), paced=how == "paced")
        gone_on.append(found.attributes.get("resumed", []))
        out.rename(tmp_path / "finished.h5")
    whole, finished = Recording.load(tmp_path / "whole.h5"), sorted(tmp_path.glob("finished*.h5"))
    assert finished and sum(map(len, gone_on)) > kills / 4
    for path in finished:
        recording = Recording.load(path)
        assert recording.complete and recording.notes == whole.notes
        assert same(path, tmp_path / "whole.h5")
    assert not resume_path(out).exists() and not list(tmp_path.glob("*.part"))


IDENTIFIED = """
[structure]
kind = "shear_frame"
stories = 2
masses = "40 t"
stiffnesses = "40 kN/mm"
damping = { kind = "rayleigh", ratio = 0.02 }
[sites.damper1]
story = 1
device = { file = "law.toml" }
physical = true
transfer = { actuator = { file = "rig.toml" } }
[integrator]
method = "mkr_alpha"
dt = "1/256 s"
substeps = 4
[excitation]
kind = "noise"
rms = "0.3 g"
low = "0.3 Hz"
high = "9 Hz"
duration = "4 s"
[recording]
channels = ["u.1"]
derived = false
"""
LAW = """
kind = "identified law"
law = "bilinear"
parameters = { k = "20 kN/mm", alpha = 0.02, f_y = "40 kN" }
ranges = { d = ["-1 mm", "1 mm"], f = ["-20 kN", "20 kN"] }
"""
RIG = """
kind = "identified rig"
numerator = [1.0]
denominator = [4.05e-5, 0.0102, 1.0]
delay = "5 ms"
ranges = { command = ["-1 mm", "1 mm"], trusted = ["0 Hz", "0.5 Hz"] }
"""
TOWER = """
[structure]
kind = "tower"
heights = [4.0, 4.0, 4.0, 4.0]
basements = 0
wall = 0.0
outriggers = [4]
core_boxes = [{upto = 4, size = "0.8 m", plate = "50 mm"}]
corner_boxes = [{upto = 4, size = "0.6 m", plate = "38 mm"}]
brace_strength = [{upto = 4, force = "1000 kN"}]
damping = {kind = "modal_and_stiffness", ratio = "2 %", count = 8}
[integrator]
method = "mkr_alpha"
dt = "1/256 s"
substeps = 4
[excitation]
kind = "harmonic"
amplitude = "3 m/s2"
frequency = "1.2 Hz"
duration = "2.5 s"
[sites.NE]
between = ["NEtip-4.uy", "NE-4.uy"]
device = {law = "nonlinear_maxwell"}
[recording]
channels = ["NE.*"]
picture = true
"""
FOLDER = Path(__file__).parents[2] / "experiments"
SHORT = "excitation={kind='synthetic', sds='1 g', sd1='0.6 g', duration='5 s'}"


def identified(folder):
    for name, text in {"law": LAW, "rig": RIG, "identified": IDENTIFIED}.items():
        (folder / f"{name}.toml").write_text(text)
    return folder / "identified.toml"


def tower(folder):
    (folder / "tower.toml").write_text(TOWER)
    return folder / "tower.toml"


CASES = {
    "ticks": (write, ("recording.every=tick", "excitation.duration=2 s", 'recording.channels=["*.f", "damper1.*"]')),
    "identified": (identified, ()),
    "picture": (tower, ()),
    "implicit": (
        identified,
        (
            "integrator={method='newmark', dt='1/256 s'}",
            "sites.damper1={story=1, device={law='bouc_wen'}}",
            "recording={}",
        ),
    ),
    "fibres": (lambda _: FOLDER / "six_story_brb.toml", (SHORT,)),
}


EVERYTHING = ("recording={ every='tick' }",)


class Interrupted:
    """Progress that somebody interrupts after so many pieces."""

    def __init__(self, pieces: int) -> None:
        self.left = pieces

    def __call__(self, part: float) -> None:
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


@pytest.mark.parametrize("case", CASES)
def test_interrupted_anywhere_it_equals_the_uninterrupted_run(tmp_path, case):
    make, words = CASES[case]
    file, out = make(tmp_path), tmp_path / "run.h5"
    whole = run_file(file, words, tmp_path / "whole.h5", keep_every=None)
    assert not resume_path(tmp_path / "whole.h5").exists()
    for k, pieces in enumerate((2, 1, 3)):
        with pytest.raises(KeyboardInterrupt):
            run_file(file, words, out, resume=k > 0, keep_every=0.0, progress=Interrupted(pieces))
        assert Recording.load(out).fault == "interrupted"
    found = run_file(file, words, out, resume=True)
    assert found.complete and not found.fault and found.notes == whole.notes
    assert found.attributes["resumed"] == [128, 192, 384]
    assert same(out, tmp_path / "whole.h5") and not resume_path(out).exists()
    told = {"resumed", "timing", "created", "picture"}
    assert {k: v for k, v in found.attributes.items() if k not in told} == {
        k: v for k, v in whole.attributes.items() if k not in told
    }
    if case == "picture":
        assert same(picture_path(out), picture_path(tmp_path / "whole.h5"))
    if case == "identified":
        assert any("law.toml" in note for note in found.notes) and any("rig.toml" in note for note in found.notes)


@pytest.fixture(scope="module")
def broken(tmp_path_factory):
    """A folder with an interrupted run, and where it was kept last."""
    folder = tmp_path_factory.mktemp("broken")
    file = identified(folder)
    with pytest.raises(KeyboardInterrupt):
        run_file(file, (), folder / "run.h5", keep_every=0.0, progress=Interrupted(2))
    return folder


@pytest.fixture
def copy(broken, tmp_path):
    return Path(shutil.copytree(broken, tmp_path / "copy"))


def test_a_run_on_the_clock_goes_on_without_one_and_the_other_way_round(copy, tmp_path):
    """Half of it as fast as it goes, then on the clock, then as fast as it goes."""
    file = copy / "identified.toml"
    whole = run_file(file, (), tmp_path / "whole.h5")
    with pytest.raises(KeyboardInterrupt):
        run_file(file, (), copy / "run.h5", resume=True, paced=True, keep_every=0.2, progress=Interrupted(16))
    found = run_file(file, (), copy / "run.h5", resume=True)
    first, second = found.attributes["resumed"]
    assert first == 128 and second > 128 and (second - 128) % 51 == 0  # kept every 51 steps
    assert same(copy / "run.h5", tmp_path / "whole.h5") and found.notes == whole.notes


def test_how_it_kept_its_time_is_told_of_the_steps_since(copy):
    file = copy / "identified.toml"
    found = run_file(file, (), copy / "run.h5", resume=True, paced=True)
    kept = found.attributes["paced"]
    assert "since step 128" in pace_sentences(kept)[1]
    assert kept["from step"] == 128 and sum(kept["work, histogram"]) == 4 * (1024 - 128)
    assert found.attributes["timing"]["controller ticks"] == 4 * (1024 - 128)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda f: (f / "identified.toml").write_text(IDENTIFIED + "# another\n"), "the experiment file has changed"),
        (lambda f: (f / "law.toml").write_text(LAW.replace("20 kN/mm", "21 kN/mm")), "what is built is another one"),
        (lambda f: (f / "run.h5").unlink(), "no such recording"),
        (lambda f: (f / "run.resume").unlink(), "there is no run.resume to go on from"),
        (lambda f: os.truncate(f / "run.resume", 1000), "is not what a run keeps"),
        (lambda f: run_file(f / "identified.toml", (), f / "run.h5"), "is complete"),
        (lambda f: shorten(f / "run.h5"), r"has 100 of 129 rows"),
    ],
    ids=["text", "law", "recording", "nothing kept", "damaged", "complete", "short"],
)
def test_what_cannot_go_on_is_refused_in_words(copy, spoil, message):
    spoil(copy)
    before = {p.name: p.read_bytes() for p in copy.iterdir() if not p.name.endswith(".lock")}
    with pytest.raises(BadInput, match=message):
        run_file(copy / "identified.toml", (), copy / "run.h5", resume=True)
    assert {p.name: p.read_bytes() for p in copy.iterdir() if not p.name.endswith(".lock")} == before


def shorten(path):
    earlier = Recording.load(path)
    path.unlink()
    replace(earlier, time=earlier.time[:100], data=earlier.data[:100], complete=False).save(path)


def test_other_changes_are_refused(copy):
    with pytest.raises(BadInput, match="not those of then"):
        run_file(copy / "identified.toml", ("excitation.rms=0.2 g",), copy / "run.h5", resume=True)


def test_another_library_is_refused(copy, monkeypatch):
    monkeypatch.setattr("hyloop.study.resume.library_digest", lambda: "of another day")
    with pytest.raises(BadInput, match="NumPy, SciPy or Numba"):
        run_file(copy / "identified.toml", (), copy / "run.h5", resume=True)


def test_a_run_that_stopped_at_a_fault_is_not_tried_again(tmp_path):
    file, words = identified(tmp_path), ("sites.damper1.max_d=3 mm",)
    with pytest.raises(RunFailed, match="passed its limit"):
        run_file(file, words, tmp_path / "run.h5", keep_every=0.0)
    with pytest.raises(BadInput, match=r"it stopped: .*passed its limit.*It would stop there again"):
        run_file(file, words, tmp_path / "run.h5", resume=True)


def test_one_that_was_ended_by_an_overrun_may_be(tmp_path):
    """It is the machine that was late, not the experiment: the next time it may be in time."""
    file, late = identified(tmp_path), ("pace.overrun=stop", "pace.allowed=1e-12")
    with pytest.raises(KeyboardInterrupt):
        run_file(file, late, tmp_path / "run.h5", keep_every=0.0, progress=Interrupted(1))
    with pytest.raises(RunFailed, match="later than"):
        run_file(file, late, tmp_path / "run.h5", resume=True, paced=True)
    assert run_file(file, late, tmp_path / "run.h5", resume=True).complete


def test_a_place_that_cannot_be_written_to_ends_no_run(tmp_path):
    (tmp_path / "run.resume").mkdir()
    file = identified(tmp_path)
    with pytest.warns(HyloopWarning, match=r"run.resume: cannot be written .* the run goes on"):
        assert run_file(file, (), tmp_path / "run.h5", overwrite=False, keep_every=0.0).complete


def test_a_run_that_found_no_room_goes_on_when_there_is_some(tmp_path, monkeypatch):
    file, calls = identified(tmp_path), []

    def full(*arguments):
        calls.append(arguments)
        if len(calls) > 4:
            raise NoRoom(28, "No space left on device")

    whole = run_file(file, EVERYTHING, tmp_path / "whole.h5")
    with monkeypatch.context() as patch:
        patch.setattr("hyloop.record.layout.reserve", full)
        patch.setattr("hyloop.record.layout._AHEAD", 0)
        with pytest.raises(HyloopError, match="no room for more"):
            run_file(file, EVERYTHING, tmp_path / "run.h5", keep_every=0.0)
    assert "no room" in Recording.load(tmp_path / "run.h5").fault
    found = run_file(file, EVERYTHING, tmp_path / "run.h5", resume=True)
    assert found.attributes["resumed"][0] > 0 and found.notes == whole.notes
    assert same(tmp_path / "run.h5", tmp_path / "whole.h5")


def test_another_run_sets_it_aside_with_its_recording(copy):
    earlier = []
    run_file(copy / "identified.toml", (), copy / "run.h5", keep=earlier.append, keep_every=None)
    assert earlier == [copy / "run-1.h5"] and (copy / "run-1.resume").exists()
    assert not (copy / "run.resume").exists()
    assert run_file(copy / "identified.toml", (), copy / "run-1.h5", resume=True).attributes["resumed"] == [128]


def test_from_the_command_line(copy, monkeypatch, capsys):
    monkeypatch.chdir(copy)
    words = ["run", "identified.toml", "--out", "run.h5", "--no-report"]
    with pytest.raises(BadInput, match="Give one of them"):
        app([*words, "--resume", "--force"], standalone_mode=False)
    app([*words, "--resume"], standalone_mode=False)
    assert not (copy / "run.resume").exists()
    assert "gone on from step 128" in capsys.readouterr().out
    assert Recording.load(copy / "run.h5").complete


def test_what_is_replaced_leaves_nothing_to_go_on_from(copy, monkeypatch):
    monkeypatch.chdir(copy)
    app(["run", "identified.toml", "--out", "run.h5", "--no-report", "--force"], standalone_mode=False)
    assert not list(copy.glob("*.resume")) and not (copy / "run-1.h5").exists()
