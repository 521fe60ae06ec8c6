"""The process of a `Watchdog`: builds the loop, watches its board, and takes the rigs over.

Lines come in through the standard input: what to build, then the board. It ends when that closes: the run is over, or
the process of the loop has died. What the loop was in the middle of when it was lost stays half done: the rigs go on
from the memory on the board as it is.
"""

import json
import os
import select
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np

from hyloop.core.board import Board
from hyloop.core.paced import ENDED, ROWS, TAKEN, TICK
from hyloop.core.plan import LOST, STEP
from hyloop.errors import HyloopError, RunFailed
from hyloop.files.load import load_experiment
from hyloop.loop import PacedRun
from hyloop.loop.interlocks import safe_text
from hyloop.record import Recorder
from hyloop.study.build import Built, build
from hyloop.study.pieces import pacing_of
from hyloop.study.resume import built_digest
from hyloop.study.watchdog import READY, watchdog_path

__all__ = ["main"]

_LOOKS = 4  # within the time that no tick may begin; a watchdog that was held up itself has not looked
BEFORE = 5.0  # s that are recorded once more: more than a recording can be behind
TOLD = 12  # interlocks, the first ones to trip: all that an outcome has room for
_TICKS = 2.0  # that may be missing at least: those of a slow test take seconds
DIED = "the process of the loop has died"
STOOD = "no tick began for {:g} s"


def main() -> None:
    """Build, wait, and act if the loop is lost."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # the run ends it, nobody else
        signal.signal(number, signal.SIG_IGN)
    first = sys.stdin.readline()
    if not first:
        return
    told = json.loads(first)
    try:
        built = build(load_experiment(Path(told["file"]), told["overrides"]), allow_scripts=told["allow_scripts"])
    except HyloopError as error:
        print(" ".join(str(error).split()), flush=True)
        return
    _wind_down(built, ["t"], "step")  # compiled now
    second = sys.stdin.readline()
    if not second:
        return
    told |= json.loads(second)
    board = Board.open(Path(told["board"]), write=True)
    try:
        if built_digest(built, board.about["names"]) != told["digest"]:
            print("it has built another loop: the experiment, or a file that it names, has just changed", flush=True)
            return
        print(READY, flush=True)
        longest = max(built.experiment.safety.watchdog, _TICKS * board.about["tick"])
        lost = _watch(board["marks"], longest)
        if lost:
            _take_over(built, board, Path(told["recording"]), told["every"], lost)
    finally:
        board.remove()


def _watch(marks: np.ndarray, longest: float) -> str:
    """Wait until the run is over; why it is lost, or nothing if it is not."""
    ears, stood, last = select.poll(), 0, 0
    ears.register(sys.stdin.fileno(), select.POLLIN | select.POLLHUP)
    while True:
        closed = ears.poll(1e3 * longest / _LOOKS)
        tick = int(marks[TICK])
        if marks[ENDED] or (closed and tick == 0):  # nothing has moved yet
            if closed:
                return ""
            continue
        if closed:
            return DIED
        stood = stood + 1 if tick == last > 0 else 0
        last = tick
        if stood > _LOOKS:
            return STOOD.format(longest)


def _wind_down(built: Built, names: list[str], every: str) -> PacedRun:
    """The rigs from where they are to their safe state, on the clock."""
    loop, pacing = built.loop, pacing_of(built.experiment.pace)
    nothing = np.zeros((1, built.excitation.shape[1]))
    return PacedRun(loop, nothing, record=names, every=every, pacing=pacing, goes_on=True, why=LOST)


def _take_over(built: Built, board: Board, path: Path, every: str, lost: str) -> None:
    """Bring the rigs to their safe state, and record it beside the recording, with what was shortly before."""
    marks, rows, loop, about = board["marks"], board["rows"], built.loop, board.about
    dt, per_step, m = about["dt"], about["per_step"], loop.substeps
    marks[TAKEN] = 1  # a loop that was only held up moves nothing from here on
    loop._state.memory[:] = board["memory"]
    tick, shown = int(marks[TICK]), int(marks[ROWS])
    steps = -(-tick // m)  # the one that was under way counts: its time has passed
    loop._state.clock[STEP] = round(about["t0"] / loop.dt) + steps
    run, made = _wind_down(built, about["names"], every), steps * per_step
    known = max(shown, tick - 1) if per_step > 1 else shown  # rows; those of other ticks that step has as it was left
    rows[known:made] = run.first
    before = rows[max(made - round(BEFORE / dt), 0) : made]
    out, begin = watchdog_path(path), run.t0 - (len(before) - 1) * dt
    attributes: dict[str, Any] = {"recording": path.name, "fault": lost, "tick": tick, "lost at": run.t0}
    attributes |= run.rows(0, 0).attributes
    with Recorder(out, run.names, run.units, dt, attributes, t0=begin, overwrite=True) as recorder:
        recorder.write(before)
        try:
            for piece in run.pieces():
                recorder.write(piece.data)
                n = min(len(piece), len(rows) - made) if lost == DIED else 0  # others may be looking on
                rows[made : made + n] = piece.data[:n]
                made += n
                marks[ROWS] = made if n else marks[ROWS]
        except RunFailed as failure:  # what had failed before it was lost
            recorder.write(failure.result.data)
        log = loop.interlocks
        recorder.outcome["interlocks"] = log[:TOLD]
    marks[ENDED] = 1
    at = f"{path.name}: {lost} at t = {run.t0:.4g} s, tick {tick}"
    os.write(2, f"hyloop watchdog: {at}. {safe_text(log)} {out} has the way there.\n".encode())


if __name__ == "__main__":
    main()
