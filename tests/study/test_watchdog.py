"""The watchdog: rigs come to their safe state when the loop dies or stands still, and nowhere else do they go."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from hyloop.errors import BadInput, HyloopError, HyloopWarning
from hyloop.files.load import load_experiment
from hyloop.record import Recording
from hyloop.study.run import run_experiment, run_file
from hyloop.study.watchdog import Watchdog, watchdog_path

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="boards are for POSIX systems"),
]

GUARDED = Path(__file__).with_name("guarded.py")
FILE = Path(__file__).parents[2] / "experiments" / "guarded_frame.toml"
RATE, RAMP, TICK = 0.3, 0.02, 1 / 1024  # of the rig in the file, and the tick as it is here
ROUND = 1 + 1e-9
AT_REST = 1e-4  # m, measured with noise of 0.016 mm


@pytest.fixture
def file(tmp_path):
    """The guarded frame at 1024 Hz, every tick recorded, for half a minute; a loaded machine may be late by 5 s."""
    text = FILE.read_text().replace("substeps = 16", "substeps = 4").replace('duration = "10 s"', 'duration = "30 s"')
    text = text.replace("[safety]", '[recording]\nevery = "tick"\n[safety]\nwatchdog = "5 s"')
    (tmp_path / "guarded.toml").write_text(text)
    return tmp_path / "guarded.toml"


def start(file):
    command = [sys.executable, str(GUARDED), str(file), str(file.with_name("run.h5"))]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def going(process, pieces):
    """Wait until it has come so far."""
    for _ in range(pieces):
        assert process.stdout.readline(), process.stderr.read()


def boards(process="self"):
    """Boards that a process has open and that are still there."""
    maps = Path(f"/proc/{process}/maps").read_text().splitlines()
    found = {Path(line.split(maxsplit=5)[5]) for line in maps if line.endswith("/board")}
    return {path for path in found if path.exists()}


def taken_over(folder):
    """The two recordings, after what must hold of any of them."""
    main, after = Recording.load(folder / "run.h5"), Recording.load(folder / "run.watchdog.h5")
    assert not main.complete and after.complete
    (log,) = after.attributes["interlocks"]
    assert log["site"] == "damper1" and log["reason"] == "called" and "the loop was lost" in log["text"]
    assert log["reached"] and log["safe_state"] == "zero displacement"
    command = after["damper1.interlock.d"]
    assert command[-1] == 0.0 and abs(after["damper1.sensor.d"][-1]) < AT_REST
    assert np.abs(np.diff(command)).max() <= (RATE + RAMP) * TICK * ROUND  # a tick may have been half made
    down = after.time > after.attributes["lost at"] + 0.5 * TICK
    assert np.abs(np.diff(command[down])).max() <= RAMP * TICK * ROUND
    np.testing.assert_allclose(np.diff(after.time), TICK, rtol=1e-6)
    both = np.intersect1d(np.rint(main.time / TICK), np.rint(after.time[~down] / TICK)).astype(int)
    assert len(both) > 10
    first = int(np.rint(after.time[0] / TICK))
    for name in after.names:
        if name in main.names:
            assert np.array_equal(main[name][both], after[name][both - first]), name
    return main, after


@pytest.mark.parametrize("seed", range(5))
def test_a_loop_that_is_killed_leaves_its_rig_in_the_safe_state(file, seed):
    rng, process = random.Random(seed), start(file)
    going(process, rng.randint(1, 60))
    (board,) = boards(process.pid)
    time.sleep(rng.uniform(0.0, 0.05))
    process.kill()
    _, said = process.communicate(timeout=120)  # until the watchdog has ended, which holds the other end
    assert process.returncode == -signal.SIGKILL, said
    assert "Traceback" not in said, said
    main, after = taken_over(file.parent)
    assert after.attributes["fault"] == "the process of the loop has died"
    assert "hyloop watchdog: run.h5: the process of the loop has died at t = " in said
    assert "The rig is in a safe state: damper1 was back at rest" in said and "Traceback" not in said
    assert not board.parent.exists()
    assert after.attributes["lost at"] >= main.time[-1] - TICK


def test_one_that_stands_still_is_taken_over_and_moves_nothing_when_it_comes_back(file):
    file.write_text(file.read_text().replace('watchdog = "5 s"', 'watchdog = "1 s"'))
    process = start(file)
    going(process, 20)
    (board,) = boards(process.pid)
    process.send_signal(signal.SIGSTOP)
    while "hyloop watchdog" not in (said := process.stderr.readline()):
        assert said or process.poll() is None
    assert "no tick began for 1 s" in said
    process.send_signal(signal.SIGCONT)
    _, rest = process.communicate(timeout=120)
    assert process.returncode == 1 and "the watchdog has taken the rigs over" in rest
    assert not board.parent.exists()
    main, after = taken_over(file.parent)
    assert main.attributes["reason"] == "taken over"
    assert main.time[-1] <= after.attributes["lost at"] + TICK  # nothing was made after that


def test_a_run_that_ends_leaves_nothing_of_it(file):
    file.write_text(file.read_text().replace('duration = "30 s"', 'duration = "2 s"'))
    process = start(file)
    going(process, 1)
    (board,) = boards(process.pid)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 0 and said == "" and not board.parent.exists()
    assert Recording.load(file.with_name("run.h5")).complete
    assert not watchdog_path(file.with_name("run.h5")).exists()


def test_when_it_is_killed_itself_the_run_goes_on_and_says_so_once(file, monkeypatch):
    file.write_text(file.read_text().replace('duration = "30 s"', 'duration = "3 s"'))
    dogs, look = [], Watchdog.look

    def killed(dog):
        if not dogs:
            os.kill(dog.process, signal.SIGKILL)
            dog._process.wait()
        dogs.append(dog)
        look(dog)

    monkeypatch.setattr(Watchdog, "look", killed)
    with pytest.warns(HyloopWarning, match=r"the watchdog process has died \(signal 9\); the run goes on") as said:
        assert run_file(file, (), file.with_name("run.h5"), paced=True).complete
    assert len(said) == 1 and len(dogs) > 3 and not boards()


def test_one_that_does_not_start_is_said_and_nothing_runs(file, monkeypatch):
    """It has read another file than the run: somebody has just changed it."""
    experiment = load_experiment(file)
    file.write_text(file.read_text().replace("20 kN/mm", "21 kN/mm"))
    with pytest.raises(HyloopError, match="did not start: it has built another loop"):
        run_experiment(experiment, file.with_name("run.h5"), source=file, paced=True)
    assert not file.with_name("run.h5").exists()


def test_it_may_be_left_out(file, monkeypatch):
    monkeypatch.setattr("hyloop.study.run.Watchdog", None)
    words = ("safety.watchdog=0", "excitation.duration=1 s")
    assert run_file(file, words, file.with_name("run.h5"), paced=True).complete
    with pytest.warns(HyloopWarning, match="would need the file"):
        run_experiment(load_experiment(file, list(words[1:])), file.with_name("other.h5"), paced=True)
    with pytest.raises(BadInput, match="watchdog"):
        load_experiment(file, ["safety.watchdog=-1"])
