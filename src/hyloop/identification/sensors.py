r"""Offset, drift and delay of a measured force from one recorded test, without a law of the device.

Whatever depends on the path of the deformation and not on its rate is a sum of elementary hystereses
(`hyloop.identification.operators`); the force as its sensor shows it is then linear in everything but the delay,

.. math:: f_m(t) = \sum_k w_k\,\phi_k(d)(t - \tau) + c + c_1 t

Where the record begins at rest, what the sensor shows there is the offset *c*, to the precision of the noise; else the
device is taken for one that pushes as it pulls. Linear least squares for every delay on a grid, then refined. Intervals
are those of `hyloop.identification.confidence`, for residuals that know of each other, and wider by a factor found on
drawn cases: what no sum explains is not random.

A motion that passes every place of its path at one speed, such as a sine of one frequency, does not tell a delay: the
force of a while ago is then a function of the path as well, and so that of another device. Of what a delay changes in
the force, the part that no device explains must be large enough (the root of the *tolerance* of collinear regression),
or the delay is said to be unknown.

References
----------
Frisch, Waugh (1933), doi:10.2307/1907330 (some coefficients of many); Rousseeuw, Croux (1993),
doi:10.1080/01621459.1993.10476408 (median of absolute deviations); Belsley, Kuh, Welsch (1980),
doi:10.1002/0471725153 (collinear regressors); Savitzky, Golay (1964), doi:10.1021/ac60214a047.
"""

from dataclasses import dataclass

import numpy as np
from scipy.signal import savgol_filter
from scipy.stats import t as student

from hyloop.errors import BadInput, BadShape
from hyloop.identification.confidence import confidence
from hyloop.identification.operators import regressors

__all__ = ["LIMITS", "SensorCheck", "Told", "check_sensors", "noise_level"]

LEVEL = 0.95
# what is called a fault: offset and drift over the peak force, delay in samples. Chosen on drawn cases (60 of seed 1
# and 100 of seed 2 of benchmarks.sensor_faults_named): below lies what devices that are not quite explained leave
# and, of the deformation shown at rest over the largest one, as much as an elastic force may be off
LIMITS = {"offset": 0.004, "drift": 0.01, "delay": 0.45, "offset_d": 0.01}
_WIDER = {"offset": 1.0, "drift": 3.0, "delay": 3.0}  # intervals, chosen on the same cases

# A delay is told where, of what it changes in the force, no device explains this part, and a record has this many rows
# for each regressor; it is no surer than what the sum leaves of a device allows, over the peak force (a bilinear one
# leaves most: its knee lies between two thresholds). Chosen on sines of one frequency and on the same cases
_OWN, _EACH, _LEFT = 0.07, 4, 1.2e-3
_ROWS = 3000  # fitted
_DAMPING = 1e-7  # of the least squares, whose regressors are alike; chosen on the same cases
_TAKEN = 1.05  # of the noise, by smoothing
_NAMES = ("delay", "drift", "offset")
_AHEAD, _LATE = 4, 24  # samples of delay that are tried: a deformation that is late is a force that is early
_REST = 0.003  # of the largest deformation: less is rest
_SLOW_START = 0.15  # of the rest, not taken for it: motions begin slowly
_SHORTEST = 12, 0.05  # samples and s of rest that say something
_SAMPLES = 200  # least for a fit
_THIRD = 0.6745 * np.sqrt(20.0)  # median of the absolute value of the third difference of unit white noise
_PIECES = 10  # of a record, from whose noise levels their interval is told


@dataclass(frozen=True)
class Told:
    """One number about a sensor, its interval, and whether it is a fault; nan where the record does not tell it."""

    value: float
    low: float
    high: float
    unit: str
    fault: bool = False

    @property
    def known(self) -> bool:
        return bool(np.isfinite(self.value))

    @property
    def spread(self) -> float:
        """Half the width of the interval."""
        return 0.5 * (self.high - self.low)


@dataclass(frozen=True, eq=False)
class SensorCheck:
    """What a recorded test tells of its sensors.

    Attributes
    ----------
    offset, drift : Told
        Of the force in N: at rest or, without it, at the beginning; and what is added in the length of the record.
    delay : Told
        Of the force behind the deformation in s; not known where every place is passed at one speed.
    offset_d : Told
        Deformation shown at rest, in m; not known without rest.
    noise_f, noise_d : Told
        Standard deviations of white noise.
    dt : float
        Sampling interval in s.
    rest : int
        Samples at rest at the beginning.
    error : float
        What is left unexplained, over the range of the force.
    explained : ndarray
        Force in N as it is explained, with offset, drift and delay.
    corrected : ndarray
        Measured force in N less offset and drift, brought forward by the delay.
    """

    offset: Told
    drift: Told
    delay: Told
    offset_d: Told
    noise_f: Told
    noise_d: Told
    dt: float
    rest: int
    error: float
    explained: np.ndarray
    corrected: np.ndarray

    @property
    def faults(self) -> list[str]:
        """Names of the faults: offset, drift and delay of the force, offset_d of the deformation."""
        return [key for key in LIMITS if getattr(self, key).fault]


