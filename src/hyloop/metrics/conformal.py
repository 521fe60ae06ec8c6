r"""Conformal bands: how wide a band must be to hold a stated share of the errors, found on runs nobody trained on.

An error is judged against a *score* of the same unit that is known beforehand (`hyloop.trust.Band` makes one), and the
band is q · score to either side. Samples of one run hang together, so what is exchangeable are whole runs: other
events, other draws of the device, all taken from one source and none used for training. A run that comes from
elsewhere, such as one with a device of another make, is promised nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyloop.errors import BadInput, BadShape, OutOfBounds
from hyloop.metrics.check import pair

__all__ = ["BandResult", "calibrate", "compare_bands", "constant_width", "coverage_by_run", "width_by_run"]


def calibrate(
    errors_by_run: Sequence[Any], scores_by_run: Sequence[Any], coverage: float, finite: str = "runs"
) -> float:
    r"""The factor q of a band q · score that holds a share `coverage` of the samples of a new run.

    With K runs of :math:`n_k` samples and ratios :math:`r = |error| / score`,

    .. math:: q = \inf\Big\{ q : \sum_k \frac{1}{n_k} \#\{i : r_{ki} \le q\} \ge (K + 1)\, coverage \Big\}

    every run weighing the same. A sample drawn from one more run lies in the band with a probability of at least
    `coverage` if the runs are exchangeable, whatever hangs together within them (Lee, Barber, Willett 2023,
    arXiv:2306.06342). With one sample in each run this is split conformal prediction, and the probability is at most
    coverage + 1/(K + 1) where there are no ties.

    Parameters
    ----------
    errors_by_run, scores_by_run : sequences of arrays
        Error (or its size) and score of every sample, an array for each run.
    coverage : float
        Share of the samples that the band shall hold.
    finite : str
        ``"runs"``: as above, which allows for the number of runs and needs at least coverage/(1 - coverage) of them.
        ``"samples"``: (K + 1) is K; the pooled share of the calibration runs is `coverage`, and nothing allows for what
        another run may be like. Of few runs the first is wide, the second a little narrow.
    """
    ratios = _ratios(errors_by_run, scores_by_run)
    _check_coverage(coverage)
    if finite not in ("runs", "samples"):
        raise BadInput(f"finite = {finite!r} must be 'runs' or 'samples'.")
    runs = len(ratios)
    level = coverage * (runs + 1 if finite == "runs" else runs)
    if level > runs:
        least = int(np.ceil(coverage / (1.0 - coverage) - 1e-9))
        raise BadInput(
            f"{runs} runs are too few for a coverage of {coverage:g} in one more run; give at least {least}, or "
            'finite="samples".'
        )
    values = np.concatenate(ratios)
    weights = np.concatenate([np.full(len(r), 1.0 / len(r)) for r in ratios])
    return _weighted_quantile(values, weights, level)


def coverage_by_run(errors_by_run: Sequence[Any], scores_by_run: Sequence[Any], q: float) -> np.ndarray:
    """Share of the samples of each run that lie in the band."""
    return np.array([np.mean(r <= q) for r in _ratios(errors_by_run, scores_by_run)])


def width_by_run(scores_by_run: Sequence[Any], q: float) -> np.ndarray:
    """Mean full width, 2 q score, of the band in each run."""
    return np.array([2.0 * q * float(np.mean(np.asarray(scores, dtype=float))) for scores in scores_by_run])


def constant_width(errors_by_run: Sequence[Any], share: float) -> float:
    """Full width of the constant band that holds a share of the samples of these very runs; all runs weigh the same."""
    sizes = _ratios(errors_by_run, [np.ones(np.shape(errors)) for errors in errors_by_run])
    weights = np.concatenate([np.full(len(s), 1.0 / len(s)) for s in sizes])
    return 2.0 * _weighted_quantile(np.concatenate(sizes), weights, share * len(sizes))


@dataclass(frozen=True, eq=False)
class BandResult:
    """A band on runs that were not used to calibrate it.

    Attributes
    ----------
    q : float
        Factor of the score.
    by_run : ndarray
        Share of the samples in the band, for each run.
    pooled : float
        Mean of these.
    width : float
        Mean full width, in the unit of the errors.
    constant : float
        Full width of the constant band with the same share of these very runs; it was told the answer.
    """

    q: float
    by_run: np.ndarray
    pooled: float
    width: float
    constant: float

    @property
    def narrower(self) -> float:
        """Width over that of the constant band: below one where the score is worth something."""
        return self.width / self.constant


def compare_bands(q: float, errors_by_run: Sequence[Any], scores_by_run: Sequence[Any]) -> BandResult:
    """Coverage and width of a calibrated band on other runs, beside a constant band of the same coverage there."""
    by_run = coverage_by_run(errors_by_run, scores_by_run, q)
    pooled = float(by_run.mean())
    width = float(width_by_run(scores_by_run, q).mean())
    return BandResult(q, by_run, pooled, width, constant_width(errors_by_run, pooled))


def _ratios(errors_by_run: Sequence[Any], scores_by_run: Sequence[Any]) -> list[np.ndarray]:
    if len(errors_by_run) != len(scores_by_run) or len(errors_by_run) == 0:
        raise BadShape(f"got {len(errors_by_run)} runs of errors and {len(scores_by_run)} of scores; give one of each.")
    found = []
    for k, given in enumerate(zip(errors_by_run, scores_by_run, strict=True), 1):
        errors, scores = pair(f"errors of run {k}", given[0], f"scores of run {k}", given[1])
        if not (scores > 0.0).all():
            raise OutOfBounds(f"scores of run {k} must be positive; give the score a floor.")
        found.append(np.abs(errors) / scores)
    return found


def _check_coverage(coverage: float) -> None:
    if not 0.0 < coverage < 1.0:
        raise OutOfBounds(f"coverage = {coverage!r} must lie between 0 and 1, such as 0.9.")


def _weighted_quantile(values: np.ndarray, weights: np.ndarray, level: float) -> float:
    """Smallest value up to which the weights sum to `level`, but for round-off of the sum."""
    order = np.argsort(values, kind="stable")
    sums = np.cumsum(weights[order])
    at = int(np.searchsorted(sums, level * (1.0 - 1e-12)))
    return float(values[order[min(at, len(order) - 1)]])
