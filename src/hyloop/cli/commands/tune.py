"""The command `tune`."""

from pathlib import Path
from typing import Annotated

import typer

from hyloop.cli.commands.options import AllowScripts, Dask, Json, Open, Slurm, Workers

__all__ = ["tune"]


def tune(
    file: Annotated[Path, typer.Argument(help="Experiment file (TOML) with a table \\[tune].")],
    trials: Annotated[int | None, typer.Option(help="Number of settings tried (default: as in the file).")] = None,
    workers: Workers = None,
    dask: Dask = None,
    slurm: Slurm = False,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="Change a value in all runs, for instance seed=4. May be repeated."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the tuning (default: out/NAME-tune).")] = None,
    allow_scripts: AllowScripts = False,
    open_: Open = False,
    json: Json = False,
) -> None:
    """Find settings of filters, compensators and guards on training events, and judge them on others.

    Start with:  hyloop examples tune_compensator,  then  hyloop tune experiments/tune_compensator.toml

    The folder keeps every run: the same command goes on where it broke off, and with more --trials beyond where it
    ended. best.toml holds the best settings, to be included by another file; a page and the table runs.parquet lie
    beside it. docs/tune.md has the rest.
    """
    from hyloop.cli.engines import Place
    from hyloop.cli.tune import run_tune

    run_tune(file, set_ or [], trials, Place(workers, dask, slurm), out, allow_scripts, open_, json)