def noise_level(signal: np.ndarray) -> float:
    """Standard deviation of white noise on a smooth signal, from the median of its third differences."""
    return float(np.median(np.abs(np.diff(signal, 3)))) / _THIRD


def check_sensors(dt: float, d: np.ndarray, f: np.ndarray) -> SensorCheck:
    """Tell the faults of the sensors from a deformation in m and a force in N, sampled evenly every `dt` s."""
    d, f = np.asarray(d, dtype=float), np.asarray(f, dtype=float)
    if d.ndim != 1 or d.shape != f.shape:
        raise BadShape(f"deformation and force must be of one length, got {d.shape} and {f.shape}.")
    if len(d) < _SAMPLES:
        raise BadInput(f"{len(d)} samples are too few to tell a sensor from a device; give {_SAMPLES} or more.")
    if not (np.isfinite(d).all() and np.isfinite(f).all()):
        raise BadInput("deformation and force must be finite; cut the record where they are not.")
    reach, peak = float(np.abs(d - d[0]).max()), float(np.abs(f - np.median(f)).max())
    if not (reach > 0.0 and peak > 0.0):
        raise BadInput("deformation or force does not change, so nothing is told of a sensor.")
    rest = _at_rest(d, f, reach, dt)
    model = _Model(dt, d, f, rest, reach)
    tau = model.best_delay()
    own, size = model.delayed(tau)
    told = own > _OWN * size and len(model.rows) > _EACH * model.columns.shape[1]
    tau = tau if told else 0.0
    values, errors, explained = model.unknowns(tau)
    if told:
        errors["delay"] = max(errors["delay"], _LEFT * peak / own * dt / _WIDER["delay"])
    found = {}
    for key, unit, size in (("offset", "N", peak), ("drift", "N", peak), ("delay", "s", dt)):
        value, error = values[key], _WIDER[key] * errors[key]
        fault = bool(abs(value) > max(LIMITS[key] * size, error))
        found[key] = Told(value, value - error, value + error, unit, fault)
    if not told:
        found["delay"] = Told(np.nan, -np.inf, np.inf, "s")
    away = found["offset"].value + found["drift"].value * (np.arange(len(f)) - 0.5 * rest) / len(f)
    time = dt * np.arange(len(f))
    still = slice(0, rest)
    shown, width = _mean(d[still]) if rest else (np.nan, np.nan)
    shifted = bool(abs(shown) > max(LIMITS["offset_d"] * reach, width))  # never where it is not known
    return SensorCheck(
        **found,
        offset_d=Told(shown, shown - width, shown + width, "m", shifted),
        noise_f=_noise(f, "N"),
        noise_d=_noise(d, "m"),
        dt=float(dt),
        rest=rest,
        error=float(np.sqrt(np.mean((f - explained) ** 2)) / np.ptp(f)),
        explained=explained,
        corrected=np.interp(time + values["delay"], time, f - away),
    )


