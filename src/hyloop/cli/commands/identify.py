"""The command `identify`."""

from pathlib import Path
from typing import Annotated

import typer

from hyloop.cli.commands.options import Json

__all__ = ["identify"]


def identify(
    law: Annotated[str, typer.Argument(help="A law from `hyloop laws`.")],
    recordings: Annotated[
        list[str],
        typer.Argument(
            help="Recordings (.h5), CSV files with units in the header (t, d (mm), f (kN)), or published tests by name "
            "(brfd:TEST, mr_damper:TEST; see `hyloop data list`)."
        ),
    ],
    free: Annotated[str, typer.Option(help="Parameters to find, such as k,alpha.")],
    site: Annotated[
        str | None, typer.Option(help="Site of the recording; its channels d, v, a and f are read.")
    ] = None,
    d: Annotated[str | None, typer.Option(help="Channel of the deformation.")] = None,
    v: Annotated[str | None, typer.Option(help="Channel of the velocity.")] = None,
    a: Annotated[str | None, typer.Option(help="Channel of the acceleration.")] = None,
    f: Annotated[str | None, typer.Option(help="Channel of the measured force.")] = None,
    start: Annotated[
        str | None, typer.Option(help="State whose initial value is found from the first measured force.")
    ] = None,
    fix: Annotated[list[str] | None, typer.Option(help="Hold a parameter, as in k=20kN/mm. May be repeated.")] = None,
    guess: Annotated[list[str] | None, typer.Option(help="Start the search at a value, as in k=20kN/mm.")] = None,
    bounds: Annotated[list[str] | None, typer.Option(help="Bounds of a free parameter, as in n=1..10.")] = None,
    method: Annotated[str, typer.Option(help="least-squares, particle-swarm or gradient.")] = "least-squares",
    starts: Annotated[int, typer.Option(help="Starts of the search.")] = 8,
    seed: Annotated[int, typer.Option(help="Seed of the starts.")] = 0,
    every: Annotated[int, typer.Option(help="Use every n-th sample only.")] = 1,
    units: Annotated[
        str | None, typer.Option(help="Units that the header of a CSV file lacks, as in d=mm,f=kN.")
    ] = None,
    profiles: Annotated[bool, typer.Option(help="Profile likelihood of every parameter.")] = True,
    out: Annotated[Path, typer.Option(help="Page to write.")] = Path("out/identification.html"),
    json: Json = False,
) -> None:
    """Find the parameters of a law from recorded tests, with intervals and a report page."""
    from hyloop.cli.identify import run_identify
    from hyloop.files.measurements import Channels

    run_identify(
        law,
        recordings,
        free=free,
        channels=Channels(site, d, v, a, f),
        start=start,
        fixed=fix or [],
        guesses=guess or [],
        bounds=bounds or [],
        method=method,
        starts=starts,
        seed=seed,
        every=every,
        units=units,
        profiles=profiles,
        out=out,
        json=json,
    )
