"""The command `design`."""

from pathlib import Path
from typing import Annotated

import typer

from hyloop.cli.commands.options import AllowScripts, Json, Open

__all__ = ["design"]


def design(
    file: Annotated[Path, typer.Argument(help="Experiment file (TOML) with a table \\[design].")],
    trials: Annotated[
        int | None, typer.Option(help="Of Optuna, to compare with (default: as in the file); 0: none.")
    ] = None,
    seeds: Annotated[int | None, typer.Option(help="Searches by Optuna (default: as in the file).")] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="Change a value of the file, for instance design.budget=4MN. May be repeated."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Page to write (default: out/NAME-design.html).")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the earlier page instead of renaming it.")] = False,
    allow_scripts: AllowScripts = False,
    open_: Open = False,
    json: Json = False,
) -> None:
    """Spread a budget of damper strength over a building for least story drift, by gradients through the whole loop.

    Start with:  hyloop examples design_eight_story,  then
    hyloop design experiments/design_eight_story.toml --trials 0

    The design is made for the training motions of the file and judged by its test motions, beside the same budget
    spread evenly and, without --trials 0, searches by Optuna. docs/design.md has the rest.
    """
    from hyloop.cli.design import run_design

    run_design(file, set_ or [], trials, seeds, out, force, allow_scripts, open_, json)
