"""The command `model`."""

from pathlib import Path
from typing import Annotated

import typer

from hyloop.cli.commands.options import AllowScripts, Json, Open

__all__ = ["model"]


def model(
    file: Annotated[
        Path, typer.Argument(help="File of a frame (TOML), or an experiment file whose structure is a frame.")
    ],
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help='Change a value, such as sections.column.depth="45 cm". May be repeated.'),
    ] = None,
    modes: Annotated[int, typer.Option(help="Number of modes to show.")] = 10,
    out: Annotated[Path | None, typer.Option(help="Page to write (default: out/NAME-model.html).")] = None,
    report: Annotated[bool, typer.Option(help="Write a page with a picture of the model.")] = True,
    allow_scripts: AllowScripts = False,
    open_: Open = False,
    json: Json = False,
) -> None:
    """Show a frame before it runs: checks, modes, masses, and a page with a picture.

    A frame is a plane or space frame given by nodes, materials, sections, members and floors. Two to copy:
    experiments/models/rc_frame.toml (a regular plane frame with fibre columns) and
    experiments/models/braced_building.toml (a braced building in space with rigid floors). `hyloop examples
    models/rc_frame` writes the first into the current folder.

    An experiment uses one by kind = "frame" and file = "models/rc_frame.toml" in its structure table, or has the same
    tables there. The model is refused, with the node or member named, if it is a mechanism, comes apart, buckles
    under its loads or cannot carry them. docs/frames.md explains the tables.

    A structure that an OpenSeesPy script builds (kind = "opensees") is shown too, with --allow-scripts:
    experiments/opensees_portal.toml, docs/opensees.md.
    """
    from hyloop.cli.model import run_model

    run_model(file, set_ or [], modes, out, report, allow_scripts, open_, json)
