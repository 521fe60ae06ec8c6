"""The web application: a page, its scripts, and a websocket for each client."""

import asyncio
from collections.abc import Callable
from importlib.resources import files
from time import monotonic

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from hyloop.errors import BadInput
from hyloop.live.protocol import message, wish
from hyloop.live.source import Source
from hyloop.live.status import status_of
from hyloop.live.viewer import Viewer
from hyloop.live.watched import Watched

__all__ = ["Show"]

_RATE = 36.0  # frames in a second for a client at most: more than 30, so that one that slips does not matter
_STATUS = 0.1  # s for which a status is good
_POLICY_VIOLATION = 1008
_KINDS = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".html": "text/html"}


class Show:
    """What is shown, to whom.

    Parameters
    ----------
    source : Source
    control : bool
        Whether clients may end the run.
    """

    def __init__(self, source: Source, control: bool) -> None:
        self._watched, self._control = Watched(source), control
        self._status, self._told = status_of(self._watched), monotonic()
        self.clients = 0
        self.left = monotonic()
        """When the last client has left."""

    def change(self, source: Source) -> None:
        """Show another source; clients are told."""
        before, self._watched = self._watched, Watched(source)
        self._told = 0.0
        before.source.close()

    @property
    def source(self) -> Source:
        """What is shown."""
        return self._watched.source

    def app(self) -> Starlette:
        """The application."""
        return Starlette(
            routes=[
                Route("/", _asset("index.html"), methods=["GET"]),
                Route("/assets/{name:path}", _asset(None), methods=["GET"]),
                WebSocketRoute("/live", self._serve),
            ]
        )

    def _look(self) -> None:
        """See what has come, and how it stands; once for all clients that ask at the same time."""
        self._watched.look()
        if monotonic() - self._told > _STATUS:
            self._status, self._told = status_of(self._watched), monotonic()

    async def _serve(self, socket: WebSocket) -> None:
        await socket.accept()
        self.clients += 1
        visit = _Visit(self, socket)
        try:
            await visit.last()
        finally:
            self.clients -= 1
            self.left = monotonic()

    def viewer(self) -> tuple[Watched, Viewer]:
        """A viewer of what is shown now."""
        return self._watched, Viewer(self._watched)

    def frame(self, viewer: Viewer) -> bytes | None:
        """What is new."""
        self._look()
        return viewer.frame(self._status)

    def stop(self) -> bool:
        """End the run, where that is allowed."""
        return self._control and self._watched.source.stop()

    def about(self, watched: Watched) -> bytes:
        """What a client must know before anything is drawn."""
        can_stop = self._control and watched.source.planned is not None
        going = watched.source.standing().state == "running"
        return message({"kind": "about", "control": can_stop, "going": going, **watched.described()})

    def shows(self, watched: Watched) -> bool:
        """Whether it is still this that is shown."""
        return self._watched is watched


class _Visit:
    """A client from its coming to its going."""

    def __init__(self, show: Show, socket: WebSocket) -> None:
        self._show, self._socket = show, socket
        self._watched, self._viewer = show.viewer()

    async def last(self) -> None:
        """Send and listen until one of both ends."""
        tasks = [asyncio.create_task(work()) for work in (self._send, self._listen)]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            for ended in await asyncio.gather(*tasks, return_exceptions=True):
                if isinstance(ended, Exception) and not isinstance(ended, (WebSocketDisconnect, RuntimeError, OSError)):
                    raise ended

    async def _send(self) -> None:
        await self._socket.send_bytes(self._show.about(self._watched))
        due = monotonic()
        while not self._viewer.dead:
            if not self._show.shows(self._watched):
                self._watched, self._viewer = self._show.viewer()
                await self._socket.send_bytes(self._show.about(self._watched))
            if self._viewer.keeps_up and (frame := self._show.frame(self._viewer)):
                await self._socket.send_bytes(frame)  # waits for this client alone
            due = max(due + 1.0 / _RATE, monotonic())
            await asyncio.sleep(due - monotonic())
        await self._socket.close(_POLICY_VIOLATION, "the client does not answer")

    async def _listen(self) -> None:
        while True:
            said = wish_or_none(await self._socket.receive_text())
            if said is None:
                await self._socket.close(_POLICY_VIOLATION, "a message that cannot be understood")
                return
            if said.get("stop") and not self._show.stop():
                await self._socket.close(_POLICY_VIOLATION, "the run may not be stopped from here")
                return
            try:
                self._viewer.wish(said)
            except BadInput as error:
                await self._socket.close(_POLICY_VIOLATION, str(error))
                return


def wish_or_none(text: str) -> dict | None:
    """A message of a client, None if it is none."""
    try:
        return wish(text)
    except BadInput:
        return None


def _asset(fixed: str | None) -> Callable[[Request], Response]:
    """A file that comes with the package, and no other."""
    folder = files("hyloop.live") / "assets"

    def answer(request: Request) -> Response:
        name = fixed or request.path_params["name"]
        parts = name.split("/")
        suffix = f".{name.rpartition('.')[2]}"
        if suffix not in _KINDS or any(part in ("", ".", "..") or "\\" in part for part in parts):
            return PlainTextResponse("There is no such file.", 404)
        found = folder.joinpath(*parts)
        if not found.is_file():
            return PlainTextResponse("There is no such file.", 404)
        return Response(found.read_bytes(), media_type=_KINDS[suffix])

    return answer
