"""Options that several commands share."""

from typing import Annotated

import typer

__all__ = ["Json"]

Json = Annotated[bool, typer.Option("--json", help="Print JSON for a machine instead of a table.")]
