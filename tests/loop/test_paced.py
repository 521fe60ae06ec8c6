"""Runs on the clock: the numbers of a run, times that do not drift, overruns, and what others may ask of it."""

import os
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from hyloop.core import Param, inplace_block
from hyloop.core.board import Board
from hyloop.core.paced import ENDED, ROWS
from hyloop.devices import bouc_wen
from hyloop.errors import BadInput, OutOfBounds, RunFailed
from hyloop.integrators import mkr_alpha, newmark
from hyloop.loop import FreeBlock, Loop, PacedRun, Pacing, Site, paced, realtime
from hyloop.structure import rayleigh, shear_frame

DT = 1 / 256
BEGUN = 30.0  # s until a thread has been prepared and has made a few ticks, on a machine that is doing other things
AT_ONCE = 0.5  # s, likewise, until another thread has been heard and has ended


@inplace_block(
    inputs={"d": "m"},
    outputs={"sum": "-"},
    state={"k": "-"},
    params={"busy": Param("-", 0.0), "at": Param("-", -1.0)},
    reference="-",
)
def worker(x, u, dt, p, y):
    """Adds up so many numbers, in one tick or, with `at` < 0, in every one."""
    y[0] = 0.0
    if p[1] < 0.0 or x[0] == p[1]:
        for k in range(int(p[0])):
            y[0] += 1.0 / (k + 1.0)
    x[0] += 1.0


def _loop(n=3, substeps=4, blocks=(), method=None):
    frame = shear_frame([4e4] * n, [4e7] * n)
    frame = frame.with_damping(rayleigh(frame, 0.02))
    sites = [Site("damper", frame.story(1), bouc_wen(k=2e7, d_y=2e-3))]
    return Loop(frame, sites, method=method or mkr_alpha(0.75), dt=DT, substeps=substeps, blocks=blocks)


@pytest.mark.parametrize(("n", "every"), [(3, "step"), (3, "tick"), (60, "step")], ids=["step", "tick", "sparse"])
def test_a_run_on_the_clock_gives_the_numbers_of_a_run_to_the_last_bit(n, every, rng):
    ground = rng.normal(size=40)
    plain = _loop(n).run(ground, every=every)
    run = PacedRun(_loop(n), ground, every=every)
    run.start()
    found = run.wait()
    assert np.array_equal(found.data, plain.data) and np.array_equal(found.time, plain.time)
    assert found.names == plain.names and found.complete


def test_a_board_shows_rows_and_state_to_others(rng):
    ground = rng.normal(size=40)
    run = PacedRun(_loop(), ground, shared={"title": "three stories"})
    try:
        run.start()
        found, board = run.wait(), Board.open(run.board.path)
        assert board.about["title"] == "three stories" and board.about["names"] == list(found.names)
        assert np.array_equal(np.vstack([board["first"], board["rows"]]), found.data)
        assert np.array_equal(board["memory"], run.loop.snapshot().memory)
        assert board.about["dt"] == DT and board["marks"][ROWS] == 39 and board["marks"][ENDED] == 1
    finally:
        run.board.remove()


def test_ticks_have_absolute_times(rng):
    """It takes the time of its ticks: lateness does not add up, however long a tick computes."""
    ground, blocks = rng.normal(size=65), [FreeBlock("busy", worker(busy=1e5), {"d": "damper.d"})]
    run = PacedRun(_loop(blocks=blocks), ground)
    begin = time.monotonic()
    run.start()
    run.wait()
    timing = run.timing
    assert time.monotonic() - begin + DT / 4 >= 64 * DT
    assert len(timing.lateness) == len(timing.work) == 256 and timing.tick == DT / 4
    assert (timing.lateness >= 0.0).all()
    assert timing.blocks["busy"][0] > 10 * timing.blocks["damper"][0]
    assert sum(mean for mean, _ in timing.blocks.values()) < timing.work.mean()


def test_a_tick_that_takes_too_long_is_counted_and_time_is_caught_up(rng):
    ground, blocks = rng.normal(size=129), [FreeBlock("busy", worker(busy=5e7, at=20.0), {"d": "damper.d"})]
    run = PacedRun(_loop(blocks=blocks, substeps=1), ground)
    run.start()
    found = run.wait()
    timing = run.timing
    assert timing.work[20] > 2 * DT and timing.blocks["busy"][1] > 2 * DT
    late = timing.lateness[21:]
    assert late[0] == pytest.approx(timing.work[20] + timing.lateness[20] - DT, abs=1e-9)
    assert timing.overruns == np.count_nonzero(timing.lateness > 0.5 * DT) > 0
    assert np.array_equal(found.data, _loop(blocks=blocks, substeps=1).run(ground).data)


def test_an_overrun_may_end_the_run(rng):
    blocks = [FreeBlock("busy", worker(busy=5e7, at=20.0), {"d": "damper.d"})]
    run = PacedRun(_loop(blocks=blocks, substeps=1), rng.normal(size=129), pacing=Pacing(overrun="stop"))
    run.start()
    with pytest.raises(RunFailed, match="later than") as stopped:
        run.wait()
    assert stopped.value.reason == "overrun"
    assert stopped.value.step == 22  # the tick behind the slow one begins too late, and is the last
    assert len(stopped.value.result) == 1 + 22 and not stopped.value.result.complete


