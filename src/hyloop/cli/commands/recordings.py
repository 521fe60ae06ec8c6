"""The commands `show`, `export` and `report`: what to do with recordings."""

from pathlib import Path
from typing import Annotated

import typer

from hyloop.cli.commands.options import Json, Open
from hyloop.cli.console import console

__all__ = ["export", "report", "show"]


def show(file: Annotated[Path, typer.Argument(help="A recording (.h5).")], json: Json = False) -> None:
    """Show the channels of a recording."""
    from hyloop.cli.info import show_recording

    show_recording(file, json)


def export(
    file: Annotated[Path, typer.Argument(help="A recording (.h5).")],
    target: Annotated[Path, typer.Argument(help="File to write: .csv, .mat or .parquet.")],
) -> None:
    """Write a recording in another format."""
    from hyloop.record import Recording
    from hyloop.record.export import check_export

    check_export(target)
    Recording.load(file).export(target)
    console.print(f"wrote {target}", soft_wrap=True)


def report(
    files: Annotated[
        list[Path],
        typer.Argument(help="A recording (.h5); several, which are compared with the first; or a folder of them."),
    ],
    out: Annotated[
        Path | None, typer.Option(help="Page to write (default: beside the recordings, NAME.html or A-vs-B.html).")
    ] = None,
    title: Annotated[str, typer.Option(help="Title of the page (default: that of the recording).")] = "",
    figures: Annotated[Path | None, typer.Option(help="Also save PNG and PDF figures into this folder.")] = None,
    open_: Open = False,
) -> None:
    """Write a page about a recording, a comparison of several, or a catalogue of a folder.

    One recording: peaks, the building in motion, figures. Several: what differs, as numbers and over time. A folder:
    one row for each recording below it. Try:  hyloop report out
    """
    from hyloop.cli.report import run_report

    run_report(files, out, title, figures, open_)
