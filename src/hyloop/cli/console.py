"""What every command shares: tables, progress, JSON, and errors as messages with exit codes."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

__all__ = [
    "clearing",
    "complain",
    "console",
    "counting_bar",
    "errors",
    "open_page",
    "print_json",
    "print_table",
    "progress_bars",
]


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
def counting_bar(name: str, shown: bool = True) -> Iterator[Callable[[int, int], None]]:
    """A function ``update(done, of)``: a bar with the rate and the time left, on standard error."""
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.completed:.0f} of {task.total:.0f}"),
        TextColumn("{task.fields[rate]}", markup=False),
    )
    with clearing(Progress(*columns, console=errors, disable=not shown)) as progress:
        bar, begin = progress.add_task(name, total=1, rate="compiling"), (0, 0.0)

        def update(done: int, of: int) -> None:
            nonlocal begin
            if not begin[1]:  # what was there before was not computed now
                begin = done, monotonic()
            passed, rate = monotonic() - begin[1], "compiling"
            if done > begin[0] and passed > 0.0:
                each = passed / (done - begin[0])
                pace = f"{1.0 / each:.1f} runs/s" if each < 1.0 else f"{each:.1f} s a run"
                rate = f"{pace}, {_clock((of - done) * each)} left"
            progress.update(bar, completed=done, total=of, rate=rate)

        yield update


def _clock(seconds: float) -> str:
    minutes, hours = round(seconds) // 60, round(seconds) // 3600
    return f"{hours} h {minutes % 60} min" if hours else f"{minutes} min" if minutes > 5 else f"{seconds:.0f} s"


@contextmanager
def clearing(progress: Progress) -> Iterator[Progress]:
    """Show progress; where something goes wrong it vanishes, so that the message stands alone."""
    with progress:
        try:
            yield progress
        except BaseException:
            progress.live.transient = True
            raise
