"""The commands `records`, `laws`, `schema`, `bench` and `doctor`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from hyloop.cli.commands.options import Json
from hyloop.cli.console import print_json, print_table

__all__ = ["bench", "doctor", "laws", "records", "schema"]


def records(
    folder: Annotated[Path | None, typer.Argument(help="Folder of ground motions (default: the data folder).")] = None,
    json: Json = False,
) -> None:
    """List the ground motions in a folder."""
    from hyloop.cli.info import show_records

    show_records(folder, json)


def laws(
    name: Annotated[str | None, typer.Argument(help="Show one law with its equation and parameters.")] = None,
    json: Json = False,
) -> None:
    """Catalogue of device laws."""
    from hyloop.cli.info import show_laws

    show_laws(name, json)


def schema(
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print docs/reference.md instead: every key of every file.")
    ] = False,
) -> None:
    """Print the JSON Schema of experiment files, for editors."""
    if markdown:
        from hyloop.files.reference import markdown as reference

        sys.stdout.write(reference())
        return
    from hyloop.files.load import json_schema

    sys.stdout.write(json_schema() + "\n")


def bench(
    names: Annotated[list[str] | None, typer.Argument(help="Benchmarks to run (default: all).")] = None,
    json: Json = False,
) -> None:
    """Measure speed side by side with other engines (from a source checkout)."""
    from hyloop.cli.info import run_benchmarks

    run_benchmarks(names or [], json)


def doctor(json: Json = False) -> None:
    """Check this machine: cores, threads, clock, real-time permissions, data, versions."""
    from hyloop.cli.doctor import examine

    findings = examine()
    if json:
        print_json([finding._asdict() for finding in findings])
        return
    print_table("This machine", ["what", "found", "advice"], findings)
