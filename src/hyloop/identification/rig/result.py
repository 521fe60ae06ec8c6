"""What is known of a rig after its identification."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from hyloop.identification.rig.likelihood import END, Whole, motion
from hyloop.identification.rig.model import Structure, coefficients, value_and_slopes
from hyloop.identification.rig.noise import noise_size
from hyloop.identification.rig.spectra import Response, command_noise

__all__ = ["GAIN_WITHIN", "PHASE_WITHIN", "Interval", "Rig", "Tried", "as_rig"]

GAIN_WITHIN, PHASE_WITHIN = 0.01, 1.0  # relative, and in degrees: how well a rig is known where it is trusted
# standard deviations within these: three for chance, and one because the structure is chosen by the same record (of 480
# simulated records one had a zero too many, and was off by 1.1 % where three deviations were 1 %)
_SURE = 4.0
_LOST = 0.5  # of what the gain may be off: the part that noise in the command may take
_GRID = 400  # frequencies at which trust is looked at
_MISFIT = 1.3  # over one: what is left over the noise where a model misses something


@dataclass(frozen=True)
class Interval:
    """A number and the interval in which it lies."""

    value: float
    low: float
    high: float
    unit: str


@dataclass(frozen=True, eq=False)
class Tried:
    """A structure fitted to the whole record: parameters, mean square over that of the noise, Schwarz's criterion."""

    kind: Structure
    theta: np.ndarray
    misfit: float
    criterion: float
    converged: bool


