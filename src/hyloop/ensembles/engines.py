"""Where runs are run. An engine makes executors of `concurrent.futures`; one that broke is replaced by a new one."""

import multiprocessing
import os
import signal
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor
from threading import Thread
from typing import Protocol

from hyloop.errors import OutOfBounds
from hyloop.study.tasks import one_thread

__all__ = ["Engine", "LocalProcesses"]


class Engine(Protocol):
    """Makes executors, and says what shows that one of their workers has died."""

    @property
    def workers(self) -> int:
        """How many runs go at the same time; of a cluster it may change."""
        ...

    @property
    def broken(self) -> tuple[type[BaseException], ...]:
        """Errors that say so."""
        ...

    def executor(self) -> Executor:
        """A new executor, whose `submit` takes functions of modules and plain arguments."""
        ...

    def stop(self, pool: Executor) -> None:
        """End an executor at once, with what it works on."""
        ...


class LocalProcesses:
    """Processes of this machine, one on every core unless `workers` says otherwise."""

    broken: tuple[type[BaseException], ...] = (BrokenExecutor,)

    def __init__(self, workers: int | None = None) -> None:
        if workers is not None and workers < 1:
            raise OutOfBounds(f"workers = {workers!r} must be at least 1.")
        self.workers = workers or os.cpu_count() or 1

    def executor(self) -> Executor:
        """A pool of new processes, with one thread each."""
        with one_thread():
            pool = ProcessPoolExecutor(self.workers, multiprocessing.get_context("spawn"), _begin)
            for _ in range(self.workers):  # all start now, while the surroundings say one thread
                pool.submit(_nothing)
        return pool

    def stop(self, pool: Executor) -> None:
        """End the processes; nobody wants to wait for the runs under way."""
        processes = list((getattr(pool, "_processes", None) or {}).values())
        pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()


def _begin() -> None:
    """Import what runs before the first batch comes. An interrupt is for the process that hands out."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_follow, daemon=True).start()
    import hyloop.ensembles.work  # noqa: F401


def _follow() -> None:
    """End with the process that hands out: nobody would read what is found after it was killed."""
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        os._exit(1)


def _nothing() -> None:
    """A first task, for which a process has to be there."""
