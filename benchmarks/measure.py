"""How times are taken: interleaved repeats in one process, medians and tails."""

from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

import numpy as np

__all__ = ["interleaved", "report"]


def interleaved(jobs: dict[str, Callable[[], Any]], repeats: int, per_call: int = 1) -> dict[str, np.ndarray]:
    """Seconds per unit of work of every job, taken in turns so that a busy machine disturbs all alike.

    A job may return its own times in seconds; otherwise the call is timed and divided by `per_call`.
    """
    times: dict[str, list] = {name: [] for name in jobs}
    for job in jobs.values():
        job()  # compile, fill caches
    for _ in range(repeats):
        for name, job in jobs.items():
            begin = perf_counter_ns()
            own = job()
            elapsed = (perf_counter_ns() - begin) * 1e-9
            times[name].extend(own if isinstance(own, np.ndarray) else [elapsed / per_call])
    return {name: np.array(values) for name, values in times.items()}


def report(name: str, times: dict[str, np.ndarray], unit: str = "us") -> dict[str, Any]:
    """Medians, tails and ratios (peer/ours) of one benchmark; the first entry of `times` is ours."""
    scale = {"us": 1e6, "ms": 1e3, "s": 1.0}[unit]
    ours, *peers = times
    own = times[ours] * scale
    return {
        "name": name,
        "median": float(np.median(own)),
        "p99": float(np.quantile(own, 0.99)),
        "p999": float(np.quantile(own, 0.999)),
        "unit": unit,
        "peers": {
            peer: {
                "median": float(np.median(times[peer]) * scale),
                "ratio": float(np.median(times[peer]) * scale / np.median(own)),
            }
            for peer in peers
        },
    }
