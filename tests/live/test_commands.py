"""`hyloop run --live` and `hyloop watch`: what is printed, what stays, and what is left behind."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from oracles.live import SOON, Asked, cookie, visiting
from websockets.exceptions import ConnectionClosed

from hyloop.record import Recording

pytestmark = pytest.mark.slow

FILE = """
title = "Two stories"
[structure]
kind = "shear_frame"
stories = 2
masses = "40 t"
stiffnesses = "20 kN/mm"
damping = { kind = "rayleigh", ratio = "2 %", modes = [1, 2] }
[integrator]
method = "mkr_alpha"
rho_inf = 0.75
dt = "1/256 s"
substeps = 4
[excitation]
kind = "noise"
rms = "0.05 g"
low = "0.3 Hz"
high = "4 Hz"
duration = "DURATION"
[sites.damper]
story = 1
device = { law = "bouc_wen", k = "1.2 kN/mm", alpha = 0.02, d_y = "3 mm" }
"""


class Address:
    """What a client needs of a server whose address was printed."""

    def __init__(self, url):
        self.url = url


@pytest.fixture
def command(tmp_path):
    """Start a command; returns its process and the address that it prints."""
    started = []

    def start(*words):
        # who runs tests in the background has told its children not to hear of Ctrl-C
        heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        code = f"{heard}from hyloop.cli import main; main()"
        process = subprocess.Popen(
            [sys.executable, "-c", code, *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
        )
        started.append(process)
        said = ""
        for line in process.stderr:
            said += line
            if found := re.search(r"live page: (http://\S+)", line):
                return process, Address(found[1])
        raise AssertionError(said)

    yield start
    for process in started:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        process.stderr.close()


def boards():
    memory = Path("/dev/shm")
    return set(memory.glob("hyloop-*")) if memory.is_dir() else set()


def file_of(tmp_path, seconds):
    path = tmp_path / "two.toml"
    path.write_text(FILE.replace("DURATION", f"{seconds} s"))
    return path


def test_a_live_run_is_seen_and_then_its_recording(command, tmp_path):
    before = boards()
    process, server = command("run", file_of(tmp_path, 3), "--live", "--no-report", "--out", "two.h5")
    with visiting(server) as client:
        about, _ = client.hear()
        assert about["title"] == "Two stories" and about["going"] and not about["control"]
        states = []

        def note(header, parts):
            if state := header.get("status", {}).get("state"):
                states.append(state)
            return header["kind"] == "about"

        after, _ = client.until(note)
        assert set(states) <= {"running", "late", "ended"} and "running" in states
        assert "energy.input" in after["names"] and "energy.input" not in about["names"]
        header, _ = client.until(lambda header, parts: "status" in header)
        assert header["status"]["state"] == "ended" and header["status"]["pace"]["work"]
        process.send_signal(signal.SIGINT)
        assert process.wait(SOON) == 0
    recording = Recording.load(tmp_path / "two.h5")
    assert recording.complete and "paced" in recording.attributes
    assert boards() <= before


def test_a_run_that_is_stopped_from_the_page_ends_as_failed_and_is_recorded(command, tmp_path):
    before = boards()
    path = file_of(tmp_path, 60)
    process, server = command("run", path, "--live", "--control", "--no-report", "--out", "two.h5")
    with visiting(server) as client:
        assert client.hear()[0]["control"]
        client.until(lambda header, parts: header.get("now", 0.0) > 0.5)
        client.say(stop=True)
        shown = []  # the recording, and then how it stands

        def recorded(header, parts):
            shown.extend(["about"] if header["kind"] == "about" else [])
            return shown and "status" in header

        header, _ = client.until(recorded)
        assert header["status"]["sentence"].startswith("Stopped by a person after")
        process.send_signal(signal.SIGINT)
        assert process.wait(SOON) == 1
    recording = Recording.load(tmp_path / "two.h5")
    assert not recording.complete and recording.attributes["reason"] == "called off"
    assert boards() <= before


def test_a_loop_that_is_killed_is_told_as_lost_and_nothing_is_left(command, tmp_path):
    before = boards()
    process, server = command("run", file_of(tmp_path, 60), "--live", "--no-report", "--out", "two.h5")
    with visiting(server) as client:
        client.until(lambda header, parts: header.get("now", 0.0) > 0.2)
        process.send_signal(signal.SIGKILL)
        header, _ = client.until(lambda header, parts: header.get("status", {}).get("state") == "lost")
        assert "the process of the loop is gone" in header["status"]["sentence"]
    end = time.monotonic() + 3 * SOON
    while boards() - before:  # the server sees to it once nobody looks any more
        assert time.monotonic() < end
        time.sleep(0.2)


def test_a_server_that_is_killed_does_not_reach_the_run(command, tmp_path):
    process, server = command("run", file_of(tmp_path, 5), "--live", "--no-report", "--out", "two.h5")
    with visiting(server) as client:
        client.hear()
        for child in children(process.pid):
            os.kill(child, signal.SIGKILL)
        with pytest.raises(ConnectionClosed):
            while True:
                client.hear()
    assert "started again" in next(line for line in process.stderr if "server" in line)
    with visiting(server) as client:  # the same address and token
        client.until(lambda header, parts: header.get("status", {}).get("state") == "ended")
        process.send_signal(signal.SIGINT)
    assert process.wait(SOON) == 0
    assert len(Recording.load(tmp_path / "two.h5")) == 1 + 5 * 256


def children(process):
    listed = subprocess.run(["ps", "-eo", "pid,ppid"], capture_output=True, text=True, check=True).stdout
    pairs = [(int(pid), int(parent)) for pid, parent in map(str.split, listed.splitlines()[1:])]
    return [pid for pid, parent in pairs if parent == process and is_server(pid)]


def is_server(pid):
    try:
        return b"hyloop.live" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def test_a_recording_is_watched_until_it_is_enough(command, tmp_path, rng):
    path = tmp_path / "run.h5"
    Recording(0.01 * np.arange(50), rng.normal(size=(50, 2)), ["u.1", "x"], ["m", "-"], {"title": "five"}).save(path)
    process, server = command("watch", path, "--no-browser")
    assert server.url.startswith("http://127.0.0.1:") and Asked(server, Cookie=cookie(server)).status == 200
    process.send_signal(signal.SIGINT)
    assert process.wait(SOON) == 0
    with pytest.raises(ConnectionRefusedError):
        Asked(server)


def test_a_recording_that_another_process_writes_grows_on_the_page(command, tmp_path):
    words = ["run", file_of(tmp_path, 6), "--paced", "--no-report", "--out", "two.h5"]
    code = "from hyloop.cli import main; main()"
    running = subprocess.Popen([sys.executable, "-c", code, *words], cwd=tmp_path, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 3 * SOON
        while not (tmp_path / "two.h5").exists() or len(Recording.load(tmp_path / "two.h5")) < 2:
            assert time.monotonic() < end
            time.sleep(0.05)
        _, server = command("watch", "two.h5", "--no-browser")
        with visiting(server) as client:
            about, _ = client.hear()
            assert about["going"] and not about["control"]
            seen = {}
            client.until(lambda header, parts: seen.update({header.get("now"): 1}) or len(seen) > 5)
            header, _ = client.until(lambda header, parts: header.get("status", {}).get("state") == "ended")
            assert header["now"] == pytest.approx(6.0)
    finally:
        running.kill()
        running.wait()


def test_the_address_is_opened_by_way_of_a_file(command, tmp_path, rng, monkeypatch):
    """What a browser is given would be seen in the list of processes."""
    path, browser = tmp_path / "run.h5", tmp_path / "browser"
    Recording(0.01 * np.arange(50), rng.normal(size=(50, 1)), ["u.1"], ["m"]).save(path)
    given, page = tmp_path / "given", tmp_path / "page"
    browser.write_text(f'#!/bin/sh\necho "$1" > "{given}"\nsed s/file:..// "{given}" | xargs cat > "{page}"\n')
    browser.chmod(0o700)
    monkeypatch.setenv("BROWSER", f"{browser} %s")
    process, server = command("watch", path)
    end = time.monotonic() + SOON
    while not page.exists() or server.url not in page.read_text():
        assert time.monotonic() < end
        time.sleep(0.05)
    opened = Path(given.read_text().strip().removeprefix("file://"))
    assert "token" not in str(opened) and os.stat(opened.parent).st_mode & 0o077 == 0
    process.send_signal(signal.SIGINT)
    assert process.wait(SOON) == 0 and not opened.parent.exists()


@pytest.mark.parametrize("words", [["--control"], ["--port", "5000"], ["--host", "localhost"]])
def test_what_is_about_the_page_needs_it(tmp_path, words):
    path = file_of(tmp_path, 1)
    code = "from hyloop.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "run", path, *words], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 2 and "say --live too" in " ".join(done.stderr.split())
    assert not (tmp_path / "out").exists()
