"""The command `peek`."""

from pathlib import Path
from typing import Annotated

import typer

from hyloop.cli.commands.options import Json, Open

__all__ = ["peek"]


def peek(
    file: Annotated[
        str,
        typer.Argument(
            help="File of measurements (CSV and other text, .mat, .tdms, .parquet), recording (.h5), ground motion, or "
            "published test by name (brfd:TEST)."
        ),
    ],
    decimal: Annotated[str | None, typer.Option(help="comma or point, where a text does not tell.")] = None,
    out: Annotated[Path | None, typer.Option(help="Page to write (default: out/NAME-peek.html).")] = None,
    report: Annotated[bool, typer.Option(help="Write a page with the histories and the loop.")] = True,
    open_: Open = False,
    json: Json = False,
) -> None:
    """Show what is in a file of a laboratory: columns, units, sampling, and what to type next.

    Start with:  hyloop peek test.csv

    Separator, decimal sign, headings and units are found, and what was decided is said. Nothing is changed.
    """
    from hyloop.cli.peek import run_peek

    run_peek(file, decimal, out, report, open_, json)
