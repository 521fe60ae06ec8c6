"""What every command shares: tables, progress, JSON, and errors as messages with exit codes."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

__all__ = ["clearing", "complain", "console", "errors", "open_page", "print_json", "print_table", "progress_bars"]


class _Console(Console):
    def on_broken_pipe(self) -> None:
        raise BrokenPipeError  # the usual one ends the program as if something had gone wrong


# no markup: a path or a message may have brackets
console = _Console(markup=False)
errors = _Console(stderr=True, markup=False, highlight=False)


def complain(heading: str, text: object) -> None:
    """Say on standard error what is wrong; one line, which a terminal folds by itself."""
    said = str(text)
    errors.print(Text.assemble((f"{heading}:" if said else heading, "bold red"), f" {said}"), soft_wrap=True)


def print_json(value: Any) -> None:
    """Print for a machine: JSON alone on standard output."""
    narrow = not (sys.stdout.encoding or "").lower().startswith("utf")
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=narrow) + "\n")


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], right: Sequence[str] = ()) -> None:
    """Print for a person; the columns named in `right` are aligned to the right."""
    table = Table(title=title, title_justify="left")
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else str(cell) for cell in row))
    console.print(table)


def open_page(page: Path | None, wanted: bool = True) -> None:
    """Show a page in the browser, where that is wanted; say so where there is none."""
    import webbrowser

    if not wanted:
        return
    if page is None:
        errors.print("--open: no page was written, so none is opened", highlight=False)
    elif not webbrowser.open(page.resolve().as_uri()):
        errors.print(f"--open: no browser was found; the page is {page}", highlight=False, soft_wrap=True)


@contextmanager
def progress_bars(shown: bool = True) -> Iterator[Callable[[str, float], None]]:
    """A function ``update(name, fraction)``; every name gets a bar with its remaining time, on standard error."""
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %"),
        TimeRemainingColumn(),
    )
    with clearing(Progress(*columns, console=errors, disable=not shown)) as progress:
        bars: dict[str, TaskID] = {}

        def update(name: str, fraction: float) -> None:
            if name not in bars:
                bars[name] = progress.add_task(name, total=1.0)
            progress.update(bars[name], completed=fraction)

        yield update


@contextmanager
def clearing(progress: Progress) -> Iterator[Progress]:
    """Show progress; where something goes wrong it vanishes, so that the message stands alone."""
    with progress:
        try:
            yield progress
        except BaseException:
            progress.live.transient = True
            raise
