"""Curves of incremental dynamic analysis: response over intensity of one record, and their quantiles.

References
----------
Vamvatsikos and Cornell (2002), Incremental dynamic analysis, doi:10.1002/eqe.141.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hyloop.errors import BadShape
from hyloop.metrics.fragility import EXACT, FAILED, STANDS

__all__ = ["IdaCurve", "Known", "given_intensity", "given_response", "quantile"]

Known = tuple[float, int]  # an intensity, and whether it is EXACT, or the record STANDS there or has FAILED


@dataclass(frozen=True, eq=False)
class IdaCurve:
    """What one record does at rising intensity.

    Attributes
    ----------
    name : str
    intensity, response : ndarray
        Of the runs that end, with rising intensity.
    fell : ndarray
        Intensities of the runs that do not, rising.
    flattening : float
        Part of the elastic slope below which a curve counts as flat; zero: never.
    """

    name: str
    intensity: np.ndarray
    response: np.ndarray
    fell: np.ndarray
    flattening: float = 0.0

    def __post_init__(self) -> None:
        if self.intensity.shape != self.response.shape or np.any(np.diff(self.intensity) <= 0.0):
            raise BadShape(f"{self.name}: intensities must rise, and have a response each.")

    @property
    def standing(self) -> int:
        """How many points lie below the first run that does not end; what stands above is not looked at."""
        return int(np.sum(self.intensity < self.fell.min(initial=np.inf)))

    @property
    def points(self) -> tuple[np.ndarray, np.ndarray]:
        """Intensity and response from the origin up to collapse."""
        n = self.flat_from if self.flat_from is not None else self.standing - 1
        return np.append(0.0, self.intensity[: n + 1]), np.append(0.0, self.response[: n + 1])

    @property
    def flat_from(self) -> int | None:
        """The last point before the curve stays flat: beyond it every slope is below a part of the elastic one.

        The elastic slope is that of the first point. A curve that turns back, to less response at a higher intensity,
        is not flat there.
        """
        n = self.standing
        if n < 2 or not self.flattening:
            return None
        rise, run = np.diff(self.intensity[:n]), np.diff(self.response[:n])
        flat = (
            rise < self.flattening * self.intensity[0] / self.response[0] * run if self.response[0] > 0.0 else rise < 0
        )
        last = int(np.sum(np.logical_and.accumulate(flat[::-1])))
        return n - 1 - last if last else None

    @property
    def capacity(self) -> Known:
        """The intensity of collapse.

        The middle between the highest run that ends and the lowest that does not, in logarithms; or less, where the
        curve is flat before. A record that never collapses stands at its highest intensity.
        """
        if self.flat_from is not None:
            return float(self.intensity[self.flat_from]), EXACT
        if not self.fell.size:
            return float(self.intensity[-1]), STANDS
        if not self.standing:
            return float(self.fell[0]), FAILED
        return float(np.sqrt(self.intensity[self.standing - 1] * self.fell[0])), EXACT

    @property
    def bracket(self) -> tuple[float, float]:
        """The highest intensity at which it stands below the lowest at which it falls (zero and inf: none)."""
        below = self.intensity[: self.standing]
        return float(below.max(initial=0.0)), float(self.fell.min(initial=np.inf))

    def reaching(self, response: float) -> Known:
        """The lowest intensity at which the curve has this response; collapse has any."""
        x, y = self.points
        above = np.flatnonzero(y >= response)
        if not above.size:
            return self.capacity
        k = int(above[0])
        part = (response - y[k - 1]) / (y[k] - y[k - 1])
        return float(x[k - 1] + part * (x[k] - x[k - 1])), EXACT

    def at(self, intensity: float) -> float:
        """The response at an intensity, on straight lines; inf beyond collapse, nan where that is not known."""
        x, y = self.points
        if intensity <= x[-1]:
            return float(np.interp(intensity, x, y))
        limit, kind = self.capacity
        if kind == STANDS:
            return np.nan
        return np.inf if intensity > limit or kind == FAILED else float(y[-1])


def quantile(values: np.ndarray, part: float) -> float:
    """A quantile by lines between ordered values, some of which may be inf: of n the k-th has the part (k - 1/2)/n."""
    ordered = np.sort(values)
    place = np.clip(part * len(values) - 0.5, 0.0, len(values) - 1.0)
    low, high = int(np.floor(place)), int(np.ceil(place))
    if np.isinf(ordered[high]):
        return float("inf")
    return float(ordered[low] + (place - low) * (ordered[high] - ordered[low]))


def _between(least: np.ndarray, most: np.ndarray, part: float) -> float:
    """The quantile of values that are known within bounds: nan where it hangs on what is not known."""
    low, high = quantile(least, part), quantile(most, part)
    return low if low == high else float("nan")


def given_intensity(curves: Sequence[IdaCurve], intensities: np.ndarray, part: float) -> np.ndarray:
    """Quantile of the response at each intensity; inf where so many have collapsed, nan where it is not known.

    A record beyond its highest run, which it stood, has at least the response of that one.
    """
    found = []
    for x in intensities:
        each = np.array([curve.at(x) for curve in curves])
        least = np.array([curve.points[1][-1] for curve in curves])
        lost = np.isnan(each)
        found.append(_between(np.where(lost, least, each), np.where(lost, np.inf, each), part))
    return np.array(found)


def given_response(curves: Sequence[IdaCurve], responses: np.ndarray, part: float) -> np.ndarray:
    """Quantile of the intensity at which each response is reached; nan where it is not known."""
    found = []
    for response in responses:
        x, kind = (np.array(column) for column in zip(*(curve.reaching(response) for curve in curves), strict=True))
        found.append(_between(np.where(kind == FAILED, 0.0, x), np.where(kind == STANDS, np.inf, x), part))
    return np.array(found)
