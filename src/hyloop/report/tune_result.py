"""What a tuning has found: every setting tried, the best, and how it does on events it has not learned from."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata

__all__ = ["Importance", "Judged", "Trial", "Tuned"]


@dataclass(frozen=True)
class Trial:
    """One setting on the training events.

    Attributes
    ----------
    number : int
        0 is the file as it stands.
    settings : dict of str
        What is changed, as it is written; empty for the file as it stands.
    values : tuple of float or None
        The objective on each event; None where the run failed.
    value : float or None
        That of all events together; None if a run failed.
    reason : str
        Of the first run that failed.
    at : dict of str to float
        Where each setting lies: a number in the unit of its range, or the place of a choice.
    """

    number: int
    settings: dict[str, str]
    values: tuple[float | None, ...]
    value: float | None
    reason: str
    at: dict[str, float]


@dataclass(frozen=True)
class Judged:
    """The file's own settings and the best ones on the same events.

    Attributes
    ----------
    events : tuple of str
    own, best : tuple of float or None
        The objective on each.
    own_value, best_value : float or None
        Of all together.
    """

    events: tuple[str, ...]
    own: tuple[float | None, ...]
    best: tuple[float | None, ...]
    own_value: float | None
    best_value: float | None


@dataclass(frozen=True)
class Importance:
    """How much the objective goes with a setting: rank correlation; of choices without order a part from 0 to 1."""

    setting: str
    correlation: float
    ordered: bool


@dataclass(frozen=True)
class Tuned:
    """A tuning that has ended.

    Attributes
    ----------
    source, title : str
    objective, unit, goal, over : str
        What is judged, in SI units.
    trials : tuple of Trial
    best : Trial
    judged : Judged
        On the test events.
    training : tuple of str
    units, choices : dict
        Unit of every range; values of every choice.
    seed, together : int
    """

    source: str
    title: str
    objective: str
    unit: str
    goal: str
    over: str
    trials: tuple[Trial, ...]
    best: Trial
    judged: Judged
    training: tuple[str, ...]
    units: dict[str, str]
    choices: dict[str, tuple[str, ...]]
    seed: int
    together: int

    @property
    def sign(self) -> float:
        """1 where less is better."""
        return 1.0 if self.goal == "least" else -1.0

    def gain(self, own: float | None, best: float | None) -> float | None:
        """By how much the best is better, over the file's own value."""
        if own is None or best is None or own == 0.0:
            return None
        return self.sign * (own - best) / abs(own)

    def sentence(self) -> str:
        """The answer."""
        gain = self.gain(self.judged.own_value, self.judged.best_value)
        where = f"on {len(self.judged.events)} test events"
        if self.best.number == 0:
            return (
                f"The settings of the file are the best of {len(self.trials)} tried; {where} nothing is to be gained."
            )
        if gain is None:
            return f"The best of {len(self.trials)} settings cannot be compared {where}: a run there failed."
        if gain <= 0.0:
            worse = f"{100 * -gain:.3g} % worse" if gain else "no better"
            return f"The best settings of the training are {worse} than those of the file {where}: keep the file's."
        return f"The best of {len(self.trials)} settings is {100 * gain:.3g} % better than the file {where}."

    def best_so_far(self) -> list[float | None]:
        """The best value up to each trial."""
        found: list[float | None] = []
        best: float | None = None
        for trial in self.trials:
            if trial.value is not None and (best is None or self.sign * trial.value < self.sign * best):
                best = trial.value
            found.append(best)
        return found

    def importance(self) -> list[Importance]:
        """Settings by how much the objective goes with them, over all trials that hold."""
        held = [trial for trial in self.trials if trial.value is not None]
        found = []
        for name in [*self.units, *self.choices]:
            pairs = [(trial.at[name], trial.value) for trial in held if name in trial.at]
            x, y = (np.array([pair[k] for pair in pairs], float) for k in (0, 1))
            ordered = name in self.units
            found.append(Importance(name, _spearman(x, y) if ordered else _between(x, y), ordered))
        return sorted(found, key=lambda one: -abs(one.correlation) if np.isfinite(one.correlation) else 1.0)

    def as_dict(self) -> dict[str, Any]:
        """For a machine."""
        return {
            "objective": self.objective,
            "unit": self.unit,
            "goal": self.goal,
            "over": self.over,
            "trials": len(self.trials),
            "failed": sum(trial.value is None for trial in self.trials),
            "best": {"trial": self.best.number, "settings": self.best.settings, "training": self.best.value},
            "own": {"training": self.trials[0].value, "test": self.judged.own_value},
            "test": self.judged.best_value,
            "gain_on_test": self.gain(self.judged.own_value, self.judged.best_value),
            "importance": {one.setting: one.correlation for one in self.importance() if np.isfinite(one.correlation)},
            "sentence": self.sentence(),
        }


def _spearman(x: np.ndarray, y: np.ndarray) -> float:
    """Correlation of ranks; nan where one does not change."""
    if len(x) < 2 or np.ptp(x) == 0.0 or np.ptp(y) == 0.0:
        return float("nan")
    return float(np.corrcoef(rankdata(x), rankdata(y))[0, 1])


def _between(groups: np.ndarray, y: np.ndarray) -> float:
    """Root of the share of the ranks' variance that lies between groups (correlation ratio)."""
    if len(y) < 2 or np.ptp(y) == 0.0:
        return float("nan")
    ranks = rankdata(y)
    means = np.zeros(len(ranks))
    for group in np.unique(groups):
        means[groups == group] = ranks[groups == group].mean()
    return float(np.sqrt(np.var(means) / np.var(ranks)))
