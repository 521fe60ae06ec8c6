"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "Acceleration",
    "AllowScripts",
    "ColumnMap",
    "Dask",
    "Decimal",
    "Deformation",
    "Every",
    "Force",
    "Json",
    "Open",
    "Rate",
    "Site",
    "Slurm",
    "Start",
    "TimeColumn",
    "Units",
    "Velocity",
    "Workers",
]

Json = Annotated[bool, typer.Option("--json", help="Print JSON for a machine instead of a table.")]
Open = Annotated[bool, typer.Option("--open", help="Open the page in the browser.")]
AllowScripts = Annotated[
    bool,
    typer.Option(
        "--allow-scripts", help="Run the OpenSeesPy script that the structure names. It may do anything: read it first."
    ),
]

# where many runs are run
Workers = Annotated[int | None, typer.Option(help="Runs at the same time (default: one on every core).")]
Dask = Annotated[
    str | None,
    typer.Option(
        "--dask", metavar="ADDRESS", help="Run on the workers of this Dask scheduler, as in tcp://10.0.0.5:8786."
    ),
]
Slurm = Annotated[
    bool, typer.Option("--slurm", help="Run in jobs of SLURM, as the table \\[cluster] of the file says.")
]

# how files of measurements are read
Site = Annotated[str | None, typer.Option(help="Site of the recording; its channels d, v, a and f are read.")]
TimeColumn = Annotated[str | None, typer.Option(help="Column of the time: its heading, in any case, or its number.")]
Deformation = Annotated[str | None, typer.Option(help="Column of the deformation.")]
Velocity = Annotated[str | None, typer.Option(help="Column of the velocity.")]
Acceleration = Annotated[str | None, typer.Option(help="Column of the acceleration.")]
Force = Annotated[str | None, typer.Option(help="Column of the measured force.")]
ColumnMap = Annotated[
    Path | None, typer.Option(help='Mapping table (TOML): d = { column = "Weg", unit = "mm", factor = -1 }.')
]
Units = Annotated[str | None, typer.Option(help="Units that the file does not state, as in d=mm,f=kN.")]
Rate = Annotated[str | None, typer.Option(help='Sampling rate of a file without times, as in "1024 Hz".')]
Decimal = Annotated[str | None, typer.Option(help="comma or point, where a text does not tell.")]
Start = Annotated[str | None, typer.Option(help="State whose initial value is found from the first measured force.")]
Every = Annotated[int, typer.Option(help="Use every n-th sample only.")]
