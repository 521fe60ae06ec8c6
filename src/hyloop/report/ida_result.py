"""What an incremental dynamic analysis has found, kept in a file so that it can be looked at again."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from hyloop.core.writing import replacing
from hyloop.errors import BadInput
from hyloop.metrics.fragility import EXACT, FAILED, STANDS, resampled
from hyloop.metrics.ida_curves import IdaCurve
from hyloop.report.display import short
from hyloop.report.fragility_result import COLLAPSE, GRAVITY, FittedFragility, plain

__all__ = ["RESULT", "IdaComparison", "IdaRecord", "IdaResult", "compare", "read_ida"]

RESULT = "ida.json"
_FORMAT = "hyloop ida 1"


@dataclass(frozen=True)
class IdaRecord:
    """Runs of one record, in the order in which they were asked for.

    Attributes
    ----------
    name : str
    unit : float
        Its intensity without scaling, m/s2.
    levels : tuple of float
        Intensities, m/s2.
    responses : tuple of (float or None)
        None where the structure collapsed.
    reasons : tuple of str
        Why a run stopped, the first word of it; empty where it ended.
    """

    name: str
    unit: float
    levels: tuple[float, ...]
    responses: tuple[float | None, ...]
    reasons: tuple[str, ...]

    def curve(self, flattening: float) -> IdaCurve:
        """With rising intensity."""
        stood = sorted((x, y) for x, y in zip(self.levels, self.responses, strict=True) if y is not None)
        fell = sorted(x for x, y in zip(self.levels, self.responses, strict=True) if y is None)
        x, y = (np.array([point[k] for point in stood], float) for k in (0, 1))
        return IdaCurve(self.name, x, y, np.array(fell, float), flattening)


@dataclass(frozen=True)
class IdaResult:
    """An analysis and how it is read.

    Attributes
    ----------
    title, source : str
    overrides : tuple of str
        Changes of the file.
    intensity : str
        "sa_t1" or "pga".
    period, damping : float
        Of the spectral acceleration.
    response, unit : str
        What is drawn over intensity, and its unit.
    collapse : str
        Drift that counts as collapse, as it is given.
    flattening, resolution : float
        See `hyloop.files.ida`.
    records : tuple of IdaRecord
    states : dict of name to (value, unit)
    mce : float, optional
        m/s2.
    confidence : float
    samples, seed : int
        Of the bootstrap.
    """

    title: str
    source: str
    overrides: tuple[str, ...]
    intensity: str
    period: float
    damping: float
    response: str
    unit: str
    collapse: str
    flattening: float
    resolution: float
    records: tuple[IdaRecord, ...]
    states: Mapping[str, tuple[float, str]] = field(default_factory=dict)
    mce: float | None = None
    confidence: float = 0.95
    samples: int = 2000
    seed: int = 0

    @cached_property
    def curves(self) -> list[IdaCurve]:
        return [record.curve(self.flattening) for record in self.records]

    @property
    def measure(self) -> str:
        """The intensity in words."""
        return f"Sa({short(self.period)} s, {100 * self.damping:g} %)" if self.intensity == "sa_t1" else "PGA"

    @property
    def shown(self) -> tuple[float, str]:
        """Factor and unit in which the response is read."""
        return {"-": (100.0, "%"), "m": (1e3, "mm")}.get(self.unit, (1.0, self.unit))

    @property
    def runs(self) -> int:
        return sum(len(record.levels) for record in self.records)

    @cached_property
    def fragilities(self) -> list[FittedFragility]:
        """Of the damage states, by rising drift, and of collapse."""
        ordered = sorted(self.states.items(), key=lambda item: item[1][0])
        return [*(self._fitted(name, level) for name, level in ordered), self._fitted(COLLAPSE, None)]

    @property
    def at_collapse(self) -> FittedFragility:
        return self.fragilities[-1]

    def _fitted(self, name: str, level: tuple[float, str] | None) -> FittedFragility:
        known = [curve.capacity if level is None else curve.reaching(level[0]) for curve in self.curves]
        x, kinds = (np.array(column) for column in zip(*known, strict=True))
        return FittedFragility(name, level, x, kinds, self.confidence, self.samples, self.seed)

    def sentence(self) -> str:
        """The answer."""
        at, count = self.at_collapse, len(self.records)
        done = f"{count} records, {self.runs} runs"
        if at.fit is None:
            if not at.counted["exact"] and not at.counted["already"]:
                top = max(max(record.levels) for record in self.records) / GRAVITY
                return f"None of {count} records collapses up to {self.measure} = {short(top)} g: {done}."
            return f"No fragility of collapse can be told: {at.why}"
        low, high = (x / GRAVITY for x in at.by_bootstrap(at.drawn[0]))
        said = (
            f"Half of the records collapse at {self.measure} = {short(at.fit.median / GRAVITY)} g "
            f"({100 * self.confidence:g} %: {short(low)} to {short(high)} g), "
            f"with a dispersion of {short(at.fit.beta, 2)}"
        )
        if self.mce is not None:
            said += f"; the collapse margin ratio is {short(at.margin(self.mce))}"
        return f"{said}: {done}."

    @property
    def notes(self) -> list[str]:
        """What a reader must know."""
        counted, count, said = self.at_collapse.counted, len(self.records), []
        if counted["censored"]:
            names = _few([c.name for c in self.curves if c.capacity[1] == STANDS])
            said.append(
                f"{counted['censored']} of {count} records never collapse, up to their highest level: {names}. They "
                "are censored: that they stand there is all that the fit takes from them. More or higher levels "
                "(ida.levels, ida.step, ida.highest) would tell more."
            )
        if counted["already"]:
            names = _few([c.name for c in self.curves if c.capacity[1] == FAILED])
            said.append(
                f"{counted['already']} of {count} records collapse at their lowest level already: {names}. The fit "
                "takes from them that they have collapsed there, no more. Begin lower (ida.first)."
            )
        wide = [c for c in self.curves if _wide(c, self.resolution)]
        if wide:
            said.append(
                f"the runs ran out before collapse of {_few([c.name for c in wide])} was known within "
                f"{100 * self.resolution:g} %; give more (ida.levels)."
            )
        flat = sum(curve.flat_from is not None for curve in self.curves)
        if flat:
            said.append(
                f"{flat} of {count} records have collapsed where their curve stays below {100 * self.flattening:g} % "
                "of the elastic slope, before any run stopped."
            )
        limits = self.stops.get("limit", 0)
        if limits:
            said.append(
                f"{limits} runs stopped at a limit of a device (max_d, max_f), which says that the device is spent and "
                "not that the structure collapses; they count as collapse. Raise the limit where the device goes on."
            )
        return said

    @property
    def stops(self) -> dict[str, int]:
        """Why runs stopped, and how many."""
        return dict(Counter(why.partition(":")[0] for record in self.records for why in record.reasons if why))

    def as_dict(self) -> dict[str, Any]:
        """For a machine; intensities in m/s2."""
        return {
            "sentence": self.sentence(),
            "measure": self.measure,
            "period": plain(self.period),
            "runs": self.runs,
            "fragilities": [one.as_dict() for one in self.fragilities],
            "collapse_margin_ratio": None if self.mce is None else plain(self.at_collapse.margin(self.mce)),
            "stops": self.stops,
            "records": [
                {
                    "name": record.name,
                    "unscaled": record.unit,
                    "levels": list(record.levels),
                    "responses": list(record.responses),
                    "capacity": curve.capacity[0],
                    "known": {EXACT: "exact", STANDS: "censored", FAILED: "already"}[curve.capacity[1]],
                    "bracket": [plain(x) for x in curve.bracket],
                }
                for record, curve in zip(self.records, self.curves, strict=True)
            ],
            "notes": self.notes,
        }

    def save(self, folder: Path) -> None:
        """Write what `read_ida` reads."""
        with replacing(folder / RESULT) as part:
            part.write_text(
                json.dumps({"format": _FORMAT, **asdict(self)}, indent=1, ensure_ascii=False) + "\n", "utf-8"
            )


def read_ida(path: Path) -> IdaResult:
    """The analysis of a folder of `hyloop ida`, or of the file in it."""
    file = path / RESULT if path.is_dir() else path
    try:
        given = json.loads(file.read_text("utf-8"))
        if given.pop("format", "") != _FORMAT:
            raise ValueError("it says another format")
        records = []
        for record in given["records"]:
            levels, responses, reasons = (tuple(record[key]) for key in ("levels", "responses", "reasons"))
            records.append(IdaRecord(str(record["name"]), float(record["unit"]), levels, responses, reasons))
        states = {name: (float(value), str(unit)) for name, (value, unit) in given["states"].items()}
        return IdaResult(
            **given | {"records": tuple(records), "states": states, "overrides": tuple(given["overrides"])}
        )
    except FileNotFoundError:
        raise BadInput(f"{path} holds no incremental analysis ({RESULT}). Make one: hyloop ida FILE.") from None
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise BadInput(f"{file} is no incremental analysis that can be read ({error}).") from None


@dataclass(frozen=True, eq=False)
class IdaComparison:
    """Medians of one analysis over those of another, of the same records.

    Attributes
    ----------
    title : str
        Of the other.
    ratios : dict of state to (ratio, low, high)
        With the bounds of a bootstrap that draws the same records for both; nan where there is no fit.
    betas : dict of state to (ratio, low, high)
        Of the dispersions.
    """

    title: str
    ratios: dict[str, tuple[float, float, float]]
    betas: dict[str, tuple[float, float, float]]
    confidence: float

    @property
    def worst(self) -> str:
        """The state whose medians are farthest apart; empty where none can be compared."""
        known = {name: abs(np.log(ratio)) for name, (ratio, _, _) in self.ratios.items() if np.isfinite(ratio)}
        return max(known, key=lambda name: known[name], default="")

    def sentence(self) -> str:
        """The answer of the comparison."""
        if not self.worst:
            return f"Nothing can be compared with {self.title}: one of the two has no fragility of any state."
        ratio, low, high = self.ratios[self.worst]
        known = {name: values for name, values in self.ratios.items() if np.isfinite(values[0])}
        apart = [name for name, (_, least, most) in known.items() if not least <= 1.0 <= most]
        verdict = f"{len(apart)} of {len(known)} states differ" if apart else "no difference is shown in any state"
        where = f"farthest apart for {self.worst}" if len(known) > 1 else f"for {self.worst}"
        return (
            f"The medians are {where}, where this one is {ratio:.3f} times that of {self.title} "
            f"({100 * self.confidence:g} %, in pairs: {low:.3f} to {high:.3f}); {verdict}."
        )

    def as_dict(self) -> dict[str, Any]:
        """For a machine."""

        def listed(found: dict[str, tuple[float, float, float]]) -> dict[str, list[float | None]]:
            return {name: [plain(x) for x in values] for name, values in found.items()}

        return {
            "sentence": self.sentence(),
            "against": self.title,
            "medians": listed(self.ratios),
            "dispersions": listed(self.betas),
        }


def compare(one: IdaResult, other: IdaResult) -> IdaComparison:
    """Ratios of medians and dispersions, with bounds in pairs of records."""
    if [record.name for record in one.records] != [record.name for record in other.records]:
        raise BadInput("the two analyses have other records; only the same ones can be compared in pairs.")
    if one.intensity != other.intensity or not np.isclose(one.period, other.period, rtol=1e-9):
        raise BadInput(f"the two analyses have other intensities, {one.measure} and {other.measure}; give ida.period.")
    found: tuple[dict[str, tuple[float, float, float]], dict[str, tuple[float, float, float]]] = {}, {}
    for a, b in zip(one.fragilities, other.fragilities, strict=True):
        draws = [resampled(each.intensities, each.kinds, one.samples, one.seed) for each in (a, b)]
        for k, key in enumerate(("median", "beta")):
            ratio = float("nan")
            if a.fit is not None and b.fit is not None:
                ratio = getattr(a.fit, key) / getattr(b.fit, key)
            found[k][a.told] = (ratio, *a.by_bootstrap(draws[0][k] / draws[1][k]))
    return IdaComparison(other.title or Path(other.source).stem, *found, one.confidence)


def _wide(curve: IdaCurve, resolution: float) -> bool:
    low, high = curve.bracket
    return curve.flat_from is None and low > 0.0 and np.isfinite(high) and high - low > (1.0 + 1e-9) * resolution * low


def _few(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
