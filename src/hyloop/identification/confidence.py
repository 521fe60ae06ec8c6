r"""How well fitted parameters are known, when the residuals are not white.

With the residuals r and their Jacobian J at the minimum, the covariance of the parameters is the sandwich

.. math:: C = (J^T J)^{-1}\, M\, (J^T J)^{-1}

Taking :math:`M = \sigma^2 J^T J`, as is usual, supposes that the residuals of neighbouring samples know nothing of each
other. They do: a law is never quite right, and sensors filter. Two estimates of M allow for it. The first describes
the residuals of each test by an autoregression and takes :math:`M = J^T \Gamma J` with its autocovariance; it needs
little data. The second sums the products of the scores :math:`J_i r_i` of neighbouring samples; it also holds where
the residuals are large just where the parameters matter. For every parameter the larger variance counts.

Where noise in the motion that drives the law has been drawn (`hyloop.identification.noisy_inputs`), its part of M is
known from the draws. The two estimates then describe what the draws leave of the residuals, less its white part.

References
----------
White (1980), doi:10.2307/1912934; Newey, West (1987), doi:10.2307/1913610; Andrews (1991), doi:10.2307/2938229.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hyloop.identification.smoothing import noise_of

__all__ = ["Confidence", "Spread", "confidence", "inside", "normal_inverse"]

_SINGULAR = 1e-7  # of the largest singular value: what central differences leave of a direction that does nothing
_TAKES_PART = 1e-3  # share of a parameter in such a direction
_ON_BOUND = 1e-3  # of the range
_TOGETHER = 0.999  # correlation at which two parameters are told apart by their combination only
_ORDER = 24  # largest order of the autoregression
_WHITE = 4  # order of the differences that show the white part of residuals, which no motion can hide
_MOVED = 1.0  # standard deviations: a parameter that noise in the motion moves further has no interval


class Spread(NamedTuple):
    """What noise in the motion does at a minimum.

    Attributes
    ----------
    meat : ndarray, (free, free)
        Its part of M.
    power : ndarray, (samples,)
        Its part of the variance of the residuals.
    shift : ndarray, (free,)
        How far it moves the estimates to one side, as places in their ranges.
    draws : int
        From how many draws.
    """

    meat: np.ndarray
    power: np.ndarray
    shift: np.ndarray
    draws: int


class Confidence(NamedTuple):
    """Spread of the parameters, as places in their ranges; nan where a parameter has none.

    Attributes
    ----------
    std : ndarray, (free,)
        Standard deviations.
    white : ndarray, (free,)
        The same, had the residuals been white.
    correlation : ndarray, (free, free)
    samples : float
        Effective number of samples.
    quantile : float
        Student's t: half the width of the interval over the standard deviation.
    remarks : tuple of str
        Why a parameter has no interval, or what to know about it; empty where there is nothing to say.
    motion : ndarray, (free,)
        The part of the variance that comes from noise in the motion; 0 where none was drawn.
    """

    std: np.ndarray
    white: np.ndarray
    correlation: np.ndarray
    samples: float
    quantile: float
    remarks: tuple[str, ...]
    motion: np.ndarray


def confidence(
    J: np.ndarray,
    r: np.ndarray,
    z: np.ndarray,
    pieces: Sequence[slice],
    names: Sequence[str],
    level: float,
    motion: Spread | None = None,
) -> Confidence:
    """Confidence of a minimum.

    Parameters
    ----------
    J, r : ndarray
        Jacobian (samples, free) and residuals (samples,), without the samples that do not count.
    z : ndarray, (free,)
        Places of the parameters in their ranges.
    pieces : sequence of slice
        The tests; residuals of different tests are independent.
    names : sequence of str
        Names of the free parameters, for the remarks.
    level : float
        Probability of the intervals, such as 0.95.
    motion : Spread, optional
        What noise in the motion does, where it matters.
    """
    from scipy.stats import t as student

    n, count = J.shape
    remarks, here = [_bound_remark(at) for at in z], inside(z)
    spectra = [_autoregression(r[piece]) for piece in pieces]
    samples = float(sum(spectrum.samples for spectrum in spectra))
    freedom = max(samples - here.sum(), 1.0)
    quantile = float(student.ppf(0.5 + level / 2.0, freedom if motion is None else min(freedom, motion.draws)))
    bread, parts = normal_inverse(J[:, here])
    rest, drawn = r, np.zeros_like(bread)
    if motion is not None:
        rest, white_part = _rest(J[:, here], r, motion.power, pieces)
        spectra = [_autoregression(rest[piece]) for piece in pieces]
        drawn = bread @ (motion.meat[np.ix_(here, here)] + white_part) @ bread
    coloured = sum(
        (_coloured(J[piece][:, here], s) for piece, s in zip(pieces, spectra, strict=True)), np.zeros_like(bread)
    )
    scored = sum((_scored(J[piece][:, here] * rest[piece, None]) for piece in pieces), np.zeros_like(bread))
    # residuals of a fit are smaller than the errors, by the samples that the parameters have used up
    C = bread @ coloured @ bread * (samples / freedom) + drawn
    larger = np.maximum(np.diag(C), np.diag(bread @ scored @ bread) * (samples / freedom) + np.diag(drawn))
    std, white, correlation = np.full(count, np.nan), np.full(count, np.nan), np.full((count, count), np.nan)
    std[here] = np.sqrt(np.maximum(larger, 0.0))
    moved, share = np.zeros(count, dtype=bool), np.where(here, 0.0, np.nan)
    if motion is not None:
        moved = np.abs(motion.shift) > _MOVED * std
        std = np.sqrt(std**2 + motion.shift**2)
        share[here] = np.diag(bread @ motion.meat[np.ix_(here, here)] @ bread) + motion.shift[here] ** 2
        share = np.divide(share, std**2, out=np.full(count, np.nan), where=std > 0.0)
    white[here] = np.sqrt(np.diag(bread) * float(r @ r) / max(n - here.sum(), 1))
    own = np.sqrt(np.diag(C))
    with np.errstate(invalid="ignore", divide="ignore"):
        correlation[np.ix_(here, here)] = C / np.outer(own, own)
    for place, j in enumerate(np.flatnonzero(here)):
        partners = [str(names[int(i)]) for i in np.flatnonzero(here)[parts[place]] if i != j]
        if parts[place, place]:
            remarks[j] = "not observable: the force does not depend on it"
            if partners:
                remarks[j] = f"not observable: a change is undone by {', '.join(partners)}"
        elif not quantile * std[j] <= 0.5:
            remarks[j] = "not observable: its interval is wider than its bounds"
        elif moved[j]:
            remarks[j] = "no interval: noise in the measured motion moves it to one side by more than its spread"
        if remarks[j]:
            std[j] = white[j] = share[j] = np.nan
            continue
        close = [names[i] for i in range(count) if i != j and abs(correlation[j, i]) > _TOGETHER]
        if close:
            remarks[j] = f"known only together with {', '.join(close)} (correlation above {_TOGETHER})"
    return Confidence(std, white, correlation, samples, quantile, tuple(remarks), share)


def inside(z: np.ndarray) -> np.ndarray:
    """Which parameters do not lie on a bound, as a mask."""
    return np.array([not _bound_remark(at) for at in z], dtype=bool)


def _bound_remark(z: float) -> str:
    side = "lower" if z < _ON_BOUND else "upper" if z > 1.0 - _ON_BOUND else ""
    return f"not observable: it lies on its {side} bound" if side else ""


def normal_inverse(J: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Inverse of JᵀJ in the directions that do something, and which parameters undo each other in the others.

    Row i of the second array marks the parameters that share a silent direction with parameter i, itself among them.
    """
    p = J.shape[1]
    bread, parts = np.zeros((p, p)), np.zeros((p, p), dtype=bool)
    size = np.linalg.norm(J, axis=0)
    active = np.flatnonzero(size > _SINGULAR * size.max(initial=0.0))
    parts[np.diag_indices(p)] = ~np.isin(np.arange(p), active)
    if not active.size:
        return bread, parts
    # columns of one length: a singular value then tells of a direction and not of the width of the bounds
    _, s, Vt = np.linalg.svd(J[:, active] / size[active], full_matrices=False)
    silent = s <= _SINGULAR * s.max()
    shares = Vt[silent] ** 2 > _TAKES_PART
    V = (Vt[~silent] / size[active]).T / s[~silent]
    here = np.ix_(active, active)
    bread[here], parts[here] = V @ V.T, shares.T.astype(int) @ shares.astype(int) > 0
    return bread, parts


