"""The command `sweep`: an experiment file with many values of its keys to a table of runs and a page."""

import json
from collections.abc import Sequence
from pathlib import Path
from time import monotonic
from typing import Any

from hyloop.cli.console import console, counting_bar, open_page, print_json, print_table
from hyloop.cli.engines import Place, engine_of
from hyloop.cli.sweep_options import Asked, sweep_of
from hyloop.ensembles import Campaign, Plan, Row
from hyloop.ensembles.sampling import Samples, extremes, sample
from hyloop.ensembles.table import TABLE, check_table, write_table
from hyloop.errors import HyloopError
from hyloop.files.load import apply_overrides, load_experiment, read_experiment
from hyloop.files.sweep import Sweep
from hyloop.report.page import check_folder
from hyloop.report.sweep_page import write_sweep
from hyloop.report.sweep_result import Swept

__all__ = ["Asked", "run_sweep"]

_OFTEN = 30.0  # s between two tables
_SLOW = 20.0  # or so many times as long as a table takes to be written


def run_sweep(
    file: Path,
    asked: Asked,
    place: Place,
    out: Path | None,
    report: bool,
    force: bool,
    allow_scripts: bool,
    show: bool,
    as_json: bool,
) -> None:
    """Sweep, write a table and a page, print."""
    folder = out or Path("out") / f"{file.stem}-sweep"
    check_folder(folder, "a sweep is written")
    check_table()
    experiment = load_experiment(file, asked.overrides)
    spec = sweep_of(experiment.sweep, asked)
    common = tuple(change for change in asked.overrides if change.partition(".")[0].strip() != "sweep")
    tables = read_experiment(file)
    apply_overrides(tables, common)
    samples = sample(spec, tables)
    plan = Plan(file, common, spec.measures, spec.recordings, allow_scripts, _kind(spec, samples))
    with (
        engine_of(experiment, place) as engine,
        Campaign.opened(plan, folder, engine, check=extremes(samples), fresh=force) as campaign,
    ):
        rows = _run(campaign, samples, spec, not as_json)
        found = Swept(
            title=experiment.title,
            source=str(file),
            folder=str(folder),
            kind=spec.kind,
            keys={name: [keys[name] for keys in samples.keys] for name in samples.keys[0]},
            measures={m.name: m.text for m in campaign.measures},
            units={**campaign.units, **samples.units},
            outcomes=tuple(row.outcome for row in rows),
            reasons=tuple(row.reason for row in rows),
            values={m.name: [row.values.get(m.name) for row in rows] for m in campaign.measures},
        )
        page = write_sweep(folder / "sweep.html", found, asked.command(file, out)) if report else None
    open_page(page, show)
    if as_json:
        paths = {"table": str(folder / TABLE), "report": str(page) if page else None}
        print_json({**found.as_dict(), **paths})
        return
    _show(found, folder, page)


def _kind(spec: Sweep, samples: Samples) -> str:
    """What is swept, as text: another sweep does not go on in this folder."""
    told = spec.model_dump(mode="json", exclude={"measures", "recordings", "records"})
    records = list(dict.fromkeys(keys["record"] for keys in samples.keys)) if spec.records is not None else None
    return json.dumps({"sweep": told, "records": records, "runs": len(samples.runs)}, ensure_ascii=False)


def _run(campaign: Campaign, samples: Samples, spec: Sweep, shown: bool) -> list[Row]:
    """Run what is not there yet; the table is written now and then, and in the end, however it comes."""
    folder, many = campaign.folder, len(set(map(campaign.identity, samples.runs)))
    written, took = monotonic(), 0.0

    def write() -> None:
        nonlocal written, took
        begin = monotonic()
        _write(campaign, samples, spec)
        written = monotonic()
        took = written - begin

    def there() -> str:
        done = sum(campaign.known(run) is not None for run in dict.fromkeys(samples.runs))
        return f"{folder} holds {done} of {many} runs, and the same command goes on"

    with counting_bar("running", shown) as bar:

        def progress(done: int, of: int, each: float) -> None:
            bar(done, of)
            if monotonic() - written > max(_OFTEN, _SLOW * took):
                write()

        try:
            campaign.try_first(samples.runs[0])
            rows = campaign.run(samples.runs, progress)
            write()
        except KeyboardInterrupt as stop:
            stop.args = (*stop.args, there())
            write()
            raise
        except HyloopError:  # such as a cluster that is gone
            write()
            raise
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            raise HyloopError(f"{where}{error.strerror or error}. {there()} when there is room.") from error
    return rows


def _write(campaign: Campaign, samples: Samples, spec: Sweep) -> None:
    """The table of all runs that are there, in the order of the sweep."""
    rows, keys = [], []
    for number, (run, values) in enumerate(zip(samples.runs, samples.keys, strict=True), 1):
        row = campaign.rows.get(campaign.identity(run))
        if row is not None:
            rows.append(row)
            keys.append({"number": number, **values})
    about = {
        "experiment": campaign.plan.path.name,
        "sweep": spec.kind,
        "overrides": list(campaign.plan.overrides),
        "measures": {m.name: m.text for m in campaign.measures},
    }
    units = {**campaign.units, **samples.units}
    write_table(campaign.folder / TABLE, rows, keys, units, json.dumps(about, ensure_ascii=False))


def _show(found: Swept, folder: Path, page: Path | None) -> None:
    console.print(found.sentence(), highlight=False)
    columns = ["measure", "unit", "least", "5 %", "median", "95 %", "largest"]
    rows: list[Sequence[Any]] = []
    for name in found.measures:
        factor, unit = found.shown(name)
        rows.append([name, unit, *(f"{factor * value:.4g}" for value in found.quantiles(name))])
    print_table(f"{found.complete} complete runs of {found.runs}", columns, rows, right=columns[2:])
    if found.numeric:
        columns = ["measure", *(found.names[key] for key in found.numeric)]
        rows = [[name, *(found.rank_text(name, key) for key in found.numeric)] for name in found.measures]
        print_table("Rank correlation with each key", columns, rows, right=columns[1:])
    for outcome, reason, count in found.failures():
        console.print(f"{count} {outcome}{', the first' * (count > 1)}: {reason}", highlight=False, soft_wrap=True)
    console.print(f"table:  {folder / TABLE}", soft_wrap=True)
    if page:
        console.print(f"report: {page}", soft_wrap=True)
