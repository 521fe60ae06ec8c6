"""A run that is recorded while it goes on: its rows pass those who look at them, on their way to the file."""

import json
import os
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

from hyloop.core.board import Board
from hyloop.core.writing import set_aside, sweep
from hyloop.errors import RunFailed
from hyloop.loop import Loop, PacedRun
from hyloop.loop.interlocks import safe_text
from hyloop.record import PICTURE, RESUME, Recorder, Recording, picture_path, resume_path
from hyloop.record.layout import attributes_json
from hyloop.record.room import check_room
from hyloop.study.build import Built
from hyloop.study.pictures import PictureWatch
from hyloop.study.pieces import budget_notes, clock_of, on_the_clock, straight_on, timing_attributes
from hyloop.study.resume import AGAIN, EVERY, Keeper, Point, built_digest
from hyloop.study.tested import LawRanges, without
from hyloop.study.trained import outside_notes
from hyloop.study.trust import fallback_notes
from hyloop.study.watchdog import Watchdog

__all__ = ["Keep", "Manner", "Progress", "Show", "record"]

Progress = Callable[[float], None]
Keep = Callable[[Path], None]
Show = Callable[[Board, Path], AbstractContextManager[None]]
_TOLD = 12  # interlocks, the first ones to trip: all that an outcome has room for


@dataclass(frozen=True)
class Manner:
    """How a run is made and recorded, beside what its file says; see `run_experiment`.

    Parameters
    ----------
    point : Point, optional
        Where it goes on.
    dog : Watchdog, optional
        Who brings its rigs to safety if this process cannot.
    """

    overwrite: bool = True
    keep: Keep | None = None
    paced: bool = False
    keep_every: float | None = EVERY
    progress: Progress | None = None
    show: Show | None = None
    point: Point | None = None
    dog: Watchdog | None = None


class _Passage:
    """What rows pass through: who looks at them, and what is computed from them; `chosen` is what is recorded."""

    def __init__(self, built: Built, per_step: int) -> None:
        self._per_step = per_step
        self._wanted, self._derived = built.recorded()
        self.tested = LawRanges(built.experiment, built.loop, self._wanted)
        self.picture = PictureWatch(built, self._wanted, per_step)
        sources = self._derived.sources if self._derived else ()
        self.needed = list(dict.fromkeys([*self._wanted, *sources, *self.tested.extra, *self.picture.extra]))

    @property
    def remembering(self) -> dict[str, Any]:
        """Those that remember rows that have passed."""
        derived = {"derived": self._derived} if self._derived else {}
        return {"tested": self.tested, "picture": self.picture, **derived}

    def chosen(self, piece: Recording) -> Recording:
        self.tested.see(piece)
        self.picture.see(piece)
        if self._derived:
            return self._derived.joined(piece, self._wanted, self._per_step)
        return without(piece, [*self.tested.extra, *self.picture.extra])


