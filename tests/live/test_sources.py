"""What a source says of a run: rows that are there, how it stands, how it keeps time."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from oracles.live import RATE, SOON, frame_loop, made_board, on_the_board

from hyloop.core.paced import ENDED, OVERRUNS, ROWS, STOP, TICK, WOKE
from hyloop.core.plan import ASKED, TOO_LATE
from hyloop.errors import BadInput, RunFailed
from hyloop.live import board_source
from hyloop.live.board_source import BoardSource
from hyloop.live.deadlines import Deadlines
from hyloop.live.recording_source import RecordingSource
from hyloop.live.status import status_of
from hyloop.live.watched import Watched
from hyloop.record import Recorder, Recording

NAMES = ["u.1", "damper.f"]


@pytest.fixture
def board(rng):
    with made_board(rng.normal(size=(100, 2)), NAMES, {"title": "hundred"}) as made:
        yield made


def test_rows_are_those_that_are_there(board):
    source = BoardSource(board.path)
    assert source.look() == 1 and np.array_equal(source.rows(0, 1), board["first"]) and source.planned == 100
    board["marks"][ROWS] = 42
    assert source.look() == 43
    whole = np.vstack([board["first"], board["rows"]])
    for begin, end in ((0, 43), (0, 5), (1, 5), (17, 43)):
        assert np.array_equal(source.rows(begin, end), whole[begin:end])


def test_the_state_before_the_first_tick_is_no_row_of_a_block(board):
    board["first"][:] = 77.0
    board["marks"][ROWS] = 50
    watched = Watched(BoardSource(board.path))
    assert np.isnan(watched.values(0, 1, [0, 1])).all() and watched.first.tolist() == [77.0, 77.0]
    assert watched.reach[1].max() < 77.0 and board["first"][0, 0] == 77.0


@pytest.mark.parametrize(
    ("marks", "state"),
    [
        ({ROWS: 7}, "running"),
        ({ROWS: 99, ENDED: 1}, "ended"),
        ({ROWS: 7, ENDED: 1, STOP: ASKED}, "stopped"),
        ({ROWS: 7, ENDED: 1, STOP: TOO_LATE}, "failed"),
        ({ROWS: 7, ENDED: 1}, "failed"),
    ],
)
def test_how_it_stands_is_told_by_the_marks(board, marks, state):
    source = BoardSource(board.path)
    for mark, value in marks.items():
        board["marks"][mark] = value
    assert source.standing().state == state
    assert status_of(Watched(source))["state"] == state


def test_a_run_that_is_late_says_so(board):
    watched = Watched(BoardSource(board.path))
    board["marks"][[ROWS, TICK]] = 50, 51
    watched.look()
    assert status_of(watched)["sentence"] == "Running: 0.0 of 0.1 s, no tick too late."
    board["marks"][OVERRUNS] = 3
    watched.look()
    assert status_of(watched)["sentence"].startswith("Running late: 3 ticks too late just now")


def test_only_who_may_control_can_stop(board):
    assert not BoardSource(board.path).stop() and board["marks"][STOP] == 0
    assert BoardSource(board.path, control=True).stop() and board["marks"][STOP] == ASKED


def test_a_stop_ends_a_run_within_a_tick(rng):
    with on_the_board(60.0, rng) as run:
        source = BoardSource(run.board.path, control=True)
        run.start()
        _wait(lambda: run.done > 20)
        source.stop()
        stopped = time.monotonic_ns()
        with pytest.raises(RunFailed, match="ended the run"):
            run.wait()
        tick, late = 1e9 / RATE, 1e9 * run.timing.lateness[-1]
        assert run.board["marks"][WOKE] <= stopped + tick + late  # when the last tick began
        source.look()
        assert source.standing().state == "stopped"


def test_a_loop_whose_process_is_gone_is_lost(rng):
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    with made_board(rng.normal(size=(9, 2)), NAMES) as board:
        source = _with_process(board, other.pid)
        assert source.standing().state == "running"
        other.send_signal(signal.SIGKILL)
        os.waitid(os.P_PID, other.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and nobody has taken note yet
        assert source.standing().state == "lost"
        other.wait()
        assert _with_process(board, other.pid).standing().state == "lost"
        assert status_of(Watched(source))["sentence"].startswith("Lost after 0.0 of 0.0 s")
    other.stdin.close()


def _with_process(board, process):
    """The source of a board as if another process had made it."""
    source = BoardSource(board.path)
    source.close()
    source._process = board_source._watched(process)
    return source


def test_a_recording_that_grows_and_ends(tmp_path, rng):
    rows, path = rng.normal(size=(300, 2)), tmp_path / "run.h5"
    with Recorder(path, NAMES, ["m", "N"], 0.01, {"title": "grows"}, flush_every=0.01) as recorder:
        recorder.write(rows[:100])
        _wait(lambda: len(Recording.load(path)) == 100)
        source = RecordingSource(path)
        assert source.look() == 100 and source.standing().state == "running" and source.planned is None
        recorder.write(rows[100:])
        _wait(lambda: source.look() == 300)
        assert np.array_equal(source.rows(50, 300), rows[50:])
    assert RecordingSource(path).standing().state == "ended"
    source._grew = -1e9  # quiet for long
    assert source.standing().state == "ended"
    assert status_of(Watched(source))["sentence"] == "Ended after 3.0 s; all of it is here."


def test_a_recording_that_nobody_finishes_is_lost(tmp_path, rng):
    path = tmp_path / "run.h5"
    recording = Recording(0.01 * np.arange(50), rng.normal(size=(50, 2)), NAMES, ["m", "N"], complete=False)
    recording.save(path)
    source = RecordingSource(path)
    source._grew = -1e9
    assert source.standing().state == "lost" and "not complete" in source.standing().said
    gone = RecordingSource(path)
    path.unlink()
    gone._grew = -1e9
    assert gone.standing().state == "lost" and "not there" in gone.standing().said


@pytest.mark.parametrize(("reason", "state"), [("called off", "stopped"), ("limit", "failed"), ("", "failed")])
def test_a_recording_tells_why_it_ended_early(tmp_path, rng, reason, state):
    about = {"fault": "step 5: too far.", "reason": reason}
    path = tmp_path / "run.h5"
    Recording(0.01 * np.arange(50), rng.normal(size=(50, 2)), NAMES, ["m", "N"], about, complete=False).save(path)
    standing = RecordingSource(path).standing()
    assert standing.state == state and (state == "stopped" or standing.said == about["fault"])


def test_times_that_are_not_true_are_told(tmp_path, rng):
    times = np.sort(rng.uniform(0.0, 1.0, 50))
    Recording(times, rng.normal(size=(50, 2)), NAMES, ["m", "N"]).save(tmp_path / "uneven.h5")
    assert "not equally far apart" in RecordingSource(tmp_path / "uneven.h5").notes[0]


def test_other_files_are_refused(tmp_path):
    with pytest.raises(BadInput, match="no such file"):
        RecordingSource(tmp_path / "nothing.h5")
    (tmp_path / "text.h5").write_text("text")
    with pytest.raises(BadInput, match="cannot be read"):
        RecordingSource(tmp_path / "text.h5")
    loop = frame_loop(2)
    short = loop.run(np.zeros(1))
    short.save(tmp_path / "short.h5")
    with pytest.raises(BadInput, match="1 rows"):
        RecordingSource(tmp_path / "short.h5")


def test_deadlines_are_counted_as_the_report_counts_them(rng):
    times = np.abs(rng.normal(0.0, 2e4, size=(2, 5000))).astype(np.int64) + 500
    deadlines = Deadlines(1e-3, times)
    for ticks in (0, 1, 2, 700, 700, 4000, 5000):
        deadlines.see(ticks, 0)
    told = deadlines.told()
    seconds = 1e-9 * times[:, :4999]  # the last one is under way
    for name, row in zip(("lateness", "work"), seconds, strict=True):
        assert sum(told[f"{name}, histogram"]) == 4999
        edges = 10.0 ** np.arange(-7.0, 0.26, 0.25)
        assert told[f"{name}, histogram"] == np.histogram(row, edges)[0].tolist()
        assert told[name]["99 %"] == pytest.approx(1e6 * np.quantile(row, 0.99), rel=0.08)
        assert told[name]["largest"] == pytest.approx(1e6 * row.max(), rel=1e-3)


def test_overruns_are_recent_for_a_while():
    deadlines = Deadlines(1e-3, np.zeros((2, 10_000), np.int64))
    for ticks, overruns in ((100, 0), (200, 4), (1000, 4), (2000, 4)):
        deadlines.see(ticks, overruns)
    assert deadlines.recent == 4
    for ticks in (2300, 4000, 4400):
        deadlines.see(ticks, 4)
    assert deadlines.recent == 0 and deadlines.overruns == 4


def _wait(holds, seconds=SOON):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.005)


@pytest.mark.parametrize(
    ("reason", "marks", "state", "sentence"),
    [
        (0.0, {}, "running", "Running: "),
        (7.0, {}, "interlock", "The interlock of a has tripped: rigs go to their safe state."),
        (1.0, {}, "interlock", "The interlocks were called: rigs go to their safe state."),
        (7.0, {ENDED: 1}, "interlock", "The interlock of a has tripped: the run ended at 0.0 s."),
        (1.0, {ENDED: 1, STOP: ASKED}, "stopped", "Stopped by a person after 0.0 of 0.1 s."),
    ],
)
def test_interlocks_that_have_tripped_come_first(rng, reason, marks, state, sentence):
    rows = np.column_stack([rng.normal(size=100), np.full(100, reason)])
    with made_board(rows, ["a.d", "a.interlock.trip"]) as board:
        for mark, value in {ROWS: 50, **marks}.items():
            board["marks"][mark] = value
        status = status_of(Watched(BoardSource(board.path)))
        assert status["state"] == state and status["sentence"].startswith(sentence)
