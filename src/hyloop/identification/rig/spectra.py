r"""Frequency response of a rig from one record, without a model of it.

Where the record is not periodic, the discrete Fourier transforms of command and measurement obey

.. math:: Y_k = G(\mathrm{j}\omega_k)\,U_k + T(\mathrm{j}\omega_k) + V_k

with noise *V* and a transient *T*: the motion left from before the record, less what is still under way at its end.
*G* and *T* change slowly from line to line, *U* does not. So in a narrow window of lines both are parabolas, found by
linear least squares; what is left is the noise. There is no bias by windows or by a delay, as segments of Welch's
method have. Noise of the measurement does not bias it either, as it is that of the output (H1 in Welch's words).

References
----------
Pintelon, Schoukens (2012), System Identification: A Frequency Domain Approach, 2nd ed., chapter 7 (local polynomial
method); Bendat, Piersol (2010), Random Data, 4th ed., chapter 6 (coherence).
"""

from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.signal import csd, firwin, upfirdn, welch

__all__ = ["Response", "command_noise", "decimated", "excited_band", "response"]

_ORDER = 2  # of the polynomials for G and T
_LINES = 12  # least half width of a window: 25 lines, 6 unknowns
_PART = 0.03  # half width over frequency: G is a parabola to 1e-4 over 6 % of the frequency at any usual delay
_POINTS = 160  # windows
_SEGMENTS = 8  # of the record, with half overlap, for the first look at its band
_COHERENT = 0.5  # least coherence of a band
_QUIET = 1e-5  # of the greatest density of the command: what lies 50 dB below is leakage, or distortion
_GAP = 0.1  # of the frequency: a longer piece without coherence ends the band
_FAR = 2.0  # over the highest frequency: there a command has nothing but noise
_OVER = 4.0  # samples in a period of the highest frequency, after decimation
_WINDOW: Any = ("kaiser", 9.0)  # 90 dB
_TAPS = 12  # of the decimating filter, on either side, for each sample that is left


@dataclass(frozen=True, eq=False)
class Response:
    """Estimates at some frequencies.

    Attributes
    ----------
    f : ndarray
        Frequencies in Hz.
    G : ndarray of complex
        Response.
    variance : ndarray
        Of G, the mean square of its complex error.
    coherence : ndarray
        Part of the measured power that the command explains.
    noise : ndarray
        Power spectral density of the noise of the measurement, one-sided, in m²/Hz.
    power : ndarray
        The same of all that was measured, without the transient.
    """

    f: np.ndarray
    G: np.ndarray
    variance: np.ndarray
    coherence: np.ndarray
    noise: np.ndarray
    power: np.ndarray

    def part(self, rows: np.ndarray) -> "Response":
        """The same at some of the frequencies."""
        return Response(*(getattr(self, field.name)[rows] for field in fields(self)))


def excited_band(u: np.ndarray, y: np.ndarray, dt: float) -> tuple[float, float, list[tuple[float, float]]]:
    """Lowest and highest frequency of the strongest band with coherence, and gaps between bands; zeros if none is."""
    n = len(u) // _SEGMENTS
    how = {"fs": 1.0 / dt, "nperseg": 2 * n, "noverlap": n, "detrend": "linear"}
    f, uu = welch(u, **how)
    yy, uy = welch(y, **how)[1], csd(u, y, **how)[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        coherence = np.nan_to_num(np.abs(uy) ** 2 / (uu * yy))
    good = (coherence >= _COHERENT) & (uu > _QUIET * uu.max()) & (f > 0.0)
    rows = np.flatnonzero(good)
    if len(rows) < 2:
        return 0.0, 0.0, []
    # a hole of a line or two is chance, one of a tenth of the frequency is not
    steps = np.diff(f[rows])
    breaks = np.flatnonzero(steps > np.maximum(_GAP * f[rows[1:]], 3.5 * f[1]))
    pieces = np.split(rows, breaks + 1)
    pieces = [piece for piece in pieces if len(piece) > 1]
    if not pieces:
        return 0.0, 0.0, []
    ends = [(float(f[piece[0]]), float(f[piece[-1]])) for piece in pieces]
    low, high = ends[int(np.argmax([uu[piece].sum() for piece in pieces]))]
    gaps = [(a[1], b[0]) for a, b in pairwise(ends)]
    return low, high, gaps


def command_noise(u: np.ndarray, dt: float, highest: float, f: np.ndarray) -> np.ndarray:
    """Noise of the command over its power at frequencies f: so much too low is a gain that takes it for exact.

    The noise is what the command has far above its band, taken for white; zero where the record does not reach so far.
    """
    n = len(u) // _SEGMENTS
    at, density = welch(u, fs=1.0 / dt, nperseg=2 * n, noverlap=n, detrend="linear")
    far = density[at > _FAR * highest]
    floor = float(np.median(far)) if len(far) > _LINES else 0.0
    return floor / np.maximum(np.interp(f, at[1:], density[1:]), floor + np.finfo(float).tiny)


def decimated(signal: np.ndarray, dt: float, highest: float) -> tuple[np.ndarray, float]:
    """Every q-th sample behind a filter of linear phase, without the ends that it has not filled.

    Command and measurement pass the same filter, so that their ratio is as before.
    """
    q = max(int(1.0 / (dt * highest * _OVER)), 1)
    if q == 1:
        return signal, dt
    half = _TAPS * q
    filtered = upfirdn(firwin(2 * half + 1, 1.0 / q, window=_WINDOW), signal)[2 * half : len(signal)]
    return filtered[::q], q * dt


def response(u: np.ndarray, y: np.ndarray, dt: float, band: tuple[float, float]) -> Response:
    """Frequency response in a band, at frequencies that are evenly spaced by their logarithm."""
    n = len(u)
    U, Y = np.fft.rfft(u), np.fft.rfft(y)
    first, last = (round(f * n * dt) for f in band)
    centres = np.unique(np.round(np.geomspace(max(first, _LINES + 1), max(last, first + 1), _POINTS)).astype(int))
    found = [_local(U, Y, int(k)) for k in centres if k + _LINES < len(U)]
    G, variance, noise, power = (np.array(column) for column in zip(*found, strict=True))
    coherence = 1.0 - np.divide(noise, power, out=np.ones(len(G)), where=power > 0.0)
    f, density = centres[: len(G)] / (n * dt), 2.0 * dt / n
    return Response(f, G, variance, np.clip(coherence, 0.0, 1.0), density * noise, density * power)


def _local(U: np.ndarray, Y: np.ndarray, k: int) -> tuple[complex, float, float, float]:
    """Response, its variance, and mean squares of the noise and of the motion of a line, about line k."""
    half = min(max(_LINES, int(_PART * k)), k - 1, len(U) - 1 - k)
    r = np.arange(-half, half + 1)
    powers = (r[:, None] / half) ** np.arange(_ORDER + 1)
    own, out = U[k + r], Y[k + r]
    scale = np.sqrt(np.mean(np.abs(own) ** 2))
    A = np.hstack([powers * (own / scale)[:, None], powers])
    inverse = np.linalg.pinv(A, rcond=1e-10)
    x = inverse @ out
    left = out - A @ x
    power = float(np.sum(np.abs(left) ** 2) / max(len(r) - A.shape[1], 1))
    driven = out - powers @ x[_ORDER + 1 :]
    whole = float(np.mean(np.abs(driven) ** 2))
    variance = power * float(np.sum(np.abs(inverse[0]) ** 2)) / scale**2
    return complex(x[0] / scale), variance, power, whole
