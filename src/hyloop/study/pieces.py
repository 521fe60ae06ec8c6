"""The rows of a run in pieces, as they are written: as fast as it goes, or on the clock."""

from collections.abc import Iterator
from dataclasses import fields
from fnmatch import fnmatchcase
from time import perf_counter
from typing import Any

import numpy as np

from hyloop.errors import UnknownName
from hyloop.files.pace import Pace
from hyloop.loop import Loop, PacedRun, Pacing, Timing
from hyloop.record import Recording

__all__ = ["budget_notes", "clock_of", "on_the_clock", "pacing_of", "straight_on", "timing_attributes"]

CHUNKS = 200  # pieces of a run at most: often enough for a smooth progress bar
PIECE = 64  # steps of a piece at least: rare enough to cost little
LONGEST = 0.5  # s: pieces that take longer become shorter, so that a slow run is kept as often as others
BINS = 10.0 ** np.arange(-7.0, 0.26, 0.25)  # s: edges of the histograms, four in a decade
QUANTILES = {"50 %": 0.5, "99 %": 0.99, "99.9 %": 0.999, "99.99 %": 0.9999, "largest": 1.0}
SLOWEST = 8  # blocks that are told
STRUCTURE = "structure"  # in a budget: all that is no block


def straight_on(loop: Loop, rows: np.ndarray, begin: int = 0, **settings: Any) -> Iterator[tuple[Recording, float]]:
    """Pieces from a step on with the part of the run that is done; the loop stands at that step."""
    size, last = max(len(rows) // CHUNKS, PIECE), len(rows) - 1
    while begin < last:
        end, start = min(begin + size, last), perf_counter()
        piece = loop.advance(rows[1 + begin : 1 + end], **settings)
        if perf_counter() - start > LONGEST:
            size = max(size // 2, 1)
        begin = end
        yield piece, end / last


def clock_of(
    loop: Loop, rows: np.ndarray, pace: Pace, begin: int = 0, keep_every: float | None = None, **settings: Any
) -> PacedRun:
    """A run on the clock as the file has it, from a step on; its memory is kept every so many s."""
    names = [STRUCTURE, *loop.connections]
    for pattern in pace.budget:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise UnknownName("block", pattern, names, where="pace.budget")
    every = 0 if keep_every is None else max(round(keep_every / loop.dt), 1)
    return PacedRun(loop, rows[begin:], **settings, pacing=pacing_of(pace), keep_every=every, goes_on=begin > 0)


def pacing_of(pace: Pace) -> Pacing:
    """How a loop keeps its time, as the file has it."""
    return Pacing(**{entry.name: getattr(pace, entry.name) for entry in fields(Pacing)})


def on_the_clock(run: PacedRun, begin: int, rows: int) -> Iterator[tuple[Recording, float]]:
    """Pieces as they come, with the part of so many rows that is done; `begin` of them were there before."""
    there = begin
    for piece in run.pieces():
        there += len(piece)
        yield piece, there / max(rows, 1)


def timing_attributes(timing: Timing, pace: Pace, begin: int = 0) -> dict[str, Any]:
    """What a recording says of how its run kept its time from a step on; times in µs."""
    tick, micro = timing.tick, 1e6
    ordered = sorted(timing.blocks.items(), key=lambda item: -item[1][0])
    slowest, others = ordered[:SLOWEST], [spent for _, spent in ordered[SLOWEST:]]
    told: dict[str, Any] = {"tick": round(micro * tick, 3), "overruns": timing.overruns, "policy": pace.overrun}
    if pace.overrun == "extrapolate":
        told["extrapolated"] = timing.extrapolated
    if len(timing.work):
        for name, values in (("lateness", timing.lateness), ("work", timing.work)):
            told[name] = {key: round(micro * float(np.quantile(values, q)), 2) for key, q in QUANTILES.items()}
            told[f"{name}, histogram"] = np.histogram(np.clip(values, BINS[0], BINS[-1]), BINS)[0].tolist()
    told["blocks"] = {name: [round(micro * mean, 3), round(micro * worst, 2)] for name, (mean, worst) in slowest}
    told["other blocks"] = round(micro * sum(mean for mean, _ in others), 3)
    told["structure"] = [round(micro * one, 3) for one in timing.structure]
    if begin:
        told["from step"] = begin
    if timing.refused:
        told["refused"] = list(timing.refused)
    return told


def budget_notes(timing: Timing, pace: Pace) -> list[str]:
    """Blocks, or the structure, that have taken more of a tick in the mean than the file allows them."""
    notes, spent = [], {STRUCTURE: timing.structure, **timing.blocks}
    for pattern, share in pace.budget.items():
        for name, (mean, _) in spent.items():
            if fnmatchcase(name, pattern) and mean > share * timing.tick:
                taken = 100 * mean / timing.tick
                notes.append(f"{name} takes {taken:.3g} % of a tick in the mean; its budget is {100 * share:g} %")
    return notes
