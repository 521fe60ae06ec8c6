"""A fragility with its bounds, as it is told, tabulated and drawn."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtr

from hyloop.errors import BadInput
from hyloop.metrics.fragility import EXACT, FAILED, STANDS, Fragility, fit_fragility, resampled

__all__ = ["COLLAPSE", "GRAVITY", "IN_G", "FittedFragility", "plain"]

COLLAPSE = "collapse"
GRAVITY = 9.80665  # m/s2
IN_G = 1.0 / GRAVITY, "g"  # factor and unit in which intensities are read


def plain(value: float) -> float | None:
    """For JSON, which knows neither inf nor nan."""
    return float(value) if np.isfinite(value) else None


@dataclass(frozen=True, eq=False)
class FittedFragility:
    """What is known of each record about one state, and the lognormal fragility that fits it best.

    Attributes
    ----------
    name : str
        Of the state.
    level : (float, unit), optional
        Drift that is the state; none for collapse.
    intensities, kinds : ndarray
        See `hyloop.metrics.fragility`.
    confidence : float
    samples, seed : int
        Of the bootstrap over records.
    groups : ndarray, optional
        Stripes.
    """

    name: str
    level: tuple[float, str] | None
    intensities: np.ndarray
    kinds: np.ndarray
    confidence: float = 0.95
    samples: int = 2000
    seed: int = 0
    groups: np.ndarray | None = field(default=None)

    @cached_property
    def fit(self) -> Fragility | None:
        """The fragility; none where these records tell none."""
        return self._tried[0]

    @property
    def why(self) -> str:
        """Why there is none."""
        return self._tried[1]

    @cached_property
    def _tried(self) -> tuple[Fragility | None, str]:
        try:
            return fit_fragility(self.intensities, self.kinds), ""
        except BadInput as error:
            return None, str(error).removeprefix("fragility: ")

    @cached_property
    def drawn(self) -> tuple[np.ndarray, np.ndarray]:
        """Medians and dispersions of the bootstrap samples."""
        return resampled(self.intensities, self.kinds, self.samples, self.seed, self.groups)

    @property
    def told(self) -> str:
        """The state in words, with its drift."""
        if self.level is None:
            return self.name
        value, unit = self.level
        return f"{self.name}, {100 * value:g} %" if unit == "-" else f"{self.name}, {1e3 * value:g} mm"

    @property
    def ends(self) -> tuple[float, float]:
        """Quantiles of the two bounds."""
        return 0.5 - 0.5 * self.confidence, 0.5 + 0.5 * self.confidence

    def by_bootstrap(self, values: np.ndarray) -> tuple[float, float]:
        """Bounds of what the bootstrap samples give; samples without a fit are left out."""
        found = values[np.isfinite(values)]
        if len(found) < 2:
            return float("nan"), float("nan")
        low, high = np.quantile(found, self.ends)
        return float(low), float(high)

    def band(self, intensities: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of the probability at each intensity by the bootstrap, point by point."""
        medians, betas = (values[np.isfinite(self.drawn[0])] for values in self.drawn)
        z = (np.log(intensities) - np.log(medians)[:, None]) / betas[:, None]
        low, high = np.quantile(ndtr(z), self.ends, axis=0)
        return low, high

    @property
    def lost(self) -> float:
        """Part of the bootstrap samples that have no fit."""
        return float(np.mean(~np.isfinite(self.drawn[0])))

    @property
    def counted(self) -> dict[str, int]:
        """Of how many records it is known exactly, and of how many on one side."""
        names = {EXACT: "exact", STANDS: "censored", FAILED: "already"}
        return {name: int(np.sum(self.kinds == kind)) for kind, name in names.items()}

    def margin(self, mce: float) -> float:
        """The median over an intensity."""
        return float("nan") if self.fit is None else self.fit.median / mce

    def as_dict(self) -> dict[str, Any]:
        """For a machine; intensities in m/s2."""
        told: dict[str, Any] = {"state": self.name, "level": self.level, "records": self.counted}
        if self.fit is None:
            return {**told, "median": None, "beta": None, "why": self.why}
        return {
            **told,
            "median": self.fit.median,
            "beta": self.fit.beta,
            "confidence": self.confidence,
            "median_asymptotic": list(self.fit.median_interval(self.confidence)),
            "beta_asymptotic": list(self.fit.beta_interval(self.confidence)),
            "median_bootstrap": [plain(x) for x in self.by_bootstrap(self.drawn[0])],
            "beta_bootstrap": [plain(x) for x in self.by_bootstrap(self.drawn[1])],
            "samples_without_fit": self.lost,
        }
