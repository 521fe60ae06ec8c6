"""The command `sweep`."""

from pathlib import Path
from typing import Annotated

import typer

from hyloop.cli.commands.options import AllowScripts, Dask, Json, Open, Slurm, Workers

__all__ = ["sweep"]


def sweep(
    file: Annotated[Path, typer.Argument(help="Experiment file (TOML), with a table \\[sweep] or without.")],
    grid: Annotated[
        list[str] | None,
        typer.Option(help="Values of a key: sites.damper1.device.f_y=20kN,40kN,60kN. May be repeated."),
    ] = None,
    range_: Annotated[
        list[str] | None,
        typer.Option("--range", help="A range to draw from: KEY=low:high, KEY=low:high:log, KEY=1:8:whole."),
    ] = None,
    sample: Annotated[
        str | None,
        typer.Option(help="grid, list, latin-hypercube or sobol (default: as in the file; with --range sobol)."),
    ] = None,
    runs: Annotated[int | None, typer.Option(help="How many are drawn (default: as in the file, else 64).")] = None,
    seed: Annotated[int | None, typer.Option(help="Of what is drawn.")] = None,
    records: Annotated[
        str | None,
        typer.Option(help="Ground motions of the data folder: 'chi-chi*', names with commas, or how many of them."),
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(help="What is measured: roof='peak u.6'. May be repeated (default: drifts, forces, energies)."),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="Change a value in all runs, for instance excitation.duration=10s. May be repeated."
        ),
    ] = None,
    workers: Workers = None,
    dask: Dask = None,
    slurm: Slurm = False,
    out: Annotated[Path | None, typer.Option(help="Folder to write (default: out/NAME-sweep).")] = None,
    recordings: Annotated[bool, typer.Option("--recordings", help="Keep a recording of every run.")] = False,
    report: Annotated[bool, typer.Option("--report/--no-report", help="Write a page.")] = True,
    force: Annotated[
        bool, typer.Option("--force", help="Begin anew: remove an earlier sweep in this folder, instead of going on.")
    ] = False,
    allow_scripts: AllowScripts = False,
    open_: Open = False,
    json: Json = False,
) -> None:
    """Run a file many times with other values of its keys, on all cores: one table, and a page.

    Start with:  hyloop examples sweep_dampers,  then  hyloop sweep experiments/sweep_dampers.toml,  or

    hyloop sweep experiments/friction_frame.toml --grid sites.damper2.count=4,8,12 --set excitation.duration=10s

    The table is runs.parquet: a row for each run, its keys, how it ended, and its measures. A run that fails is a row
    with its reason. What is broken off goes on with the same command, and nothing is run twice. docs/sweeps.md has the
    rest.
    """
    from hyloop.cli.engines import Place
    from hyloop.cli.sweep import Asked, run_sweep

    asked = Asked(
        tuple(grid or ()),
        tuple(range_ or ()),
        sample,
        runs,
        seed,
        records,
        tuple(measure or ()),
        recordings,
        tuple(set_ or ()),
    )
    run_sweep(file, asked, Place(workers, dask, slurm), out, report, force, allow_scripts, open_, json)
