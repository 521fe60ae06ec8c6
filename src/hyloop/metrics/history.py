"""What a history amounts to: its peak, the energy of a loop, the delay behind another history."""

from typing import Any, Literal, NamedTuple, overload

import numpy as np
from scipy.signal import correlate

from hyloop.errors import OutOfBounds
from hyloop.metrics.check import not_zero, pair

__all__ = ["Peak", "delay", "energy", "peak"]


class Peak(NamedTuple):
    """Greatest absolute value of a history, when it was first reached, and with which sign."""

    size: float
    time: float
    value: float


def peak(signal: Any, time: Any) -> Peak:
    """Greatest absolute value of a history sampled at `time`.

    References
    ----------
    Chopra (2012), Dynamics of Structures, 4th ed., section 6.5: the peak response is the greatest absolute value,
    without regard to sign.
    """
    values, times = pair("signal", signal, "time", time)
    at = int(np.argmax(np.abs(values)))
    return Peak(float(abs(values[at])), float(times[at]), float(values[at]))


@overload
def energy(force: Any, deformation: Any, *, cumulative: Literal[False] = False) -> float: ...
@overload
def energy(force: Any, deformation: Any, *, cumulative: Literal[True]) -> np.ndarray: ...
def energy(force: Any, deformation: Any, *, cumulative: bool = False) -> float | np.ndarray:
    r"""Work done on a device, :math:`\int f \, \mathrm{d}d` by the trapezoidal rule, in J.

    Over closed cycles it is the energy dissipated; before, it holds the energy stored as well. Positive when force and
    deformation have the sign convention of a site (a damper resists motion with a force of the sign of the velocity).

    Parameters
    ----------
    force, deformation : array_like, (N,)
        In N and m.
    cumulative : bool
        The running value, zero at the first sample, instead of the last one.

    References
    ----------
    Chopra (2012), Dynamics of Structures, 4th ed., section 3.8, Eq. (3.8.1).
    """
    f, d = pair("force", force, "deformation", deformation)
    parts = 0.5 * (f[1:] + f[:-1]) * np.diff(d)
    return np.concatenate([[0.0], np.cumsum(parts)]) if cumulative else float(np.sum(parts))


def delay(command: Any, response: Any, dt: float, *, longest: float | None = None) -> float:
    r"""Time in s by which `response` lags behind `command`: positive when the response comes later.

    The delay is the lag at which the cross-correlation of the two histories, means removed, is greatest. A parabola
    through the greatest value and its neighbours, each relative to the energies of the samples that overlap there,
    refines it to a fraction of a sample.

    Parameters
    ----------
    command, response : array_like, (N,)
        Two histories on the same times, such as the commanded and the measured displacement of an actuator.
    dt : float
        Time between samples in s.
    longest : float, optional
        Search delays from -longest to +longest in s; a quarter of the history if not given. A history that repeats
        itself needs a value below half its period.

    Notes
    -----
    For a harmonic history of :math:`\theta` radians a sample, delayed by a fraction :math:`\delta` of a sample, the
    parabola gives :math:`\tan(\theta\delta) / (2 \tan(\theta/2))`: an error below 1 % of a sample from ten samples a
    period on.

    References
    ----------
    Jacovitti and Scarano (1993), "Discrete time techniques for time delay estimation", IEEE Transactions on Signal
    Processing 41(2), 525-533, doi:10.1109/78.193195.
    """
    x, y = pair("command", command, "response", response, least=4)
    if not 0.0 < dt < np.inf:
        raise OutOfBounds(f"delay: dt = {dt!r} must be a positive number of seconds.")
    n, reach = len(x), len(x) // 4 if longest is None else int(np.ceil(longest / dt))
    if not 1 <= reach <= n - 2:
        raise OutOfBounds(f"delay: longest = {longest!r} s must lie between one sample and the length, {n * dt:g} s.")
    x, y = x - np.mean(x), y - np.mean(y)
    not_zero("delay", "the variance of command or response", float((x @ x) * (y @ y)))
    products = correlate(y, x, mode="full")[n - 1 - reach : n + reach]
    lag = int(np.argmax(products)) - reach
    if abs(lag) == reach:
        raise OutOfBounds(
            f"delay: the correlation still grows at the longest delay searched, {reach * dt:g} s. Give a longer one, "
            "and check that the histories belong together."
        )
    left, middle, right = (_coefficient(x, y, k) for k in (lag - 1, lag, lag + 1))
    curvature = left - 2.0 * middle + right
    shift = 0.5 * (left - right) / curvature if curvature < 0.0 else 0.0
    return float((lag + np.clip(shift, -1.0, 1.0)) * dt)


def _coefficient(x: np.ndarray, y: np.ndarray, lag: int) -> float:
    """Correlation of x[i] and y[i + lag] relative to the energies of those samples."""
    n = len(x)
    a, b = x[max(0, -lag) : n - max(0, lag)], y[max(0, lag) : n + min(0, lag)]
    size = np.sqrt((a @ a) * (b @ b))
    return float(a @ b / size) if size else 0.0
