"""The command `calibrate`."""

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

__all__ = ["calibrate"]


def calibrate(
    file: Annotated[str, typer.Argument(help="Law file (`identify --save`), or an experiment file with one device.")],
    recordings: Annotated[
        list[str], typer.Argument(help="Short tests of today's session: any file that `identify` reads.")
    ],
    free: Annotated[
        str | None,
        typer.Option(
            help="Numbers to find, parameters that keep their ratio with + between: Fc_pos+dF_pos,Fc_neg+dF_neg "
            "(default: what a session usually changes of the law)."
        ),
    ] = None,
    save: Annotated[
        Path | None, typer.Option(help='Save the law of the session: device = { file = "today.toml" }.')
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
    every: Every = 1,
    out: Annotated[Path | None, typer.Option(help="Page to write (default: out/NAME-calibration.html).")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file named by --save if it exists.")] = False,
    open_: Open = False,
    json: Json = False,
) -> None:
    """Find what today's session has changed of a known law, from a short test, with intervals and a page.

    Start with:  hyloop calibrate law.toml today.csv --d Weg --f Kraft --save today.toml

    Friction of a device differs from day to day more than its shape. Only a few numbers are found, such as one factor
    on the friction of each side; all else is that of FILE. The answer says what they do to parts of the test not heard.
    """
    from hyloop.cli.calibrate import run_calibrate
    from hyloop.cli.reading import Reading

    run_calibrate(
        file,
        recordings,
        Reading(site, t, d, v, a, f, columns, units, rate, decimal),
        free=free,
        start=start,
        every=every,
        out=out,
        save=save,
        force=force,
        show=open_,
        json=json,
    )
