"""The commands `show`, `export` and `report`: what to do with recordings."""

from pathlib import Path
from typing import Annotated

import typer

from hyloop.cli.commands.options import Json, Open
from hyloop.cli.console import console, open_page

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
    files: Annotated[list[Path], typer.Argument(help="One or more recordings; several are drawn over each other.")],
    out: Annotated[Path, typer.Option(help="Page to write.")] = Path("out/report.html"),
    title: Annotated[str, typer.Option(help="Title of the page.")] = "Recordings",
    figures: Annotated[Path | None, typer.Option(help="Also save PNG and PDF figures into this folder.")] = None,
    open_: Open = False,
) -> None:
    """Write a page with figures from recordings."""
    from hyloop.record import Recording
    from hyloop.report.figures import save_figures
    from hyloop.report.page import check_folder, check_page
    from hyloop.report.run_page import write_report

    check_page(out)
    if figures:
        check_folder(figures, "figures are written")
    recordings = {file.stem: Recording.load(file) for file in files}
    page = write_report(out, recordings, title=title)
    open_page(page, open_)
    console.print(f"report: {page}", soft_wrap=True)
    if figures:
        for path in save_figures(figures, recordings):
            console.print(f"figure: {path}", soft_wrap=True)
