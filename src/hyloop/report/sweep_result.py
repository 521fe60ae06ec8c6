"""What a sweep has found: keys, outcomes and measures of its runs."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hyloop.report.display import readable, short

__all__ = ["QUANTILES", "Swept"]

QUANTILES = (0.0, 0.05, 0.5, 0.95, 1.0)
_TELLING = 0.3  # of a rank correlation: below it a key is not said to matter
_COMPLETE = "complete"


@dataclass(frozen=True, eq=False)
class Swept:
    """The runs of a sweep, in their order.

    Attributes
    ----------
    title, source, folder : str
        Of the experiment, its file, and where the sweep lies.
    kind : str
        "grid", "list", "latin_hypercube" or "sobol".
    keys : mapping of name to sequence
        For each key its value in every run: numbers in SI units, or texts.
    measures : mapping of name to text
        Such as ``{"roof": "peak u.6"}``; the first is what the page is about.
    units : mapping
        SI units of keys and measures, where they have some.
    outcomes, reasons : tuple of str
        How every run ended, and why it did not complete.
    values : mapping of name to sequence of float or None
        Measures of every run; None of one that did not complete.
    """

    title: str
    source: str
    folder: str
    kind: str
    keys: Mapping[str, Sequence[Any]]
    measures: Mapping[str, str]
    units: Mapping[str, str]
    outcomes: tuple[str, ...]
    reasons: tuple[str, ...]
    values: Mapping[str, Sequence[float | None]]

    @property
    def runs(self) -> int:
        return len(self.outcomes)

    @property
    def complete(self) -> int:
        """How many have completed."""
        return sum(outcome == _COMPLETE for outcome in self.outcomes)

    @cached_property
    def swept(self) -> list[str]:
        """Keys that have several values."""
        return [name for name, column in self.keys.items() if len(set(column)) > 1]

    @cached_property
    def numeric(self) -> list[str]:
        """Keys of numbers that have several values; a seed is no quantity."""
        plain = [name for name in self.swept if all(isinstance(value, int | float) for value in self.keys[name])]
        return [name for name in plain if name.rpartition(".")[2] != "seed"]

    @cached_property
    def names(self) -> dict[str, str]:
        """Keys as they are read: the last words of their place, as many as tell them apart."""
        found = {}
        for name in self.keys:
            words = name.split(".")
            ends = [".".join(words[-n:]) for n in range(1, len(words) + 1)]
            others = [other for other in (*self.keys, *self.measures) if other != name]
            found[name] = next(
                (end for end in ends if not any(f".{other}".endswith(f".{end}") for other in others)), name
            )
        return found

    def key(self, name: str) -> np.ndarray:
        """Values of a numeric key in every run."""
        return np.array(self.keys[name], dtype=float)

    def measure(self, name: str) -> np.ndarray:
        """Values of a measure in every run; nan where there is none."""
        return np.array([np.nan if value is None else value for value in self.values[name]], dtype=float)

    def shown(self, name: str) -> tuple[float, str]:
        """Factor and unit in which a key or a measure is read."""
        return readable(self.units.get(name, ""))

    def label(self, name: str) -> str:
        """A key or measure with its unit, for an axis."""
        unit, said = self.shown(name)[1], self.names.get(name, name)
        return f"{said} [{unit}]" if unit else said

    def quantiles(self, name: str) -> list[float]:
        """Of a measure over all complete runs, in SI units."""
        values = self.measure(name)
        values = values[np.isfinite(values)]
        return [float("nan")] * len(QUANTILES) if len(values) == 0 else np.quantile(values, QUANTILES).tolist()

    def rank(self, name: str, key: str) -> float:
        """Spearman's rank correlation of a measure with a numeric key; nan where one of them does not change."""
        x, y = self.key(key), self.measure(name)
        both = np.isfinite(x) & np.isfinite(y)
        x, y = _ranks(x[both]), _ranks(y[both])
        if len(x) < 2 or np.ptp(x) == 0.0 or np.ptp(y) == 0.0:
            return float("nan")
        return float(np.corrcoef(x, y)[0, 1])

    def rank_text(self, name: str, key: str) -> str:
        """The same for a person."""
        rank = self.rank(name, key)
        return f"{rank:+.2f}" if np.isfinite(rank) else "–"

    def strongest(self, name: str) -> tuple[str, float] | None:
        """The numeric key on which a measure hangs most, and its rank correlation."""
        ranks = {key: self.rank(name, key) for key in self.numeric}
        known = {key: rank for key, rank in ranks.items() if np.isfinite(rank)}
        return max(known.items(), key=lambda item: abs(item[1])) if known else None

    def failures(self) -> list[tuple[str, str, int]]:
        """Outcome, reason, and how many runs ended so, the most frequent first; details of a reason do not count."""
        found = Counter(
            (outcome, reason.partition(":")[0] if outcome == "stopped" else reason)
            for outcome, reason in zip(self.outcomes, self.reasons, strict=True)
            if outcome != _COMPLETE
        )
        first = {
            (outcome, reason.partition(":")[0] if outcome == "stopped" else reason): reason
            for outcome, reason in reversed(list(zip(self.outcomes, self.reasons, strict=True)))
        }
        return [(key[0], first[key], count) for key, count in found.most_common()]

    def sentence(self) -> str:
        """The answer."""
        name = next(iter(self.measures))
        factor, unit = self.shown(name)
        failed = self.runs - self.complete
        lost = f"; {failed} of {self.runs} runs did not complete" if failed else ""
        if not self.complete:
            return f"None of {self.runs} runs completed: {self.reasons[0]}"
        low, median, high = (short(factor * value) for value in self.quantiles(name)[1:4])
        space = f" {unit}" if unit else ""
        found = self.strongest(name)
        why = ""
        if found is not None and abs(found[1]) >= _TELLING:
            way = "falls" if found[1] < 0.0 else "rises"
            why = f", and {way} most clearly with {self.names[found[0]]} (rank correlation {found[1]:+.2f})"
        return (
            f"Over {self.complete} runs the {name.replace('_', ' ')} ({self.measures[name]}) is {median}{space} in the "
            f"middle, nine of ten between {low} and {high}{space}{why}{lost}."
        )

    def as_dict(self) -> dict[str, Any]:
        """For a machine; the runs themselves are in the table."""
        ranks = {name: {key: self.rank(name, key) for key in self.numeric} for name in self.measures}
        return {
            "sentence": self.sentence(),
            "title": self.title,
            "kind": self.kind,
            "folder": self.folder,
            "runs": self.runs,
            "complete": self.complete,
            "keys": list(self.keys),
            "measures": {
                name: {
                    "what": what,
                    "unit": self.units.get(name, ""),
                    "quantiles": dict(zip(map(str, QUANTILES), map(_plain, self.quantiles(name)), strict=True)),
                    "rank_correlations": {key: _plain(rank) for key, rank in ranks[name].items()},
                }
                for name, what in self.measures.items()
            },
            "failures": [
                {"outcome": outcome, "reason": reason, "runs": count} for outcome, reason, count in self.failures()
            ],
        }


def _plain(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _ranks(values: np.ndarray) -> np.ndarray:
    """Ranks from 0; equal values have the mean of theirs."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return (last - 0.5 * (count + 1.0))[place]
