"""Independent runs over all cores."""

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from hyloop.errors import OutOfBounds
from hyloop.loop.loop import Loop
from hyloop.record import Recording

__all__ = ["run_ensemble"]


def run_ensemble(
    jobs: Iterable[tuple[Loop, Any]],
    *,
    workers: int | None = None,
    record: Sequence[str] = ("*",),
    every: str = "step",
    on_fault: str = "stop",
) -> list[Recording]:
    """Run many (loop, excitation) pairs on all cores; results come in the order of the jobs.

    Each job needs a loop of its own (`Loop.copy` is cheap). Compiled runs hold no lock, so threads suffice and
    nothing is copied between processes. By default a failed run is returned as far as it came.
    """
    if workers is not None and workers < 1:
        raise OutOfBounds(f"workers = {workers!r} must be at least 1.")
    pairs = list(jobs)
    if len({id(loop) for loop, _ in pairs}) != len(pairs):
        raise OutOfBounds("every job of an ensemble needs a loop of its own; make them with loop.copy().")
    with ThreadPoolExecutor(workers or os.cpu_count()) as pool:
        futures = [pool.submit(loop.run, e, record=record, every=every, on_fault=on_fault) for loop, e in pairs]
        return [future.result() for future in futures]
