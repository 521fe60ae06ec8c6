"""Fragilities from runs at fixed levels of intensity (stripes), and their page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hyloop.errors import BadInput, UnknownName
from hyloop.metrics.fragility import FAILED, STANDS
from hyloop.report.display import short
from hyloop.report.fragility_result import COLLAPSE, IN_G, FittedFragility
from hyloop.report.ida_page import fragility_table, untold
from hyloop.report.ida_picture import fragility_picture
from hyloop.report.page import Answer, Code, Section, Table, write_page

__all__ = ["Stripes", "stripes_of", "write_stripes"]

_EXPLAINED = (
    "At each level some runs fail and the others do not. The fragility is the lognormal one that makes these numbers "
    "likeliest (binomial, Baker 2015, doi:10.1193/021113EQS025M). Bands come from a bootstrap that draws runs within "
    "their level; samples in which all runs of a level fail and none of the one below have no fit and are left out."
)


@dataclass(frozen=True)
class Stripes:
    """Fragilities counted at levels.

    Attributes
    ----------
    source : str
    key, unit : str
        Column of the intensity.
    fragilities : list of FittedFragility
        Of the states given, and of collapse where any run stopped.
    runs : int
    """

    source: str
    key: str
    unit: str
    fragilities: list[FittedFragility]
    runs: int

    @property
    def shown(self) -> tuple[float, str]:
        """Factor and unit in which intensities are read."""
        return IN_G if self.unit == "m/s2" else (1.0, "" if self.unit == "-" else self.unit)

    def told(self, value: float) -> str:
        """An intensity with its unit."""
        factor, unit = self.shown
        return f"{short(factor * value)} {unit}".strip()

    def sentence(self) -> str:
        """The answer."""
        first = self.fragilities[-1]
        if first.fit is None:
            return f"No fragility of {first.told} can be told: {first.why}"
        low, high = first.by_bootstrap(first.drawn[0])
        return (
            f"Half of the runs reach {first.told} at {self.key} = {self.told(first.fit.median)} "
            f"({100 * first.confidence:g} %: {self.told(low)} to {self.told(high)}), with a dispersion of "
            f"{short(first.fit.beta, 2)}: {self.runs} runs at {len(np.unique(first.intensities))} levels."
        )

    def as_dict(self) -> dict[str, Any]:
        """For a machine; intensities in the unit of the table."""
        return {
            "sentence": self.sentence(),
            "intensity": self.key,
            "unit": self.unit,
            "runs": self.runs,
            "fragilities": [one.as_dict() for one in self.fragilities],
        }


def stripes_of(
    columns: Mapping[str, Sequence[Any]],
    key: str,
    states: Mapping[str, tuple[float, str]],
    response: str | None,
    *,
    source: str = "",
    unit: str = "m/s2",
    confidence: float = 0.95,
    samples: int = 2000,
) -> Stripes:
    """Count what failed at each level of a table of runs.

    Parameters
    ----------
    columns : mapping
        Of the table: `outcome`, the intensity, and the response where states are given.
    key : str
        Column of the intensity.
    states : mapping of name to (value, unit)
        A run that stopped has reached every state.
    """
    if key not in columns:
        raise UnknownName("column", key, columns, where=f"{source}: intensity")
    outcome = np.array(columns.get("outcome", ["complete"] * len(columns[key])))
    if bad := int(np.sum(~np.isin(outcome, ("complete", "stopped")))):
        raise BadInput(
            f"{source}: {bad} runs neither ended nor stopped (refused, failed or died); mend or remove them."
        )
    x = np.array([np.nan if value is None or isinstance(value, str) else value for value in columns[key]], float)
    if not np.all(np.isfinite(x) & (x > 0.0)):
        raise BadInput(f"{source}: column '{key}' must have a positive number in every row to be an intensity.")
    if len(levels := np.unique(x)) < 2:
        raise BadInput(f"{source}: there is one level of '{key}', {levels[0]:g}; a fragility needs two or more.")
    stopped = outcome == "stopped"
    groups = np.unique(x, return_inverse=True)[1]

    def fitted(name: str, level: tuple[float, str] | None, failed: np.ndarray) -> FittedFragility:
        kinds = np.where(failed, FAILED, STANDS)
        return FittedFragility(name, level, x, kinds, confidence, samples, 0, groups)

    found = []
    for name, level in sorted(states.items(), key=lambda item: item[1][0]):
        values = _responses(columns, response, source)
        found.append(fitted(name, level, stopped | (values >= level[0])))
    if stopped.any() or not found:
        found.append(fitted(COLLAPSE, None, stopped))
    return Stripes(source, key, unit, found, len(x))


def _responses(columns: Mapping[str, Sequence[Any]], response: str | None, source: str) -> np.ndarray:
    usual = ("response", "drift_ratio", "drift")
    name = response or next((name for name in usual if name in columns), usual[0])
    if name not in columns:
        raise UnknownName("column", name, columns, where=f"{source}: response")
    return np.array([np.inf if value is None else value for value in columns[name]], float)


def write_stripes(path: Path, found: Stripes, command: str) -> Path:
    """Write one HTML page about fragilities from stripes; it loads nothing."""
    last = found.fragilities[-1]
    if last.fit is None:
        numbers = [("–", "median"), ("–", "dispersion"), (str(found.runs), "runs")]
    else:
        median = (found.told(last.fit.median), f"{found.key} at which half reach {last.told}")
        numbers = [median, (short(last.fit.beta, 2), "dispersion"), (str(found.runs), "runs")]
    factor, unit = found.shown
    counts = []
    for level in np.unique(last.intensities):
        rows = [np.sum((one.intensities == level) & (one.kinds == FAILED)) for one in found.fragilities]
        counts.append([short(factor * level, 4), int(np.sum(last.intensities == level)), *map(int, rows)])
    counted = Table(
        "What failed at each level", [f"{found.key} [{unit}]", "runs", *(one.told for one in found.fragilities)], counts
    )
    sections = [
        Section("Notes", untold(found.fragilities)),
        Section("Fragilities", tables=[fragility_table(found.fragilities, None, found.shown)]),
        Section("How to read it", [_EXPLAINED], tables=[counted]),
        Section("Provenance", code=[Code(command)], folded=True),
    ]
    picture = fragility_picture(found.fragilities, found.key, found.shown, counted=True)
    return write_page(path, f"Fragility: {found.source}", Answer(found.sentence(), numbers, picture), sections)
