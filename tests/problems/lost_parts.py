"""Parts of a run on the clock that are lost: a disk, a writer, a process, time itself; and what becomes of its rig.

Each is tried in a process of its own, which runs `experiments/guarded_frame.toml` for some seconds with every tick
recorded: ``python -m problems.lost_parts`` prints the table.
"""

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hyloop.errors import HyloopError, RunFailed
from hyloop.files.load import load_experiment
from hyloop.live import PageServer
from hyloop.record import Recording
from hyloop.study import recorded
from hyloop.study.build import build
from hyloop.study.run import Manner, record_built
from hyloop.study.watchdog import Watchdog, watchdog_path

ROOT = Path(__file__).parents[2]
FILE = ROOT / "experiments" / "guarded_frame.toml"
RATE, RAMP = 0.3, 0.02  # m/s, of the file
CHANGES = ("integrator.substeps=4", "excitation.duration=6s", "recording.every=tick")
LONG = 300.0  # s, on a machine that is doing other things
MOST = 2_000_000  # bytes that the full disk takes
TICK = 1 / 1024  # s, with the changes
AWAY = 0.5  # s for which the process stands still


class Part(NamedTuple):
    """What is lost, who notices, the state that is reached, and the reason of the run's end; empty: it goes on."""

    name: str
    noticed: str
    state: str
    reason: str = ""
    changes: tuple[str, ...] = ()


PARTS = [
    Part("disk full", "writing of the recording", "zero displacement", "not recorded"),
    Part("writer lost: its file takes nothing more", "writing of the recording", "zero displacement", "not recorded"),
    Part("loop killed (-9)", "watchdog, by a closed pipe", "zero displacement", "the process of the loop has died"),
    Part("loop stands still", "watchdog, by its ticks", "zero displacement", "taken over", ("safety.watchdog=0.3s",)),
    Part("clock jumps: time is lost", "late tick, overrun = stop", "zero displacement", "overrun",
         ("pace.overrun=stop", "safety.watchdog=5s")),
    Part("clock jumps, overrun = go on", "late ticks are made up for", "the run goes on", "", ("safety.watchdog=5s",)),
    Part("watchdog killed (-9)", "loop, said once", "the run goes on"),
    Part("page server killed (-9)", "its launcher, which starts it again", "the run goes on"),
]  # fmt: skip


class Outcome(NamedTuple):
    """What has happened, as the process says it (or the watchdog, where that one is lost)."""

    reason: str
    state: str
    waited: int  # ticks from the one that was noticed in to the first in which the command goes to the safe state
    fastest: float  # largest change of the command in a tick over that allowed, in all rows there are
    fastest_down: float  # likewise on the way to the safe state
    readable: int  # rows of the recording


def tried(part: Part, folder: Path) -> Outcome:
    """Run in a process of its own, lose the part, and look at what is there."""
    words = [sys.executable, "-m", "problems.lost_parts", part.name, str(folder)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "tests"), *sys.path])}
    pipe = subprocess.PIPE
    child = subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True, env=environment, cwd=ROOT)
    assert child.stdout and child.stderr
    while "going" not in (line := child.stdout.readline()):
        assert line, child.stderr.read()
    if part.name.startswith(("clock", "loop stands")):
        child.send_signal(signal.SIGSTOP)
        if part.name.startswith("clock"):
            time.sleep(AWAY)
        else:
            while "hyloop watchdog" not in (line := child.stderr.readline()):
                assert line, "the watchdog has said nothing"
        child.send_signal(signal.SIGCONT)
    if part.name.startswith("loop killed"):
        child.kill()
    out, said = child.communicate(timeout=LONG)  # the other end of the pipes is the watchdog's too
    assert "Traceback" not in said, said
    rows = len(Recording.load(folder / "run.h5"))
    after = watchdog_path(folder / "run.h5")
    if after.is_file():
        recording = Recording.load(after)
        (log,) = recording.attributes["interlocks"]
        main = Recording.load(folder / "run.h5").attributes.get("reason", recording.attributes["fault"])
        first = int(np.rint((recording.attributes["lost at"] - recording.time[0]) / TICK))
        return Outcome(main, *_way(recording["damper1.interlock.d"], log, max(first, 0)), rows)
    told = json.loads(out.splitlines()[-1])
    return Outcome(*told, rows)


