"""The command `identify`."""

from pathlib import Path
from typing import Annotated

import typer

from hyloop.cli.commands.options import (
    Acceleration,
    ColumnMap,
    Decimal,
    Deformation,
    Every,
    Force,
    Json,
    Open,
    Rate,
    Site,
    Start,
    TimeColumn,
    Units,
    Velocity,
)

__all__ = ["identify"]


def identify(
    law: Annotated[
        str, typer.Argument(help="A law from `hyloop laws`, several with commas between, or all. With --laws: a file.")
    ],
    recordings: Annotated[
        list[str] | None,
        typer.Argument(
            help="Files of measurements: CSV and other text, .mat, .tdms, .parquet, recordings (.h5); or published "
            "tests by name (brfd:TEST, mr_damper:TEST; see `hyloop data list`)."
        ),
    ] = None,
    laws: Annotated[
        str | None, typer.Option(help="Laws to fit and rank, such as bouc_wen,bilinear, or all; LAW is then left out.")
    ] = None,
    free: Annotated[
        str | None, typer.Option(help="Parameters to find, such as k,alpha (default: those that tests usually tell).")
    ] = None,
    save: Annotated[
        Path | None, typer.Option(help='Save the law, the best one, for an experiment: device = { file = "law.toml" }.')
    ] = None,
    site: Site = None,
    t: TimeColumn = None,
    d: Deformation = None,
    v: Velocity = None,
    a: Acceleration = None,
    f: Force = None,
    columns: ColumnMap = None,
    units: Units = None,
    rate: Rate = None,
    decimal: Decimal = None,
    start: Start = None,
    fix: Annotated[list[str] | None, typer.Option(help="Hold a parameter, as in k=20kN/mm. May be repeated.")] = None,
    guess: Annotated[list[str] | None, typer.Option(help="Start the search at a value, as in k=20kN/mm.")] = None,
    bounds: Annotated[list[str] | None, typer.Option(help="Bounds of a free parameter, as in n=1..10.")] = None,
    method: Annotated[str, typer.Option(help="least-squares, particle-swarm or gradient.")] = "least-squares",
    starts: Annotated[int | None, typer.Option(help="Starts of the search (default: 8, of several laws 4).")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the starts.")] = 0,
    every: Every = 1,
    noise: Annotated[
        str | None,
        typer.Option(help="Noise of the measured motion, as in d=2um, or d=0 if exact (default: estimated)."),
    ] = None,
    profiles: Annotated[
        bool | None,
        typer.Option(help="Profile likelihood of every parameter (default: of one law yes, of several no)."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Page to write (default: out/NAME-identification.html).")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file named by --save if it exists.")] = False,
    open_: Open = False,
    json: Json = False,
) -> None:
    """Find the law of a device and its parameters from recorded tests, with intervals and a page.

    One law:       hyloop identify bouc_wen test.csv --d Weg --f Kraft --save law.toml

    The best law:  hyloop identify --laws all test.csv --d Weg --f Kraft --save best.toml

    `hyloop peek test.csv` shows what is in a file and which options to use. Laws are ranked by what they predict of
    data they were not fitted to. docs/lab_data.md has the whole way from a file to a run.
    """
    from hyloop.cli.identify import Search, run_identify
    from hyloop.cli.reading import Reading

    run_identify(
        law,
        recordings or [],
        laws,
        Reading(site, t, d, v, a, f, columns, units, rate, decimal),
        Search(free, start, fix or [], guess or [], bounds or [], method, starts, seed, every, profiles, noise),
        out=out,
        save=save,
        force=force,
        show=open_,
        json=json,
    )
