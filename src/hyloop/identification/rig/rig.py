r"""A rig from one record of its command and its measured displacement: transfer function, dead time, noise.

First the response without a model (`hyloop.identification.rig.spectra`), then transfer functions of rising order near
to it (`start`), then the likeliest of the best few for the whole record (`likelihood`). Among structures the one of
least

.. math:: \chi^2 + m \ln 2K

is taken (Schwarz's criterion, BIC, with *m* free parameters and *K* complex lines), so that a pole, a zero or a dead
time must explain more than noise would. All is of recorded samples: whatever of delay and hold lies between the
command as it is recorded and the displacement as it is recorded is part of the rig.

References
----------
Schwarz (1978), doi:10.1214/aos/1176344136; Pintelon, Schoukens (2012), System Identification, 2nd ed., chapter 9.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hyloop.errors import BadInput, BadShape, OutOfBounds
from hyloop.identification.rig.likelihood import Whole
from hyloop.identification.rig.model import Structure
from hyloop.identification.rig.noise import MODEL, smooth_noise
from hyloop.identification.rig.result import Rig, Tried, as_rig
from hyloop.identification.rig.spectra import Response, decimated, excited_band, response
from hyloop.identification.rig.start import near, steepness

__all__ = ["identify_rig"]

LEVEL = 0.95
_SAMPLES = 512  # least
_LINES = 60  # least number of Fourier lines in the band
_SPAN = 2.0  # least ratio of highest to lowest frequency: a sine tells of its own frequency only
_MOST_POLES, _MOST_ZEROS = 5, 2
_FINALISTS = 4  # structures that are fitted to the whole record
_SMALL = (2, 3, 4)  # numbers of parameters
_MEMORY = 8.0  # time constants after which what came before has faded to 3e-4
_SKIPPED = 0.25  # of the record, at most, that may be needed for it
_UNSURE = 0.3  # over |G|, standard deviation of a point of the response that is of no use
_SURE = 3.0  # standard deviations of what is refused


def identify_rig(
    command: Any,
    measured: Any,
    dt: float,
    *,
    band: tuple[float, float] | None = None,
    hold: float = 0.0,
    structure: Structure | None = None,
    level: float = LEVEL,
) -> Rig:
    """Identify a rig from the record of band-limited noise or of a sweep.

    Parameters
    ----------
    command : array_like, (N,)
        Displacement the rig was told, in m, free of noise.
    measured : array_like, (N,)
        Displacement it showed at the same times, in m, with noise.
    dt : float
        Sampling interval in s.
    band : pair of float, optional
        Lowest and highest frequency in Hz to be identified; by default the band in which the command moves the rig.
    hold : float
        Time in s for which a controller held each value of the command. It is then taken off the rig, half of it being
        delay; by default it is part of the rig.
    structure : Structure, optional
        Numbers of poles and zeros, and whether there is a dead time; by default chosen by Schwarz's criterion.
    level : float
        Probability of the intervals.
    """
    u, y = _checked(command, measured, dt, hold, level)
    low, high = _band(u, y, dt, band)
    ud, step = decimated(u, dt, high)
    yd, _ = decimated(y, dt, high)
    if (high - low) * len(ud) * step < _LINES:
        raise BadInput(
            f"the record of {len(u) * dt:.3g} s is too short for a band from {low:.3g} to {high:.3g} Hz: "
            f"{(high - low) * len(ud) * step:.0f} Fourier lines, wanted {_LINES}. Record "
            f"{np.ceil(_LINES / (high - low) + len(u) * dt - len(ud) * step):.0f} s or longer."
        )
    points = _points(ud, yd, step, (low, high))
    scale = 2.0 * np.pi * np.sqrt(low * high)
    noise = smooth_noise(points, len(ud) * step)
    started, skip = _remembered(_started(points, scale, hold, structure), scale, len(ud) * step)
    whole = Whole(ud, yd, step, (low, high), skip, noise, scale, hold)
    tried = [_final(kind, theta, whole) for kind, theta in _finalists(started)]
    possible = [one for one in tried if not one.kind.dead_time or one.theta[1] >= 0.0] or tried
    best = min(possible, key=lambda one: one.criterion)
    return as_rig(best, sorted(tried, key=lambda one: one.criterion), whole, points, (u, y, dt), level)


def _checked(command: Any, measured: Any, dt: float, hold: float, level: float) -> tuple[np.ndarray, np.ndarray]:
    u, y = (np.asarray(given, dtype=float) for given in (command, measured))
    for name, values in (("command", u), ("measured", y)):
        if values.ndim != 1:
            raise BadShape(f"{name} must be a vector, got shape {values.shape}.")
        if bad := int(np.sum(~np.isfinite(values))):
            raise BadShape(f"{name}: {bad} of {len(values)} samples are not finite. Cut or repair the record.")
    if len(u) != len(y):
        raise BadShape(
            f"command has {len(u)} samples, measured {len(y)}: they must be sampled together. Bring both to the same "
            "times first."
        )
    if not 0.0 < dt < np.inf or not 0.0 <= hold < np.inf:
        raise OutOfBounds(f"dt = {dt!r} s must be positive and hold = {hold!r} s not negative.")
    if not 0.5 <= level < 1.0:
        raise OutOfBounds(f"level = {level!r} must lie between 0.5 and 1.")
    if len(u) < _SAMPLES:
        raise BadInput(f"the record has {len(u)} samples, which is too short; give {_SAMPLES} or more.")
    for name, values in (("command", u), ("measured displacement", y)):
        if np.ptp(values) == 0.0:
            raise BadInput(f"the {name} is {values[0]:g} m throughout, so it tells nothing. Check which column it is.")
    return u, y


def _band(u: np.ndarray, y: np.ndarray, dt: float, wanted: tuple[float, float] | None) -> tuple[float, float]:
    """The band asked for, or the one that is excited; refused where nothing answers."""
    low, high, gaps = excited_band(u, y, dt)
    if high == 0.0:
        raise BadInput(
            "the measured displacement does not follow the command at any frequency: coherence is below 0.5 "
            "everywhere. Check that the columns belong together, and command larger motions."
        )
    if wanted is not None:
        first, last = wanted
        if not 0.0 < first < last <= 0.5 / dt:
            raise OutOfBounds(f"band = {first:g} to {last:g} Hz must rise and end below {0.5 / dt:g} Hz.")
        line = 2.0 / (len(u) * dt)
        hole = next((g for g in gaps if g[0] > first and g[1] < last), None)
        if hole or first < low - 4.0 * line or last > high + 4.0 * line:
            what = f"nothing between {hole[0]:.3g} and {hole[1]:.3g} Hz" if hole else f"only {low:.3g} to {high:.3g} Hz"
            raise BadInput(
                f"the command does not move the rig in all of the band from {first:g} to {last:g} Hz: there is {what}. "
                "Ask for a narrower band, or record noise or a sweep that covers it."
            )
        return max(first, line), last
    if high < _SPAN * low:
        raise BadInput(
            f"the command excites {low:.3g} to {high:.3g} Hz only, which tells nothing of other frequencies. Record "
            "band-limited noise or a sweep."
        )
    return low, high


def _points(u: np.ndarray, y: np.ndarray, dt: float, band: tuple[float, float]) -> Response:
    """Response without a model, where it is of use; refused where it leads the command."""
    found = response(u, y, dt, band)
    use = np.sqrt(found.variance) < _UNSURE * np.abs(found.G)
    if use.sum() < 2 * (_MOST_POLES + _MOST_ZEROS):
        raise BadInput(
            f"the record is too short or too noisy: only {use.sum()} of {len(use)} points of the frequency response "
            "are told. Record longer, or command larger motions."
        )
    found = found.part(use)
    delay, deviation = steepness(found.f, found.G, found.variance)
    if delay < -max(_SURE * deviation, 0.5 * dt):
        raise BadInput(
            f"the measured displacement comes {-1e3 * delay:.3g} ms before its command, which no rig can do. Are "
            "command and measured displacement swapped?"
        )
    return found


def _started(
    points: Response, scale: float, hold: float, structure: Structure | None
) -> list[tuple[Structure, np.ndarray]]:
    """Structures with parameters near to the response, the best first."""
    omega = 2.0 * np.pi * points.f
    G = points.G / (np.sinc(points.f * hold) * np.exp(-0.5j * omega * hold))
    weight = 1.0 / np.sqrt(points.variance + (MODEL * np.abs(G)) ** 2)
    delay = steepness(points.f, G, points.variance)[0] * scale
    kinds = [structure] if structure else list(_structures())
    found = []
    for kind in kinds:
        fitted = near(kind, 1j * omega / scale, G, weight, delay)
        found.append((2.0 * fitted.cost + kind.size * np.log(2 * len(G)), kind, fitted.theta))
    found.sort(key=lambda one: one[0])
    return [(kind, theta) for _, kind, theta in found]


def _structures() -> Sequence[Structure]:
    return [
        Structure(n, m, dead)
        for n in range(_MOST_POLES + 1)
        for m in range(max(min(n, _MOST_ZEROS + 1), 1))
        for dead in (False, True)
    ]


def _remembered(
    started: Sequence[tuple[Structure, np.ndarray]], scale: float, length: float
) -> tuple[list[tuple[Structure, np.ndarray]], float]:
    """Structures whose memory the record can show, and the time in s after which the best of them has forgotten."""
    memories = []
    for kind, theta in started:
        slowest, dead = kind.memory(theta)
        memories.append((_MEMORY * slowest + dead) / scale)
    possible = [k for k, memory in enumerate(memories) if memory <= _SKIPPED * length]
    if not possible:
        raise BadInput(
            f"the record of {length:.3g} s is too short for this rig, which remembers {min(memories):.3g} s. Record "
            f"{np.ceil(min(memories) / _SKIPPED):.0f} s or longer."
        )
    return [started[k] for k in possible], memories[possible[0]]


def _finalists(started: list[tuple[Structure, np.ndarray]]) -> list[tuple[Structure, np.ndarray]]:
    """The best few, and the best of every small size: points of the response at the ends of a band can mislead."""
    small = [next((one for one in started if one[0].size == size), None) for size in _SMALL]
    chosen = [*started[:_FINALISTS], *(one for one in small if one is not None)]
    return list({one[0]: one for one in chosen}.values())


def _final(kind: Structure, theta: np.ndarray, whole: Whole) -> Tried:
    found = whole.fit(kind, theta)
    criterion = 2.0 * found.cost + kind.size * np.log(2 * len(whole.f))
    return Tried(kind, found.theta, found.cost / (len(whole.f) - 0.5 * kind.size), float(criterion), found.converged)
