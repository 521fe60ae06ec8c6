"""The server as others see it: who may come in, what is sent, and what happens when it or the run ends."""

import os
import signal
import socket
import time
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest
from oracles.live import SOON, Asked, cookie, made_board, serving, token, visiting
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from hyloop.core.paced import ENDED, ROWS, STOP
from hyloop.errors import BadInput
from hyloop.live import PageServer
from hyloop.record import Recording

pytestmark = pytest.mark.slow

NAMES = ["u.1", "damper.d", "damper.f"]
HOSTILE = '<img src=x onerror="alert(1)">'
VIEWS = [
    {"id": "h", "kind": "histories", "signals": [0, 2], "points": 100},
    {"id": "p", "kind": "paths", "pairs": [[1, 2]], "points": 400},
    {"id": "v", "kind": "values", "signals": [0]},
]


@pytest.fixture(scope="module")
def rows():
    rows = np.random.default_rng(5).normal(size=(3000, 3)).astype(np.float32).astype(float)
    return rows


@pytest.fixture(scope="module")
def recording(rows, tmp_path_factory):
    path = tmp_path_factory.mktemp("live") / "run.h5"
    Recording(rows[:, 0] * 0.0 + np.arange(3000) / 1024, rows, NAMES, ["m", "m", "N"], {"title": HOSTILE}).save(path)
    return path


@pytest.fixture(scope="module")
def server(recording):
    with serving("recording", recording) as started:
        yield started


def test_the_printed_address_gives_a_cookie_and_leaves_the_token_behind(server):
    answer = Asked(server, f"/?token={token(server)}")
    assert answer.status == 303 and answer.headers["Location"] == "/"
    given = answer.headers["Set-Cookie"].lower()
    assert "httponly" in given and "samesite=lax" in given
    page = Asked(server, Cookie=cookie(server))
    assert page.status == 200 and b"<!DOCTYPE html>" in page.body


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/", {}),
        ("/assets/main.js", {}),
        ("/?token=", {}),
        ("/?token=wrong", {}),
        ("/?token=%FF", {}),
        ("/", {"Cookie": "hyloop-{port}=wrong"}),
        ("/", {"Cookie": "hyloop-{port}="}),
        ("/", {"Cookie": "hyloop-1={token}"}),
        ("/?token={token}", {"Host": "example.org"}),
        ("/?token={token}", {"Host": "example.org:{port}"}),
        ("/?token={token}", {"Host": "127.0.0.1"}),
        ("/?token={token}", {"Host": "127.0.0.1.example.org:{port}"}),
        ("/?token={token}", {"Host": None}),
        ("/?token={token}", {"Origin": "http://example.org"}),
        ("/", {"Cookie": "hyloop-{port}={token}", "Origin": "http://example.org"}),
        ("/", {"Cookie": "hyloop-{port}={token}", "Origin": "null"}),
        ("/", {"Cookie": "hyloop-{port}={token}", "Origin": "https://127.0.0.1:{port}"}),
        ("/", {"Cookie": "hyloop-{port}={token}", "Host": "example.org"}),
    ],
)
def test_who_does_not_know_the_token_or_comes_from_elsewhere_is_refused(server, path, headers):
    known = {"token": token(server), "port": urlsplit(server.url).port}
    filled = {key: value and value.format(**known) for key, value in headers.items()}
    answer = Asked(server, path.format(**known), **filled)
    assert answer.status in (400, 403) and token(server).encode() not in answer.body
    assert "Set-Cookie" not in answer.headers


@pytest.mark.parametrize("path", ["/", "/assets/main.js", "/assets/page.css", "/assets/uplot/uPlot.iife.min.js"])
def test_every_answer_keeps_the_page_to_itself(server, path):
    for answer in (Asked(server, path, Cookie=cookie(server)), Asked(server, path)):
        policy = answer.headers["Content-Security-Policy"]
        parts = urlsplit(server.url)
        assert policy.startswith("default-src 'none';") and "unsafe" not in policy and "*" not in policy
        assert f"connect-src 'self' ws://{parts.netloc};" in policy and "frame-ancestors 'none'" in policy
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "path",
    ["/assets/../app.py", "/assets/%2e%2e/app.py", "/assets//etc/passwd", "/assets/uplot/LICENSE", "/x", "/assets/"],
)
def test_no_other_file_is_given(server, path):
    assert Asked(server, path, Cookie=cookie(server)).status == 404


@pytest.mark.parametrize(
    ("origin", "headers"),
    [(None, {}), ("http://example.org", {}), ("http://127.0.0.1", {}), ("null", {}), ("own", {"Cookie": "hyloop-1=x"})],
    ids=["no origin", "foreign", "other port", "null", "no token"],
)
def test_a_websocket_from_elsewhere_is_refused(server, origin, headers):
    parts = urlsplit(server.url)
    origin = f"http://{parts.netloc}" if origin == "own" else origin
    named = {"Cookie": cookie(server)} | headers
    with pytest.raises(InvalidStatus) as refused:
        connect(f"ws://{parts.netloc}/live", origin=origin, additional_headers=named)
    assert refused.value.response.status_code == 403


