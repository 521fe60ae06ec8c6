"""What rehearsals of a test have found: demands against limits, run by run, and go or no-go."""

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Demand", "Rehearsed"]

_REACHED = 1.0 - 1e-9  # of a limit: an actuator that stands at its limit has reached it


@dataclass(frozen=True, eq=False)
class Demand:
    """One number of every run, and what it must keep to.

    Attributes
    ----------
    key, site : str
        What it is (``"stroke"``), and where; no site for what is of the whole test.
    unit, factor : str, float
        Unit in which a person reads it, and how many of them are one SI unit.
    values : ndarray
        Of every run, in SI units; nan where a run stopped too early to tell.
    limit : float, optional
        In SI units; None for none.
    source : str
        Where the limit stands.
    least : bool
        The limit is the least that is allowed, not the most.
    """

    key: str
    site: str
    unit: str
    factor: float
    values: np.ndarray
    limit: float | None = None
    source: str = ""
    least: bool = False

    @property
    def broken(self) -> np.ndarray:
        """Whether each run breaks the limit."""
        if self.limit is None:
            return np.zeros(len(self.values), bool)
        if self.least:
            return self.values < self.limit
        return self.values >= _REACHED * self.limit

    @property
    def median(self) -> float:
        return self._quantile(0.5)

    @property
    def bad(self) -> float:
        """What one run in twenty exceeds (falls below, where the limit is the least)."""
        return self._quantile(0.05 if self.least else 0.95)

    @property
    def worst(self) -> float:
        return self._quantile(0.0 if self.least else 1.0)

    @property
    def name(self) -> str:
        if self.site:
            return f"{self.key} of {self.site}"
        return f"{self.key} on the answer" if self.key == "effect" else f"{self.key} of all sites together"

    def _quantile(self, part: float) -> float:
        """By one of the values itself: some may be infinite, and none is invented between two."""
        known = self.values[~np.isnan(self.values)]
        return float(np.quantile(known, part, method="inverted_cdf")) if len(known) else float("nan")

    def shown(self, value: float) -> str:
        """A value in the unit of a person."""
        if np.isnan(value):
            return "–"
        if np.isinf(value):
            return "any"
        number = self.factor * value
        return f"{f'{number:.0f}' if 1e3 <= abs(number) < 1e6 else f'{number:.3g}'} {self.unit}".strip()


