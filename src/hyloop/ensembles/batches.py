"""Runs handed out in batches that take a second or two, and taken back; what a dead worker had is handed out again."""

from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait

from hyloop.ensembles.engines import Engine
from hyloop.ensembles.outcome import Row
from hyloop.ensembles.work import Batch, Done, work
from hyloop.errors import HyloopError

__all__ = ["hand_out"]

AHEAD = 2  # batches for each worker, so that none waits for the next one
LONG = 1.5  # s, what a batch shall take
MOST = 2000  # runs in a batch
CAREFUL = 8  # runs in a batch of those with which a worker has died
LIVES = 3  # how often workers may die over a run; before the last time it is tried alone

Runs = tuple[tuple[str, tuple[str, ...]], ...]  # identity and overrides


def hand_out(engine: Engine, whole: Batch, done: Callable[[list[Row], float], None]) -> None:
    """Run all of a batch on an engine, in smaller ones.

    Parameters
    ----------
    done : callable
        Called for each, in the order in which they end and in the thread of the caller: its rows, and how long a run
        took in s.
    """
    desk = _Desk(engine, whole, done)
    while desk.open:
        before, pool = len(desk.open), engine.executor()
        try:
            desk.serve(pool)
        except BaseException:
            engine.stop(pool)
            raise
        if desk.open:
            engine.stop(pool)
            desk.fruitless = 0 if len(desk.open) < before else desk.fruitless + 1
            if desk.fruitless > LIVES * (AHEAD * engine.workers + 1):
                raise HyloopError(
                    "workers die before they have run anything. Check memory and limits of the machine; a script of "
                    "your own needs `if __name__ == '__main__':` around what it does."
                )
        else:
            pool.shutdown()


class _Desk:
    """What is still to do, and what died with whom."""

    def __init__(self, engine: Engine, whole: Batch, done: Callable[[list[Row], float], None]) -> None:
        self.engine, self.whole, self.done = engine, whole, done
        self.open = deque(whole.runs)
        self.deaths: Counter[str] = Counter()
        self.each = 0.0  # s, what a run takes at present
        self.fruitless = 0  # pools that broke, one after the other, without a result

    def serve(self, pool: Executor) -> None:
        """Hand out and take back until all is done or a worker has died; what it had is open again."""
        given: dict[Future[Done], Runs] = {}
        broken = False
        while given or (self.open and not broken):
            while self.open and not broken and len(given) < AHEAD * self.engine.workers:
                runs = self._next(alone=not given)
                if not runs:
                    break
                try:
                    given[pool.submit(work, self.whole._replace(runs=runs))] = runs
                except self.engine.broken:
                    self.open.extendleft(reversed(runs))
                    broken = True
            ended = wait(given, return_when=FIRST_COMPLETED).done
            for future in [one for one in given if one in ended]:
                runs = given.pop(future)
                try:
                    found = future.result()
                except self.engine.broken:
                    broken = True
                    self._died(runs)
                else:
                    self.each = found.seconds / len(runs)
                    self.done(found.rows, self.each)

    def _next(self, alone: bool) -> Runs:
        """The next runs: one until it is known how long it takes, few at the end so that all workers end together.

        Runs that were under way when a worker died are handed out a few at a time, those it happened to twice singly
        and with nothing beside them: so the one that kills workers is found, and none is blamed for what others did.
        """
        size = 1
        if self.each:
            size = max(1, min(round(LONG / self.each), -(-len(self.open) // (AHEAD * self.engine.workers)), MOST))
        deaths = self.deaths[self.open[0][0]]
        if deaths >= LIVES - 1:
            return (self.open.popleft(),) if alone else ()
        size = min(size, CAREFUL) if deaths else size
        found: list[tuple[str, tuple[str, ...]]] = []
        while self.open and len(found) < size and self.deaths[self.open[0][0]] == deaths:
            found.append(self.open.popleft())
        return tuple(found)

    def _died(self, runs: Runs) -> None:
        """Open again what a dead worker had, but for a run that was alone when the last one died."""
        for run in reversed(runs):
            self.deaths[run[0]] += 1
            if self.deaths[run[0]] < LIVES:
                self.open.appendleft(run)
            else:
                self.done([Row(run[0], "died", f"the process that ran it ended, {LIVES} times")], 0.0)
