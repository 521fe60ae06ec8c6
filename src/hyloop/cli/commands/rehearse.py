"""The command `rehearse`."""

from pathlib import Path
from typing import Annotated

import typer

from hyloop.cli.commands.options import AllowScripts, Json, Open

__all__ = ["rehearse"]


def rehearse(
    file: Annotated[Path, typer.Argument(help="Experiment file (TOML) with a physical site behind an actuator.")],
    runs: Annotated[int | None, typer.Option(help="Number of rehearsals (default: as in the file, else 200).")] = None,
    seed: Annotated[int | None, typer.Option(help="Of what is drawn (default: the seed of the file).")] = None,
    workers: Annotated[int | None, typer.Option(help="Runs at the same time (default: one on every core).")] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="Change a value, for instance rehearsal.max_stroke=80mm. May be repeated."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Page to write (default: out/NAME-rehearsal.html).")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the earlier page instead of renaming it.")] = False,
    allow_scripts: AllowScripts = False,
    open_: Open = False,
    json: Json = False,
) -> None:
    """Rehearse a planned test many times with an uncertain rig: go or no-go, before anything moves.

    Start with:  hyloop examples planned_test,  then  hyloop rehearse experiments/planned_test.toml

    Says the critical delay and the margin to it, what the test asks of stroke, velocity, force and valve, how well the
    rig follows, and what the rig changes of the answer. Limits are those of the file. The exit code is 0 for go, 1 for
    no-go, 2 for a file that is refused. docs/rehearse.md has the rest.
    """
    from hyloop.cli.rehearse import run_rehearse

    run_rehearse(file, set_ or [], runs, seed, workers, out, force, allow_scripts, open_, json)
