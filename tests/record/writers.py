"""Processes that record, to be read or killed from outside; run as a script so that a test can start them.

``python writers.py kill FOLDER SEED COUNT`` starts COUNT recorders at the pace of a real test and kills each with
SIGKILL at a random moment; ``python writers.py kill-anywhere ...`` kills processes that make, fill and close files in
quick succession. Both print what each process had written, as JSON. ``python writers.py live FILE SECONDS`` records.
"""

import json
import mmap
import os
import random
import signal
import sys
import time
from pathlib import Path

import numpy as np

from hyloop.record import Recorder

RATE, CHANNELS, AT_ONCE = 1024, 16, 10
NAMES, UNITS = [f"channel{i}" for i in range(CHANNELS)], ["N"] * CHANNELS


def rows(first: int, n: int) -> np.ndarray:
    """Rows that tell their own number."""
    return np.arange(first, first + n)[:, None] + np.arange(CHANNELS) / CHANNELS


def record(path: Path, seconds: float, written=lambda count: None) -> None:
    """One row every 1/1024 s; a late row is made up for."""
    with Recorder(path, NAMES, UNITS, 1 / RATE) as recorder:
        begin = time.perf_counter()
        for k in range(int(seconds * RATE)):
            time.sleep(max(0.0, begin + k / RATE - time.perf_counter()))
            recorder.write(rows(k, 1))
            written(k + 1)


def many(folder: Path, written) -> None:
    """Files of a few rows, one after the other."""
    for k in range(10_000):
        with Recorder(folder / f"{k}.h5", NAMES, UNITS, 1 / RATE, flush_every=0.001) as recorder:
            recorder.write(rows(0, 50))
        written(k + 1)


def killed(folder: Path, seed: int, count: int, anywhere: bool) -> list[dict]:
    rng, report = random.Random(seed), []
    while len(report) < count:
        batch = [_fork(folder / str(len(report) + i), anywhere) for i in range(min(AT_ONCE, count - len(report)))]
        moments = sorted((time.perf_counter() + rng.uniform(0.0, 1.5), one) for one in batch)
        for moment, (pid, counter, where) in moments:
            while time.perf_counter() < moment or counter[:] == bytes(8):  # it must have begun
                time.sleep(0.001)
            os.kill(pid, signal.SIGKILL)
            _, status = os.waitpid(pid, 0)
            report.append({"folder": str(where), "written": int.from_bytes(counter[:], "little"), "status": status})
    return report


def _fork(folder: Path, anywhere: bool) -> tuple[int, mmap.mmap, Path]:
    """A process whose count of rows (or files) is read through shared memory, so that it survives the kill."""
    folder.mkdir()
    counter = mmap.mmap(-1, 8)

    def written(n: int) -> None:
        counter[:] = n.to_bytes(8, "little")

    pid = os.fork()
    if pid == 0:
        if anywhere:
            many(folder, written)
        else:
            record(folder / "run.h5", 30.0, written)
        os._exit(0)
    return pid, counter, folder


if __name__ == "__main__":
    command, place, *numbers = sys.argv[1:]
    if command == "live":
        record(Path(place), float(numbers[0]))
    else:
        print(json.dumps(killed(Path(place), int(numbers[0]), int(numbers[1]), command == "kill-anywhere")))
