"""The page about an incremental dynamic analysis: fragility of collapse, curves, records, and a comparison."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hyloop.metrics.fragility import EXACT, FAILED, STANDS
from hyloop.metrics.ida_curves import given_intensity
from hyloop.report.display import short
from hyloop.report.fragility_result import GRAVITY, IN_G, FittedFragility
from hyloop.report.ida_picture import PARTS, ida_picture, intensities_of, quantile_rows
from hyloop.report.ida_result import IdaComparison, IdaResult
from hyloop.report.page import Answer, Code, Section, Table, write_page
from hyloop.report.provenance import versions

__all__ = ["fragility_table", "untold", "write_ida"]

_EXPLAINED = (
    "Every record is run at rising intensity until the structure collapses: a run stops at the drift given, is not "
    "finite, or moves with more energy than the ground can have put in; or its curve stays flat. Collapse then lies "
    "between the highest run that ends and the lowest that does not. The fragility is the lognormal one of the "
    "greatest likelihood, in which a record that never collapses counts as standing at its highest level.",
    "Two kinds of quantiles: of the response at a given intensity (drawn), and of the intensity at a given response "
    "(table). With curves that only rise, 16 % of the one is 84 % of the other.",
    "Bands and the first bounds come from a bootstrap over the records, which draws whole records; the second bounds "
    "from asymptotic theory with Student's t. They say how far other records of the same kind would change the "
    "answer, not how far the model of the structure is right.",
)
_ROWS = 9  # of a table of quantiles
_KNOWN = {EXACT: "known", STANDS: "stands at its highest", FAILED: "falls at its lowest"}


def write_ida(
    path: Path, found: IdaResult, command: str, against: tuple[IdaResult, IdaComparison] | None = None
) -> Path:
    """Write one HTML page about an analysis, and what it is compared with; it loads nothing."""
    others = [] if against is None else against[0].fragilities
    sections = [
        *([] if against is None else [_compared(*against)]),
        Section("Notes", [f"{note[0].upper()}{note[1:]}" for note in [*found.notes, *untold(found.fragilities)]]),
        Section("Fragilities", tables=[fragility_table(found.fragilities, found.mce)]),
        Section("How to read it", _EXPLAINED, tables=[_given_response(found), _given_intensity(found)]),
        Section("Records", tables=[_records(found)]),
        Section(
            "Provenance",
            code=[Code(command)],
            tables=[_settings(found), Table("Versions", ["", "version"], [list(row) for row in versions().items()])],
            folded=True,
        ),
    ]
    sentence = found.sentence() if against is None else against[1].sentence()
    title = f"Incremental dynamic analysis: {found.title or Path(found.source).stem}"
    return write_page(path, title, Answer(sentence, _numbers(found, against), ida_picture(found, others)), sections)


def _numbers(found: IdaResult, against: tuple[IdaResult, IdaComparison] | None) -> list[tuple[str, str]]:
    at = found.at_collapse
    if at.fit is None:
        top = max(max(record.levels) for record in found.records) / GRAVITY
        return [
            (f"{at.counted['censored']} of {len(found.records)}", "records never collapse"),
            (f"{short(top)} g", f"highest {found.measure}"),
            (str(found.runs), "runs"),
        ]
    median = (f"{short(at.fit.median / GRAVITY)} g", f"{found.measure} at which half of the records collapse")
    if against is not None and against[1].worst:
        name = against[1].worst
        ratio, low, high = against[1].ratios[name]
        return [
            (f"{ratio:.3f}", f"median of {name} over the other's, {low:.3f} to {high:.3f} in pairs"),
            (f"{against[1].betas[name][0]:.3f}", "dispersion over the other's"),
            median,
        ]
    if found.mce is not None:
        third = (short(at.margin(found.mce)), f"collapse margin ratio, over {short(found.mce / GRAVITY)} g")
    else:
        part = 100 * float(at.fit.probability(at.fit.median / 2.0))
        third = (f"{part:.2g} %", "probability of collapse at half of that")
    return [median, (short(at.fit.beta, 2), "dispersion: standard deviation of the logarithm"), third]


def untold(fragilities: Sequence[FittedFragility]) -> list[str]:
    """Why there is no fragility of some states."""
    return [f"no fragility of {one.told}: {one.why}" for one in fragilities if one.fit is None]


def fragility_table(
    fragilities: Sequence[FittedFragility], mce: float | None = None, shown: tuple[float, str] = IN_G
) -> Table:
    """Medians and dispersions with both kinds of bounds; `shown` is the factor and the unit of intensities."""
    rows, (factor, unit) = [], shown
    for one in fragilities:
        counted = one.counted
        if one.fit is None:
            told = counted["exact"], counted["censored"] + counted["already"]
            rows.append([one.told, "–", "–", "–", "–", "–", "" if mce is None else "–", *told])
            continue
        bounds = [one.by_bootstrap(values) for values in one.drawn]
        rows.append(
            [
                one.told,
                short(factor * one.fit.median),
                _range(*(factor * x for x in bounds[0])),
                _range(*(factor * x for x in one.fit.median_interval(one.confidence))),
                short(one.fit.beta),
                _range(*bounds[1]),
                "" if mce is None else f"{float(one.fit.probability(mce)):.2%}",
                counted["exact"],
                counted["censored"] + counted["already"],
            ]
        )
    name = f"{100 * fragilities[0].confidence:g} %"
    columns = [
        "state", f"median [{unit}]", f"{name}, bootstrap", f"{name}, theory", "dispersion", f"{name}, bootstrap",
        "probability at the MCE", "records", "known on one side",
    ]  # fmt: skip
    return Table("Lognormal fragilities", columns, rows)


def _range(low: float, high: float) -> str:
    return f"{short(low)} to {short(high)}" if np.isfinite(low) and np.isfinite(high) else "–"


def _compared(other: IdaResult, found: IdaComparison) -> Section:
    rows = [
        [name, f"{ratio:.4f}", f"{low:.4f} to {high:.4f}", f"{found.betas[name][0]:.3f}", _spread(found.betas[name])]
        for name, (ratio, low, high) in found.ratios.items()
    ]
    columns = ["state", "medians", f"{100 * found.confidence:g} %", "dispersions", f"{100 * found.confidence:g} %"]
    text = (
        "Both analyses have the same records at the same measure of intensity. The bootstrap draws the same records "
        "for both, so that what records have in common drops out; an interval that holds 1 shows no difference."
    )
    return Section(f"Against {found.title}", [text], tables=[Table("Ratios", columns, rows)])


def _spread(values: tuple[float, float, float]) -> str:
    return f"{values[1]:.3f} to {values[2]:.3f}"


def _given_response(found: IdaResult) -> Table:
    _, unit = found.shown
    columns = [f"{found.response} [{unit}]", *(f"{100 * part:g} % of records" for part in PARTS)]
    return Table(f"{found.measure} in g at which a response is reached", columns, quantile_rows(found, _ROWS))


def _given_intensity(found: IdaResult) -> Table:
    factor, unit = found.shown
    x = np.linspace(0.0, intensities_of(found)[-1], _ROWS + 1)[1:]
    by = [factor * given_intensity(found.curves, x, part) for part in PARTS]
    rows: list[list[Any]] = [
        [f"{at / GRAVITY:.3g}", *("collapse" if np.isinf(column[k]) else float(column[k]) for column in by)]
        for k, at in enumerate(x)
    ]
    columns = [f"{found.measure} [g]", *(f"{100 * part:g} %" for part in PARTS)]
    return Table(f"Response in {unit} at an intensity", columns, rows)


def _records(found: IdaResult) -> Table:
    rows = []
    for record, curve in zip(found.records, found.curves, strict=True):
        (low, high), (capacity, kind) = curve.bracket, curve.capacity
        between = f"{short(low / GRAVITY)} to {short(high / GRAVITY)}" if np.isfinite(high) else "–"
        stops = sorted({why.partition(":")[0] for why in record.reasons if why})
        rows.append(
            [
                record.name,
                short(record.unit / GRAVITY),
                short(capacity / GRAVITY),
                _KNOWN[kind] + (", flat" if curve.flat_from is not None else ""),
                between,
                ", ".join(stops),
                len(record.levels),
            ]
        )
    columns = [
        "record", "unscaled [g]", "collapse [g]", "what is known", "stands and falls [g]", "runs stopped by", "runs",
    ]  # fmt: skip
    return Table(f"{len(rows)} records", columns, rows)


def _settings(found: IdaResult) -> Table:
    rows = [
        ["intensity", found.measure],
        ["collapse", f"drift of {found.collapse}, not finite, or energy"],
        ["a curve is flat below", f"{100 * found.flattening:g} % of its elastic slope"],
        ["resolution of collapse", f"{100 * found.resolution:g} %"],
        ["confidence", f"{100 * found.confidence:g} %, {found.samples} bootstrap samples, seed {found.seed}"],
    ]
    return Table("Settings", ["", "value"], rows)
