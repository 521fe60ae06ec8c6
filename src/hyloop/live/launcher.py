"""Starts the server of the page in a process of its own, and starts it again should it die."""

import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from secrets import token_urlsafe
from threading import Lock, Thread
from time import monotonic
from typing import Any, Literal

from hyloop.errors import BadInput, HyloopError

__all__ = ["PageServer"]

_EVERYWHERE = ("", "0.0.0.0", "::", "*")
_NEEDED = ("starlette", "uvicorn", "websockets")
_SOON, _TRIES = 10.0, 3  # a server that dies so often within so many s is left alone
_ENDING = 5.0  # s that a server may take to end


class PageServer:
    """The server of a page; use it in a ``with`` statement.

    Its token goes through a pipe and stands in no list of processes. Nothing waits for the server but `start` for its
    beginning: should it die, a thread starts it again at the same address, and clients come back by themselves.

    Parameters
    ----------
    host : str
        Address or name of this machine under which it is asked for; 127.0.0.1 is seen by this machine alone.
    port : int
        0: any that is free.
    control : bool
        Whether the page may end the run.
    say : callable
        Called with a sentence about a server that has died.
    """

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = 0,
        control: bool = False,
        say: Callable[[str], None] = lambda said: None,
    ) -> None:
        if missing := [name for name in _NEEDED if find_spec(name) is None]:
            raise BadInput(f"the live page needs {', '.join(missing)}: pip install 'hyloop[live]'.")
        if host in _EVERYWHERE:
            raise BadInput("--host: name the one address under which others reach this machine, such as 192.168.1.20.")
        if not 0 <= port < 65536:
            raise BadInput(f"--port {port}: give a number from 1 to 65535, or 0 for any that is free.")
        self._told: dict[str, Any] = {"host": host, "port": port, "control": control, "token": token_urlsafe(32)}
        self._say, self._lock = say, Lock()
        self._process: subprocess.Popen | None = None
        self._thread: Thread | None = None
        self._wanted = False

    def start(self, kind: Literal["board", "recording"], path: Path) -> None:
        """Show a board or a recording from now on; returns once it can be looked at."""
        self._told |= {"kind": kind, "path": str(path.resolve())}
        self._begin()
        self._wanted = True
        self._thread = Thread(target=self._watch, name="hyloop page", daemon=True)
        self._thread.start()

    def _begin(self) -> None:
        command = [sys.executable, "-P", "-m", "hyloop.live"]
        pipe = subprocess.PIPE
        # a session of its own: Ctrl-C in the terminal is for the run
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, start_new_session=True)
        assert process.stdin and process.stdout
        try:
            process.stdin.write(json.dumps(self._told) + "\n")
            process.stdin.flush()
            answer = json.loads(process.stdout.readline() or "{}")
        except (OSError, ValueError):
            answer = {}
        if "port" not in answer:
            process.kill()
            process.wait()
            _close(process)
            if "refused" in answer:
                raise BadInput(answer["refused"])
            raise HyloopError("the server of the page did not start; python -m hyloop.live says why.")
        self._told["port"] = answer["port"]
        with self._lock:
            self._process = process

    @property
    def url(self) -> str:
        """The address to open, with the token."""
        host = self._told["host"]
        return f"http://{f'[{host}]' if ':' in host else host}:{self._told['port']}/?token={self._told['token']}"

    @property
    def process(self) -> int | None:
        """Number of the server's process."""
        return self._process.pid if self._process else None

    def show(self, kind: Literal["board", "recording"], path: Path, linger: bool = False) -> None:
        """Show something else; with `linger` the server ends by itself once nobody has looked for some seconds."""
        self._told |= {"kind": kind, "path": str(path.resolve())}
        if linger:
            self._wanted = False
        self._order({"kind": kind, "path": self._told["path"], "linger": linger})

    def wait(self) -> None:
        """Wait until a server that lingers ends."""
        if self._process:
            self._process.wait()

    def stay(self) -> None:
        """Wait until the server is given up."""
        if self._thread:
            self._thread.join()

    def close(self) -> None:
        """End the server."""
        self._wanted = False
        self._order({"end": True})
        with self._lock:
            process, self._process = self._process, None
        if process is None:
            return
        try:
            process.wait(_ENDING)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        _close(process)

    def _order(self, order: dict[str, Any]) -> None:
        with self._lock:
            if self._process is None or self._process.stdin is None:
                return
            try:
                self._process.stdin.write(json.dumps(order) + "\n")
                self._process.stdin.flush()
            except OSError:  # it has died, and is told when it is started again
                return

    def _watch(self) -> None:
        """Start a server that has died again."""
        begun, tries = monotonic(), 0
        while True:
            process = self._process
            if process is None:
                return
            process.wait()
            if not self._wanted:
                return
            tries = tries + 1 if monotonic() - begun < _SOON else 1
            _close(process)
            if tries > _TRIES:
                self._say("the server of the page dies again and again, and is left alone; the run goes on")
                return
            begun = monotonic()
            try:
                self._begin()
            except HyloopError as error:
                self._say(f"the server of the page has died and cannot be started again ({error}); the run goes on")
                return
            if tries == 1:
                self._say("the server of the page has died and was started again; the run goes on")

    def __enter__(self) -> "PageServer":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _close(process: subprocess.Popen) -> None:
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(OSError):  # of what was not written yet
                stream.close()
