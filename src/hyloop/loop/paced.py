"""A loop on the clock: a thread that makes one compiled call, and what others may see and ask of it meanwhile."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Thread
from typing import Any

import numpy as np

from hyloop.core import Table
from hyloop.core.board import Board
from hyloop.core.paced import DONE, ENDED, MARKS, OVERRUNS, ROWS, STOP, LiveState, Pace, run_paced
from hyloop.core.plan import ASKED, OK, PLACE, STATUS, STEP
from hyloop.errors import BadInput, RunFailed
from hyloop.loop.faults import fault
from hyloop.loop.loop import Loop
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
        Ticks that began later than allowed.
    blocks : dict of str to (mean, worst)
        Time of every block in a tick.
    refused : tuple of str
        What the system did not permit.
    """

    tick: float
    lateness: np.ndarray
    work: np.ndarray
    overruns: int
    blocks: dict[str, tuple[float, float]] = field(default_factory=dict)
    refused: tuple[str, ...] = ()


class PacedRun:
    """A run on the clock; make it, `start` it, look at `rows` while it goes on, `wait` for its end.

    The loop must not be used otherwise meanwhile. The numbers are those of `Loop.run`, to the last bit.

    Parameters
    ----------
    loop : Loop
    excitation : array_like
        As of `Loop.run`; the first row is the state at t = 0.
    record, every
        As of `Loop.run`.
    pacing : Pacing
    shared : mapping, optional
        Lay state, rows, marks and times on a `Board` with this description, so that other processes may see them:
        `board`, which is there until somebody removes it.
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
    ) -> None:
        if loop._plan.implicit:
            raise BadInput(
                f"{loop.method.name} iterates, and nobody knows for how long; a run on the clock needs an explicit "
                "method, such as mkr_alpha."
            )
        self.loop, self.pacing = loop, pacing or Pacing()
        self._excitation = np.ascontiguousarray(loop._rows(excitation))
        steps, m = len(self._excitation) - 1, loop.substeps
        self._steps, self._per_step = steps, m if every == "tick" else 1
        channels = np.array(loop._selected(record), dtype=np.int64)
        self._plan = Table(loop._plan._replace(n_channels=len(channels), channels=channels, every_tick=every == "tick"))
        layout = loop._wiring.layout
        self.names, self.units = (tuple(texts[k] for k in channels) for texts in (layout.names, layout.units))
        shapes = {
            "memory": (float, loop._state.memory.shape),
            "first": (float, (1, len(channels))),
            "rows": (float, (steps * self._per_step, len(channels))),
            "marks": (np.int64, (MARKS,)),
            "times": (np.int64, (2, steps * m)),
            "blocks": (np.int64, (2, loop._plan.blocks)),
        }
        self.board = None if shared is None else Board.make(shapes, {**self._description(m), **shared})
        arrays: Any = self.board or {name: np.empty(shape, kind) for name, (kind, shape) in shapes.items()}
        if self.board:
            loop._own_state(arrays["memory"])
        loop.start(self._excitation[0])
        self.first = arrays["first"]
        """Row of the state at t = 0."""
        self._rows, self._marks = arrays["rows"], arrays["marks"]
        self._times, self._blocks = arrays["times"], arrays["blocks"]
        for array in (self._rows, self._marks, self._times, self._blocks):
            array[:] = 0  # zeros are written, so the pages are there
        self.first[:] = loop._state.bus[channels]
        self.refused = lock_memory()
        self._call(0)  # compiled now, not in the first tick
        self._thread = Thread(target=self._run, name="hyloop loop", daemon=True)

    def _description(self, m: int) -> dict[str, Any]:
        """What readers of the board have to know: row k stands at (k + 1) `dt`, and that at t = 0 apart as `first`."""
        names, units, dt = list(self.names), list(self.units), self.loop.dt / self._per_step
        return {"names": names, "units": units, "dt": dt, "per_step": self._per_step, "tick": self.loop.dt / m}

    def start(self) -> None:
        """Begin; the first tick comes a moment later."""
        self._thread.start()

    def stop(self) -> None:
        """Let the run end with the step that is under way; from any thread."""
        self._marks[STOP] = self._marks[STOP] or ASKED

    @property
    def done(self) -> int:
        """Rows that are there."""
        return int(self._marks[ROWS])

    @property
    def running(self) -> bool:
        """Whether it goes on."""
        return self._thread.is_alive()

    def rows(self, begin: int, end: int) -> Recording:
        """Some of the rows that are there, as a recording; the one at t = 0 is not counted."""
        ticks = np.arange(1 + begin, 1 + end)
        times = ticks / self._per_step * self.loop.dt
        return Recording(times, self._rows[begin:end], self.names, self.units, self.loop._about(self.names))

    def wait(self) -> Recording:
        """Wait for the end and return all rows, that at t = 0 as the first.

        Raises
        ------
        RunFailed
            As `Loop.run`, and with the reason "called off" where `stop` ended it.
        """
        self._thread.join()
        unlock_memory()
        rows = self.rows(0, self.done)
        whole = replace(rows, time=np.append(0.0, rows.time), data=np.vstack([self.first, rows.data]))
        loop, status = self.loop, int(self.loop._state.clock[STATUS])
        if status == OK:
            return whole
        found, step = fault(loop, status, int(loop._state.clock[PLACE])), int(loop._state.clock[STEP])
        whole = replace(whole, attributes={**whole.attributes, "fault": found.text}, complete=False)
        raise RunFailed(
            f"step {step} (t = {step * loop.dt:g} s): {found.text}. {found.advice}".rstrip(),
            step=step,
            reason=found.reason,
            where=found.where,
            result=whole,
        )

    def pieces(self, period: float = 0.05) -> Iterator[Recording]:
        """Start, and hand out the rows as they come, every `period` s; what ends the iteration ends the run.

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
                    piece, handed = self.rows(handed, there), there
                    yield piece
        finally:
            if self.running:  # what has ended by itself was not stopped, and its marks say so
                self.stop()
            self._thread.join()
        rest = self.rows(handed, self.done)
        try:
            self.wait()
        except RunFailed as failure:
            failure.result = replace(rest, attributes=failure.result.attributes, complete=False)
            raise
        yield rest

    @property
    def timing(self) -> Timing:
        """How well the ticks until now kept their time."""
        count = int(self._marks[DONE]) * self.loop.substeps
        lateness, work = 1e-9 * self._times[:, :count]
        total, worst = 1e-9 * self._blocks
        blocks = {
            place: (float(total[b]) / max(count, 1), float(worst[b]))
            for b, place in enumerate(self.loop._wiring.places)
        }
        tick = self.loop.dt / self.loop.substeps
        return Timing(tick, lateness, work, int(self._marks[OVERRUNS]), blocks, tuple(self.refused))

    def _run(self) -> None:
        self.refused += prepare_thread(self.pacing)
        try:
            self._call(self._steps)
        finally:
            self._marks[ENDED] = 1

    def _call(self, steps: int) -> None:
        tick = 1e9 * self.loop.dt / self.loop.substeps
        pace = Pace(
            start=time.monotonic_ns() + round(1e9 * _BEGIN),
            tick=tick,
            spin=round(1e9 * self.pacing.spin),
            allowed=round(self.pacing.allowed * tick),
            stops=self.pacing.stops,
            clock=np.zeros(2, np.int64),
            marks=self._marks,
            lateness=self._times[0],
            work=self._times[1],
            block_total=self._blocks[0],
            block_worst=self._blocks[1],
            bus_late=0,
        )
        state = Table(LiveState(*self.loop._state, pace=Table(pace)))
        excitation = self._excitation[1 : 1 + steps].ravel()
        run_paced(self._plan.words, state.words, steps, excitation, self._rows)
