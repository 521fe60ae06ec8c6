r"""How well an actuator follows: errors, gain and delay of a whole test and over time.

Wanted displacement :math:`x` and achieved one :math:`y`, both on the same times.

References
----------
.. [1] Guo, Chen, Xu, Sanchez (2014), "A frequency response analysis approach for quantitative assessment of actuator
   tracking for real-time hybrid simulation", Smart Materials and Structures 23(4), doi:10.1088/0964-1726/23/4/045042;
   over time by analytic signals: Chen (2024), doi:10.1007/s11803-024-2284-2.
.. [2] Mercan, Ricles (2007), "Stability and accuracy analysis of outer loop dynamics in real-time pseudodynamic testing
   of SDOF systems", Earthquake Engineering and Structural Dynamics 36(11), doi:10.1002/eqe.701.
.. [3] Wallace, Sieber, Neild, Wagg, Krauskopf (2005), "Stability analysis of real-time dynamic substructuring using
   delay differential equation models", doi:10.1002/eqe.513 (synchronisation subspace plot).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.signal import fftconvolve, hilbert
from scipy.signal.windows import hann

from hyloop.errors import OutOfBounds
from hyloop.metrics.agreement import nrmse
from hyloop.metrics.check import not_zero, pair

__all__ = ["Tracking", "tracking", "tracking_indicator"]

_LEAST = 16  # samples
_CYCLES = 4.0  # of the mean frequency in a window
_LONGEST = 0.25  # of the history, a window
_QUIET = 0.05  # of the greatest amplitude: where the wanted motion is less, its phase is not told


@dataclass(frozen=True, eq=False)
class Tracking:
    """How well one displacement follows another.

    Attributes
    ----------
    nrmse, nrms : float
        Root mean square of the error, over the range of what was wanted, and over its standard deviation. The second
        is what benchmark problems of real-time hybrid simulation call NRMS.
    peak : float
        Greatest error over the greatest wanted displacement.
    gain, delay : float
        Of the whole test: achieved over wanted amplitude, and time in s by which the achieved motion is late.
    frequency : float
        Mean frequency of the wanted motion in Hz, at which gain and delay hold.
    window : float
        Length in s of the window in which they are followed over time.
    gains, delays : ndarray
        In the window about every sample; nan where the wanted motion is too small to tell.
    indicator : ndarray
        Running area of the synchronisation subspace plot in m², see `tracking_indicator`.
    """

    nrmse: float
    nrms: float
    peak: float
    gain: float
    delay: float
    frequency: float
    window: float
    gains: np.ndarray
    delays: np.ndarray
    indicator: np.ndarray


def tracking(wanted: Any, achieved: Any, dt: float, *, window: float | None = None) -> Tracking:
    r"""How well an achieved displacement follows the wanted one, as a whole and over time.

    Gain and delay are those of the frequency-domain evaluation index [1]_ with power 2,

    .. math:: \mathrm{FEI} = \frac{\sum_f Y(f)\,X^*(f)}{\sum_f |X(f)|^2} = g\,e^{-2\pi\mathrm{j}\bar f\tau},
        \qquad \bar f = \frac{\sum_f f\,|X(f)|^2}{\sum_f |X(f)|^2}

    over positive frequencies. By Parseval's theorem the sums are those of products of the analytic signals, so that a
    moving window needs no transform of its own: the sums are weighted by a Hann window about every sample.

    Parameters
    ----------
    wanted, achieved : array_like, (N,)
        Displacements in m.
    dt : float
        Time between samples in s.
    window : float, optional
        Length of the window in s; four cycles of the mean frequency if not given, at most a quarter of the history.

    Notes
    -----
    For a harmonic motion gain and delay are exact but for the ends of the history. In a wide band they are means,
    weighted by power; a delay of half a period or more cannot be told from a lead.
    """
    x, y = pair("wanted", wanted, "achieved", achieved, least=_LEAST)
    if not 0.0 < dt < np.inf:
        raise OutOfBounds(f"tracking: dt = {dt!r} must be a positive number of seconds.")
    not_zero("tracking", "the range of wanted", float(np.ptp(x)))
    a, b = _analytic(x), _analytic(y)
    power, product = np.abs(a) ** 2, b * a.conj()
    turning = np.zeros(len(x))  # power times angular frequency, from sample to sample
    turning[1:] = np.angle(a[1:] * a[:-1].conj()) / dt * np.sqrt(power[1:] * power[:-1])
    omega = float(turning.sum() / power.sum())
    index = product.sum() / power.sum()
    longest = _LONGEST * len(x) * dt
    if window is None:
        window = min(_CYCLES * 2.0 * np.pi / max(omega, 1e-12), longest)
    elif not 2.0 * dt < window <= len(x) * dt:
        raise OutOfBounds(f"tracking: window = {window!r} s must be longer than two samples and not than the history.")
    gains, delays = _over_time(power, product, turning, max(round(window / dt), 3))
    error = y - x
    return Tracking(
        nrmse(x, y),
        float(np.sqrt(np.mean(error**2)) / np.std(x)),
        float(np.max(np.abs(error)) / np.max(np.abs(x))),
        float(np.abs(index)),
        float(-np.angle(index) / omega) if omega > 0.0 else float("nan"),
        omega / (2.0 * np.pi),
        float(window),
        gains,
        delays,
        tracking_indicator(x, y),
    )


def tracking_indicator(wanted: Any, achieved: Any) -> np.ndarray:
    r"""Running area between wanted and achieved displacement in m²: it grows while the actuator is late [2]_.

    .. math:: \mathrm{TI} = \tfrac12 \int (x\,\mathrm{d}y - y\,\mathrm{d}x)

    A loop that is run through while the actuator lags adds its area, while it leads takes it off; an error of amplitude
    alone adds nothing. For a harmonic motion of amplitude *X*, followed with gain *g* and phase lag :math:`\varphi`, it
    is :math:`\tfrac12 g X^2 \omega t \sin\varphi`.

    Notes
    -----
    Half the difference of the two areas of [2]_, each by the trapezoidal rule, in the sense that a delay counts
    positive.
    """
    x, y = pair("wanted", wanted, "achieved", achieved, least=2)
    parts = 0.5 * (x[:-1] * y[1:] - x[1:] * y[:-1])
    return np.concatenate([[0.0], np.cumsum(parts)])


def _analytic(signal: np.ndarray) -> np.ndarray:
    """Analytic signal about the mean, with room behind it so that its ends do not meet."""
    centred = signal - np.mean(signal)
    return np.asarray(hilbert(centred, 2 * len(signal)))[: len(signal)]


def _over_time(
    power: np.ndarray, product: np.ndarray, turning: np.ndarray, samples: int
) -> tuple[np.ndarray, np.ndarray]:
    """Gain and delay in a window about every sample."""
    weights = hann(samples + 2)[1:-1]
    size, index, rate = (fftconvolve(part, weights, mode="same") for part in (power, product, turning))
    told = (size > _QUIET**2 * size.max()) & (rate > 0.0)
    gains, delays = np.full(len(power), np.nan), np.full(len(power), np.nan)
    gains[told] = np.abs(index[told]) / size[told]
    delays[told] = -np.angle(index[told]) * size[told] / rate[told]
    return gains, delays