def _way(command, log, first):
    """State, ticks until the ramp, and rates, of the command in every tick; it has tripped behind row `first`."""
    if log is None:
        return "the run goes on", 0, float(np.abs(np.diff(command)).max() / (RATE * TICK)), 0.0
    down = command[first:]
    goes = [after == before - np.clip(before, -RAMP * TICK, RAMP * TICK) for before, after in pairwise(down)]
    waited = goes.index(True) if True in goes else -1
    state = log["safe_state"] if log["reached"] else "not reached"
    fastest = float(np.abs(np.diff(command)).max() / (RATE * TICK))
    return state, waited, fastest, float(np.abs(np.diff(down[waited:])).max() / (RAMP * TICK))


def lose(part: Part, folder: Path) -> None:
    """What the process does: run, lose the part if that is its own doing, and print the outcome."""
    clocks, keep = [], recorded.clock_of
    recorded.clock_of = lambda *args, **kept: clocks.append(keep(*args, **kept)) or clocks[-1]
    changes, path, reason = (*CHANGES, *part.changes), folder / "run.h5", ""
    built = build(load_experiment(FILE, list(changes)))
    with Watchdog(FILE, changes, False) as dog:
        losing = _Losing(part.name, dog, path)
        manner = Manner(paced=True, keep_every=None, progress=losing.come, show=losing.show, dog=dog)
        try:
            record_built(built, path, FILE, changes, manner)
        except RunFailed as failure:
            reason = failure.reason
        except HyloopError as error:
            # room that cannot be reserved, or rows that cannot be written, whichever comes first
            known = "no room for more" in str(error) or "writing the recording failed" in str(error)
            reason = "not recorded" if known else str(error)
    (clock,) = clocks
    log = next(iter(built.loop.interlocks), None)
    column = clock.names.index("damper1.interlock.d")
    command = clock._rows[: clock.done, column]  # what the disk did not take is here
    print(json.dumps([reason, *_way(command, log, log["tick"] - 2 if log else 0)]))


class _Losing:
    """Loses the part when the run has come so far."""

    def __init__(self, name: str, dog: Watchdog, path: Path) -> None:
        self._name, self._dog, self._path, self._told = name, dog, path, False

    def come(self, part: float) -> None:
        if self._told or part < 0.2:
            return
        self._told = True
        print("going", flush=True)
        if self._name.startswith("disk"):
            resource.setrlimit(resource.RLIMIT_FSIZE, (MOST, MOST))
        if self._name.startswith("writer"):
            _nothing_more(self._path)
        if self._name.startswith("watchdog"):
            os.kill(self._dog.process, signal.SIGKILL)

    @contextmanager
    def show(self, board, recording):
        if not self._name.startswith("page"):
            yield
            return
        with PageServer() as server:
            server.start("board", board.path)
            killing = threading.Timer(1.5, lambda: [os.kill(pid, signal.SIGKILL) for pid in _servers()])
            killing.start()
            yield
            killing.join()


def _nothing_more(path: Path) -> None:
    """Put a handle that can only be read in the place of the one with which the recording is written."""
    for handle in Path("/proc/self/fd").iterdir():
        if handle.exists() and handle.resolve() == path.resolve():
            os.dup2(os.open(path, os.O_RDONLY), int(handle.name))


def _servers() -> list[int]:
    listed = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True).stdout
    parts = [line.split(maxsplit=2) for line in listed.splitlines()[1:]]
    return [int(pid) for pid, parent, args in parts if int(parent) == os.getpid() and "hyloop.live" in args]


COLUMNS = (
    "lost",
    "noticed by",
    "state reached",
    "ticks until the ramp",
    "largest rate over the limit",
    "rows readable",
)


def rows() -> list[tuple[str, ...]]:
    """The table, one row for each part."""
    found = []
    for part in PARTS:
        with tempfile.TemporaryDirectory() as folder:
            got = tried(part, Path(folder))
        found.append(
            (part.name, part.noticed, got.state, str(got.waited), f"{got.fastest:.3f}", "yes" if got.readable else "no")
        )
    return found


if __name__ == "__main__":
    if len(sys.argv) > 1:
        lose(next(part for part in PARTS if part.name == sys.argv[1]), Path(sys.argv[2]))
    else:
        for row in (COLUMNS, ["---"] * len(COLUMNS), *rows()):
            print(f"| {' | '.join(row)} |")
