"""The commands `data list`, `data get` and `data where`: public data sets, and the folder they lie in."""

from pathlib import Path
from typing import Annotated

import typer

from hyloop.cli.console import console, print_json, print_table, progress_bars

__all__ = ["app"]

app = typer.Typer(
    help="Public data sets: what there is, how to get it, and where it lies.\n\n"
    "Start with:  hyloop data list,  then  hyloop data get brfd\n\n"
    "Data are kept in the folder named by the environment variable HYLOOP_DATA, or else in your own data folder; "
    "hyloop comes with none of them.",
    no_args_is_help=True,
)
Json = Annotated[bool, typer.Option("--json", help="Print JSON for a machine instead of a table.")]


@app.command("list")
def list_(json: Json = False) -> None:
    """List the data sets hyloop can read: licence, size, and whether they are here."""
    from hyloop.data import DATA_SETS, SOURCES
    from hyloop.data.folders import download_folder

    found = {name: SOURCES[name].here() for name in DATA_SETS}
    if json:
        print_json(
            [
                {
                    "name": data.name,
                    "title": data.title,
                    "licence": data.licence,
                    "citation": data.citation,
                    "source": data.source,
                    "size": data.size,
                    "folder": _text(found[data.name]),
                }
                for data in DATA_SETS.values()
            ]
        )
        return
    rows = [
        [data.name, data.title, data.licence, _size(data.size), "yes" if found[data.name] else "no"]
        for data in DATA_SETS.values()
    ]
    columns = ["name", "what", "licence", "download", "here"]
    print_table(f"Public data sets; here is {download_folder()}", columns, rows)
    console.print("hyloop data get NAME fetches one, with its citation", highlight=False)


@app.command()
def get(
    name: Annotated[str, typer.Argument(help="A name from `hyloop data list`.")],
    again: Annotated[bool, typer.Option("--again", help="Download it even if it is here already.")] = False,
    json: Json = False,
) -> None:
    """Download a data set, check it, and say how to use it.

    A download that breaks off or is damaged is tried again, and never stays as half a file. Checksums of what was
    downloaded are written into hyloop-data.json beside the files; a file that changes later is refused.

    Set HYLOOP_DATA to an existing folder to keep data there.
    """
    from hyloop.data import SOURCES, data_set, fetch

    data = data_set(name)
    folder = SOURCES[name].here()
    if not json:
        console.print(f"{data.title}\nlicence: {data.licence}\nplease cite: {data.citation}", highlight=False)
        console.print(f"source: {data.source}", highlight=False)
    downloaded = again or folder is None
    if downloaded:
        with progress_bars(not json) as update:
            folder = fetch(data, progress=update)
    if json:
        print_json({"name": name, "folder": _text(folder), "downloaded": downloaded})
        return
    console.print(f"{'it lies in' if downloaded else 'it is here already:'} {folder}", highlight=False, soft_wrap=True)
    console.print(f"use it: {data.example}", markup=False, highlight=False, soft_wrap=True)


@app.command()
def where(json: Json = False) -> None:
    """Print the folder of data, and how it was chosen."""
    import os

    from hyloop.data.folders import VARIABLE, download_folder

    folder = download_folder()
    chosen = f"named by {VARIABLE}" if os.environ.get(VARIABLE) else f"your data folder, as {VARIABLE} is not set"
    if json:
        print_json({"folder": str(folder), "exists": folder.is_dir(), "chosen": chosen})
        return
    console.print(str(folder), markup=False, highlight=False, soft_wrap=True)
    state = "" if folder.is_dir() else "; it does not exist yet and is made by the first `hyloop data get`"
    console.print(f"({chosen}{state})", markup=False, highlight=False)


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)


def _size(size: int | None) -> str:
    return "not known" if size is None else f"about {size / 1e6:.0f} MB"
