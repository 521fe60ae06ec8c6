"""The commands `ida` and `fragility`."""

from pathlib import Path
from typing import Annotated

import typer

from hyloop.cli.commands.options import AllowScripts, Dask, Json, Open, Slurm, Workers

__all__ = ["fragility", "ida"]

_States = Annotated[
    list[str] | None,
    typer.Option("--state", help="Damage state by its drift: 'severe=2 %' or 'severe=60 mm'. May be repeated."),
]
_Mce = Annotated[
    str | None, typer.Option(help="Intensity of the maximum considered earthquake, as in '1.2 g': margin ratio.")
]
_Confidence = Annotated[str | None, typer.Option(help="Of intervals and bands (default: as in the file, else '95 %').")]


def ida(
    file: Annotated[Path, typer.Argument(help="Experiment file (TOML) with an \\[excitation] of kind record.")],
    records: Annotated[
        str | None,
        typer.Option(
            help="How many (20), or names and patterns: 'kobe*,friuli-tolmezzo_1'. The command records lists them."
        ),
    ] = None,
    levels: Annotated[
        int | None, typer.Option(help="Runs of a record, at most (default: as in the file, else 12).")
    ] = None,
    collapse: Annotated[
        str | None, typer.Option(help="Drift of collapse: '10 %' of a story height, or '300 mm'.")
    ] = None,
    state: _States = None,
    mce: _Mce = None,
    against: Annotated[
        Path | None,
        typer.Option(
            help="Another file, run with the same records at the same intensities; or a folder of an analysis."
        ),
    ] = None,
    workers: Workers = None,
    dask: Dask = None,
    slurm: Slurm = False,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="Change a value, for instance ida.first=0.2g. May be repeated.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of runs, table and page (default: out/NAME-ida).")] = None,
    force: Annotated[bool, typer.Option("--force", help="Remove the runs that are there and begin anew.")] = False,
    allow_scripts: AllowScripts = False,
    open_: Open = False,
    json: Json = False,
) -> None:
    """Run many records at rising intensity until the structure collapses: curves, fragility, margin.

    Start with:  hyloop examples ocp_nn_two_story,  then
    hyloop ida experiments/ocp_nn_two_story.toml --records 'friuli*,kobe*,cape*' --levels 10 --set ida.step=1g
    --collapse '5 %'

    Each record is scaled up by growing steps until it collapses, the bracket of collapse is halved, and the gaps below
    are filled. What has been run stays in the folder: the same command goes on where it was broken off, and more
    records or levels are added to it. docs/ida.md has the rest.
    """
    from hyloop.cli.engines import Place
    from hyloop.cli.ida import run_ida

    changes = {"levels": levels, "collapse": collapse, "mce": mce}
    run_ida(
        file,
        set_ or [],
        records,
        changes,
        state or [],
        against,
        Place(workers, dask, slurm),
        out,
        force,
        allow_scripts,
        open_,
        json,
    )


def fragility(
    path: Annotated[
        Path, typer.Argument(help="Folder of an analysis (ida), of a sweep, or a table of runs (.parquet).")
    ],
    state: _States = None,
    mce: _Mce = None,
    confidence: _Confidence = None,
    intensity: Annotated[
        str | None, typer.Option(help="Of a sweep: column of the levels, such as excitation.peak.")
    ] = None,
    response: Annotated[
        str | None, typer.Option(help="Of a sweep: column of the drift that states are judged by.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Page to write (default: fragility.html in the folder).")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the earlier page instead of renaming it.")] = False,
    open_: Open = False,
    json: Json = False,
) -> None:
    """Fit fragilities to runs that are there: of an incremental analysis, or of a sweep at fixed levels.

    Start with:  hyloop fragility out/ocp_nn_two_story-ida --state 'slight=0.5 %' --state 'severe=2 %' --mce '1.5 g'

    Nothing is run. From an incremental analysis every record tells the intensity at which it reaches a state; from a
    sweep, as over excitation.peak and excitation.name, the parts that fail at each level are counted. docs/ida.md.
    """
    from hyloop.cli.fragility import run_fragility

    run_fragility(path, state or [], mce, confidence, intensity, response, out, force, open_, json)
