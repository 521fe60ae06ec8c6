"""The command `rehearse`: an experiment file to go or no-go, a table and a page."""

from collections.abc import Sequence
from pathlib import Path

import typer

from hyloop.cli.console import console, open_page, print_json, print_table, progress_bars
from hyloop.cli.results import keep_page
from hyloop.core.writing import set_aside
from hyloop.files.load import load_experiment
from hyloop.report.page import check_page
from hyloop.report.rehearsal_page import write_rehearsal
from hyloop.report.rehearsal_result import Rehearsed
from hyloop.study.rehearse import rehearse

__all__ = ["run_rehearse"]

NO_GO = 1  # exit code


def run_rehearse(
    file: Path,
    overrides: Sequence[str],
    runs: int | None,
    seed: int | None,
    workers: int | None,
    out: Path | None,
    force: bool,
    allow_scripts: bool,
    show: bool,
    json: bool,
) -> None:
    """Rehearse, print, write a page; the exit code says go or no-go."""
    page = out or Path("out") / f"{file.stem}-rehearsal.html"
    check_page(page)
    experiment = load_experiment(file, list(overrides))
    with progress_bars(not json) as update:
        update("compiling and rehearsing", 0.0)
        found = rehearse(
            experiment,
            runs=runs,
            seed=seed,
            workers=workers,
            allow_scripts=allow_scripts,
            progress=lambda part: update("compiling and rehearsing", part),
        )
    if out is None and (earlier := set_aside(page)):
        keep_page(earlier, force)
    write_rehearsal(page, found, list(overrides))
    open_page(page, show)
    if json:
        print_json({**found.as_dict(), "report": str(page)})
    else:
        _show(found, page)
    if not found.go:
        raise typer.Exit(NO_GO)


def _show(found: Rehearsed, page: Path) -> None:
    console.print(found.sentence(), highlight=False)
    rows = []
    for one in found.demands:
        limit = "-" if one.limit is None else one.shown(one.limit)
        beyond = "-" if one.limit is None else int(one.broken.sum())
        numbers = [one.shown(value) for value in (one.median, one.bad, one.worst)]
        rows.append([one.key, one.site, *numbers, limit, beyond])
    columns = ["", "site", "median", "1 in 20 worse", "worst", "limit", "runs beyond"]
    print_table(f"{found.runs} rehearsals, seed {found.seed}", columns, rows, right=columns[2:])
    for name, (delay, frequency) in found.critical.items():
        where = f" of {name}" if name else " of all sites together"
        said = "none" if delay == float("inf") else f"{1e3 * delay:.4g} ms, where {frequency:.3g} Hz begin to grow"
        console.print(f"critical delay{where}: {said}", highlight=False)
    for why in found.reasons()[0 if found.go else 1 :]:
        console.print(f"{'also' if not found.go else 'note'}: {why}", highlight=False)
    for note in found.remarks:
        console.print(f"note: {note}", highlight=False)
    console.print(f"report: {page}", soft_wrap=True)
