"""The commands `study list`, `study run`, `study stage` and `study table`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from hyloop.cli.commands.options import Json, Open
from hyloop.cli.console import console, open_page, print_json, print_table, progress_bars

__all__ = ["app"]

app = typer.Typer(help="Papers reproduced, claim by claim.", no_args_is_help=True)


@app.command("list")
def study_list(json: Json = False) -> None:
    """List the studies."""
    from hyloop.study.studies import describe, find_studies

    rows = [[name, describe(folder).title] for name, folder in find_studies().items()]
    if json:
        print_json([{"name": name, "title": title} for name, title in rows])
    else:
        print_table("Studies", ["name", "title"], rows)


@app.command("run")
def study_run(
    name: Annotated[str, typer.Argument(help="A name from `hyloop study list`.")],
    quick: Annotated[bool, typer.Option("--quick", help="A shorter version that ends within a minute.")] = False,
    out: Annotated[Path | None, typer.Option(help="Folder for the results (default: out/NAME).")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace results that are there already.")] = False,
    workers: Annotated[int | None, typer.Option(help="Processes at a time (default: one for each processor).")] = None,
    open_: Open = False,
    json: Json = False,
) -> None:
    """Run a study: claims.json, a table paper / ours / verdict, and a report page.

    Results that are there already are kept: out/NAME becomes out/NAME-1 (or the next number that is free). A folder
    named by --out is not written over. With --force both are replaced.

    A study that breaks off leaves what it had in out/NAME.unfinished, and the results of before as they were. The same
    command goes on from there: fits that were finished are kept, unless hyloop or the study has changed since.
    """
    from hyloop.cli.info import show_verdicts
    from hyloop.cli.results import check_results, keeper
    from hyloop.study.studies import run_study

    check_results(out, force)
    with progress_bars(not json) as update:
        place = out or Path("out") / name
        result = run_study(name, place, quick=quick, progress=update, keep=keeper(force), workers=workers)
    open_page(result.report, open_)
    if json:
        print_json([verdict.model_dump() for verdict in result.verdicts])
        return
    if result.verdicts:
        show_verdicts(result.verdicts)
    console.print(result.sentence, markup=False)
    for note in result.notes:
        console.print(f"note: {note}")
    console.print(f"claims: {result.claims}", soft_wrap=True)
    console.print(f"report: {result.report}", soft_wrap=True)


@app.command("stage")
def study_stage(
    name: Annotated[str, typer.Argument(help="A study that has stages, such as malik2025.")],
    stage: Annotated[str | None, typer.Argument(help="The stage; without one they are listed.")] = None,
    options: Annotated[list[str] | None, typer.Argument(help="Its options, such as seed=1.")] = None,
    folder: Annotated[Path | None, typer.Option(help="Folder of its files (default: out/NAME-stages).")] = None,
) -> None:
    """Make one file that a study is built on: motions, histories, measured runs, a trained network.

    Every stage reads the files of those before it. A training that breaks off goes on where it was.

    Try:  hyloop study stage malik2025
    """
    from hyloop.study.stages import find_stages, options_of, run_stage, stage_folder

    if stage is None:
        rows = [
            [key, " ".join(f"{k}={v}" for k, v in options_of(make).items()), (make.__doc__ or "").strip()]
            for key, make in find_stages(name).items()
        ]
        print_table(f"Stages of {name}", ["stage", "options", "what it makes"], rows)
        return
    with progress_bars(True) as update:
        said = run_stage(name, stage, options or (), folder or stage_folder(name), update)
    console.print(said, soft_wrap=True)


@app.command("table")
def study_table(
    names: Annotated[list[str] | None, typer.Argument(help="Studies (default: all).")] = None,
    every: Annotated[bool, typer.Option("--all", help="Every claim, not the headline ones alone.")] = False,
    short: Annotated[bool, typer.Option("--short", help="A row for every study.")] = False,
) -> None:
    """Print the claims of all committed full runs as a Markdown table."""
    from hyloop.errors import BadInput, UnknownName
    from hyloop.study.claims import markdown, markdown_short, read_verdicts
    from hyloop.study.studies import find_studies

    if every and short:
        raise BadInput("--all and --short: give one of them.")
    studies = find_studies()
    for name in names or ():
        if name not in studies:
            raise UnknownName("study", name, studies)
    committed = [studies[name] / "claims.json" for name in names or studies]
    verdicts = [verdict for path in committed if path.is_file() for verdict in read_verdicts(path)]
    sys.stdout.write(markdown_short(verdicts) if short else markdown(verdicts, every=every))
