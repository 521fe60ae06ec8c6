r"""Lognormal fragilities by maximum likelihood, from intensities that are known exactly or only on one side.

The probability that a structure fails at the intensity x is :math:`\Phi(\ln(x/\theta)/\beta)` with the median θ and the
dispersion β. Of one record it may be known at which intensity it fails (``EXACT``), that it still stands at one
(``STANDS``), or that it has failed at one already (``FAILED``). An incremental analysis gives the first two, stripes of
a fixed intensity the last two. With :math:`z = \eta \ln x - \gamma`, :math:`\eta = 1/\beta`, the logarithm of the
likelihood is a sum of :math:`\ln\eta - z^2/2`, :math:`\ln\Phi(-z)` and :math:`\ln\Phi(z)`: concave, so that Newton's
method finds its one maximum.

References
----------
Olsen (1978), Note on the uniqueness of the maximum likelihood estimator for the Tobit model, Econometrica 46(5).
Baker (2015), Efficient analytical fragility function fitting using dynamic structural analysis,
doi:10.1193/021113EQS025M.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri, stdtrit

from hyloop.errors import BadInput, BadShape

__all__ = ["EXACT", "FAILED", "STANDS", "Fragility", "fit_fragility", "resampled"]

EXACT, STANDS, FAILED = 0, 1, -1  # what an intensity says of a record

_ITERATIONS, _HALVINGS = 60, 30
_CONVERGED = 1e-10  # of the parameters, which are of the size of one
_STEEP = 1e4  # of the slope of a fit that has no end: levels at which all stand, then all fail
_FLAT = 1e-3  # of the slope: failing does not become likelier with intensity
_LARGEST_SLIP = 1e-12  # of the likelihood, by rounding


@dataclass(frozen=True, eq=False)
class Fragility:
    """A lognormal fragility.

    Attributes
    ----------
    median, beta : float
        The intensity at which half fail, and the standard deviation of its logarithm.
    covariance : ndarray, (2, 2)
        Of γ and η, from the curvature of the likelihood.
    exact, count : int
        Records whose intensity is known exactly, and all of them.
    """

    median: float
    beta: float
    covariance: np.ndarray
    exact: int
    count: int

    def probability(self, intensity: Any) -> np.ndarray:
        """Of failing at these intensities."""
        return ndtr(np.log(np.asarray(intensity, np.float64) / self.median) / self.beta)

    def _spread(self, confidence: float) -> float:
        """Quantile, times what a standard deviation of few exact intensities lacks.

        With all of them exact the interval of the median is that of a mean of logarithms, exact by Student's t.
        """
        upper = 0.5 + 0.5 * confidence
        if self.exact < 2:
            return float(ndtri(upper))
        return float(stdtrit(self.exact - 1, upper) * np.sqrt(self.exact / (self.exact - 1)))

    def median_interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Bounds of the median by asymptotic theory."""
        eta, gamma = 1.0 / self.beta, np.log(self.median) / self.beta
        gradient = np.array([1.0 / eta, -gamma / eta**2])
        wide = self._spread(confidence) * np.sqrt(gradient @ self.covariance @ gradient)
        return self.median * float(np.exp(-wide)), self.median * float(np.exp(wide))

    def beta_interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Bounds of the dispersion by asymptotic theory, symmetric in its logarithm."""
        wide = self._spread(confidence) * np.sqrt(self.covariance[1, 1]) * self.beta
        return self.beta * float(np.exp(-wide)), self.beta * float(np.exp(wide))

    def band(self, intensity: Any, confidence: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of the probability at each intensity by asymptotic theory, point by point."""
        y = np.log(np.asarray(intensity, np.float64))
        rows = np.stack([-np.ones_like(y), y], axis=-1)
        wide = self._spread(confidence) * np.sqrt(np.sum((rows @ self.covariance) * rows, axis=-1))
        z = (y - np.log(self.median)) / self.beta
        return ndtr(z - wide), ndtr(z + wide)


def fit_fragility(intensities: Any, kinds: Any = EXACT, weights: Any = 1.0) -> Fragility:
    """The lognormal fragility of the greatest likelihood.

    Parameters
    ----------
    intensities : array
        One for each record, positive.
    kinds : array of int
        What each says: EXACT, STANDS or FAILED.
    weights : array
        How many records say so.

    Raises
    ------
    BadInput
        Where the likelihood has no maximum: nothing fails, all fail at once, or levels at which all stand are followed
        by levels at which all fail.
    """
    x, kind, weight = _checked(intensities, kinds, weights)
    y, middle, spread = _standard(x)
    gamma, eta, hessian = _newton(y, kind, weight[None])
    if not np.isfinite(eta[0]):
        raise BadInput(_without_end(x, kind, weight))
    inverse = np.linalg.inv(-hessian[0])
    # z = eta (ln x - middle)/spread - gamma, in terms of ln x itself
    back = np.array([[1.0, middle / spread], [0.0, 1.0 / spread]])
    return Fragility(
        float(np.exp(middle + spread * gamma[0] / eta[0])),
        float(spread / eta[0]),
        back @ inverse @ back.T,
        round(float(weight[kind == EXACT].sum())),
        round(float(weight.sum())),
    )