def test_another_thread_ends_it_and_sees_its_rows_before(rng):
    run = PacedRun(_loop(), rng.normal(size=100_000))
    run.start()
    begin = time.monotonic()
    while run.done == 0 and time.monotonic() - begin < BEGUN:
        time.sleep(0.01)
    there = run.done
    assert 0 < there < 99_999 and run.running
    assert np.array_equal(run.rows(0, there).time, DT * np.arange(1, there + 1))
    run.stop()
    begin = time.monotonic()
    with pytest.raises(RunFailed, match="ended the run") as stopped:
        run.wait()
    assert time.monotonic() - begin < AT_ONCE and stopped.value.reason == "called off"


def test_pieces_are_the_whole(rng):
    ground = rng.normal(size=129)
    pieces = list(PacedRun(_loop(), ground).pieces(0.02))
    assert len(pieces) > 2
    whole = _loop().run(ground)
    assert np.array_equal(np.vstack([piece.data for piece in pieces]), whole.data[1:])
    assert np.array_equal(np.concatenate([piece.time for piece in pieces]), whole.time[1:])


def test_memory_is_kept_at_the_ends_of_pieces_and_another_run_goes_on_from_there(rng):
    ground = rng.normal(size=129)
    whole, kept, there = _loop().run(ground), [], 0
    run = PacedRun(_loop(), ground, keep_every=10)
    for piece in run.pieces(0.02):
        there += len(piece)
        if run.kept is not None:
            kept.append((there, run.kept))
    assert len(kept) > 3 and all(step % 10 == 0 for step, _ in kept)
    step, memory = kept[1]
    other = _loop()
    other.restore(replace(other.snapshot(), memory=memory))
    rest = PacedRun(other, ground[step:], goes_on=True, shared={})
    try:
        assert rest.board.about["t0"] == step * DT
        rest.start()
        found = rest.wait()
    finally:
        rest.board.remove()
    assert np.array_equal(found.data, whole.data[step:]) and np.array_equal(found.time, whole.time[step:])


def test_a_copy_that_is_being_written_is_not_taken(rng):
    run = PacedRun(_loop(), rng.normal(size=40), keep_every=10)
    run.start()
    run.wait()
    assert [end for end, _ in run._ends(0, 35)] == [30, 35]
    run._kept_at[np.argmax(run._kept_at)] = -1
    assert [(end, memory is None) for end, memory in run._ends(0, 35)] == [(20, False), (35, True)]
    assert [end for end, _ in run._ends(20, 35)] == [35] and [end for end, _ in run._ends(0, 15)] == [15]


def test_who_stops_listening_ends_the_run(rng):
    run = PacedRun(_loop(), rng.normal(size=100_000))
    for _ in run.pieces(0.02):
        break
    assert not run.running


def test_a_fault_ends_the_pieces_with_what_was_not_handed_out(rng):
    frame, rows = shear_frame([4e4] * 3, [4e7] * 3), []
    site = Site("damper", frame.story(1), bouc_wen(k=2e7, d_y=2e-3), max_d=1e-4)
    run = PacedRun(Loop(frame, [site], method=mkr_alpha(0.75), dt=DT), 5.0 * rng.normal(size=512))
    with pytest.raises(RunFailed) as stopped:
        rows += run.pieces(0.02)
    assert stopped.value.reason == "limit"
    assert sum(map(len, rows)) + len(stopped.value.result) == stopped.value.step == run.done


def test_linear_algebra_has_one_thread_meanwhile(rng):
    with threadpool_limits(2, user_api="blas"):
        run = PacedRun(_loop(), rng.normal(size=100_000))
        run.start()
        assert {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"} == {1}
        run.stop()
        with pytest.raises(RunFailed):
            run.wait()
        assert {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"} == {2}


@pytest.mark.skipif(not hasattr(os, "sched_setscheduler"), reason="the system has no such priorities")
def test_priority_is_asked_for_last_by_the_thread_of_the_loop_and_what_is_refused_is_said_once(rng, monkeypatch):
    asked = []

    def allowed(what):
        return lambda *_: asked.append((what, threading.current_thread().name))

    def refused(*_):
        allowed("priority")()
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(realtime, "_fine_timers", allowed("timers"))
    monkeypatch.setattr(os, "sched_setaffinity", allowed("core"))
    monkeypatch.setattr(os, "sched_setscheduler", refused)
    monkeypatch.setattr(paced, "lock_memory", lambda: allowed("memory")() or ["memory is not locked"])
    run = PacedRun(_loop(), rng.normal(size=20), pacing=Pacing(core=0))
    run.start()
    run.wait()
    main = threading.current_thread().name
    assert asked == [("memory", main), *((what, "hyloop loop") for what in ("timers", "core", "priority"))]
    first, second = run.timing.refused
    assert first == "memory is not locked" and "no real-time priority (Operation not permitted)" in second


def test_bad_settings_are_refused(rng):
    with pytest.raises(BadInput, match="iterates"):
        PacedRun(_loop(method=newmark()), rng.normal(size=10))
    for bad in ({"spin": -1.0}, {"allowed": 0.0}, {"priority": 100}, {"core": 10_000}):
        with pytest.raises(OutOfBounds):
            Pacing(**bad)
