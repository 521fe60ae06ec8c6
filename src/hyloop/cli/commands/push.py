"""The command `push`."""

from pathlib import Path
from typing import Annotated

import typer

from hyloop.cli.commands.options import AllowScripts, Json, Open

__all__ = ["push"]


def push(
    file: Annotated[Path, typer.Argument(help="Experiment file (TOML), or file of a frame.")],
    targets: Annotated[
        str | None,
        typer.Option(
            help="Displacements to visit one after another: '3 %' of the height (default), '120 mm', '2 %, -2 %, 0 %'."
        ),
    ] = None,
    cycles: Annotated[
        str | None, typer.Option(help="Or amplitudes, each to and fro: '0.5 %, 1 %, 2 %'. Ends at zero.")
    ] = None,
    repeat: Annotated[int, typer.Option(help="Cycles of each amplitude.")] = 1,
    pattern: Annotated[
        str,
        typer.Option(
            help="Load over the height: first_mode, uniform (as the mass), triangle (mass times height), or loads in "
            "any proportion, as in 'floor1.ux=1, floor2.ux=2'."
        ),
    ] = "first_mode",
    control: Annotated[
        str | None, typer.Option(help="Degree of freedom that is led, such as floor2.ux (default: the roof).")
    ] = None,
    steps: Annotated[int, typer.Option(help="Steps to the largest displacement.")] = 200,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="Change a value of the file, for instance structure.heights=4m. May be repeated."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Recording to write (default: out/NAME-push.h5).")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace earlier results instead of renaming them.")] = False,
    allow_scripts: AllowScripts = False,
    open_: Open = False,
    json: Json = False,
) -> None:
    """Push a frame sideways, slowly: capacity curve, what yields and when, strength left behind the peak.

    Start with:  hyloop examples rc_frame,  then  hyloop push experiments/rc_frame.toml

    Displacement control under the dead load, with P-Delta; branches that fall are followed. Devices whose force depends
    on velocity are left out, which is said. The exit code is 0 when every target was reached, 1 when the path ends
    before (everything until there is kept), 2 for a file that is refused. docs/pushover.md has the rest.
    """
    from hyloop.cli.push import run_push

    run_push(file, set_ or [], targets, cycles, repeat, pattern, control, steps, out, force, allow_scripts, open_, json)
