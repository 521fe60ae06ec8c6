"""The live page as the command line has it: its server around a run, and the command `watch`."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path

from hyloop.cli.console import errors, open_page
from hyloop.core.board import Board
from hyloop.errors import RunFailed
from hyloop.live import PageServer

__all__ = ["LivePage", "Wish", "live_page", "run_watch"]


@dataclass(frozen=True)
class Wish:
    """Where a live page is to be seen, whether it may end the run, and whether a browser is opened."""

    host: str
    port: int
    control: bool
    open: bool


class LivePage:
    """A page about a run, and then about its recording."""

    def __init__(self, server: PageServer, folder: Path | None) -> None:
        self._server, self._folder = server, folder
        self._shown = False

    @contextmanager
    def show(self, board: Board, recording: Path) -> Iterator[None]:
        """Show a run while it goes on, and its recording afterwards; the board is taken away then."""
        try:
            self._server.start("board", board.path)
            self._shown = True
            _tell(self._server.url, self._folder)
            try:
                yield
            finally:
                self._server.show("recording", recording, linger=True)
        finally:
            board.remove()

    def stay(self) -> None:
        """Wait until nobody looks any more, or until Ctrl-C."""
        if not self._shown:
            return
        errors.print("the page stays until Ctrl-C, or until nobody has looked at it for some seconds", highlight=False)
        try:
            self._server.wait()
        except KeyboardInterrupt:
            return


@contextmanager
def live_page(wish: Wish | None) -> Iterator[LivePage | None]:
    """The page of a run, if one is wished for; it outlives the run, also one that fails, but no interrupt."""
    if wish is None:
        yield None
        return
    with PageServer(wish.host, wish.port, wish.control, _complain) as server, _own_folder() as folder:
        page = LivePage(server, folder if wish.open else None)
        try:
            yield page
        except RunFailed as failure:
            errors.print(f"the run has ended early: {failure}", highlight=False, soft_wrap=True)
            page.stay()
            raise
        page.stay()


def run_watch(recording: Path, host: str, port: int, opens: bool) -> None:
    """Show a recording, finished or growing, until Ctrl-C."""
    with PageServer(host, port, say=_complain) as server, _own_folder() as folder:
        server.start("recording", recording)
        _tell(server.url, folder if opens else None)
        try:
            server.stay()
        except KeyboardInterrupt:
            return


@contextmanager
def _own_folder() -> Iterator[Path]:
    """A folder that nobody else can read."""
    with tempfile.TemporaryDirectory(prefix="hyloop-page-") as folder:
        yield Path(folder)


def _tell(url: str, folder: Path | None) -> None:
    """Print the address, and open it, by way of a file: itself it would stand in the list of processes."""
    errors.print(f"live page: {url}", highlight=False, soft_wrap=True)
    if folder is not None:
        page = folder / "open.html"
        page.write_text(f'<!DOCTYPE html><meta http-equiv="refresh" content="0; url={escape(url)}">', encoding="utf-8")
        open_page(page)


def _complain(said: str) -> None:
    errors.print(f"note: {said}", highlight=False, soft_wrap=True)
