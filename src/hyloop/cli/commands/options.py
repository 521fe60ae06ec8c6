"""Options that several commands share."""

from typing import Annotated

import typer

__all__ = ["AllowScripts", "Json", "Open"]

Json = Annotated[bool, typer.Option("--json", help="Print JSON for a machine instead of a table.")]
Open = Annotated[bool, typer.Option("--open", help="Open the page in the browser.")]
AllowScripts = Annotated[
    bool,
    typer.Option(
        "--allow-scripts", help="Run the OpenSeesPy script that the structure names. It may do anything: read it first."
    ),
]
