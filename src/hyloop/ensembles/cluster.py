"""Runs on other machines: the workers of a Dask scheduler that is there, or jobs of SLURM that become such workers."""

import sys
import warnings
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, InvalidStateError
from contextlib import suppress
from functools import partial
from threading import Event, Thread
from time import monotonic
from types import TracebackType
from typing import Any, Self

from hyloop.ensembles.there import named_files, run_there, sender
from hyloop.ensembles.work import Batch, Done, work
from hyloop.errors import BadInput, HyloopError, HyloopWarning
from hyloop.files.cluster import Cluster
from hyloop.study.tasks import ONE_THREAD

__all__ = ["DaskCluster", "Slurm"]

ANSWER = 10.0  # s, how long a scheduler may take to answer
PATIENCE = 60.0  # s without any worker; a nanny needs five to start one anew
LOOK = 1.0  # s between looks at the workers


class WorkerLost(BrokenExecutor):
    """A worker or the scheduler went away with what it had."""


class _Elsewhere:
    """What both engines share: a client of a scheduler, made when it is needed, closed at the end of a ``with``."""

    broken: tuple[type[BaseException], ...] = (WorkerLost,)
    patience = PATIENCE

    def __init__(self) -> None:
        self._client: Any = None
        self._seen = 0

    @property
    def workers(self) -> int:
        """Processes that the scheduler had when it was last looked at."""
        return max(self._seen, 1)

    def look(self) -> dict[str, int]:
        """Threads of every worker by its address; none where the scheduler is gone."""
        try:
            found = dict(self._client.nthreads())
        except Exception:  # of any kind, also while the client closes: whoever waits for a run is told by its future
            return {}
        self._seen = len(found)
        return found

    def executor(self) -> Executor:
        """An executor of the cluster, once it has a worker."""
        if self._client is None or self._client.status != "running":
            self._leave()
            self._client = _checked(self._connect)
        self._wait()
        threads = max(self.look().values(), default=1)
        if threads > 1:
            said = f"workers have up to {threads} threads, of which runs use one: what a process keeps is shared."
            warnings.warn(f"{said} Start them with --nthreads 1 --nworkers N.", HyloopWarning, stacklevel=2)
        return _Pool(self)

    def stop(self, pool: Executor) -> None:
        """Take back what has not begun; what a worker is at goes on there until its batch ends."""
        pool.shutdown(wait=False, cancel_futures=True)

    def close(self) -> None:
        """Leave the cluster."""
        self._leave()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _connect(self) -> Any:
        raise NotImplementedError

    def _wait(self) -> None:
        raise NotImplementedError

    def _gone(self) -> str:
        """What to say when there is no worker for longer than patience lasts."""
        raise NotImplementedError

    def _leave(self) -> None:
        if self._client is not None:
            self._client.close(timeout=ANSWER)
            self._client = None


