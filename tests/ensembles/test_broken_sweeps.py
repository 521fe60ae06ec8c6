"""Sweeps that are broken off, in real processes: the table after going on is that of one that was left alone.

Killed worker, killed command, a line cut short, a full disk, Ctrl-C. Bytes are compared: no run is
lost, doubled or changed. So it is for an incremental analysis, whose next level hangs on what was run before.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from problems.sweeps import TINY

from hyloop.ensembles.table import read_table

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="processes, mounts and signals as on Linux"),
]

COUNT, SOME = 200, 12  # runs; rows that are waited for before something is broken
STRENGTHS = ",".join(f"{5 + 0.25 * k}kN" for k in range(COUNT // 2))
WORDS = ("sweep", "tiny.toml", "--grid", f"sites.damper1.device.f_y={STRENGTHS}", "--grid", "seed=1,2", "--no-report")
MORE = ("--set", "limits.max_d=16mm", "--set", "excitation.duration=10s")
# a shell in the background ignores it
COMMAND = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from hyloop.cli import main; main()"


IDA = ("ida", "shaken.toml", "--records", "one.csv,two.csv,three.csv", "--levels", "20", "--set", "ida.flattening=0")


def start(place, folder, workers=2, words=(*WORDS, *MORE)):
    words = [sys.executable, "-c", COMMAND, *words, "--workers", str(workers), "--out", str(folder)]
    return subprocess.Popen(
        words, cwd=place, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def end(process, code):
    _, said = process.communicate(timeout=300)
    assert process.returncode == code, said
    assert "Traceback" not in said and "defect" not in said, said
    return " ".join(said.split())


def lines(folder):
    path = folder / "runs.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def until_some(folder, process, count=COUNT):
    begin = time.monotonic()
    while lines(folder) < SOME:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() - begin < 200.0
        time.sleep(0.002)
    assert lines(folder) < count, "too fast to be broken off"


def workers(process):
    """Processes that a command has started to run something."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            stat, words = (entry / "stat").read_text(), (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if int(stat.rpartition(")")[2].split()[1]) == process.pid and b"spawn_main" in words:
            found.append(int(entry.name))
    return found


def ended(numbers):
    """Wait until processes are gone."""
    begin = time.monotonic()
    while any(Path(f"/proc/{number}").exists() for number in numbers):
        assert time.monotonic() - begin < 20.0, "workers outlive the command"
        time.sleep(0.01)


def table(folder):
    assert not list(folder.glob("*.part"))
    return (folder / "runs.parquet").read_bytes()


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("broken")
    (folder / "tiny.toml").write_text(TINY)
    record = '[excitation]\nkind = "record"\nfile = "one.csv"\n'
    (folder / "shaken.toml").write_text(TINY.replace(TINY[TINY.index("[excitation]") : TINY.index("[sites")], record))
    t = 0.01 * np.arange(1500)
    for k, name in enumerate(("one", "two", "three")):
        a = np.random.default_rng(k).normal(size=t.size) * np.sin(np.pi * t / t[-1])
        np.savetxt(folder / f"{name}.csv", np.column_stack([t, a]), "%.9g", ",", header="t [s],a [m/s2]", comments="")
    return folder


@pytest.fixture(scope="module")
def alone(place):
    """The table of a sweep that was left alone."""
    end(start(place, place / "alone", workers=1), 0)
    columns = read_table(place / "alone" / "runs.parquet")
    assert columns["number"] == list(range(1, COUNT + 1)) and len(set(columns["run"])) == COUNT
    assert set(columns["outcome"]) == {"complete", "stopped"}
    return table(place / "alone")


def test_a_killed_worker_is_replaced(place, alone):
    process = start(place, place / "worker")
    until_some(place / "worker", process)
    os.kill(workers(process)[0], signal.SIGKILL)
    end(process, 0)
    assert table(place / "worker") == alone


def test_a_killed_command_goes_on_also_behind_a_line_that_was_cut(place, alone):
    folder = place / "command"
    process = start(place, folder)
    until_some(folder, process)
    running = workers(process)
    process.kill()
    process.communicate()
    ended(running)
    with (folder / "runs.jsonl").open("ab") as journal:
        journal.write(b'{"identity": "0123456789abcdef", "outc')
    before = (folder / "runs.jsonl").read_bytes().rpartition(b"\n")[0]
    end(start(place, folder, workers=1), 0)
    assert table(folder) == alone
    assert (folder / "runs.jsonl").read_bytes().startswith(before) and lines(folder) == COUNT  # none was run again


def test_an_interrupted_sweep_says_so_keeps_a_table_and_goes_on(place, alone):
    folder = place / "interrupted"
    process = start(place, folder)
    until_some(folder, process)
    running = workers(process)
    process.send_signal(signal.SIGSTOP)  # so that it has not ended before the other one asks for its folder
    assert "another campaign is running into this folder" in end(start(place, folder), 2)
    process.send_signal(signal.SIGCONT)
    process.send_signal(signal.SIGINT)
    said = end(process, 130)
    ended(running)
    assert f"of {COUNT} runs, and the same command goes on" in said
    done = read_table(folder / "runs.parquet")
    assert SOME <= len(done["run"]) == lines(folder) < COUNT and done["number"] == sorted(done["number"])
    end(start(place, folder, workers=1), 0)
    assert table(folder) == alone and lines(folder) == COUNT


def test_a_disk_that_fills_ends_the_sweep_and_it_goes_on_with_more_room(place, alone):
    small = place / "disk"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24k", "tmpfs", small], capture_output=True).returncode:
        pytest.skip("this test needs to mount a disk, which only root may")
    try:
        folder = small / "sweep"
        said = end(start(place, folder), 1)
        assert "No space left on device" in said and "the same command goes on when there is room" in said
        assert 0 < lines(folder) < COUNT and (folder / "runs.jsonl").read_bytes().endswith(b"\n")
        subprocess.run(["mount", "-o", "remount,size=4m", small], check=True)
        end(start(place, folder, workers=1), 0)
        assert table(folder) == alone and lines(folder) == COUNT
        shutil.rmtree(folder)
    finally:
        subprocess.run(["umount", "-l", small], check=True)


def test_an_incremental_analysis_with_a_killed_worker_and_an_interrupt_is_that_of_one_left_alone(place):
    end(start(place, place / "ida-alone", workers=1, words=IDA), 0)
    folder, count = place / "ida", lines(place / "ida-alone")
    assert count == 3 * 20
    process = start(place, folder, words=IDA)
    until_some(folder, process, count)
    os.kill(workers(process)[0], signal.SIGKILL)
    before = lines(folder)
    while process.poll() is None and lines(folder) < before + SOME:  # others have taken over
        time.sleep(0.002)
    process.send_signal(signal.SIGINT)
    said = end(process, 130)
    there = lines(folder)
    assert f"{folder} holds {there} runs, and the same command goes on" in said
    assert 0 < len(read_table(folder / "runs.parquet")["run"]) <= there < count
    end(start(place, folder, words=IDA), 0)
    assert table(folder) == table(place / "ida-alone") and lines(folder) == count
    assert (folder / "ida.json").read_bytes() == (place / "ida-alone" / "ida.json").read_bytes()
