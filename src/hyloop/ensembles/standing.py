"""Workers that stay for many rounds of runs: to start them takes longer than a round."""

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from typing import Any

from hyloop.ensembles.engines import Engine

__all__ = ["standing"]


@contextmanager
def standing(engine: Engine) -> Iterator[Engine]:
    """The same engine, whose executor lives until the end of the block, or until one of its workers has died."""
    kept = _Standing(engine)
    try:
        yield kept
    except BaseException:
        kept.stop()
        raise
    kept.end()


class _Standing:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._pool: Executor | None = None

    @property
    def workers(self) -> int:
        return self._engine.workers

    @property
    def broken(self) -> tuple[type[BaseException], ...]:
        return self._engine.broken

    def executor(self) -> Executor:
        """The executor that is there, lent."""
        if self._pool is None:
            self._pool = self._engine.executor()
        return _Lent(self._pool)

    def stop(self, pool: Executor | None = None) -> None:
        """End the one that is there."""
        if self._pool is not None:
            self._engine.stop(self._pool)
            self._pool = None

    def end(self) -> None:
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None


class _Lent(Executor):
    """An executor whose end is not that of its workers."""

    def __init__(self, pool: Executor) -> None:
        self._pool = pool

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return self._pool.submit(fn, *args, **kwargs)
