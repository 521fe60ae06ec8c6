"""A loop on the clock: a thread that makes one compiled call, and what others may see and ask of it meanwhile."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Thread
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from hyloop.core import Table
from hyloop.core.board import Board
from hyloop.core.keeping import PLACES
from hyloop.core.paced import (
    DONE,
    DOWN,
    ENDED,
    EXTRAPOLATED,
    MARKS,
    OVERRUNS,
    ROWS,
    STOP,
    LiveState,
    Pace,
    run_paced,
    wind_down_paced,
)
from hyloop.core.plan import ASKED, OK, PLACE, STATUS, STEP
from hyloop.errors import BadInput, RunFailed
from hyloop.loop.faults import failed, fault
from hyloop.loop.loop import Loop
from hyloop.loop.overrun import overrun_table
from hyloop.loop.realtime import Pacing, lock_memory, prepare_thread, unlock_memory
from hyloop.record import Recording

__all__ = ["PacedRun", "Timing"]

_BEGIN = 0.05  # s from the call to the first tick: time to prepare the thread


@dataclass(frozen=True, eq=False)
class Timing:
    """How well a run kept its time; all times in s.

    Attributes
    ----------
    tick : float
        Time of a tick.
    lateness, work : ndarray
        Of every tick: how late it began, and how long it computed.
    overruns : int
        Ticks that began later than allowed, in which the policy has acted.
    extrapolated : int
        Those in which forces went on along a line.
    blocks : dict of str to (mean, worst)
        Time of every block in a tick.
    structure : (mean, worst)
        Time of everything else in a tick: the structure, its sites, recording. All means add up to that of `work`.
    refused : tuple of str
        What the system did not permit.
    """

    tick: float
    lateness: np.ndarray
    work: np.ndarray
    overruns: int
    extrapolated: int = 0
    blocks: dict[str, tuple[float, float]] = field(default_factory=dict)
    structure: tuple[float, float] = (0.0, 0.0)
    refused: tuple[str, ...] = ()


class PacedRun:
    """A run on the clock; make it, `start` it, look at `rows` while it goes on, `wait` for its end.

    The loop must not be used otherwise meanwhile. The numbers are those of `Loop.run`, to the last bit.

    Parameters
    ----------
    loop : Loop
    excitation : array_like
        As of `Loop.run`; the first row is the state at t = 0, or the present one with `goes_on`.
    record, every
        As of `Loop.run`.
    pacing : Pacing
    shared : mapping, optional
        Lay state, rows, marks and times on a `Board` with this description, so that other processes may see them:
        `board`, which is there until somebody removes it.
    keep_every : int
        Steps after which the whole memory is copied, time and again, for `pieces`; 0: never.
    goes_on : bool
        Go on from the present state of the loop instead of its beginning.
    why : int
        Not 0: bring the rigs to their safe state and do nothing else, and this is what their interlocks shall note.

    Attributes
    ----------
    kept : ndarray or None
        Memory of the loop at the end of the piece that `pieces` has handed out last, if it was copied there.
    """

    def __init__(
        self,
        loop: Loop,
        excitation: Any,
        *,
        record: Sequence[str] | str = ("*",),
        every: str = "step",
        pacing: Pacing | None = None,
        shared: Mapping[str, Any] | None = None,
        keep_every: int = 0,
        goes_on: bool = False,
        why: int = 0,
    ) -> None:
        if loop._plan.implicit:
            raise BadInput(
                f"{loop.method.name} iterates, and nobody knows for how long; a run on the clock needs an explicit "
                "method, such as mkr_alpha."
            )
        self.loop, self.pacing = loop, pacing or Pacing()
        self._overrun = overrun_table(loop, self.pacing)
        self._excitation = np.ascontiguousarray(loop._rows(excitation))
        steps, m = len(self._excitation) - 1, loop.substeps
        self.names, self.units, plan, self._per_step = loop._recorded(record, every)
        self._steps, channels, self._plan = steps, plan.channels, Table(plan)
        self._why, self._down = why, plan.down
        steps += plan.down  # room for a wind-down
        shapes = {
            "memory": (float, loop._state.memory.shape),
            "first": (float, (1, len(channels))),
            "rows": (float, (steps * self._per_step, len(channels))),
            "marks": (np.int64, (MARKS,)),
            "times": (np.int64, (2, steps * m)),
            "blocks": (np.int64, (2, loop._plan.blocks + 1)),
            "kept": (float, (PLACES if keep_every else 0, loop._plan.memory)),
            "kept_at": (np.int64, (PLACES,)),
        }
        begin = loop._state.memory.copy()
        self._begin, self._keep_every = int(loop._state.clock[STEP]) if goes_on else 0, keep_every
        self.board = None if shared is None else Board.make(shapes, {**self._description(m), **shared})
        arrays: Any = self.board or {name: np.empty(shape, kind) for name, (kind, shape) in shapes.items()}
        if self.board:
            loop._own_state(arrays["memory"])
        if goes_on:
            loop._state.memory[:] = begin
        else:
            loop.start(self._excitation[0])
        self.first = arrays["first"]
        """Row of the state in which it begins."""
        self.kept: np.ndarray | None = None
        self._kept, self._kept_at = arrays["kept"], arrays["kept_at"]
        self._rows, self._marks = arrays["rows"], arrays["marks"]
        self._times, self._blocks = arrays["times"], arrays["blocks"]
        for array in (self._rows, self._marks, self._times, self._blocks, self._kept, self._kept_at):
            array[:] = 0  # zeros are written, so the pages are there
        self.first[:] = loop._state.bus[channels]
        self.refused = lock_memory()
        self._call(False)  # compiled now, not in the first tick
        self._thread = Thread(target=self._run, name="hyloop loop", daemon=True)

    def _description(self, m: int) -> dict[str, Any]:
        """What readers of the board have to know: row k stands at `t0` + (k + 1) `dt`, the one before as `first`."""
        names, units, dt = list(self.names), list(self.units), self.loop.dt / self._per_step
        times = {"t0": self.t0, "dt": dt, "per_step": self._per_step, "tick": self.loop.dt / m}
        return {"names": names, "units": units, **times, "overrun": self.pacing.overrun}

    def start(self) -> None:
        """Begin; the first tick comes a moment later. Until the end linear algebra has one thread in this process."""
        self._blas = threadpool_limits(1, user_api="blas")
        self._thread.start()

    def stop(self) -> None:
        """Let the run end with the step that is under way; from any thread."""
        self._marks[STOP] = self._marks[STOP] or ASKED

    @property
    def t0(self) -> float:
        """Time in s of the state in which it begins."""
        return self._begin * self.loop.dt

    @property
    def done(self) -> int:
        """Rows that are there."""
        return int(self._marks[ROWS])

    @property
    def running(self) -> bool:
        """Whether it goes on."""
        return self._thread.is_alive()

    def rows(self, begin: int, end: int) -> Recording:
        """Some of the rows that are there, as a recording; the one it begins with is not counted."""
        ticks = self._begin * self._per_step + np.arange(1 + begin, 1 + end)
        times = ticks / self._per_step * self.loop.dt
        return Recording(times, self._rows[begin:end], self.names, self.units, self.loop._about(self.names))

    def wait(self) -> Recording:
        """Wait for the end and return all rows, that of the beginning as the first.

        Raises
        ------
        RunFailed
            As `Loop.run`, and with the reason "called off" where `stop` ended it.
        """
        self._thread.join()
        self._blas.restore_original_limits()
        unlock_memory()
        rows = self.rows(0, self.done)
        whole = replace(rows, time=np.append(self.t0, rows.time), data=np.vstack([self.first, rows.data]))
        loop, status = self.loop, int(self.loop._state.clock[STATUS])
        if status == OK:
            return whole
        step = int(loop._state.clock[STEP]) - int(self._marks[DOWN])
        raise failed(loop, fault(loop, status, int(loop._state.clock[PLACE])), step, whole)

    def pieces(self, period: float = 0.05) -> Iterator[Recording]:
        """Start, and hand out the rows as they come, every `period` s; what ends the iteration ends the run.

        A piece ends where the memory was `kept`, if it was.

        Raises
        ------
        RunFailed
            As `wait`; its result are the rows that were not handed out.
        """
        self.start()
        handed = 0
        try:
            while self.running:
                self._thread.join(period)
                if self.running and (there := self.done) > handed:
                    for end, kept in self._ends(handed, there):
                        piece, handed, self.kept = self.rows(handed, end), end, kept
                        yield piece
        finally:
            if self.running:  # what has ended by itself was not stopped, and its marks say so
                self.stop()
            self._thread.join()
            self.kept = None
        rest = self.rows(handed, self.done)
        try:
            self.wait()
        except RunFailed as failure:
            failure.result = replace(rest, attributes=failure.result.attributes, complete=False)
            raise
        yield rest

    def end(self, begin: int = 0) -> Recording:
        """Stop it, wait until it has ended, rigs and all, and return its rows from `begin` on."""
        self.stop()
        if self._thread.ident is not None:  # it has been started
            self._thread.join()
        return self.rows(begin, self.done)

    def _ends(self, begin: int, there: int) -> Iterator[tuple[int, np.ndarray | None]]:
        """Rows that end the next pieces, with the memory at that time; rows that are `there` have their copies."""
        place = int(np.argmax(self._kept_at))
        step = int(self._kept_at[place])
        end = step * self._per_step
        if begin < end <= there:
            memory = self._kept[place].copy()
            if self._kept_at[place] == step:  # else the next copy but one has begun meanwhile
                yield end, memory
                begin = end
        if begin < there:
            yield there, None

    @property
    def timing(self) -> Timing:
        """How well the ticks until now kept their time."""
        count = int(self._marks[DONE]) * self.loop.substeps
        lateness, work = 1e-9 * self._times[:, :count]
        total, worst = 1e-9 * self._blocks
        spent = [(float(one) / max(count, 1), float(most)) for one, most in zip(total, worst, strict=True)]
        return Timing(
            tick=self.loop.dt / self.loop.substeps,
            lateness=lateness,
            work=work,
            overruns=int(self._marks[OVERRUNS]),
            extrapolated=int(self._marks[EXTRAPOLATED]),
            blocks=dict(zip(self.loop._wiring.places, spent[:-1], strict=True)),
            structure=spent[-1],
            refused=tuple(self.refused),
        )

    def _run(self) -> None:
        self.refused += prepare_thread(self.pacing)
        try:
            self._call(True)
        finally:
            self._marks[ENDED] = 1

    def _call(self, go: bool) -> None:
        tick = 1e9 * self.loop.dt / self.loop.substeps
        pace = Pace(
            start=time.monotonic_ns() + round(1e9 * _BEGIN),
            tick=tick,
            spin=round(1e9 * self.pacing.spin),
            allowed=round(self.pacing.allowed * tick),
            stops=self.pacing.overrun == "stop",
            clock=np.zeros(2, np.int64),
            marks=self._marks,
            lateness=self._times[0],
            work=self._times[1],
            block_total=self._blocks[0],
            block_worst=self._blocks[1],
            overrun=self._overrun,
            keep_every=self._keep_every,
            kept=self._kept.ravel(),
            kept_at=self._kept_at,
        )
        state = Table(LiveState(*self.loop._state, pace=Table(pace)))
        if self._why:
            wind_down_paced(self._plan.words, state.words, self._why, self._down if go else 0, 0, self._rows)
            return
        steps = self._steps if go else 0
        run_paced(self._plan.words, state.words, steps, self._excitation[1 : 1 + steps].ravel(), self._rows)
