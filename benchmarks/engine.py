"""Speed of the engine: a compiled tick, a live step, and the start of a second process."""

import subprocess
import sys
from pathlib import Path
from time import perf_counter_ns
from typing import Any

import numpy as np

from benchmarks import frame8
from benchmarks.measure import interleaved, report

__all__ = ["live", "start", "tick"]


def tick() -> dict[str, Any]:
    """Eight stories, one Bouc-Wen brace, explicit Newmark: one step of a compiled run, beside OpenSees."""
    loop, motion = frame8.loop(), frame8.ground()
    jobs: dict[str, Any] = {"hyloop": lambda: loop.run(motion, record=["brace.f", "u.8"])}
    ops = frame8.opensees()
    if ops:
        # a diagonal or banded solver is the kindest choice for eight degrees of freedom
        jobs |= {f"OpenSees {system}": frame8.opensees_job(ops, system) for system in ("BandGeneral", "ProfileSPD")}
    return report("tick", interleaved(jobs, repeats=41, per_call=frame8.STEPS))


def live() -> dict[str, Any]:
    """The same model, one step at a time from Python."""
    loop, rows = frame8.loop(), frame8.ground()[:, None]

    def job() -> np.ndarray:
        loop.start(rows[0])
        times = np.empty(len(rows) - 1)
        for i in range(1, len(rows)):
            begin = perf_counter_ns()
            loop.step(rows[i])
            times[i - 1] = perf_counter_ns() - begin
        return times * 1e-9

    return report("live", interleaved({"hyloop": job}, repeats=11))


def start() -> dict[str, Any]:
    """A second process, from the launch of Python to the end of a short run: everything compiled comes from disk."""
    script = "from benchmarks import frame8\nframe8.loop().run(frame8.ground()[:100])\n"

    root = Path(__file__).parents[1]

    def job() -> None:
        subprocess.run([sys.executable, "-c", script], check=True, cwd=root)

    def bare() -> None:
        subprocess.run([sys.executable, "-c", "import numba"], check=True, cwd=root)

    return report("start", interleaved({"hyloop": job, "import numba alone": bare}, repeats=7), unit="s")
