"""What of a recording is worth drawing: panels of lines, thinned, in units people read.

The page (`hyloop.report.run_page`) and the printed figures (`hyloop.report.figures`) draw the same panels.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

import hyloop.devices
from hyloop.core import Block
from hyloop.errors import OutOfBounds
from hyloop.hazards.spectrum import response_spectrum
from hyloop.record import Recording
from hyloop.report.degrees import telling_degree

__all__ = [
    "MOST_SITES",
    "Line",
    "Panel",
    "Recordings",
    "ground_panels",
    "history_panels",
    "hysteresis_panels",
    "load_panels",
    "parameter_names",
    "parameter_panels",
    "readable",
    "rows_to_draw",
    "short",
    "site_names",
    "spectrum_panels",
]

# factor and label of the units in which a person reads a structure's response
_READABLE = {
    "m": (1e3, "mm"),
    "m/s": (1e3, "mm/s"),
    "m/s2": (1.0, "m/s²"),
    "rad": (1e3, "mrad"),
    "N": (1e-3, "kN"),
    "N/m": (1e-6, "kN/mm"),
    "N s/m": (1e-3, "kN s/m"),
    "N m": (1e-3, "kN m"),
    "J": (1e-3, "kJ"),
    "Pa": (1e-6, "MPa"),
    "-": (1.0, ""),
}
MOST_SITES = 24  # that are drawn; more cannot be read
MOST_LOADS = 6  # wind acts on every floor, with much the same history
PERIODS = np.geomspace(0.05, 5.0, 120)  # s, periods of buildings and their higher modes


Recordings = Mapping[str, Recording]


@dataclass(frozen=True, eq=False)
class Line:
    """One curve; `series` is the number of its recording and decides its colour, None for what all have in common.

    A curve that is `filled` is the outline of an area.
    """

    x: np.ndarray
    y: np.ndarray
    name: str
    series: int | None
    filled: bool = False


@dataclass(frozen=True, eq=False)
class Panel:
    """Curves that share a pair of axes."""

    title: str
    x_label: str
    y_label: str
    lines: tuple[Line, ...]


def readable(unit: str) -> tuple[float, str]:
    """Factor from an SI unit to the one shown, and that unit: ``readable("N") == (1e-3, "kN")``."""
    return _READABLE.get(unit, (1.0, unit))


def short(value: float, digits: int = 3) -> str:
    """A number for a sentence, rounded, without an exponent below a million: 1634.2 is ``"1630"``."""
    return f"{float(f'{value:.{digits}g}'):.6g}"


def rows_to_draw(points: int, *signals: np.ndarray) -> np.ndarray:
    """Rows to draw of a long history: at most `points` of them, the extremes of every signal among them.

    The history is cut into pieces; of each piece the rows with the smallest and the largest value of each signal are
    kept, in order of time, with the first and the last row of all. A peak is therefore never lost and never moved. The
    pieces of one signal are equally long in time; those of several, which are drawn against each other, are equally
    long on the drawn path, so that a loop stays round however quiet the rest is. Rows in which a signal is not
    finite are left out.

    Parameters
    ----------
    points : int
        Upper bound of the number of rows, at least ``2 * len(signals) + 2``.
    *signals : ndarray, (rows,)
        One history, drawn over time, or several, drawn against each other.

    Returns
    -------
    ndarray of int
        Increasing row numbers.
    """
    least = 2 * len(signals) + 2
    if points < least:
        raise OutOfBounds(
            f"points = {points} cannot keep the extremes of {len(signals)} signals; give {least} or more."
        )
    rows = np.flatnonzero(np.logical_and.reduce([np.isfinite(signal) for signal in signals]))
    n = len(rows)
    if n <= points:
        return rows
    finite = [signal[rows] for signal in signals]
    pieces = (points - 2) // (2 * len(signals))
    path = np.arange(n) / n if len(signals) == 1 else _path(finite)
    piece = np.minimum((path * pieces).astype(int), pieces - 1)
    first = np.flatnonzero(np.diff(piece, prepend=-1))  # of each piece that is not empty
    kept = [np.array([0, n - 1])]
    for signal in finite:
        order = np.lexsort((signal, piece))  # piece by piece, rising within each
        kept += [order[first], order[np.append(first[1:], n) - 1]]
    return rows[np.unique(np.concatenate(kept))]


def _path(signals: Sequence[np.ndarray]) -> np.ndarray:
    """Length of the drawn curve until each row, as a fraction of the whole, in a square frame."""
    spans = [max(np.ptp(signal), np.finfo(float).tiny) for signal in signals]
    steps = [np.diff(signal, prepend=signal[0]) / span for signal, span in zip(signals, spans, strict=True)]
    length = np.cumsum(np.sqrt(np.sum(np.square(steps), axis=0)))
    return length / length[-1] if length[-1] > 0.0 else np.arange(len(length)) / len(length)


def site_names(recordings: Recordings) -> list[str]:
    """Sites with a deformation and a force in any recording, in the order of the channels."""
    found = {}
    for recording in recordings.values():
        known = recording.attributes.get("counts")  # without it, whatever has both channels
        for name in recording.names:
            site, _, signal = name.rpartition(".")
            if signal == "d" and site and f"{site}.f" in recording.names and (known is None or site in known):
                found[site] = None
    return list(found)


def hysteresis_panels(recordings: Recordings, points: int) -> list[Panel]:
    """Force against deformation of every site, the recordings on top of each other."""
    panels = []
    for site in site_names(recordings)[:MOST_SITES]:
        lines = []
        for series, (name, recording) in enumerate(recordings.items()):
            if {f"{site}.d", f"{site}.f"} <= set(recording.names):
                d, f = _shown(recording, f"{site}.d"), _shown(recording, f"{site}.f")
                rows = rows_to_draw(points, d, f)
                lines.append(Line(d[rows], f[rows], name, series))
        across, up = _label("deformation", recordings, f"{site}.d"), _label("force", recordings, f"{site}.f")
        panels.append(Panel(site, across, up, tuple(lines)))
    return panels


def history_panels(recordings: Recordings, points: int) -> list[Panel]:
    """Displacement of the top floor, force of every site, the ground motion and the largest loads, over time.

    Where the ground moves in several directions, the displacement of the floor is drawn in each of them.
    """
    panels = []
    if (sway := telling_degree(recordings)) is not None:
        known = {name for recording in recordings.values() for name in recording.names}
        beside = [
            f"{sway.rpartition('.')[0]}.u{name.removeprefix('ground.')}"
            for name in sorted(known)
            if name[:7] == "ground."
        ]
        shown = dict.fromkeys([sway, *(name for name in beside if name in known)])
        panels += [_history(recordings, name, "displacement", points) for name in shown]
    panels += [_history(recordings, f"{site}.f", "force", points) for site in site_names(recordings)[:MOST_SITES]]
    return [*panels, *ground_panels(recordings, points), *load_panels(recordings, points)]


def ground_panels(recordings: Recordings, points: int) -> list[Panel]:
    """Ground acceleration over time, each different motion once."""

    def draw(time: np.ndarray, motion: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rows = rows_to_draw(points, motion)
        return time[rows], motion[rows]

    return _of_motions(recordings, "time [s]", "acceleration", draw)


def load_panels(recordings: Recordings, points: int) -> list[Panel]:
    """The largest loads over time, forces and moments; all of them where they are few."""
    peaks: dict[str, float] = {}
    for recording in recordings.values():
        for name in (name for name in recording.names if name.startswith("load.")):
            signal = recording[name][np.isfinite(recording[name])]
            peaks[name] = max(peaks.get(name, 0.0), float(np.abs(signal).max(initial=0.0)))
    largest = sorted((name for name in peaks if peaks[name] > 0.0), key=lambda name: -peaks[name])[:MOST_LOADS]
    return [_history(recordings, name, "load", points) for name in peaks if name in largest]


def spectrum_panels(recordings: Recordings, damping: float = 0.05) -> list[Panel]:
    """Pseudo-acceleration response spectrum of each different ground motion."""

    def draw(time: np.ndarray, motion: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        step = float(np.median(np.diff(time)))
        return PERIODS, response_spectrum(motion, step, PERIODS, damping=damping).psa

    return _of_motions(recordings, "period [s]", "pseudo-acceleration", draw)


def parameter_names(recordings: Recordings) -> list[str]:
    """Parameters of blocks that change during a run, and estimates of them.

    A recording names its parameters in ``attributes["parameters"]``; where it does not, a channel counts as one if
    a law of `hyloop.devices` has a parameter of that name. ``attributes["estimates"]`` names the channels in which an
    updater leaves parameters, with their bounds.
    """
    changing: dict[str, None] = {}
    for recording in recordings.values():
        declared, estimated = recording.attributes.get("parameters"), recording.attributes.get("estimates", {})
        for name in recording.names:
            site, _, key = name.rpartition(".")
            parameter = name in declared if declared is not None else site and key in _known_parameters()
            if (parameter or name in estimated) and _changes(recording[name]):
                changing[name] = None
    return list(changing)


def parameter_panels(recordings: Recordings, names: Sequence[str], points: int) -> list[Panel]:
    """Parameters over time, the recordings on top of each other, with the bounds of those that are estimated."""
    return [_with_bounds(recordings, _history(recordings, name, name.rpartition(".")[2], points)) for name in names]


def _with_bounds(recordings: Recordings, panel: Panel) -> Panel:
    lines = {}
    for recording in recordings.values():
        bounds = recording.attributes.get("estimates", {}).get(panel.title)
        if bounds and panel.title in recording.names and len(recording.time):
            ends, factor = recording.time[[0, -1]], readable(_unit(recording, panel.title))[0]
            for bound in bounds:
                lines[bound] = Line(ends, np.full(2, bound * factor), "bound", None)
    return replace(panel, lines=(*lines.values(), *panel.lines))


def _changes(signal: np.ndarray) -> bool:
    finite = signal[np.isfinite(signal)]
    return len(finite) > 0 and bool(np.ptp(finite) > 0.0)


@cache
def _known_parameters() -> frozenset[str]:
    laws = (getattr(hyloop.devices, name) for name in hyloop.devices.__all__)
    return frozenset(key for law in laws if isinstance(law, Block) for key in law.params)


def _shown(recording: Recording, channel: str) -> np.ndarray:
    return recording[channel] * readable(_unit(recording, channel))[0]


def _unit(recording: Recording, channel: str) -> str:
    return str(recording.units[list(recording.names).index(channel)])


def _label(word: str, recordings: Recordings, channel: str) -> str:
    unit = next(readable(_unit(r, channel))[1] for r in recordings.values() if channel in r.names)
    return f"{word} [{unit}]" if unit else word


def _history(recordings: Recordings, channel: str, word: str, points: int) -> Panel:
    lines = []
    for series, (name, recording) in enumerate(recordings.items()):
        if channel in recording.names:
            signal = _shown(recording, channel)
            rows = rows_to_draw(points, signal)
            lines.append(Line(recording.time[rows], signal[rows], name, series))
    return Panel(channel, "time [s]", _label(word, recordings, channel), tuple(lines))


def _of_motions(
    recordings: Recordings,
    x_label: str,
    word: str,
    draw: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]],
) -> list[Panel]:
    """A panel for each direction of the ground; a motion that several recordings share is drawn once, rest never."""
    channels = {n: None for r in recordings.values() for n in r.names if n == "ground" or n.startswith("ground.")}
    panels = []
    for channel in channels:
        different: list[tuple[np.ndarray, np.ndarray, list[str], int]] = []
        for series, (name, recording) in enumerate(recordings.items()):
            if channel not in recording.names or len(recording.time) < 2:
                continue
            rows = np.isfinite(recording[channel])
            time, motion = recording.time[rows], recording[channel][rows]
            if not motion.any():
                continue
            same = [d for d in different if np.array_equal(d[0], time) and np.array_equal(d[1], motion)]
            if same:
                same[0][2].append(name)
            else:
                different.append((time, motion, [name], series))
        lines = [
            Line(*draw(time, motion), ", ".join(names), None if 1 < len(names) == len(recordings) else series)
            for time, motion, names, series in different
        ]
        if lines:
            panels.append(Panel(channel, x_label, _label(word, recordings, channel), tuple(lines)))
    return panels