class DaskCluster(_Elsewhere):
    """Workers of a Dask scheduler that runs already, such as ``tcp://10.0.0.5:8786``.

    One run at a time in each of its processes: start them with ``--nthreads 1``.
    """

    def __init__(self, address: str) -> None:
        super().__init__()
        self.address = address
        _distributed()

    def _connect(self) -> Any:
        try:
            return _distributed().Client(self.address, timeout=ANSWER, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:  # which of them hangs on what is wrong with the address
            raise HyloopError(
                f"no Dask scheduler answers at {self.address} ({error or type(error).__name__}). Start one, as in "
                "`dask scheduler`; what has been run is kept, so give the same command again."
            ) from None

    def _wait(self) -> None:
        if not self.look():
            raise BadInput(self._gone())

    def _gone(self) -> str:
        start = f"dask worker {self.address} --nworkers 2 --nthreads 1"
        return f"the Dask scheduler at {self.address} has no workers. Start some: {start}; then give the command again."


class Slurm(_Elsewhere):
    """Jobs of SLURM, as the table `[cluster]` of an experiment file wants them; a job that ends is replaced."""

    patience = float("inf")  # jobs may stand in a queue

    def __init__(self, table: Cluster) -> None:
        super().__init__()
        self.table = table
        self._cluster: Any = None
        _distributed()

    def _connect(self) -> Any:
        if self._cluster is None:
            self._cluster = self._submit()
        return _distributed().Client(self._cluster, timeout=ANSWER, set_as_default=False)

    def _submit(self) -> Any:
        try:
            from dask_jobqueue.slurm import SLURMCluster
        except ImportError:
            raise BadInput(_MISSING) from None
        table = self.table
        threads = [f"export {name}={value}" for name, value in ONE_THREAD.items()]
        cluster = SLURMCluster(
            queue=table.partition,
            account=table.account,
            cores=table.cores,
            processes=table.cores,  # one thread each
            memory=table.memory,
            walltime=table.clock,
            interface=table.interface,
            python=table.python or sys.executable,
            job_script_prologue=[*threads, *table.setup],
            job_extra_directives=list(table.directives),
            worker_extra_args=["--lifetime", f"{table.lifetime:.0f}s"] if table.lifetime else [],
            scheduler_options={"dashboard_address": ":0"},
        )
        cluster.adapt(minimum_jobs=table.jobs, maximum_jobs=table.jobs)  # so that SLURM is asked anew for one that ends
        return cluster

    def _wait(self) -> None:
        self._client.wait_for_workers(1)

    def _gone(self) -> str:
        return "no job of SLURM runs."

    def close(self) -> None:
        """Leave, and end the jobs."""
        super().close()
        if self._cluster is not None:
            self._cluster.close()
            self._cluster = None


class _Pool(Executor):
    """Batches on the workers of a client: each is told who hands out, and what is lost comes back as `WorkerLost`."""

    def __init__(self, engine: _Elsewhere) -> None:
        self._engine, self._client = engine, engine._client
        self._inner = self._client.get_executor(pure=False)  # a batch that died once may live the second time
        self._sender = sender()
        self._given: set[Future[Done]] = set()
        self._over = Event()
        Thread(target=self._look, daemon=True).start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Hand out one batch of `work`."""
        if fn is not work or len(args) != 1 or not isinstance(args[0], Batch) or kwargs:
            raise BadInput("an executor of a cluster takes work(batch) alone.")
        outer: Future[Any] = Future()
        try:
            inner = self._inner.submit(run_there, self._sender, args[0], named_files(args[0]))
        except Exception as error:
            raise WorkerLost(str(error)) from error
        self._given.add(outer)
        inner.add_done_callback(partial(self._hand_on, outer))
        return outer

    def _hand_on(self, outer: Future[Done], inner: Future[Done]) -> None:
        """Give what a future of Dask has found to ours, in words."""
        error = CancelledError() if inner.cancelled() else inner.exception()
        with suppress(InvalidStateError):  # it was given up before
            if error is None:
                outer.set_result(inner.result())
            else:
                outer.set_exception(_translated(error))
        self._given.discard(outer)

    def _look(self) -> None:
        """Give up where no worker has been seen for long: Dask itself would wait for ever."""
        seen = monotonic()
        while not self._over.wait(LOOK):
            if self._client.status != "running" or self._engine.look():
                seen = monotonic()
            elif monotonic() - seen > self._engine.patience:
                for outer in [*self._given]:
                    with suppress(InvalidStateError):
                        outer.set_exception(HyloopError(f"all workers are gone: {self._engine._gone()}"))
                return

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Wait for what is under way, or take it back."""
        self._over.set()
        if self._client.status == "running":
            self._inner.shutdown(wait=wait)


def _translated(error: BaseException) -> BaseException:
    """An error of Dask as one that the hand-out knows."""
    if isinstance(error, (HyloopError, MemoryError)):
        return error
    name = type(error).__name__
    if isinstance(error, (ImportError, AttributeError)):
        return BadInput(f"a worker has no hyloop, or another one ({error}). Install there what is installed here.")
    lost = isinstance(error, (CancelledError, OSError)) or name in (
        "KilledWorker",
        "ClientClosed",
        "FutureCancelledError",
    )
    return WorkerLost(str(error)) if lost else error


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise BadInput(_MISSING) from None
    return distributed


def _checked(connect: Callable[[], Any]) -> Any:
    """Connect; versions of Dask that differ between machines are refused, where Dask itself warns."""
    from distributed.versions import VersionMismatchWarning

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        client = connect()
    for one in said:
        if issubclass(one.category, VersionMismatchWarning):
            client.close(timeout=ANSWER)
            table = " ".join(str(one.message).split())
            raise BadInput(f"scheduler, workers and this machine have other versions: {table}. Install the same.")
    return client


_MISSING = "runs on a cluster need Dask: pip install 'hyloop[cluster]'."
