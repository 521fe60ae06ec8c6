"""The page about an identification: the law, its parameters, how it compares with others, and what it leaves."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hyloop.files.measurements import Measured
from hyloop.files.units import parse_unit
from hyloop.identification import Fit, Profile, Ranking, gives_energy
from hyloop.identification.ranking import POOR
from hyloop.report.display import readable
from hyloop.report.identification_charts import loops, profile_chart, ranked_loops, residuals
from hyloop.report.identification_noise import input_noise
from hyloop.report.page import Answer, Code, Section, Table, write_page
from hyloop.report.provenance import versions

__all__ = [
    "Result",
    "drawn_points",
    "interval_notes",
    "pattern",
    "provenance_tables",
    "remark",
    "samplings",
    "tests_table",
    "write_identification",
]

_POINTS = 60_000  # on a page, as many as keep it under 6 MB with plotly.js inside
_MOST_TESTS = 12  # that are drawn; more cannot be read
_SHOWN_LAWS = 3  # drawn on top of each other
_NO_FIT = (
    f"No law that was tried fits well: errors are above {100 * POOR:g} % of the range of the force. Check signs, units "
    "and columns."
)
_ROUND_OFF = 1e-12  # error over range of a law fitted to its own force
_SI = ("m", "N", "m/s", "m/s2")


@dataclass(frozen=True, eq=False)
class Result:
    """What `hyloop identify` found.

    Attributes
    ----------
    name : str
        The law: the one asked for, or the first of the ranking.
    fit : Fit
    measured : list of Measured
        The tests as they were read.
    profiles : sequence of Profile
        Of some or all of its parameters.
    notes : tuple of str
        What a reader must know.
    ranking : Ranking or None
        Where several laws were compared.
    """

    name: str
    fit: Fit
    measured: list[Measured]
    profiles: Sequence[Profile]
    notes: tuple[str, ...]
    ranking: Ranking | None

    @property
    def warnings(self) -> list[str]:
        """What comes before all else: tests whose sign is doubtful, and laws that do not fit."""
        reversed_ = [
            one.name for one in self.measured if "d" in one.signals and gives_energy(one.signals["d"], one.signals["f"])
        ]
        said = [
            f"{', '.join(reversed_)}: this device would give energy; is the sign of the force reversed? factor = -1 in "
            "a --columns file turns it."
        ]
        return (said if reversed_ else []) + ([_NO_FIT] if self.poor else [])

    @property
    def poor(self) -> bool:
        """Whether the error is too large for any use: of unseen data where laws were ranked, else of the fit."""
        return not np.max(self.fit.nrmse) <= POOR if self.ranking is None else self.ranking.poor

    def shown(self, unit: str) -> tuple[float, str]:
        """Factor and name of the unit in which the laboratory reads a quantity: that of its file, where it has one."""
        units = self.measured[0].units
        length, force = (units.get(key) or si for key, si in (("d", "m"), ("f", "N")))
        length, force = (readable(own)[1] if own in _SI else own for own in (length, force))
        built = {
            "m": length,
            "N": force,
            "N/m": f"{force}/{length}",
            "m/s": f"{length}/s",
            "N s/m": f"{force} s/{length}",
        }
        if unit not in built:
            return readable(unit)
        return 1.0 / parse_unit(built[unit]).size, built[unit]


def write_identification(path: Path, result: Result, line: str) -> Path:
    """Write one HTML page about an identification; it loads nothing.

    Parameters
    ----------
    path : Path
        File to write; its folder is made.
    result : Result
    line : str
        What puts the law into an experiment file.
    """
    fitted = result.fit
    points = drawn_points(len(fitted.tests))
    pairs = list(zip(fitted.tests, fitted.forces, strict=True))[:_MOST_TESTS]
    sections = [
        Section("Use it", ["Paste this line into the table of a site of an experiment file."], code=[Code(line)])
    ]
    if result.warnings:
        sections.insert(0, Section("Read this first", result.warnings))
    if result.ranking is not None:
        sections.append(_ranked(result, result.ranking, points))
    sections += [
        Section("Parameters", interval_notes(fitted), tables=[_parameters(result), tests_table(result)]),
        Section("Residuals", pattern(fitted), charts=[residuals(pairs, points, result.shown)]),
    ]
    if result.profiles:
        sections.append(Section("Profiles", charts=[profile_chart(fitted, result.profiles, result.shown)]))
    sections.append(Section("How it was read and fitted", [*result.notes, *samplings(result)]))
    sections.append(Section("Provenance", tables=provenance_tables(result), folded=True))
    answer = Answer(_sentence(result), _numbers(result), loops(pairs[:3], points, result.shown, result.name))
    return write_page(path, f"Identification: {result.name}", answer, sections)


def drawn_points(tests: int) -> int:
    """Points of a line, so that a page with this many tests stays small."""
    return int(np.clip(_POINTS // (5 * min(tests, _MOST_TESTS)), 64, 4000))


def _sentence(result: Result) -> str:
    worst = 100.0 * float(np.max(result.fit.nrmse))
    if result.ranking is None and result.poor:
        return f"{result.name} does not fit well: its error is up to {worst:.2g} % of the range of the measured force."
    if result.ranking is None:
        return f"{result.name} gives the measured force with an error of {worst:.2g} % of its range or less."
    best, count = result.ranking.best, len(result.ranking.candidates)
    ties = [c.name for c in result.ranking.candidates[1:] if c.tie]
    tied = f"; {', '.join(ties)} cannot be told from it and need as many parameters or more" if ties else ""
    if result.poor:
        return (
            f"No law fits well: of {count} the best, {best.name}, predicts data it has not seen with an error of "
            f"{100 * best.error:.2g} % of the force range."
        )
    if count == 1:
        return (
            f"{best.name} predicts data it has not seen with an error of {100 * best.error:.2g} % of the force range."
        )
    return (
        f"Of {count} laws {best.name} predicts data it has not seen best, with an error of {100 * best.error:.2g} % of "
        f"the force range{tied}."
    )


def _numbers(result: Result) -> list[tuple[str, str]]:
    fitted = result.fit
    known = [e for e in fitted.estimates.values() if e.observable] or list(fitted.estimates.values())
    first = known[0]
    factor, unit = result.shown(first.unit)
    ends = (
        f", {100 * fitted.level:g} % from {factor * first.low:.4g} to {factor * first.high:.4g}"
        if first.observable
        else ""
    )
    about = fitted.law.block.params[first.name].about
    count = len(fitted.tests)
    return [
        (
            f"{100.0 * float(np.max(fitted.nrmse)):.3g} %",
            "error of the fit over the range of the force, largest of the tests",
        ),
        (f"{factor * first.value:.4g} {unit}".strip(), f"{first.name}, {about}{ends}"),
        (
            str(len(fitted.estimates)),
            f"parameters found from {count} test{'s' if count > 1 else ''} by {fitted.method}",
        ),
    ]


def _ranked(result: Result, ranking: Ranking, points: int) -> Section:
    rows: list[list[Any]] = []
    for k, c in enumerate(ranking.candidates):
        place = "first" if k == 0 else "tie" if c.tie else str(k + 1)
        silent = ", ".join(c.fit.unobservable)
        rows.append([place, c.name, c.parameters, 100 * c.error, 100 * c.seen, silent])
    columns = ["place", "law", "free parameters", "error unseen [%]", "error fitted [%]", "parameters without interval"]
    tables = [Table("Laws compared, errors over the range of the force", columns, rows)]
    if ranking.left_out:
        tables.append(Table("Laws left out", ["law", "because it"], [[n, why] for n, why in ranking.left_out.items()]))
    text = [note for note in ranking.notes if note.startswith("Laws are ranked")]
    drawn = ranking.candidates[:_SHOWN_LAWS]
    return Section("Laws compared", text, charts=[ranked_loops(drawn, points, result.shown)], tables=tables)


def interval_notes(fitted: Fit) -> list[str]:
    count = sum(int(test.counted.sum()) for test in fitted.tests)
    lines = [
        f"Intervals hold with a probability of {100 * fitted.level:g} % and allow for residuals that resemble their "
        f"neighbours: the samples are worth {fitted.confidence.samples:.0f} independent ones of {count}. "
        "They tell how far chance could have moved the estimate, not whether the law is right."
    ]
    if fitted.unobservable:
        lines.append(f"Without an interval: {', '.join(fitted.unobservable)}. The remarks say why.")
        if any("bound" in fitted.estimates[name].remark for name in fitted.unobservable):
            lines.append("Intervals of the others suppose that what lies on a bound stays there; profiles do not.")
    lines += input_noise(fitted)
    if not fitted.converged:
        lines.append("The last descent was cut off before it had converged.")
    return lines


def _parameters(result: Result) -> Table:
    fitted = result.fit
    level = f"{100 * fitted.level:g} %"
    columns = ["parameter", "value", "unit", "standard deviation", f"{level} from", "to"]
    ends = {p.name: (p.low, p.high) for p in result.profiles}
    rows = []
    for e in fitted.estimates.values():
        factor, unit = result.shown(e.unit)
        row: list[Any] = [e.name, factor * e.value, unit, factor * e.std, factor * e.low, factor * e.high]
        row += [factor * end for end in ends[e.name]] if e.name in ends else [None, None] if ends else []
        rows.append([*row, fitted.law.block.params[e.name].about, remark(fitted, result.profiles, e.name)])
    columns += ["profile from", "to"] if ends else []
    return Table(f"Parameters of {result.name}", [*columns, "what it is", "remark"], rows)


def remark(fitted: Fit, profiles: Sequence[Profile], name: str) -> str:
    """What to know about a parameter: why it has no interval, or that its profile tells another story."""
    estimate = fitted.estimates[name]
    shape = next((p for p in profiles if p.name == name), None)
    if estimate.remark or shape is None:
        return estimate.remark
    if max(fitted.nrmse) < _ROUND_OFF:
        return "fits to round-off, so the interval says nothing: the test has no noise"
    low, high = estimate.bounds
    # an interval that ends at a bound of the search promises nothing beyond it
    open_ends = {
        "below": estimate.low > low and np.isnan(shape.low),
        "above": estimate.high < high and np.isnan(shape.high),
    }
    sides = [side for side, is_open in open_ends.items() if is_open]
    return f"interval too narrow: the profile is open {' and '.join(sides)}" if sides else ""


def tests_table(result: Result) -> Table:
    factor, unit = result.shown("N")
    fitted = result.fit
    rows = [
        [t.name, int(t.counted.sum()), 1e3 * t.dt, factor * float(np.abs(t.f).max()), factor * rmse, 100.0 * nrmse]
        for t, rmse, nrmse in zip(fitted.tests, fitted.rmse, fitted.nrmse, strict=True)
    ]
    columns = ["test", "samples", "step [ms]", f"peak force [{unit}]", f"RMSE [{unit}]", "RMSE over range of force [%]"]
    return Table("Tests", columns, rows)


def pattern(fitted: Fit) -> list[str]:
    """What neighbouring residuals have in common, in a sentence."""
    errors = [(f - test.f)[test.counted] for test, f in zip(fitted.tests, fitted.forces, strict=True)]
    power = sum(float(e @ e) for e in errors)
    rho = sum(float(e[1:] @ e[:-1]) for e in errors) / power if power > 0.0 else 0.0
    said = (
        "noise: the law explains what can be explained" if rho < 0.3 else "a pattern: the law is not all of the device"
    )
    return [f"Neighbouring residuals have a correlation of {rho:.2f}, as of {said}, or of a sensor that filters."]


def samplings(result: Result) -> list[str]:
    return [f"{one.name}: {one.sampling.text}." for one in result.measured[:_MOST_TESTS]]


def provenance_tables(result: Result) -> list[Table]:
    fitted = result.fit
    free = fitted.estimates
    fixed = [
        [name, value, fitted.law.block.params[name].unit]
        for name, value in fitted.law.params.items()
        if name not in free
    ]
    rows: list[list[Any]] = [
        ["method", fitted.method],
        ["simulations of all tests", fitted.evaluations],
        ["lowest sums of squares reached", ", ".join(f"{2 * c:.6g}" for c in sorted(fitted.costs)[:8])],
        ["reference of the law", fitted.law.block.reference],
        *([f"version of {k}", v] for k, v in versions().items()),
    ]
    read = [
        [one.name, one.source, ", ".join(f"{key}: {column} [{one.units[key]}]" for key, column in one.columns.items())]
        for one in result.measured
    ]
    searched = [[e.name, e.start, *e.bounds, e.unit] for e in free.values()]
    tables = [
        Table("Sources", ["test", "source", "columns"], read),
        Table("Fit", ["", "value"], rows),
        Table("Search, in SI units", ["parameter", "start", "lower bound", "upper bound", "unit"], searched),
    ]
    return [*tables, Table("Fixed parameters", ["parameter", "value", "unit"], fixed)] if fixed else tables
