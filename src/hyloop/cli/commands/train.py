"""The command `train`."""

from pathlib import Path
from typing import Annotated

import typer

from hyloop.cli.commands.options import Json, Open

__all__ = ["train"]


def train(
    file: Annotated[
        Path, typer.Argument(help="Training file (TOML); `hyloop examples training/fluid_damper_gru` writes one.")
    ],
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="Change a value, such as training.epochs=10. May be repeated.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Network to write (default: as in the file, else out/).")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the last checkpoint.")] = False,
    report: Annotated[bool, typer.Option(help="Write a report page beside the network.")] = True,
    open_: Open = False,
    json: Json = False,
) -> None:
    """Train a network on recorded tests: network with its card, table of agreement, and a page."""
    from hyloop.cli.train import run_train

    run_train(file, set_ or [], out, resume, report, open_, json)
