"""Recordings compared channel by channel: peaks side by side, and differences where they have common times."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hyloop.record import Recording

__all__ = ["Difference", "common_rows", "compare", "motions_differ", "peak"]

_MOTION = 1e-3  # of the peak: ground motions that differ by more are different ones
_SAME = 1e-6  # relative: steps and starts that differ by less are the same


@dataclass(frozen=True, eq=False)
class Difference:
    """A channel of two recordings; differences are other less first, over their common times, in SI units.

    Attributes
    ----------
    channel, unit : str
    peaks : pair of float
        Largest absolute values, each over all of its recording.
    refused : str
        Why there is no difference; empty if there is one.
    time, values : ndarray
        The difference over the common times.
    rms, largest, at : float
        Its root mean square, its largest absolute value, and when that is, in s; nan where there is none.
    part : float
        The root mean square over the range of the first.
    """

    channel: str
    unit: str
    peaks: tuple[float, float]
    refused: str
    time: np.ndarray
    values: np.ndarray
    rms: float = float("nan")
    largest: float = float("nan")
    at: float = float("nan")
    part: float = float("nan")

    @property
    def ratio(self) -> float | None:
        """Peak of the other over that of the first; None for the peak of nothing."""
        return self.peaks[1] / self.peaks[0] if self.peaks[0] > 0.0 else None


def peak(values: np.ndarray) -> float:
    """Largest absolute value of what is finite."""
    return float(np.abs(values[np.isfinite(values)]).max(initial=0.0))


def common_rows(first: Recording, other: Recording) -> tuple[slice, slice] | str:
    """Rows of two recordings that lie at the same times, or why there are none.

    Steps must be equal, or one a whole multiple of the other: nothing is interpolated.
    """
    if min(len(first), len(other)) < 2:
        return "a recording has fewer than two samples"
    steps = [float(np.median(np.diff(r.time))) for r in (first, other)]
    for recording, step in zip((first, other), steps, strict=True):
        if not np.allclose(np.diff(recording.time), step, rtol=1e-3, atol=0.0):
            return "a recording is not uniformly sampled"
    coarse, fine = max(steps), min(steps)
    every = round(coarse / fine)
    if abs(coarse / fine - every) > _SAME * every:
        return f"steps of {steps[0]:.6g} and {steps[1]:.6g} s: neither is a multiple of the other"
    pace = [round(coarse / step) for step in steps]
    begin = max(float(first.time[0]), float(other.time[0]))
    starts = []
    for recording, step in zip((first, other), steps, strict=True):
        row = (begin - float(recording.time[0])) / step
        if abs(row - round(row)) > 1e-3:
            return "they begin at times that differ by a part of a step"
        starts.append(round(row))
    counts = [max(0, -(-(len(r) - s) // p)) for r, s, p in zip((first, other), starts, pace, strict=True)]
    count = min(counts)
    if count < 2:
        return "they have no common times"
    ends = [s + (count - 1) * p + 1 for s, p in zip(starts, pace, strict=True)]
    return slice(starts[0], ends[0], pace[0]), slice(starts[1], ends[1], pace[1])


def compare(first: Recording, other: Recording) -> list[Difference]:
    """Every channel of the same name and unit, in the order of the first."""
    rows = common_rows(first, other)
    units = dict(zip(other.names, other.units, strict=True))
    found = []
    for channel, unit in zip(first.names, first.units, strict=True):
        if channel not in units:
            continue
        peaks = peak(first[channel]), peak(other[channel])
        if units[channel] != unit:
            refused = f"in {unit} and in {units[channel]}"
            found.append(Difference(channel, unit, peaks, refused, np.zeros(0), np.zeros(0)))
        elif isinstance(rows, str):
            found.append(Difference(channel, unit, peaks, rows, np.zeros(0), np.zeros(0)))
        else:
            found.append(_difference(channel, unit, peaks, first, other, rows))
    return found


def motions_differ(rows: Sequence[Difference]) -> bool:
    """Whether the grounds of two recordings move differently at their common times."""
    grounds = [d for d in rows if (d.channel == "ground" or d.channel.startswith("ground.")) and not d.refused]
    return any(d.largest > _MOTION * max(d.peaks) for d in grounds)


def _difference(
    channel: str, unit: str, peaks: tuple[float, float], first: Recording, other: Recording, rows: tuple[slice, slice]
) -> Difference:
    time, a, b = first.time[rows[0]], first[channel][rows[0]], other[channel][rows[1]]
    kept = np.isfinite(a) & np.isfinite(b)
    time, a, values = time[kept], a[kept], (b - a)[kept]
    if len(values) == 0:
        return Difference(channel, unit, peaks, "no finite values in common", time, values)
    with np.errstate(over="ignore"):  # of a run that diverged
        rms = float(np.sqrt(np.mean(values**2)))
    k, span = int(np.argmax(np.abs(values))), float(np.ptp(a))
    part = rms / span if span > 0.0 else float("nan")
    return Difference(channel, unit, peaks, "", time, values, rms, abs(float(values[k])), float(time[k]), part)


def only_in(recordings: Sequence[Recording], one: Recording) -> list[str]:
    """Channels that one recording alone has."""
    others = {name for recording in recordings if recording is not one for name in recording.names}
    return [name for name in one.names if name not in others]