def resampled(
    intensities: Any, kinds: Any = EXACT, samples: int = 2000, seed: int = 0, groups: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Medians and dispersions of bootstrap samples of the records; nan where a sample has no fit.

    With the same seed and number of records the same records are drawn, so that two sets of results of the same records
    can be compared in pairs.

    Parameters
    ----------
    groups : array, optional
        Records are drawn within their group, such as a stripe; by default all are one group.
    """
    x, kind, weight = _checked(intensities, kinds, 1.0)
    rng, count = np.random.default_rng(seed), len(x)
    drawn = np.zeros((samples, count))
    group = np.zeros(count, int) if groups is None else np.unique(groups, return_inverse=True)[1]
    for k in range(group.max() + 1):
        places = np.flatnonzero(group == k)
        drawn[:, places] = rng.multinomial(len(places), np.full(len(places), 1.0 / len(places)), size=samples)
    y, middle, spread = _standard(x)
    gamma, eta, _ = _newton(y, kind, drawn * weight)
    return np.exp(middle + spread * gamma / eta), spread / eta


def _checked(intensities: Any, kinds: Any, weights: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    x = np.atleast_1d(np.asarray(intensities, np.float64))
    if x.ndim != 1 or not x.size:
        raise BadShape(f"fragility: got intensities of shape {x.shape}; give one number for each record.")
    if not np.all(np.isfinite(x) & (x > 0.0)):
        raise BadInput("fragility: intensities must be positive and finite.")
    kind, weight = np.broadcast_to(kinds, x.shape), np.broadcast_to(np.asarray(weights, np.float64), x.shape)
    if not np.all(np.isin(kind, (EXACT, STANDS, FAILED))) or not np.all(weight >= 0.0):
        raise BadInput("fragility: kinds are EXACT, STANDS or FAILED, and weights at least zero.")
    return x, kind, weight


def _without_end(x: np.ndarray, kind: np.ndarray, weight: np.ndarray) -> str:
    counted = {name: int(weight[kind == value].sum()) for name, value in (("stand", STANDS), ("fail", FAILED))}
    exact = int(weight[kind == EXACT].sum())
    said = f"{exact} of {int(weight.sum())} records have a known intensity of failure, which has no spread"
    if not exact:
        said = f"{counted['fail']} records fail and {counted['stand']} stand, from {x.min():.4g} to {x.max():.4g} m/s2"
    return (
        f"fragility: {said}, from which no lognormal fragility can be told. Give higher or closer levels, or more "
        "records, so that some fail where others stand, and more at higher levels."
    )


def _standard(x: np.ndarray) -> tuple[np.ndarray, float, float]:
    """Logarithms of zero mean and about unit size, their middle and their size."""
    y = np.log(x)
    middle, spread = float(y.mean()), float(y.std()) or 1.0
    return (y - middle) / spread, middle, spread


def _newton(y: np.ndarray, kind: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """γ and η of each row of weights, and the second derivatives there; nan where there is no maximum."""
    gamma, eta = np.zeros(len(weights)), np.ones(len(weights))
    value = _likelihood(y, kind, weights, gamma, eta)
    done = np.zeros(len(weights), bool)
    hessian = np.zeros((len(weights), 2, 2))
    for _ in range(_ITERATIONS):
        gradient, hessian = _derivatives(y, kind, weights, gamma, eta)
        regular = np.abs(np.linalg.det(hessian)) > np.finfo(float).tiny
        safe = np.where(regular[:, None, None], hessian, -np.eye(2))
        step = -np.linalg.solve(safe, gradient[..., None])[..., 0]
        size = np.abs(step).max(axis=1) / (1.0 + np.maximum(np.abs(gamma), eta))
        done |= regular & (size < _CONVERGED)
        lost = ~regular | (eta > _STEEP) | (eta < _FLAT)
        if np.all(done | lost):
            break
        factor = np.where(done | lost, 0.0, np.minimum(1.0, 0.9 * eta / np.maximum(-step[:, 1], 1e-300)))
        new, better = (gamma, eta), value
        for _ in range(_HALVINGS):
            new = gamma + factor * step[:, 0], eta + factor * step[:, 1]
            better = _likelihood(y, kind, weights, *new)
            worse = ~(better >= value - _LARGEST_SLIP * np.abs(value)) & (factor > 0.0)
            if not worse.any():
                break
            factor = np.where(worse, 0.5 * factor, factor)
        (gamma, eta), value = new, better
    bad = ~done | (eta > _STEEP) | (eta < _FLAT)
    return np.where(bad, np.nan, gamma), np.where(bad, np.nan, eta), hessian


def _likelihood(y: np.ndarray, kind: np.ndarray, weights: np.ndarray, gamma: np.ndarray, eta: np.ndarray) -> np.ndarray:
    z = eta[:, None] * y - gamma[:, None]
    each = np.where(kind == EXACT, np.log(eta)[:, None] - 0.5 * z**2, log_ndtr(-kind * z))
    return np.sum(weights * each, axis=1)


def _derivatives(
    y: np.ndarray, kind: np.ndarray, weights: np.ndarray, gamma: np.ndarray, eta: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """First and second derivatives of the likelihood in γ and η."""
    z = eta[:, None] * y - gamma[:, None]
    s = -kind * z  # ln Φ(s): of what stands s = -z, of what has failed s = z
    mills = np.exp(-0.5 * s**2 - 0.5 * np.log(2.0 * np.pi) - log_ndtr(s))
    first = weights * np.where(kind == EXACT, -z, -kind * mills)
    second = weights * np.where(kind == EXACT, -1.0, -mills * (mills + s))
    exact = np.sum(weights * (kind == EXACT), axis=1)
    gradient = np.stack([-first.sum(axis=1), first @ y + exact / eta], axis=1)
    cross = -(second @ y)
    hessian = np.stack(
        [np.stack([second.sum(axis=1), cross], axis=1), np.stack([cross, second @ y**2 - exact / eta**2], axis=1)],
        axis=1,
    )
    return gradient, hessian
