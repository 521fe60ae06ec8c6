"""The whole hybrid test of the forty-story tower: frame, filter, twelve dampers, ATS, actuator, specimen and sensor.

The experiment is `studies/alsubaihawi2024/earthquake.toml`, shaken so that braces yield. Live steps of 1/1024 s are
timed one by one, from Python, with the condensed tower (1436 degrees of freedom) and with all 4020, and steps of
11/1024 s with eleven controller ticks each, as in the paper. Goals for a tick of 1/1024 s: a median below 0.3 ms
condensed and below 0.5 ms uncondensed.
"""

from pathlib import Path
from time import perf_counter_ns
from typing import Any

import numpy as np

from benchmarks.measure import interleaved, report
from hyloop.files.load import load_experiment
from hyloop.study.build import Built, build

__all__ = ["tower_loop"]

FILE = Path(__file__).resolve().parents[1] / "studies" / "alsubaihawi2024" / "earthquake.toml"
TICK = ("integrator.dt=1/1024 s", "integrator.substeps=1")
PAPER = ("integrator.dt=11/1024 s", "integrator.substeps=11")
WHOLE = 'structure.condense=["*"]'  # every degree of freedom is kept
SKIP, STEPS, REPEATS = 8.0, 3000, 7  # s of the record before the shaking is strong; live steps, and times they are made


def tower_loop() -> dict[str, Any]:
    """One tick of 1/1024 s of the condensed tower; uncondensed, and a step of 11 ticks, beside it."""
    tests = {
        "condensed": build(load_experiment(FILE, TICK)),
        "uncondensed": build(load_experiment(FILE, [*TICK, WHOLE])),
        "condensed, 11/1024 s": build(load_experiment(FILE, PAPER)),
    }
    jobs: dict[str, Any] = {name: (lambda built=built: _steps(built)) for name, built in tests.items()}
    return report("tower-loop", interleaved(jobs, repeats=REPEATS))


def _steps(built: Built) -> np.ndarray:
    """Seconds of single live steps, in the strong part of the shaking."""
    loop, rows = built.loop, np.ascontiguousarray(built.excitation[round(SKIP / built.loop.dt) :])
    loop.start(np.zeros(rows.shape[1]))
    times = np.empty(min(STEPS, len(rows)))
    for k in range(len(times)):
        begin = perf_counter_ns()
        loop.step(rows[k])
        times[k] = perf_counter_ns() - begin
    return times * 1e-9
