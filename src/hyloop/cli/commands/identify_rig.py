"""The command `identify-rig`."""

from pathlib import Path
from typing import Annotated

import typer

from hyloop.cli.commands.options import Decimal, Json, Open, Rate, TimeColumn, Units

__all__ = ["identify_rig"]


def identify_rig(
    recording: Annotated[
        str,
        typer.Argument(
            help="File with command and measured displacement: CSV and other text, .mat, .tdms, .parquet, .h5."
        ),
    ],
    command: Annotated[
        str | None, typer.Option(help="Column of the displacement commanded (default: the one called command).")
    ] = None,
    measured: Annotated[
        str | None, typer.Option(help="Column of the displacement measured (default: the one called measured).")
    ] = None,
    save: Annotated[
        Path | None, typer.Option(help='Save the rig for an experiment: actuator = { file = "rig.toml" }.')
    ] = None,
    site: Annotated[
        str | None, typer.Option(help="Of a recording of hyloop: site whose actuator is identified.")
    ] = None,
    t: TimeColumn = None,
    units: Units = None,
    rate: Rate = None,
    decimal: Decimal = None,
    band: Annotated[
        str | None, typer.Option(help='Frequencies to identify, as in "0.1..20 Hz" (default: those excited).')
    ] = None,
    hold: Annotated[
        str | None,
        typer.Option(
            help="A controller held each command for so long, as in 1ms: taken off the rig (default: part of it)."
        ),
    ] = None,
    poles: Annotated[int | None, typer.Option(help="Number of poles (default: chosen).")] = None,
    zeros: Annotated[int, typer.Option(help="Number of zeros, with --poles.")] = 0,
    dead_time: Annotated[bool, typer.Option(help="Whether there is a dead time, with --poles.")] = True,
    out: Annotated[Path | None, typer.Option(help="Page to write (default: out/NAME-rig.html).")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file named by --save if it exists.")] = False,
    open_: Open = False,
    json: Json = False,
) -> None:
    """Find what a rig makes of its command: transfer function, delay, noise, with intervals and a page.

    Start with:  hyloop identify-rig noise.csv --command Soll --measured Ist --save rig.toml

    Record band-limited noise or a sweep over the frequencies of the planned test, for half a minute or longer, with the
    specimen in place. Poles, zeros and dead time are chosen so that each explains more than noise would. docs/rig.md
    has the whole way from a record to a run.
    """
    from hyloop.cli.identify_rig import RigOptions, run_identify_rig
    from hyloop.cli.reading import Reading

    run_identify_rig(
        recording,
        Reading(site=site, t=t, units=units, rate=rate, decimal=decimal),
        RigOptions(command, measured, band, hold, poles, zeros, dead_time),
        out=out,
        save=save,
        force=force,
        show=open_,
        json=json,
    )
