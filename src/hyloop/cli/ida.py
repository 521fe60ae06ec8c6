"""The command `ida`: an incremental dynamic analysis as a table of runs, a page, and an answer."""

from collections.abc import Mapping, Sequence
from json import dumps
from pathlib import Path
from typing import Any

from hyloop.cli.console import console, counting_bar, errors, open_page, print_json, print_table
from hyloop.cli.engines import Place, engine_of
from hyloop.cli.going_on import going_on
from hyloop.ensembles.ida import analyse
from hyloop.ensembles.table import TABLE
from hyloop.errors import BadInput
from hyloop.files.load import load_experiment
from hyloop.report.display import short
from hyloop.report.fragility_result import GRAVITY, FittedFragility
from hyloop.report.ida_page import untold, write_ida
from hyloop.report.ida_result import RESULT, IdaComparison, IdaResult, compare, read_ida
from hyloop.report.page import check_folder

__all__ = ["given_states", "run_ida", "show_fragilities"]

PAGE, AGAINST = "ida.html", "against"


def run_ida(
    file: Path,
    overrides: Sequence[str],
    records: str | None,
    changes: Mapping[str, Any],
    states: Sequence[str],
    against: Path | None,
    place: Place,
    out: Path | None,
    force: bool,
    allow_scripts: bool,
    show: bool,
    json: bool,
) -> None:
    """Analyse, compare, print, write a page."""
    folder = out or Path("out") / f"{file.stem}-ida"
    check_folder(folder, "an analysis is written")
    own = [*overrides, *_changes(records, changes, states)]
    if against is not None and not against.is_dir():
        load_experiment(against, own)  # what is wrong with it is said before the first analysis is run
    if not force and (folder / RESULT).is_file():
        errors.print(f"{folder} is there: what has been run is not run again", soft_wrap=True)

    def analysed(what: Path, where: Path, **same: Any) -> IdaResult:
        with (
            going_on(where),
            engine_of(load_experiment(what, own), place) as engine,
            counting_bar(what.stem, not json) as update,
        ):
            same["progress"] = lambda done, most, each: update(done, most)
            return analyse(what, where, own, engine, allow_scripts=allow_scripts, **same)

    found = analysed(file, folder, fresh=force)
    other = None
    if against is not None:
        if against.is_dir():
            second = read_ida(against)
        else:
            second = analysed(against, folder / AGAINST, settings=load_experiment(file, own).ida, period=found.period)
        other = second, compare(found, second)
    words = [*(f"--set '{change}'" for change in own), *([f"--against {against}"] if against else [])]
    page = write_ida(folder / PAGE, found, " ".join(["hyloop ida", str(file), *words]), other)
    open_page(page, show)
    if json:
        told = {} if other is None else {"comparison": other[1].as_dict(), "other": other[0].as_dict()}
        print_json({**found.as_dict(), **told, "table": str(folder / TABLE), "report": str(page)})
        return
    _show(found, None if other is None else other[1])
    console.print(f"runs:   {folder / TABLE}", soft_wrap=True)
    console.print(f"report: {page}", soft_wrap=True)


def _changes(records: str | None, changes: Mapping[str, Any], states: Sequence[str]) -> list[str]:
    """What the options say, as changes of the table [ida]."""
    found = []
    if records is not None:
        names = [name.strip() for name in records.split(",") if name.strip()]
        found.append(
            f"ida.records={records.strip() if records.strip().isdigit() else dumps(names, ensure_ascii=False)}"
        )
    found += [f"ida.{key}={dumps(value, ensure_ascii=False)}" for key, value in changes.items() if value is not None]
    return [*found, *(f"ida.states.{name}={dumps(level)}" for name, level in given_states(states))]


def given_states(states: Sequence[str]) -> list[tuple[str, str]]:
    """Names and drifts of ``severe=2 %``."""
    found = []
    for text in states:
        name, equals, level = (part.strip() for part in text.partition("="))
        if not equals or not name.isidentifier() or not level:
            raise BadInput(f"--state: '{text}'; write a name and a drift, as in 'severe=2 %'.")
        found.append((name, level))
    return found


def _show(found: IdaResult, other: IdaComparison | None) -> None:
    console.print(found.sentence(), highlight=False)
    show_fragilities(found.fragilities, found.measure, found.mce)
    if other is not None:
        console.print(other.sentence(), highlight=False)
        name = f"{100 * other.confidence:g} %"
        rows = [
            [state, f"{ratio:.4f}", f"{low:.4f} to {high:.4f}", f"{other.betas[state][0]:.3f}"]
            for state, (ratio, low, high) in other.ratios.items()
        ]
        print_table(f"Over {other.title}", ["state", "medians", f"{name}, in pairs", "dispersions"], rows)
    for note in found.notes:
        console.print(f"note: {note}", highlight=False)


def show_fragilities(
    fragilities: Sequence[FittedFragility],
    measure: str,
    mce: float | None,
    factor: float = 1.0 / GRAVITY,
    unit: str = "g",
) -> None:
    """A table of medians and dispersions."""
    rows = []
    for one in fragilities:
        if one.fit is None:
            rows.append([one.told, *"----"])
            continue
        low, high = (factor * x for x in one.by_bootstrap(one.drawn[0]))
        at = "-" if mce is None else f"{float(one.fit.probability(mce)):.2%}"
        rows.append(
            [one.told, short(factor * one.fit.median), f"{short(low)} to {short(high)}", short(one.fit.beta), at]
        )
    confidence = f"{100 * fragilities[0].confidence:g} %" if fragilities else ""
    columns = ["state", f"median [{unit}]" if unit else "median", confidence, "dispersion", "at the MCE"]
    print_table(f"Fragilities over {measure}", columns, rows, right=columns[1:2])
    for note in untold(fragilities):
        console.print(f"note: {note}", highlight=False)
