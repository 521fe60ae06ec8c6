"""A run that is watched: a loop on the clock with many channels, its board, the server of its page, and a client."""

import http.client
import json
import os
from contextlib import contextmanager
from urllib.parse import urlsplit

import numpy as np
from websockets.sync.client import connect

from hyloop.core.board import Board
from hyloop.devices import bouc_wen
from hyloop.integrators import mkr_alpha
from hyloop.live import PageServer
from hyloop.loop import Loop, PacedRun, Site
from hyloop.structure import rayleigh, shear_frame

RATE = 1024  # Hz
STORIES = 20
CHANNELS = 64
SOON = 20.0  # s for anything that happens at once, on a machine that is doing other things


def frame_loop(stories=STORIES):
    """A frame with a damper; with 20 stories it has more than 64 channels."""
    frame = shear_frame([4e4] * stories, [4e7] * stories, heights=[3.0] * stories)
    frame = frame.with_damping(rayleigh(frame, 0.02))
    sites = [Site("damper", frame.story(1), bouc_wen(k=2e7, d_y=2e-3), physical=True)]
    return Loop(frame, sites, method=mkr_alpha(0.75), dt=1.0 / RATE)


def shaking(seconds, rng):
    """Ground acceleration in m/s2: thirty waves below a few Hz."""
    t = np.arange(int(seconds * RATE) + 1) / RATE
    waves = rng.uniform(0.3, 4.0, 30), rng.uniform(0.0, 2.0 * np.pi, 30)
    return 0.15 * sum(np.sin(2.0 * np.pi * f * t + phase) for f, phase in zip(*waves, strict=True))


@contextmanager
def on_the_board(seconds, rng, title="Twenty stories", **settings):
    """A paced run of so many seconds whose rows lie on a board; it is ended and taken away afterwards."""
    loop, ground = frame_loop(), shaking(seconds, rng)
    names = [name for name in loop.channels if name != "t"]
    damper = ["damper.d", "damper.f"]
    names = [*[name for name in names if name not in damper][: CHANNELS - len(damper)], *damper]
    floors = [loop.structure.names[loop.structure.dof(floor)] for floor in loop.structure.floors]
    building = {"floors": floors, "heights": [3.0] * STORIES, "sites": {"damper": {"story": 1}}}
    about = {"title": title, "building": building, "counts": {"damper": 1.0}}
    shared = {"attributes": about, "planned": len(ground) - 1, "process": os.getpid()}
    run = PacedRun(loop, ground, record=names, shared=shared, **settings)
    try:
        yield run
    finally:
        run.stop()
        if run.running:
            run._thread.join()
        run.board.remove()


@contextmanager
def made_board(rows, names, attributes=None, planned=None, dt=1 / 1024):
    """A board that no loop writes, with all rows there."""
    shapes = {"first": (float, (1, len(names))), "rows": (float, (len(rows) - 1, len(names)))}
    shapes |= {"marks": (np.int64, (16,)), "times": (np.int64, (2, len(rows) - 1))}
    about = {
        "names": list(names),
        "units": ["m"] * len(names),
        "t0": 0.0,
        "dt": dt,
        "tick": dt,
        "attributes": attributes or {},
    }
    about |= {"planned": len(rows) - 1 if planned is None else planned, "process": os.getpid(), "overrun": "go on"}
    board = Board.make(shapes, about)
    board["first"][:], board["rows"][:] = rows[:1], rows[1:]
    try:
        yield board
    finally:
        board.remove()


@contextmanager
def serving(kind, path, **settings):
    """The server of a page about something."""
    with PageServer(**settings) as server:
        server.start(kind, path)
        yield server


class Asked:
    """What the server answers to a request with any headers: status, headers, body."""

    def __init__(self, server, path="/", **headers):
        parts = urlsplit(server.url)
        asking = http.client.HTTPConnection(parts.hostname, parts.port, timeout=SOON)
        named = {"Host": parts.netloc, **{key.replace("_", "-"): value for key, value in headers.items()}}
        asking.putrequest("GET", path, skip_host=True)
        for key, value in named.items():
            if value is not None:
                asking.putheader(key, value)
        asking.endheaders()
        answer = asking.getresponse()
        self.status, self.headers, self.body = answer.status, answer.headers, answer.read()
        asking.close()


def token(server):
    return urlsplit(server.url).query.removeprefix("token=")


def cookie(server):
    """The cookie that the printed address gives."""
    answer = Asked(server, f"/?token={token(server)}")
    assert answer.status == 303 and answer.headers["Location"] == "/"
    return answer.headers["Set-Cookie"].split(";")[0]


class Client:
    """A client that speaks as the page does."""

    def __init__(self, socket):
        self.socket = socket

    def hear(self):
        """The next message: header, and numbers by view."""
        data = self.socket.recv(timeout=SOON)
        length = int.from_bytes(data[:4], "little")
        header = json.loads(data[4 : 4 + length])
        numbers, parts, at = np.frombuffer(data, "<f4", offset=4 + length), {}, 0
        for name, first, count, size, width, lines, fresh in header.get("parts", []):
            values = numbers[at : at + lines * count * width].reshape(lines, count, width)
            parts[name], at = (first, size, fresh, values), at + lines * count * width
        assert at == len(numbers)
        if "n" in header:
            self.say(ack=header["n"])
        return header, parts

    def say(self, **words):
        self.socket.send(json.dumps(words))

    def until(self, wanted):
        """The first message of which something is true."""
        while True:
            header, parts = self.hear()
            if wanted(header, parts):
                return header, parts


@contextmanager
def visiting(server, origin=None, **headers):
    """A client of a server, come in with its cookie."""
    parts = urlsplit(server.url)
    named = {"Cookie": cookie(server), **headers}
    where, origin = f"ws://{parts.netloc}/live", origin or f"http://{parts.netloc}"
    with connect(where, origin=origin, additional_headers=named, compression=None, max_size=None) as socket:
        yield Client(socket)
