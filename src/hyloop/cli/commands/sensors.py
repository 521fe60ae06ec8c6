"""The command `check-sensors`."""

from pathlib import Path
from typing import Annotated

import typer

from hyloop.cli.commands.options import Json, Open

__all__ = ["check_sensors"]


def check_sensors(
    recording: Annotated[
        str,
        typer.Argument(
            help="File of measurements: CSV and other text, .mat, .tdms, .parquet, a recording (.h5); or a published "
            "test by name (brfd:TEST)."
        ),
    ],
    site: Annotated[str | None, typer.Option(help="Site of the recording; its channels d and f are read.")] = None,
    t: Annotated[str | None, typer.Option(help="Column of the time: its heading, in any case, or its number.")] = None,
    d: Annotated[str | None, typer.Option(help="Column of the deformation.")] = None,
    f: Annotated[str | None, typer.Option(help="Column of the measured force.")] = None,
    columns: Annotated[
        Path | None, typer.Option(help='Mapping table (TOML): d = { column = "Weg", unit = "mm", factor = -1 }.')
    ] = None,
    units: Annotated[str | None, typer.Option(help="Units that the file does not state, as in d=mm,f=kN.")] = None,
    rate: Annotated[str | None, typer.Option(help='Sampling rate of a file without times, as in "1024 Hz".')] = None,
    decimal: Annotated[str | None, typer.Option(help="comma or point, where a text does not tell.")] = None,
    out: Annotated[Path | None, typer.Option(help="Page to write (default: out/NAME-sensors.html).")] = None,
    open_: Open = False,
    json: Json = False,
) -> None:
    """Tell offset, drift, delay and noise of the sensors from a recorded test, before the next one.

    Start with:  hyloop check-sensors test.csv --d Weg --f Kraft

    No law is needed: any device whose force depends on the path of the deformation and not on its rate will do. A
    second of rest at the beginning of the record makes the offset certain.
    """
    from hyloop.cli.reading import Reading
    from hyloop.cli.sensors import run_check_sensors

    how = Reading(site=site, t=t, d=d, f=f, columns=columns, units=units, rate=rate, decimal=decimal)
    run_check_sensors(recording, how, out, open_, json)
