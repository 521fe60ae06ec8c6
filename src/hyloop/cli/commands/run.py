"""The command `run`."""

from pathlib import Path
from typing import Annotated, cast

import typer

from hyloop.cli.commands.options import Json
from hyloop.cli.console import console, print_json, progress_bars

__all__ = ["run"]


def run(
    file: Annotated[Path, typer.Argument(help="Experiment file (TOML).")],
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="Change a value, for instance sites.damper1.device.Fc_pos=20kN. May be repeated."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Recording to write (default: as in the file, else out/).")] = None,
    report: Annotated[bool, typer.Option(help="Write a report page beside the recording.")] = True,
    force: Annotated[bool, typer.Option("--force", help="Replace a recording that is there already.")] = False,
    json: Json = False,
) -> None:
    """Run an experiment file: record it, and write a page with figures.

    A recording that is there already is kept: out/NAME.h5 and its page become out/NAME-1.h5 and out/NAME-1.html (or the
    next number that is free). One named by --out is not written over. With --force both are replaced.

    A run that is interrupted (Ctrl-C) or fails leaves its recording until then, marked as not complete.
    """
    from hyloop.cli.info import show_sites
    from hyloop.cli.results import check_results, keeper
    from hyloop.report.run_page import write_report
    from hyloop.study.run import run_file

    check_results(out, force)
    with progress_bars(not json) as update:
        update("compiling and running", 0.0)
        recording = run_file(
            file,
            tuple(set_ or ()),
            out,
            keep=keeper(force),
            progress=lambda part: update("compiling and running", part),
        )
    page, timing = None, recording.attributes["timing"]
    ticks, pace = timing["controller ticks"], timing["time per tick, recording included [µs]"]
    path = cast(Path, recording.path)
    if report:
        title = str(recording.attributes.get("title") or file.stem)
        try:
            page = write_report(path.with_suffix(".html"), {file.stem: recording}, title=title, notes=recording.notes)
        except KeyboardInterrupt as stop:
            stop.args = (*stop.args, f"{path} is complete, but has no page; `hyloop report` makes one")
            raise
    if json:
        print_json(
            {
                "recording": str(path),
                "report": str(page) if page else None,
                "ticks": ticks,
                "microseconds_per_tick": pace,
                "notes": list(recording.notes),
            }
        )
        return
    show_sites(recording)
    for note in recording.notes:
        console.print(f"note: {note}")
    console.print(f"{ticks} controller ticks, {pace:.2f} µs each, recording included")
    console.print(f"recording: {path}", soft_wrap=True)
    if page:
        console.print(f"report:    {page}", soft_wrap=True)