class _Model:
    """Regressors of one record, and the fit for any delay."""

    def __init__(self, dt: float, d: np.ndarray, f: np.ndarray, rest: int, reach: float) -> None:
        self.dt, self.rest, n = dt, rest, len(d)
        self.f, self.peak = f, float(np.ptp(f))
        x = _smooth(d - (np.mean(d[:rest]) if rest else 0.0)) / reach
        self.columns, self.coarse = regressors(x, even=rest > 0)  # else what is even cannot be told from an offset
        every = max((n - _LATE - _AHEAD) // _ROWS, 1)  # neighbours say the same
        self.rows = np.arange(_LATE, n - _AHEAD, every)  # for which all delays are in the record
        ramp = (np.arange(n) - 0.5 * rest) / n
        # what is even of a device and not explained is no drift: a constant of its own while it moves
        self.trend = np.column_stack([ramp, np.arange(n) >= rest])
        self.level = float(np.mean(f[:rest])) if rest else 0.0
        self.y = f[self.rows] - self.level

    def at(self, tau: float, rows: np.ndarray, count: int | None = None) -> np.ndarray:
        """The first regressors of the device, or all, `tau` samples ago, on a straight line between samples."""
        whole = int(np.floor(tau))
        part, last = tau - whole, len(self.columns) - 1
        newer, older = (self.columns[np.clip(rows - whole - k, 0, last), :count] for k in (0, 1))
        return (1.0 - part) * newer + part * older

    def _solved(self, tau: float, count: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """All coefficients, and residuals; what regressors share is shared out by a little damping."""
        X = np.column_stack([self.at(tau, self.rows, count), self.trend[self.rows]])
        size = np.maximum(np.linalg.norm(X, axis=0), np.finfo(float).tiny)
        X /= size
        coefficients = np.linalg.solve(X.T @ X + _DAMPING * np.eye(X.shape[1]), X.T @ self.y)
        return coefficients / size, self.y - X @ coefficients

    def best_delay(self) -> float:
        """Delay in samples of the least sum of squares: coarsely on whole samples, then finely near the best."""
        best = float(1 - _AHEAD)
        for grid, count in (
            (np.arange(1.0 - _AHEAD, _LATE - 1.0), self.coarse),
            (np.arange(-3.0, 4.0), None),
            (np.linspace(-0.75, 0.75, 7), None),
        ):
            tried = np.clip(grid if count else best + grid, -_AHEAD + 0.5, _LATE - 1.5)
            costs = np.array([float(np.sum(self._solved(tau, count)[1] ** 2)) for tau in tried])
            best = float(tried[np.argmin(costs)])
        k = int(np.clip(np.argmin(costs), 1, len(tried) - 2))
        left, here, right = costs[k - 1 : k + 2]
        bend = left - 2.0 * here + right
        return float(tried[k] + (0.125 * (left - right) / bend if bend > 0.0 else 0.0))

    def _slope(self, tau: float, w: np.ndarray) -> np.ndarray:
        """What a sample more of delay changes in the force."""
        return (self.at(tau + 0.5, self.rows) - self.at(tau - 0.5, self.rows)) @ w

    def _unexplained(self, tau: float, wanted: np.ndarray) -> np.ndarray:
        """What no device explains of some signals."""
        device = self.at(tau, self.rows)
        size = np.maximum(np.linalg.norm(device, axis=0), np.finfo(float).tiny)
        U, s, _ = np.linalg.svd(device / size, full_matrices=False)
        U = U[:, s > np.sqrt(_DAMPING)]
        return wanted - U @ (U.T @ wanted)

    def delayed(self, tau: float) -> tuple[float, float]:
        """What a sample more of delay changes in the force: the part that no device explains, and the whole.

        Root mean squares.
        """
        slope = self._slope(tau, self._solved(tau)[0][: self.columns.shape[1]])
        own = self._unexplained(tau, slope)
        return float(np.sqrt(np.mean(own**2))), float(np.sqrt(np.mean(slope**2)))

    def unknowns(self, tau: float) -> tuple[dict[str, float], dict[str, float], np.ndarray]:
        """Offset, drift and delay, half the widths of their intervals, and the force explained, in SI units."""
        coefficients, r = self._solved(tau)
        count = self.columns.shape[1]
        w, more = coefficients[:count], coefficients[count:]
        J = self._unexplained(tau, np.column_stack([self._slope(tau, w), self.trend[self.rows]]))
        scale = np.array([float(_LATE), self.peak, self.peak])
        told = confidence(J * scale, -r, np.full(3, 0.5), [slice(0, len(r))], _NAMES, LEVEL)
        spread = np.where(np.isfinite(told.std), told.quantile * told.std, np.inf) * scale
        drift, offset, unsure = float(more[0]), self.level, 0.0
        if self.rest:
            unsure = _mean(self.f[: self.rest])[1]
        else:
            offset, unsure = float(more[1]), float(spread[2])
        values = {"offset": offset, "drift": drift, "delay": tau * self.dt}
        errors = {"offset": unsure, "drift": float(spread[1]), "delay": float(spread[0]) * self.dt}
        rows = np.arange(len(self.f))
        return values, errors, self.level + self.at(tau, rows) @ w + self.trend @ more


def _at_rest(d: np.ndarray, f: np.ndarray, reach: float, dt: float) -> int:
    """Samples before deformation or force moves; zero where they are too few to say something."""
    few, rest = _SHORTEST[0], len(d)
    for signal, least in ((d, _REST * reach), (f, 0.0)):
        room = max(least, 6.0 * noise_level(signal))
        moved = np.flatnonzero(np.abs(signal - np.median(signal[:few])) > room)
        rest = min(rest, int(moved[0])) if moved.size else rest
    rest -= max(int(_SLOW_START * rest), 2)
    return rest if rest >= max(few, _SHORTEST[1] / dt) else 0


def _smooth(signal: np.ndarray) -> np.ndarray:
    """The widest fit of local polynomials that takes away no more than noise (Morozov's discrepancy principle).

    A hysteresis with a noisy input is rattled loose, and a delay of half a sample, which is a mean of two, would seem
    best.
    """
    noise, found = noise_level(signal), signal
    for width in 2 * np.geomspace(3, max(min(len(signal) // 4, 300), 3), 14).astype(int) + 1:
        smoother = np.asarray(savgol_filter(signal, width, 4))
        if np.std(signal - smoother) > _TAKEN * noise:
            break
        found = smoother
    return found


def _mean(values: np.ndarray) -> tuple[float, float]:
    """Mean, and half the width of its interval."""
    width = student.ppf(0.5 + LEVEL / 2, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return float(values.mean()), float(width)


def _noise(signal: np.ndarray, unit: str) -> Told:
    levels = np.array([noise_level(piece) for piece in np.array_split(signal, _PIECES)])
    value, width = noise_level(signal), _mean(levels)[1]
    return Told(value, max(value - width, 0.0), value + width, unit)