@dataclass(frozen=True, eq=False)
class Rehearsed:
    """Rehearsals of a test.

    Attributes
    ----------
    title, source : str
        Of the experiment.
    runs, seed : int
    demands : tuple of Demand
        In the order they are shown.
    stopped : tuple of str
        Of every run why it stopped; empty where it did not.
    unstable : ndarray of bool
        Runs that grew by themselves.
    may_fail : float
        Share of the runs that may fail.
    critical : dict
        Of every site, and of all together under "", the critical delay in s and its frequency in Hz.
    remarks : tuple of str
        What a reader must know.
    answer : str
        Channel of the answer wanted.
    time, ideal, nominal, answers : ndarray
        Of the answer over time: with an ideal rig, with the rig as it stands in the file, and of all runs by rows (nan
        after a stop).
    uncertain : tuple of (channel, value, spread)
    """

    title: str
    source: str
    runs: int
    seed: int
    demands: tuple[Demand, ...]
    stopped: tuple[str, ...]
    unstable: np.ndarray
    may_fail: float
    critical: dict[str, tuple[float, float]]
    remarks: tuple[str, ...]
    answer: str
    answer_unit: str
    time: np.ndarray
    ideal: np.ndarray
    nominal: np.ndarray
    answers: np.ndarray
    uncertain: tuple[tuple[str, float, str], ...]

    @property
    def failed(self) -> np.ndarray:
        """Runs that stopped, or break a limit."""
        found = np.array([bool(why) for why in self.stopped])
        for demand in self.demands:
            found |= demand.broken
        return found

    @property
    def go(self) -> bool:
        return int(self.failed.sum()) <= self.may_fail * self.runs

    def demand(self, key: str) -> Demand | None:
        """The demand of this kind that is nearest to its limit, or the first of those without one."""
        found = [one for one in self.demands if one.key == key]
        limited = [one for one in found if one.limit]
        if not limited:
            return found[0] if found else None

        def used(one: Demand) -> float:
            share = one.worst / (one.limit or 1.0)
            return -share if one.least else share

        return max(limited, key=lambda one: -np.inf if np.isnan(used(one)) else used(one))

    def _latest(self, site: str) -> Demand | None:
        """What is left of the delay at a site; without a site, where the most is left."""
        left = [one for one in self.demands if one.key == "delay left" and site in ("", one.site)]
        return max(left, key=lambda one: one.worst, default=None)

    def reasons(self) -> list[str]:
        """Why it is a no-go, the gravest first; also of the few runs that may fail."""
        said = []
        if count := int(self.unstable.sum()):
            said.append(f"{count} of {self.runs} runs grow by themselves until they are stopped")
        margin = self.demand("margin")
        late = self._latest(margin.site) if margin is not None else None
        for one in self.demands:
            count = int(one.broken.sum())
            if not count:
                continue
            often = f"in {count} of {self.runs} runs"
            limit = one.shown(one.limit or 0.0)
            if one is margin and late is not None:
                delay, _ = self.critical[one.site]
                said.insert(
                    0,
                    f"the rig is too slow: {late.shown(late.worst)} of its delay are left, {1e3 * delay:.3g} ms are "
                    f"critical; {often} the margin is below {limit}, down to {one.shown(one.worst)}",
                )
            elif one.least:
                said.append(f"the {one.name} is down to {one.shown(one.worst)}, wanted is {limit}: {often}")
            else:
                reach = "reaches" if one.worst <= (one.limit or 0.0) * (2.0 - _REACHED) else "is up to"
                said.append(
                    f"the {one.name} {reach} {one.shown(one.worst)}, the limit is {limit} ({one.source}): {often}"
                )
        kept = [why for why, grew in zip(self.stopped, self.unstable, strict=True) if why and not grew]
        for why in dict.fromkeys(kept):
            said.append(f"{kept.count(why)} of {self.runs} runs stop: {why}")
        return said

    def sentence(self) -> str:
        """Go or no-go, with the figure that decides."""
        kept = self.runs - int(self.failed.sum())
        if not self.go:
            first = self.reasons()[0]
            return f"No-go: {first}."
        margin = self.demand("margin")
        if margin is None or np.isnan(margin.worst):
            stable = ""
        elif np.isinf(margin.worst):
            stable = "; no delay of this rig makes it grow"
        else:
            stable = f"; the critical delay is at least {margin.worst:.2g} times the delay that the rig has left"
        return f"Go: {kept} of {self.runs} rehearsals keep every limit{stable}."

    def as_dict(self) -> dict[str, Any]:
        """For a machine: SI units, null for what is not known or infinite."""

        def number(value: float | None) -> float | None:
            return None if value is None or not np.isfinite(value) else float(value)

        return {
            "go": self.go,
            "sentence": self.sentence(),
            "reasons": self.reasons(),
            "runs": self.runs,
            "seed": self.seed,
            "failed": int(self.failed.sum()),
            "unstable": int(self.unstable.sum()),
            "may_fail": self.may_fail,
            "critical_delay": {
                name or "together": {"delay": number(delay), "frequency": number(frequency)}
                for name, (delay, frequency) in self.critical.items()
            },
            "answer": {"channel": self.answer, "ideal": float(np.abs(self.ideal).max())},
            "demands": [
                {
                    "what": one.key,
                    "site": one.site or None,
                    "median": number(one.median),
                    "one_in_twenty": number(one.bad),
                    "worst": number(one.worst),
                    "limit": number(one.limit),
                    "source": one.source,
                    "runs_beyond": int(one.broken.sum()),
                }
                for one in self.demands
            ],
            "uncertain": {name: {"value": value, "spread": spread} for name, value, spread in self.uncertain},
            "notes": list(self.remarks),
        }
