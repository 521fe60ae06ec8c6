"""Sampling of a test: rate, evenness, gaps and repetitions. Nothing is resampled."""

from typing import NamedTuple

import numpy as np

from hyloop.errors import BadInput
from hyloop.files.tables.options import option
from hyloop.files.tables.table import LabTable

__all__ = ["Sampling", "sampling"]

_JITTER = 1e-3  # of the step: times from a clock, printed with all their digits
_PRINTED = 0.25  # of the step: digits coarser than this hide a lost sample
_ROUND_OFF = 1e-6  # of the step
_SAME = 1e-3  # relative: a rate that is told and the one of the times


def _advice() -> str:
    return (
        "hyloop does not resample: repair or cut the file there, resample it with a tool of yours, or, if the samples "
        f"are even and only the times are not, say the rate with {option('rate')}, as in {option('rate', '1024 Hz')}."
    )


class Sampling(NamedTuple):
    """Sampling interval in s, number of samples, largest deviation of a time from an even one over the step."""

    dt: float
    samples: int
    jitter: float

    @property
    def text(self) -> str:
        if np.isnan(self.jitter):
            even = "the rate is as stated, there are no times"
        else:
            off = f" to {100 * self.jitter:.2g} % of a step" if self.jitter > _ROUND_OFF else ""
            even = f"times are even{off}"
        return f"{self.samples} samples at {1.0 / self.dt:.6g} Hz, {self.samples * self.dt:.4g} s; {even}"


def sampling(table: LabTable, time: np.ndarray | None, spacing: float, rate: float | None, samples: int) -> Sampling:
    """Step of a test from its times in s, from the rate that is told in Hz, or from what the file states.

    `spacing` is the distance of neighbouring times as they are printed.

    Raises
    ------
    BadInput
        With the place, where times are not finite, repeat, go back, leave samples out or are uneven.
    """
    if rate is not None and time is not None and len(time) > 1:
        mean = (len(time) - 1) / float(time[-1] - time[0]) if time[-1] != time[0] else np.inf
        if not abs(mean / rate - 1.0) <= _SAME:
            raise BadInput(
                f"{table.path}: the times run at {mean:.6g} Hz on average, {option('rate')} says {rate:g} Hz. Correct "
                "it, or leave it out."
            )
    if rate is not None:
        return Sampling(1.0 / rate, samples, np.nan)
    if time is None:
        if table.step is None:
            raise BadInput(
                f"{table.path}: has no times. Say the rate with {option('rate')}, as in {option('rate', '1024 Hz')}."
            )
        return Sampling(table.step, samples, np.nan)
    if len(time) < 2 or not np.isfinite(time).all():
        at = "" if len(time) < 2 else f" ({table.place(int(np.argmin(np.isfinite(time))))})"
        raise BadInput(f"{table.path}: needs at least two samples, at times that are numbers{at}.")
    steps = np.diff(time)
    usual = float(np.median(steps))
    _refuse_disorder(table, time, steps, usual)
    dt = (float(time[-1]) - float(time[0])) / (len(time) - 1)
    allowed = max(_JITTER * usual, min(spacing, _PRINTED * usual))
    off = np.abs(time - (time[0] + dt * np.arange(len(time))))
    uneven = np.abs(steps - dt)
    # digits printed move a time by half their distance, and both ends of the record likewise
    if uneven.max() > _JITTER * usual and (spacing > _PRINTED * usual or off.max() > 1.01 * allowed):
        far = np.abs(steps - usual) > max(_JITTER * usual, min(spacing, 0.5 * usual))
        k = int(np.argmax(far)) if far.any() else int(np.argmax(uneven))
        raise BadInput(
            f"{table.path}, {table.place(k + 1)}: times must rise evenly by {usual:g} s, and do not after {time[k]:g} "
            f"s: {_uneven(steps, usual)}. {_advice()}"
        )
    return Sampling(dt, samples, float(off.max()) / dt)


def _refuse_disorder(table: LabTable, time: np.ndarray, steps: np.ndarray, usual: float) -> None:
    for bad, what in ((steps == 0.0, "is there twice"), (steps < 0.0, "is followed by an earlier one")):
        if bad.any() and not (usual == 0.0 and what != "is there twice"):
            k = int(np.argmax(bad))
            raise BadInput(
                f"{table.path}, {table.place(k + 1)}: the time {time[k]:g} s {what} ({int(bad.sum())} such place(s)); "
                f"times must rise evenly. {_advice()}"
            )


def _uneven(steps: np.ndarray, usual: float) -> str:
    """Lost samples where the long steps are whole numbers of steps, else how uneven they are."""
    far = steps[np.abs(steps - usual) > 0.5 * usual]
    whole = np.round(far / usual)
    if far.size and (np.abs(far / usual - whole) < 0.1).all() and (whole > 1).all():
        return f"{int((whole - 1).sum())} samples are missing in {far.size} gap(s)"
    return f"steps run from {steps.min():g} to {steps.max():g} s"