def test_a_websocket_under_another_name_is_refused(server):
    parts = urlsplit(server.url)
    with socket.create_connection((parts.hostname, parts.port), timeout=SOON) as line:
        asked = [
            "GET /live HTTP/1.1",
            "Host: example.org",
            f"Origin: http://{parts.netloc}",
            f"Cookie: {cookie(server)}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        ]
        line.sendall(("\r\n".join(asked) + "\r\n\r\n").encode())
        assert line.recv(1024).startswith(b"HTTP/1.1 403")


def test_a_client_gets_what_it_asks_for(server, rows):
    with visiting(server) as client:
        about, _ = client.hear()
        assert about["kind"] == "about" and about["title"] == HOSTILE and about["names"][:3] == NAMES
        assert about["control"] is False and about["going"] is False
        client.say(views=VIEWS, span=None)
        header, parts = client.until(lambda header, parts: "h" in parts)
        first, size, fresh, values = parts["h"]
        assert first == 0 and fresh and header["live"] and header["at"] == pytest.approx(2999 / 1024)
        wanted = rows[size : 2 * size, 2]
        assert values[1, 1].tolist() == [wanted.min(), wanted.max()]
        assert parts["v"][3].tolist() == [[[rows[-1, 0]]]]
        client.say(at=1000 / 1024)
        header, parts = client.until(lambda header, parts: "v" in parts)
        assert parts["v"][3].tolist() == [[[rows[1000, 0]]]] and not header["live"] and not header["playing"]
        client.say(at=1000 / 1024, playing=True)
        header, parts = client.until(lambda header, parts: header["at"] > 1010 / 1024)
        assert header["playing"] and header["at"] < header["now"]
        header, _ = client.until(lambda header, parts: not header["playing"])
        assert header["at"] == header["now"]


@pytest.mark.parametrize("text", ["", "{", '{"views": [7]}', '{"what": 1}', '{"stop": true}', "x" * 100_000])
def test_a_client_that_cannot_be_understood_is_sent_away(server, text):
    with visiting(server) as client:
        client.hear()
        client.socket.send(text)
        with pytest.raises(ConnectionClosed):
            for _ in range(1000):
                client.socket.recv(timeout=SOON)
        assert client.socket.close_code in (1008, 1009)


def test_who_says_nothing_is_left_in_peace_and_costs_nothing(server):
    """Frames wait for an answer: a few are sent ahead, then none."""
    with visiting(server) as client:
        client.hear()
        client.say(views=VIEWS, span=1.0, ack=0)
        client.say(at=0.1, playing=True)
        frames = 0
        with pytest.raises(TimeoutError):
            while True:
                client.socket.recv(timeout=1.0)
                frames += 1
        assert 1 <= frames <= 4


def test_the_stop_is_refused_without_control_and_obeyed_with_it(rows):
    with made_board(rows, NAMES) as board:
        board["marks"][ROWS] = 100
        with serving("board", board.path) as plain, visiting(plain) as client:
            assert client.hear()[0]["control"] is False
            client.say(stop=True)
            with pytest.raises(ConnectionClosed, match="may not be stopped"):
                while True:
                    client.socket.recv(timeout=SOON)
            assert board["marks"][STOP] == 0
        with serving("board", board.path, control=True) as able, visiting(able) as client:
            assert client.hear()[0]["control"] is True
            client.say(stop=True)
            end = time.monotonic() + SOON
            while not board["marks"][STOP]:
                assert time.monotonic() < end


def test_a_board_becomes_its_recording(rows, recording):
    with made_board(rows, NAMES, {"title": "board"}) as board, serving("board", board.path) as server:
        board["marks"][ROWS] = 100
        with visiting(server) as client:
            assert client.hear()[0]["title"] == "board"
            header, _ = client.until(lambda header, parts: "status" in header)
            assert header["status"]["state"] == "running"
            board["marks"][[ROWS, ENDED]] = 2999, 1
            client.until(lambda header, parts: header.get("status", {}).get("state") == "ended")
            server.show("recording", recording)
            about, _ = client.until(lambda header, parts: header["kind"] == "about")
            assert about["title"] == HOSTILE


def test_a_server_that_is_killed_is_started_again_at_the_same_address(recording):
    said = []
    with serving("recording", recording, say=said.append) as server:
        first, url = server.process, server.url
        os.kill(first, signal.SIGKILL)
        end = time.monotonic() + SOON
        while not said:
            assert time.monotonic() < end
            time.sleep(0.01)
        assert server.process != first and server.url == url and "started again" in said[0]
        with visiting(server) as client:
            assert client.hear()[0]["kind"] == "about"
    assert len(said) == 1
    assert server.process is None


def test_the_token_is_in_no_list_of_processes(server):
    line = Path(f"/proc/{server.process}/cmdline").read_bytes()
    surroundings = Path(f"/proc/{server.process}/environ").read_bytes()
    assert b"hyloop.live" in line and token(server).encode() not in line + surroundings


def test_it_listens_where_it_is_told_and_nowhere_else(server, recording):
    parts = urlsplit(server.url)
    assert parts.hostname == "127.0.0.1"
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", parts.port), timeout=SOON)
    with serving("recording", recording, host="127.0.0.3") as named:
        assert Asked(named, Cookie=cookie(named)).status == 200
        netloc = urlsplit(named.url).netloc.replace("127.0.0.3", "localhost")
        assert Asked(named, Cookie=cookie(named), Host=netloc).status == 403


def test_what_cannot_be_shown_is_refused(tmp_path, server, recording):
    with pytest.raises(BadInput, match="no such file"), serving("recording", tmp_path / "none.h5"):
        pass
    port = urlsplit(server.url).port
    with pytest.raises(BadInput, match="Give another --port"), serving("recording", recording, port=port):
        pass
    for host in ("", "0.0.0.0", "::"):
        with pytest.raises(BadInput, match="name the one address"):
            PageServer(host)
    with pytest.raises(BadInput, match="1 to 65535"):
        PageServer(port=70000)
    with (
        pytest.raises(BadInput, match="nobody can listen"),
        serving("recording", recording, host="no-such-host.invalid"),
    ):
        pass
