"""The commands `examples` and `new`: files to copy from."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from hyloop.cli.commands.options import Json
from hyloop.cli.console import console, print_json, print_table

__all__ = ["examples", "new"]

Force = Annotated[bool, typer.Option("--force", help="Replace files that are there already.")]


def examples(
    name: Annotated[
        str | None, typer.Argument(help="Copy this one, with all files it names, into the current folder.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Copy all of them.")] = False,
    force: Force = False,
    json: Json = False,
) -> None:
    """List what comes with hyloop to copy from, or copy one: experiments, trainings, models and Python scripts.

    Start with:  hyloop examples friction_frame,  then  hyloop run experiments/friction_frame.toml

    Files are written into the folders experiments/ and examples/ of the current one.
    """
    from hyloop.files.examples import copy_examples, find_example, find_examples

    found = find_examples()
    if name is not None or every:
        chosen = list(found.values()) if every else [find_example(name or "")]
        written = copy_examples(chosen, Path(), force)
        if json:
            print_json([str(path) for path in written])
            return
        for path in written:
            console.print(f"wrote {path}", markup=False, highlight=False, soft_wrap=True)
        return
    if json:
        print_json([{"name": e.name, "kind": e.kind, "about": e.about} for e in found.values()])
        return
    print_table("Examples", ["name", "kind", "what it is"], [[e.name, e.kind, e.about] for e in found.values()])
    console.print("hyloop examples NAME copies one into the current folder", highlight=False)


def new(
    name: Annotated[Path, typer.Argument(help="Experiment file to write; .toml is added where it is missing.")],
    like: Annotated[str | None, typer.Option(help="Begin with a copy of this example; see `hyloop examples`.")] = None,
    force: Force = False,
) -> None:
    """Write an experiment file of your own, with comments, to begin with.

    Start with:  hyloop new mine,  then  hyloop run mine.toml
    """
    from hyloop.files.examples import new_experiment

    written = new_experiment(name, like, force)
    for path in written:
        console.print(f"wrote {path}", markup=False, highlight=False, soft_wrap=True)
    flag = " --allow-scripts" if 'kind = "opensees"' in written[0].read_text(encoding="utf-8") else ""
    console.print(
        f"next: hyloop run {shlex.quote(str(written[0]))}{flag}", markup=False, highlight=False, soft_wrap=True
    )
