"""The server's process: where it listens, what it is told through its standard input, and when it ends."""

import asyncio
import json
import os
import shutil
import socket
import sys
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any

import uvicorn

from hyloop.errors import BadInput
from hyloop.live.app import Show
from hyloop.live.board_source import BoardSource
from hyloop.live.gate import LOOPBACK, Gate
from hyloop.live.recording_source import RecordingSource
from hyloop.live.source import Source

__all__ = ["main"]

_NICE = 5  # behind a loop that shares its processor
_LINGER = 10.0  # s without a client, after which a server that nobody else needs ends
_OFTEN = 0.2  # s between two looks at whether a client is there
_LARGEST = 1 << 16  # bytes of a message from a client
_GRACE = 1  # s for clients to be told that the server ends


def main() -> None:
    """Serve until told to end. The first line of standard input says what; see `hyloop.live.launcher`."""
    said = json.loads(sys.stdin.readline())
    try:
        listener = _listen(said["host"], said["port"])
        show = Show(_source(said), said["control"])
    except BadInput as error:
        _say({"refused": str(error)})
        return
    with suppress(OSError, AttributeError):
        os.nice(_NICE)
    host, port = listener.getsockname()[:2]
    hosts = LOOPBACK if said["host"] in LOOPBACK else (said["host"].lower(), host)
    app = Gate(show.app(), said["token"], hosts, port)
    settings = uvicorn.Config(
        app,
        log_level="critical",
        access_log=False,  # an address may have the token
        server_header=False,
        proxy_headers=False,
        lifespan="off",
        ws="websockets-sansio",
        ws_max_size=_LARGEST,
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=_GRACE,
    )
    asyncio.run(_serve(uvicorn.Server(settings), listener, show, said))


async def _serve(server: uvicorn.Server, listener: socket.socket, show: Show, said: dict[str, Any]) -> None:
    def end(_: object) -> None:
        server.should_exit = True  # also if it cannot be told anything any more

    orders = asyncio.create_task(_obey(server, show, said))
    orders.add_done_callback(end)
    _say({"port": listener.getsockname()[1]})
    await server.serve(sockets=[listener])
    orders.cancel()


async def _obey(server: uvicorn.Server, show: Show, said: dict[str, Any]) -> None:
    """Follow what the standard input says: show something else, linger, end; where it breaks off, linger."""
    lines, lingering = asyncio.StreamReader(), None
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    while line := await lines.readline():
        order = json.loads(line)
        if order.get("end"):
            server.should_exit = True
            return
        said = {**said, **order}
        with suppress(BadInput):  # then what was shown stays
            show.change(_source(said))
        if order.get("linger") and lingering is None:
            lingering = asyncio.create_task(_linger(server, show))
    await _linger(server, show)
    if said["kind"] == "board" and show.source.standing().state == "lost":
        shutil.rmtree(Path(said["path"]).parent, ignore_errors=True)  # nobody else will


async def _linger(server: uvicorn.Server, show: Show) -> None:
    """End once no client has been there for a while: whoever started this is gone, or has left it to them."""
    begin = monotonic()
    while show.clients or monotonic() - max(begin, show.left) < _LINGER:
        await asyncio.sleep(_OFTEN)
    server.should_exit = True


def _source(said: dict[str, Any]) -> Source:
    path = Path(said["path"])
    if said["kind"] == "board":
        return BoardSource(path, said["control"])
    return RecordingSource(path)


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, _, _, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a server that has just died had this port
        listener.bind(where)
        listener.listen()  # from now on whoever comes is heard, if a moment later
    except OSError as error:
        raise BadInput(
            f"nobody can listen at {host}:{port} ({error.strerror or error}). Give another --port."
        ) from None
    return listener


def _say(word: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(word) + "\n")
    sys.stdout.flush()