def record(built: Built, path: Path, attributes: dict[str, Any], manner: Manner) -> None:
    """Run what is built, from its start or from a point, into a recording with these attributes."""
    every, loop, rows, point = built.experiment.recording.every, built.loop, built.excitation, manner.point
    per_step = loop.substeps if every == "tick" else 1
    passage = _Passage(built, per_step)
    settings: dict[str, Any] = {"record": passage.needed, "every": every}
    loop.start(rows[0])
    first = passage.chosen(loop.advance(rows[:0], with_present=True, **settings))
    attributes |= {**first.attributes, "building": built.building}
    whole = 1 + (len(rows) - 1) * per_step
    check_room(path, whole * (1 + len(first.names)) + passage.picture.numbers)
    for part in (path, picture_path(path), resume_path(path)):
        sweep(part)
    keeper = Keeper(built, path, first.names, attributes, passage.remembering, manner.keep_every)
    begin, there = (0, first.data[:0]) if point is None else (point.step, point.recording.data)
    if point is not None:
        attributes |= keeper.go_on(point)
    attributes |= passage.picture.attributes
    clock = _clock(built, attributes, begin, manner, settings) if manner.paced else None
    if clock and clock.board and manner.dog:
        manner.dog.watch(clock.board, path, built_digest(built, clock.names), every)
    keep, overwrite = (None, True) if point else (manner.keep, manner.overwrite)
    if keep is not None and (earlier := set_aside(path, ".html", PICTURE, RESUME)):
        keep(earlier)
    elif overwrite and point is None:
        keeper.forget()
    dt = loop.dt / per_step
    with (
        ExitStack() as shown,
        Recorder(path, first.names, first.units, dt, attributes, overwrite=overwrite, begin=there) as recorder,
        passage.picture.recording(path, attributes, overwrite or keep is not None),
    ):
        if point is None:
            recorder.write(first.data)
        if clock and clock.board and manner.show:
            shown.callback(clock.board.remove)
            shown.enter_context(manner.show(clock.board, path))
        start, written = perf_counter(), 0  # everything is compiled by now
        pieces = on_the_clock(clock, recorder.rows, whole) if clock else straight_on(loop, rows, begin, **settings)
        try:
            for piece, done in pieces:
                recorder.write(passage.chosen(piece).data)
                written += len(piece)
                keeper.look(recorder, clock)
                if manner.dog:
                    manner.dog.look()
                if manner.progress:
                    manner.progress(done)
        except RunFailed as failure:
            recorder.write(passage.chosen(failure.result).data)
            recorder.outcome |= {"fault": str(failure), "reason": failure.reason} | _tripped(loop)
            recorder.outcome |= _paced(built, clock, begin)
            if failure.reason not in AGAIN:
                keeper.forget()
            failure.result = replace(failure.result, path=path)
            raise
        except KeyboardInterrupt as stop:
            if clock:
                recorder.write(passage.chosen(clock.end(written)).data)
            recorder.outcome |= {"fault": f"interrupted. {safe_text(loop.interlocks)}".rstrip(". ")} | _tripped(loop)
            recorder.outcome |= _paced(built, clock, begin)
            stop.args = (*stop.args, f"{path} holds what was recorded until then, and is marked as not complete")
            if resume_path(path).exists():
                stop.args = (*stop.args, "the same command with --resume goes on")
            raise
        elapsed = perf_counter() - start
        over = budget_notes(clock.timing, built.experiment.pace) if clock else []
        if outside := [*outside_notes(loop), *fallback_notes(loop), *passage.tested.notes(), *over]:
            recorder.outcome["notes"] = [*built.notes, *outside]
        recorder.outcome["timing"] = _timing(loop, (len(rows) - 1 - begin) * loop.substeps, elapsed)
        recorder.outcome |= _paced(built, clock, begin)
    keeper.forget()


def _clock(built: Built, attributes: dict[str, Any], begin: int, manner: Manner, settings: dict[str, Any]) -> PacedRun:
    """The run on the clock, on a board where other processes look at it."""
    rows, every = built.excitation, settings["every"]
    if manner.show or manner.dog:
        planned = (len(rows) - 1 - begin) * (built.loop.substeps if every == "tick" else 1)
        about = {"attributes": json.loads(attributes_json(attributes)), "planned": planned, "process": os.getpid()}
        settings = {**settings, "shared": about}
    return clock_of(built.loop, rows, built.experiment.pace, begin, manner.keep_every, **settings)


def _paced(built: Built, clock: PacedRun | None, begin: int) -> dict[str, Any]:
    """What the outcome of a run on the clock says of how it kept its time."""
    return {"paced": timing_attributes(clock.timing, built.experiment.pace, begin)} if clock else {}


def _tripped(loop: Loop) -> dict[str, Any]:
    """What the outcome of a run says of its interlocks, where some have tripped."""
    return {"interlocks": loop.interlocks[:_TOLD]} if loop.interlocks else {}


def _timing(loop: Loop, ticks: int, elapsed: float) -> dict[str, Any]:
    return {
        "controller ticks": ticks,
        "time of the run [s]": round(elapsed, 6),
        "time per tick, recording included [µs]": round(1e6 * elapsed / max(ticks, 1), 3),
        "simulated time over time of the run": round(ticks * loop.dt / loop.substeps / max(elapsed, 1e-9), 1),
    }
