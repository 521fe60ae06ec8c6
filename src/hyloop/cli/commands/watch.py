"""The command `watch`."""

from pathlib import Path
from typing import Annotated

import typer

from hyloop.cli.commands.options import LOOPBACK, Host, Port

__all__ = ["watch"]


def watch(
    recording: Annotated[Path, typer.Argument(help="A recording (.h5), finished or still written.")],
    host: Host = LOOPBACK,
    port: Port = 0,
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,
) -> None:
    """Show a recording in the browser: play, pause, go back and forth; one that is still written grows on the page.

    The page needs no internet, and is seen by this machine alone unless --host names an address. Ctrl-C ends it.
    """
    from hyloop.cli.live import run_watch

    run_watch(recording, host, port, browser)
