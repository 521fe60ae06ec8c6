"""What a design has found: distributions of a budget over a building, and how they answer to ground motions."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

__all__ = ["Designed", "Distribution", "Search"]


@dataclass(frozen=True, eq=False)
class Distribution:
    """Values of the parameters, and peaks of every story by compiled runs.

    Attributes
    ----------
    name : str
        "uniform", "by gradients" or "by Optuna".
    values : ndarray, (groups,)
        In SI units.
    training, test : ndarray, (motions, stories)
        Largest drift of each story, as ratio where heights are known, else in m.
    """

    name: str
    values: np.ndarray
    training: np.ndarray
    test: np.ndarray

    @property
    def trained(self) -> float:
        """Mean over the training motions of the largest drift of any story."""
        return float(self.training.max(axis=1).mean())

    @property
    def tested(self) -> float:
        """The same over the test motions."""
        return float(self.test.max(axis=1).mean())

    @property
    def profile(self) -> np.ndarray:
        """Mean peak drift of each story over the test motions."""
        return self.test.mean(axis=0)


@dataclass(frozen=True, eq=False)
class Search:
    """One search, as it went.

    Attributes
    ----------
    name : str
    runs : ndarray
        What was spent until each point, in runs of one motion; a gradient counts as the time it took.
    best : ndarray
        Best mean peak drift until then, on the training motions.
    seconds : float
    """

    name: str
    runs: np.ndarray
    best: np.ndarray
    seconds: float

    def runs_to(self, level: float) -> float | None:
        """Runs until the best was at most this; None if it never was."""
        reached = np.flatnonzero(self.best <= level)
        return float(self.runs[reached[0]]) if len(reached) else None


@dataclass(frozen=True, eq=False)
class Designed:
    """A design beside the uniform distribution and a search without gradients, of the same cost.

    Attributes
    ----------
    title, source : str
        Of the experiment.
    groups : dict of str to list of str
        Parameters that have one value together, by the name of the first.
    unit : str
        Of the parameters.
    cost : ndarray, (groups,)
        Cost of a unit of each value.
    budget : float
    measure, shown : str, (float, str)
        What was lowered, "drift ratio" or "drift", and factor and unit in which it is read.
    distributions : dict of str to Distribution
        "uniform", "gradients" and, where it was searched, "optuna" (the best of all its seeds).
    gradient, optuna : Search, tuple of Search
    motions : dict of "training" and "test" to names
    equivalence : float
        Runs of one motion in the time of one gradient of all training motions.
    notes : tuple of str
    """

    title: str
    source: str
    groups: dict[str, list[str]]
    unit: str
    cost: np.ndarray
    budget: float
    measure: str
    shown: tuple[float, str]
    distributions: dict[str, Distribution]
    gradient: Search
    optuna: tuple[Search, ...]
    motions: dict[str, list[str]]
    equivalence: float
    notes: tuple[str, ...] = field(default=())

    def read(self, value: float) -> str:
        """A drift as it is shown."""
        factor, unit = self.shown
        return f"{factor * value:.3g} {unit}"

    @property
    def gain(self) -> float:
        """Part by which the mean peak drift on test motions is lower than that of the uniform distribution."""
        return 1.0 - self.distributions["gradients"].tested / self.distributions["uniform"].tested

    @property
    def reached(self) -> list[tuple[float, float, float | None]]:
        """Of every seed of Optuna: its best, the runs it took to it, and those by gradients until as good; or None."""
        return [
            (float(one.best[-1]), one.runs_to(one.best[-1]) or 0.0, self.gradient.runs_to(one.best[-1]))
            for one in self.optuna
        ]

    def sentence(self) -> str:
        """The answer."""
        uniform, found = self.distributions["uniform"], self.distributions["gradients"]
        way = "lowers" if self.gain >= 0.0 else "raises"
        first = (
            f"Spread by gradients instead of evenly, the same budget {way} the mean peak {self.measure} on "
            f"{len(found.test)} test motions from {self.read(uniform.tested)} to {self.read(found.tested)} "
            f"({-100 * self.gain:+.1f} %)"
        )
        if not self.optuna:
            return f"{first}."
        met = [runs for _, _, runs in self.reached if runs is not None]
        spent = f"{np.mean([one.runs[-1] for one in self.optuna]):.0f}"
        if len(met) == len(self.optuna):
            return f"{first}; what Optuna found in {spent} runs took the time of {max(met):.0f}."
        return f"{first}; it was as good as Optuna's {spent} runs against {len(met)} of {len(self.optuna)} seeds."

    def as_dict(self) -> dict[str, Any]:
        """For a machine."""
        return {
            "sentence": self.sentence(),
            "title": self.title,
            "unit": self.unit,
            "budget": self.budget,
            "measure": self.measure,
            "groups": self.groups,
            "motions": self.motions,
            "gradient_in_runs": self.equivalence,
            "distributions": {
                key: {
                    "values": one.values.tolist(),
                    "training": one.trained,
                    "test": one.tested,
                    "profile": one.profile.tolist(),
                    "test_peaks": one.test.max(axis=1).tolist(),
                }
                for key, one in self.distributions.items()
            },
            "gradients": {
                "runs": self.gradient.runs.tolist(),
                "best": self.gradient.best.tolist(),
                "seconds": self.gradient.seconds,
            },
            "optuna": [
                {
                    "search": one.name,
                    "runs": float(one.runs[-1]),
                    "best": best,
                    "runs_to_best": runs,
                    "gradient_runs_to_it": ours,
                    "seconds": one.seconds,
                }
                for one, (best, runs, ours) in zip(self.optuna, self.reached, strict=True)
            ],
            "notes": list(self.notes),
        }
