"""An engine whose workers stay from one call to the next: an analysis in rounds starts and imports them once."""

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from typing import Any

from hyloop.ensembles.engines import Engine

__all__ = ["lasting"]


class _Lent(Executor):
    """A pool that whoever has it cannot shut down."""

    def __init__(self, pool: Executor) -> None:
        self._pool = pool

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return self._pool.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Nothing: it ends with the engine."""


class _Lasting:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._pool: Executor | None = None
        self.workers, self.broken = engine.workers, engine.broken

    def executor(self) -> Executor:
        if self._pool is None:
            self._pool = self._engine.executor()
        return _Lent(self._pool)

    def stop(self, pool: Executor | None = None) -> None:
        """End the workers; the next call starts new ones."""
        if self._pool is not None:
            self._engine.stop(self._pool)
            self._pool = None

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown()


@contextmanager
def lasting(engine: Engine) -> Iterator[Engine]:
    """The same engine, with one executor for all that is done within."""
    kept = _Lasting(engine)
    try:
        yield kept
    except BaseException:
        kept.stop()
        raise
    kept.close()
