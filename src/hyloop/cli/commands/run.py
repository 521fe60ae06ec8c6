"""The command `run`."""

from pathlib import Path
from typing import Annotated

import typer

from hyloop.cli.commands.options import LOOPBACK, AllowScripts, Host, Json, Open, Port
from hyloop.errors import BadInput

__all__ = ["run"]


def run(
    file: Annotated[Path, typer.Argument(help="Experiment file (TOML).")],
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="Change a value, for instance sites.damper1.device.Fc_pos=20kN. May be repeated."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Recording to write (default: as in the file, else out/).")] = None,
    against: Annotated[
        str | None,
        typer.Option(help="Show beside it: `bare`, the same without its devices, which is run too; or a recording."),
    ] = None,
    report: Annotated[bool, typer.Option(help="Write a report page beside the recording.")] = True,
    force: Annotated[bool, typer.Option("--force", help="Replace a recording that is there already.")] = False,
    paced: Annotated[
        bool, typer.Option("--paced", help="Run on the clock, each tick at its time, as the table \\[pace] says.")
    ] = False,
    live: Annotated[
        bool, typer.Option("--live", help="Show it in the browser while it goes on; it then runs on the clock.")
    ] = False,
    control: Annotated[
        bool, typer.Option("--control", help="With --live: a button on the page that ends the run.")
    ] = False,
    host: Host = LOOPBACK,
    port: Port = 0,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the recording of a run that was killed or interrupted.")
    ] = False,
    allow_scripts: AllowScripts = False,
    open_: Open = False,
    json: Json = False,
) -> None:
    """Run an experiment file: record it, and write a page with the building in motion and figures.

    A recording that is there already is kept: out/NAME.h5 and its page become out/NAME-1.h5 and out/NAME-1.html (or the
    next number that is free). One named by --out is not written over. With --force both are replaced.

    With --live the address of a page is printed, on which the run is seen from its first tick on; --open opens that
    one. It stays when the run has ended, until Ctrl-C, or until nobody has looked at it for some seconds.

    A run that is interrupted (Ctrl-C) or fails leaves its recording until then, marked as not complete. One that was
    interrupted or killed can be gone on with: --resume, and the rest of the command as it was.
    """
    from hyloop.cli.live import Wish
    from hyloop.cli.run import run_run

    wish = Wish(host, port, control, open_) if live else None
    if wish is None and (control or host != LOOPBACK or port):
        raise BadInput("--control, --host and --port are about the live page; say --live too.")
    run_run(file, set_ or [], out, against, report, force, paced, wish, resume, allow_scripts, open_, json)
