"""Sweeps of small runs: what a run costs beside its own time, and two workers against one."""

from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, perf_counter_ns
from typing import Any

import numpy as np

from hyloop.ensembles import Campaign, Plan, Row
from hyloop.ensembles.engines import LocalProcesses
from hyloop.ensembles.measures import measured_channels
from hyloop.files.load import load_experiment
from hyloop.study.build import build

__all__ = ["sweep"]

FILE = Path(__file__).parents[1] / "experiments" / "friction_frame.toml"
COUNT, ALONE = 500, 200


def sweep(count: int = COUNT) -> dict[str, Any]:
    """A sweep of 500 runs (30 s of a six-story frame at 1024 Hz, six dampers), two workers; the peer is one worker.

    The times are seconds of a whole sweep, from the first batch to the last row, start of processes included. Further
    entries: ``overhead_ms``, wall time of a run with one worker less the median time of the compiled run alone with the
    same channels, without and ``overhead_with_start_ms`` with the start of the process; ``equal``, whether the rows of
    both are the same to the bit; ``ratio_after_start`` leaves the start of the processes out.
    """
    runs = [(f"sites.damper2.device.vs={10.0 + 0.1 * k!r} mm/s",) for k in range(count)]
    plan = Plan(FILE)
    with TemporaryDirectory() as folder:
        _swept(plan, Path(folder) / "warm", 2, runs[:4])
        two, rows_of_two, each_of_two = _swept(plan, Path(folder) / "two", 2, runs)
        one, rows_of_one, after_start = _swept(plan, Path(folder) / "one", 1, runs)
    alone = _alone(runs[: min(ALONE, count)])
    return {
        "name": f"sweep of {count} runs, two workers",
        "median": two,
        "p99": two,
        "p999": two,
        "unit": "s",
        "peers": {"one worker": {"median": one, "ratio": one / two}},
        "ratio_after_start": after_start / each_of_two,
        "alone_ms": 1e3 * alone,
        "overhead_ms": 1e3 * (after_start - alone),
        "overhead_with_start_ms": 1e3 * (one / count - alone),
        "equal": rows_of_one == rows_of_two,
    }


def _swept(plan: Plan, folder: Path, workers: int, runs: list[tuple[str, ...]]) -> tuple[float, list[Row], float]:
    """Time of a sweep, its rows, and the time of a run after the first ones have come back."""
    came: list[tuple[float, int]] = []
    with Campaign.opened(plan, folder, LocalProcesses(workers)) as campaign:
        begin = perf_counter()
        rows = campaign.run(runs, lambda done, of, each: came.append((perf_counter(), done)))
        whole = perf_counter() - begin
    (first, before), (last, after) = next(one for one in came if one[1]), came[-1]
    return whole, rows, (last - first) / max(after - before, 1)


def _alone(runs: list[tuple[str, ...]]) -> float:
    """Median time of the run itself, in s: compiled, with the channels that are measured, not built again."""
    times = []
    for run in runs[:: max(len(runs) // 10, 1)]:
        built = build(load_experiment(FILE, run))
        with TemporaryDirectory() as folder:
            channels, derived = measured_channels(built, Campaign(Plan(FILE), Path(folder)).measures)
        for _ in range(5):
            begin = perf_counter_ns()
            built.loop.run(built.excitation, record=channels, every=built.experiment.recording.every, derived=derived)
            times.append(1e-9 * (perf_counter_ns() - begin))
    return float(np.median(times))
