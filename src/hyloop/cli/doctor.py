"""What a machine offers to a real-time test, and what to do about it."""

import os
import time
from collections.abc import Callable

import numpy as np

from hyloop.cli.wake_ups import Finding, spoilers, wake_ups
from hyloop.loop.realtime import lock_memory, unlock_memory
from hyloop.report.provenance import versions

__all__ = ["Finding", "examine"]


def examine() -> list[Finding]:
    """Look at cores, threads, clock, real-time permissions, data and versions."""
    checks: list[Callable[[], Finding]] = [_cores, _blas, _clock, _priority, _locked_memory, _data, _cache]
    found = [*(check() for check in checks), *wake_ups(), *spoilers()]
    return found + [Finding(f"version of {name}", number, "") for name, number in versions().items()]


def _cores() -> Finding:
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    advice = "" if count >= 4 else "a live test wants a core for the loop and others for the rest"
    return Finding("cores", str(count), advice)


def _blas() -> Finding:
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    given = {name: os.environ[name] for name in names if name in os.environ}
    said = ", ".join(f"{k}={v}" for k, v in given.items()) or "not limited"
    advice = (
        "" if "1" in given.values() else "set OMP_NUM_THREADS=1 for live steps of your own, so that no thread competes"
    )
    return Finding("BLAS threads", f"{said}; `run --paced` takes one", advice)


def _clock() -> Finding:
    readings = np.diff([time.perf_counter_ns() for _ in range(2000)])
    step = int(np.min(readings[readings > 0])) if np.any(readings > 0) else 0
    return Finding(
        "clock",
        f"{time.get_clock_info('perf_counter').implementation}, smallest step {step} ns",
        "" if step < 1000 else "too coarse for a live test",
    )


def _priority() -> Finding:
    if not hasattr(os, "sched_setscheduler"):
        return Finding("real-time priority", "not offered by this system", "use Linux for a live test")
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
        os.sched_setscheduler(0, *before)
        return Finding("real-time priority", "allowed", "")
    except PermissionError:
        return Finding("real-time priority", "not allowed", "give the user an rtprio limit in limits.conf")


def _locked_memory() -> Finding:
    try:
        import resource
    except ImportError:
        return Finding("locked memory", "not offered by this system", "use Linux for a live test")
    limit = resource.getrlimit(resource.RLIMIT_MEMLOCK)[0]
    shown = "limit: none" if limit == resource.RLIM_INFINITY else f"limit: {limit / 2**20:.0f} MiB"
    refused = lock_memory()
    unlock_memory()
    return Finding("locked memory", f"{'refused' if refused else 'allowed'}, {shown}", "; ".join(refused))


def _data() -> Finding:
    from hyloop.data import data_folder

    folder = data_folder()
    advice = "" if folder else "set HYLOOP_DATA to use real records; synthetic motions are used otherwise"
    return Finding("data folder", str(folder) if folder else "none", advice)


def _cache() -> Finding:
    from hyloop.core.cache import FOLDER

    advice = "" if FOLDER else "every start compiles again; set HYLOOP_CACHE to a folder that can be written to"
    return Finding("compiled code", str(FOLDER or "not kept"), advice)
