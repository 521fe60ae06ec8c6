"""What recording costs a loop that runs live at 1024 Hz."""

from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter_ns, sleep
from typing import Any

import numpy as np

from benchmarks.measure import interleaved, report
from hyloop import Loop, Site, shear_frame
from hyloop.devices import bouc_wen
from hyloop.integrators import newmark_explicit
from hyloop.record import Recorder

__all__ = ["recording"]

RATE, CHANNELS, STORIES, SECONDS = 1024, 64, 20, 1.25
_SPIN = 200_000  # ns; a sleep ends late by less than this, the rest is waited for in a loop


def recording() -> dict[str, Any]:
    """Twenty stories live at 1024 Hz, 64 channels recorded at every tick, beside the same without a recorder.

    The times are those of the loop thread, from the moment a tick is due to the end of its work: the step, and with a
    recorder also reading the channels and handing them over. Further entries, in us: ``added``, what recording adds to
    the median tick, and ``write``, the median of `Recorder.write` alone; ``share`` and ``write_share`` are these as
    fractions of the 1/1024 s. ``overruns`` is the share of ticks that were not done when the next was due, with and
    without a recorder: a thread that waits for another, or for the operating system, shows there and not in a median.
    """
    loop = _loop()
    names = list(loop.channels)[:CHANNELS]
    units, read = [loop.channels[name] for name in names], loop.reader(names)
    writes: list[int] = []
    motion = np.random.default_rng(1).normal(size=(int(SECONDS * RATE), 1))

    with TemporaryDirectory() as folder:
        path = Path(folder) / "run.h5"

        def without() -> np.ndarray:
            return _live(loop, motion, lambda: None)

        def recorded() -> np.ndarray:
            def record() -> None:
                row = read()
                begin = perf_counter_ns()
                recorder.write(row)
                writes.append(perf_counter_ns() - begin)

            with Recorder(path, names, units, 1 / RATE, overwrite=True) as recorder:
                return _live(loop, motion, record)

        times = interleaved({"hyloop, recorded": recorded, "not recorded": without}, repeats=3)
    ours, bare = times.values()
    added, write = float(np.median(ours) - np.median(bare)), float(np.median(writes)) * 1e-9
    extra = {
        "added": added * 1e6,
        "share": added * RATE,
        "write": write * 1e6,
        "write_share": write * RATE,
        "overruns": {name: float(np.mean(values > 1 / RATE)) for name, values in times.items()},
    }
    return report("recording", times) | extra


def _loop() -> Loop:
    frame = shear_frame([1e4] * STORIES, [2e7] * STORIES)
    brace = bouc_wen(k=2e7, d_y=3e-3)
    return Loop(frame, [Site("brace", frame.story(1), brace)], method=newmark_explicit(), dt=1 / RATE)


def _live(loop: Loop, motion: np.ndarray, record: Any) -> np.ndarray:
    """Seconds of every tick, from the moment it is due to the end of its work."""
    period, times = 1_000_000_000 // RATE, np.empty(len(motion) - 1)
    loop.start(motion[0])
    due = perf_counter_ns()
    for i in range(1, len(motion)):
        due += period
        sleep(max(0, due - perf_counter_ns() - _SPIN) * 1e-9)
        while perf_counter_ns() < due:
            pass
        loop.step(motion[i])
        record()
        times[i - 1] = perf_counter_ns() - due
    return times * 1e-9