def _rest(J: np.ndarray, r: np.ndarray, power: np.ndarray, pieces: Sequence[slice]) -> tuple[np.ndarray, np.ndarray]:
    """Residuals without what noise in the motion explains and without their white part; and what that adds to M.

    The variance of a sample is that from the motion and the rest, which is taken as the same all along a test.
    """
    n, used = J.shape
    rest, white = np.zeros_like(r), np.zeros((used, used))
    for piece in pieces:
        total = float(np.mean(r[piece] ** 2)) * n / max(n - used, 1)
        level = min(noise_of(r[piece], _WHITE) ** 2, total)
        more = max(total - float(np.mean(power[piece])) - level, 0.0)
        rest[piece] = r[piece] * np.sqrt(more / np.maximum(more + level + power[piece], np.finfo(float).tiny))
        white += level * J[piece].T @ J[piece]
    return rest, white


class _Spectrum(NamedTuple):
    """Autoregression of the residuals of one test: coefficients, innovation variance, effective samples."""

    phi: np.ndarray
    innovation: float
    samples: float


def _autoregression(r: np.ndarray) -> _Spectrum:
    """Fit by Burg's method, order by the Bayesian criterion."""
    n = len(r)
    ahead, behind = r[1:].copy(), r[:-1].copy()
    variance = float(r @ r) / n
    phi = np.zeros(0)
    best = (n * np.log(max(variance, np.finfo(float).tiny)), phi, variance)
    for order in range(1, min(_ORDER, n // 8) + 1):
        power = float(ahead @ ahead + behind @ behind)
        if power <= 0.0 or variance <= 0.0:
            break
        k = 2.0 * float(ahead @ behind) / power
        phi = np.append(phi - k * phi[::-1], k)
        variance *= 1.0 - k * k
        if variance <= 0.0:
            break
        ahead, behind = (ahead - k * behind)[1:], (behind - k * ahead)[:-1]
        score = n * np.log(variance) + order * np.log(n)
        if score < best[0]:
            best = (score, phi, variance)
    _, phi, variance = best
    spectrum = _power(phi, variance, 4 * n)
    # n / sum of squared correlations: by Parseval from the spectrum alone
    total = np.mean(spectrum**2)
    samples = n * np.mean(spectrum) ** 2 / total if total > 0.0 else float(n)
    return _Spectrum(phi, variance, min(float(samples), float(n)))


def _power(phi: np.ndarray, innovation: float, m: int) -> np.ndarray:
    """Power spectrum of an autoregression at m frequencies round the circle."""
    return innovation / np.abs(np.fft.fft(np.concatenate([[1.0], -phi]), m)) ** 2


def _coloured(J: np.ndarray, spectrum: _Spectrum) -> np.ndarray:
    """JᵀΓJ, where Γ is the autocovariance of the autoregression; padded so that the ends do not meet."""
    m = 2 ** int(np.ceil(np.log2(2 * len(J))))
    transformed = np.fft.rfft(J, m, axis=0)
    weight = _power(spectrum.phi, spectrum.innovation, m)[: m // 2 + 1]
    weight[1 : m // 2] *= 2.0
    return np.real(np.conj(transformed).T @ (weight[:, None] * transformed)) / m


def _scored(scores: np.ndarray) -> np.ndarray:
    """Sum of products of the scores of samples up to some lag, with Bartlett's weights and Andrews's lag."""
    n = len(scores)
    early, late = scores[:-1], scores[1:]
    power = np.sum(early**2, axis=0)
    rho = np.sum(early * late, axis=0) / np.where(power > 0.0, power, 1.0)
    rho = np.clip(np.max(np.abs(rho), initial=0.0), 0.0, 0.97)
    lags = min(int(1.1447 * (4.0 * rho**2 / (1.0 - rho**2) ** 2 * n) ** (1.0 / 3.0)), n // 4)
    M = scores.T @ scores
    for lag in range(1, lags + 1):
        product = scores[lag:].T @ scores[:-lag]
        M += (1.0 - lag / (lags + 1.0)) * (product + product.T)
    return M
