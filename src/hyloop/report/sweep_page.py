"""The page about a sweep: what hangs on what, which runs failed, and where the table is."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hyloop.report.display import short
from hyloop.report.page import Answer, Code, Section, Table, write_page
from hyloop.report.provenance import versions
from hyloop.report.sweep_picture import HIGHEST, pictures
from hyloop.report.sweep_result import Swept

__all__ = ["write_sweep"]

_MORE = 6  # measures that are drawn below the first
_FAILED = 200  # runs that are listed
_READ = """import pyarrow.parquet

runs = pyarrow.parquet.read_table({path!r}).to_pandas()  # or polars.read_parquet, duckdb, R's arrow
runs[runs.outcome == "complete"].describe()"""


def write_sweep(path: Path, found: Swept, command: str) -> Path:
    """Write one HTML page about a sweep; it loads nothing. `command` is what was typed."""
    first, *others = found.measures
    main = pictures(found, first) if found.complete else []
    picture = main[0] if main else None
    if picture is not None and picture.layout["height"] > HIGHEST:
        raise AssertionError(f"a picture of {picture.layout['height']} px does not fit on the first screen")
    charts = [chart for name in others[:_MORE] if found.complete for chart in pictures(found, name)[:1]]
    sections = [
        Section("Runs that failed", _failed_text(found), tables=_failed(found)),
        Section(f"More of the {first.replace('_', ' ')}", charts=main[1:]),
        Section("The other measures", charts=charts),
        Section("Numbers", [_explained(found)], tables=[_numbers(found), *_ranks(found)]),
        Section(
            "The table",
            [f"{Path(found.folder) / 'runs.parquet'} has a row for each of {found.runs} runs, in SI units."],
            code=[Code(_READ.format(path=str(Path(found.folder) / "runs.parquet")))],
        ),
        Section(
            "Provenance",
            code=[Code(command)],
            tables=[Table("Versions", ["", "version"], [list(row) for row in versions().items()])],
            folded=True,
        ),
    ]
    title = f"Sweep: {found.title or Path(found.source).stem}"
    return write_page(path, title, Answer(found.sentence(), _three(found), picture), sections)


def _three(found: Swept) -> list[tuple[str, str]]:
    first = next(iter(found.measures))
    factor, unit = found.shown(first)
    _, low, median, high, _ = (factor * value for value in found.quantiles(first))
    told = "–" if np.isnan(median) else f"{short(median)} {unit}".strip()
    band = "–" if np.isnan(median) else f"{short(low)} to {short(high)} {unit}".strip()
    return [
        (told, f"median of {first.replace('_', ' ')}"),
        (band, "nine of ten runs"),
        (f"{found.complete} of {found.runs}", "runs completed"),
    ]


def _failed_text(found: Swept) -> list[str]:
    return [f"{count} {outcome}{', the first' * (count > 1)}: {reason}" for outcome, reason, count in found.failures()]


def _failed(found: Swept) -> list[Table]:
    """The runs themselves; the many of a bad sweep are in the table."""
    lost = [k for k, outcome in enumerate(found.outcomes) if outcome != "complete"]
    rows = [
        [k + 1, *(_cell(found, name, found.keys[name][k]) for name in found.keys), found.outcomes[k], found.reasons[k]]
        for k in lost[:_FAILED]
    ]
    title = f"{len(lost)} runs" if len(lost) <= _FAILED else f"The first {_FAILED} of {len(lost)} runs"
    columns = ["run", *map(found.label, found.keys), "outcome", "reason"]
    return [Table(title, columns, rows, folded=len(lost) > 5)] if lost else []


def _cell(found: Swept, name: str, value: Any) -> Any:
    return found.shown(name)[0] * value if isinstance(value, float) else value


def _explained(found: Swept) -> str:
    if not found.numeric:
        return "Quantiles over all complete runs."
    return (
        "Quantiles over all complete runs. A rank correlation (Spearman) of +1 says that the measure always rises with "
        "the key, of -1 that it always falls, of 0 that neither can be said; it does not ask for a straight line."
    )


def _numbers(found: Swept) -> Table:
    rows: list[Sequence[Any]] = []
    for name, what in found.measures.items():
        factor, unit = found.shown(name)
        rows.append([name, what, unit, *(factor * value for value in found.quantiles(name))])
    columns = ["measure", "what it is", "unit", "least", "5 %", "median", "95 %", "largest"]
    return Table(f"Measures of {found.complete} runs", columns, rows)


def _ranks(found: Swept) -> list[Table]:
    if not found.numeric:
        return []
    rows = [[name, *(found.rank_text(name, key) for key in found.numeric)] for name in found.measures]
    return [Table("Rank correlation with each key", ["measure", *(found.names[key] for key in found.numeric)], rows)]