@dataclass(frozen=True, eq=False)
class Rig:
    r"""An identified rig, :math:`G(s) = e^{-s\tau} \sum_i b_i s^i / \sum_i a_i s^i`.

    Attributes
    ----------
    kind : Structure
    numerator, denominator : ndarray
        Coefficients b and a in rising powers of s; :math:`a_0 = 1`, so that :math:`b_0` is the gain at rest.
    dead_time : Interval
        τ in s; zero where poles alone explain the delay.
    gain, delay : Interval
        Gain at rest, and delay of slow motions in s: dead time and the lag of the poles together.
    noise : Interval
        Root mean square of the noise of the measured displacement in m, over all frequencies.
    band : tuple of float
        Lowest and highest frequency in Hz in which the rig was identified.
    trusted : tuple of float
        Where four standard deviations of gain and phase are within 1 % and 1 degree; 0 as the lower end means from
        rest on.
    lost : float
        Noise of the command over its power, where in the band it is greatest: so much too low the gain may be there.
    half_power : float
        Frequency in Hz at which the gain has fallen by 3 dB; nan where it lies beyond the band.
    error : float
        Root mean square of what is left over that of the measured displacement.
    misfit : float
        Mean square of what is left over that of the noise, as the response without a model shows it: one where the
        model is right.
    points : Response
        The frequency response without a model.
    tried : sequence of Tried
        Structures fitted to the whole record, the best first.
    dt, length : float
        Sampling interval and length of the record in s.
    largest : float
        Greatest command in m, from its mean.
    level : float
        Probability of all intervals.
    """

    kind: Structure
    numerator: np.ndarray
    denominator: np.ndarray
    dead_time: Interval
    gain: Interval
    delay: Interval
    noise: Interval
    band: tuple[float, float]
    trusted: tuple[float, float]
    lost: float
    half_power: float
    error: float
    misfit: float
    points: Response
    tried: Sequence[Tried]
    dt: float
    length: float
    largest: float
    level: float
    hold: float
    scale: float
    theta: np.ndarray
    covariance: np.ndarray

    def response(self, f: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Response at frequencies in Hz; half widths of the intervals of its relative gain, and of its phase in rad."""
        return _response(self.kind, self.theta, self.covariance, f, self.scale, self.level)

    def motion(self, command: np.ndarray, dt: float) -> np.ndarray:
        """Displacement that the rig makes of a command, from rest at its first value."""
        return motion(self.kind, self.theta, self.scale, self.hold, command, dt)

    @property
    def missed(self) -> bool:
        """Whether more is left than noise: the rig is not linear, or has more poles than were tried."""
        return self.misfit > _MISFIT


def _response(
    kind: Structure, theta: np.ndarray, covariance: np.ndarray, f: np.ndarray, scale: float, level: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    G, slopes = value_and_slopes(kind, theta, 2j * np.pi * np.asarray(f, float) / scale)
    relative = slopes / G  # real part: of the gain; imaginary part: of the phase
    many = norm.ppf(0.5 + 0.5 * level)
    gain, phase = (many * np.sqrt(np.einsum("if,ij,jf->f", r, covariance, r)) for r in (relative.real, relative.imag))
    return G, gain, phase


def as_rig(
    best: Tried,
    tried: Sequence[Tried],
    whole: Whole,
    points: Response,
    record: tuple[np.ndarray, np.ndarray, float],
    level: float,
) -> Rig:
    """The likeliest transfer function with all that is told of it."""
    kind, theta, scale = best.kind, best.theta, whole.scale
    information = whole.evaluate(kind, theta)[2]
    d = 1.0 / np.sqrt(np.diag(information))
    covariance = max(best.misfit, 1.0) * d[:, None] * np.linalg.pinv(information * np.outer(d, d), hermitian=True) * d
    b, a, tau = coefficients(kind, theta)
    powers = scale ** -np.arange(float(max(len(a), len(b))))
    many = norm.ppf(0.5 + 0.5 * level)

    def interval(value: float, slope: np.ndarray, unit: str) -> Interval:
        spread = many * float(np.sqrt(slope @ covariance @ slope))
        return Interval(float(value), float(value - spread), float(value + spread), unit)

    unit_vectors = np.eye(kind.size)
    dead = Interval(0.0, 0.0, 0.0, "s")
    if kind.dead_time:
        dead = interval(tau / scale, unit_vectors[1] / scale, "s")
        dead = Interval(dead.value, max(dead.low, 0.0), dead.high, "s")
    lag, slope = _lag(kind, theta)
    u, _, dt = record
    left, whole_motion = _left(kind, theta, whole, record)

    def lost(f: np.ndarray) -> np.ndarray:
        return command_noise(u, dt, whole.band[1], f)

    return Rig(
        kind,
        b * powers[: len(b)],
        a * powers[: len(a)],
        dead,
        interval(float(theta[0]), unit_vectors[0], "-"),
        interval(lag / scale, slope / scale, "s"),
        Interval(*noise_size(left, level), "m"),
        whole.band,
        _trusted(kind, theta, covariance, scale, level, whole.band, lost),
        float(np.max(lost(np.geomspace(*whole.band, _GRID)))),
        _half_power(kind, theta, scale, whole.band[1]),
        float(np.std(left) / whole_motion),
        best.misfit,
        points,
        tried,
        dt,
        len(u) * dt,
        float(np.max(np.abs(u - np.mean(u)))),
        level,
        whole.hold,
        scale,
        theta,
        covariance,
    )


def _left(
    kind: Structure, theta: np.ndarray, whole: Whole, record: tuple[np.ndarray, np.ndarray, float]
) -> tuple[np.ndarray, float]:
    """What the model leaves of the measured motion, away from the ends and about a line; and the size of the motion."""
    u, y, dt = record
    ends = int(np.ceil(END * whole.dt / dt))
    rows = slice(max(int(np.ceil(whole.skip / dt)), ends), len(u) - ends)
    left = (y - motion(kind, theta, whole.scale, whole.hold, u, dt))[rows]
    at = np.arange(len(left))
    return left - np.polyval(np.polyfit(at, left, 1), at), float(np.std(y[rows]))


def _lag(kind: Structure, theta: np.ndarray) -> tuple[float, np.ndarray]:
    """Delay of slow motions, -dφ/dω at rest: τ + a1 - b1; and its derivatives."""
    slope, row = np.zeros(kind.size), 1 + kind.dead_time
    if kind.dead_time:
        slope[1] = 1.0
    first = [row + i for i in range(0, kind.poles - 1, 2)] + ([row + kind.poles - 1] if kind.poles % 2 else [])
    slope[first] = np.exp(theta[first])
    if kind.zeros:
        slope[row + kind.poles] = -1.0
    value = (theta[1] if kind.dead_time else 0.0) + float(np.sum(slope[first]))
    return value - (theta[row + kind.poles] if kind.zeros else 0.0), slope


def _trusted(
    kind: Structure,
    theta: np.ndarray,
    covariance: np.ndarray,
    scale: float,
    level: float,
    band: tuple[float, float],
    lost: Callable[[np.ndarray], np.ndarray],
) -> tuple[float, float]:
    """The widest band in which gain and phase are well known; zeros where there is none."""
    f = np.concatenate([[0.0], np.geomspace(*band, _GRID)])
    _, gain, phase = _SURE / norm.ppf(0.5 + 0.5 * level) * np.abs(_response(kind, theta, covariance, f, scale, level))
    exact = lost(np.maximum(f, band[0])) <= _LOST * GAIN_WITHIN
    good = np.flatnonzero((gain <= GAIN_WITHIN) & (np.degrees(phase) <= PHASE_WITHIN) & exact)
    if len(good) == 0:
        return 0.0, 0.0
    pieces = np.split(good, np.flatnonzero(np.diff(good) > 1) + 1)
    longest = max(pieces, key=len)
    return float(f[longest[0]]), float(f[longest[-1]])


def _half_power(kind: Structure, theta: np.ndarray, scale: float, high: float) -> float:
    f = np.linspace(0.0, high, 4 * _GRID)
    G, _ = value_and_slopes(kind, theta, 2j * np.pi * f / scale)
    below = np.abs(G) < np.abs(theta[0]) / np.sqrt(2.0)
    return float(f[np.argmax(below)]) if below.any() else float("nan")
