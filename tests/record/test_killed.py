"""A recording survives SIGKILL of its process, and is read while another process writes it."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from hyloop.errors import BadInput
from hyloop.record import Recording

WRITERS = Path(__file__).with_name("writers.py")
RATE, CHANNELS = 1024, 16  # those of writers.py
KILLS, KILLS_ANYWHERE = 50, 10
LOST_AT_MOST = 1.0  # s of data; a flush every 0.25 s leaves the rest to a busy machine

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked and killed as on POSIX systems")


def start(*arguments: object) -> subprocess.Popen:
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "PYTHONWARNINGS": "default"}
    return subprocess.Popen(
        [sys.executable, str(WRITERS), *map(str, arguments)], stdout=subprocess.PIPE, env=environment
    )


def killed(*arguments: object) -> list[dict]:
    process = start(*arguments)
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    return json.loads(output)


def expected(rows: int) -> np.ndarray:
    return np.arange(rows)[:, None] + np.arange(CHANNELS) / CHANNELS


@pytest.mark.slow
def test_killed_at_any_moment(tmp_path):
    report = killed("kill", tmp_path, 1, KILLS)
    assert len(report) == KILLS
    for child in report:
        assert os.WIFSIGNALED(child["status"]) and os.WTERMSIG(child["status"]) == signal.SIGKILL
        recording = Recording.load(Path(child["folder"]) / "run.h5")
        # one row more: killed between the row and its count
        assert child["written"] - LOST_AT_MOST * RATE <= len(recording) <= child["written"] + 1
        assert not recording.complete
        np.testing.assert_array_equal(recording.data, expected(len(recording)))
        np.testing.assert_array_equal(recording.time, np.arange(len(recording)) / RATE)
    assert max(child["written"] for child in report) > RATE, "no process lived long enough to lose anything"


def test_killed_while_a_file_is_made_or_closed(tmp_path):
    report = killed("kill-anywhere", tmp_path, 2, KILLS_ANYWHERE)
    assert len(report) == KILLS_ANYWHERE
    for child in report:
        files = {int(path.stem): path for path in Path(child["folder"]).glob("*.h5")}
        assert len(files) >= child["written"] > 0
        last = max(files)
        for number in (0, last - 1, last) if last else (0,):  # all but the last were closed
            recording = Recording.load(files[number])
            assert recording.complete or number == last
            np.testing.assert_array_equal(recording.data, expected(len(recording)))


def test_read_while_written(tmp_path):
    path, seen = tmp_path / "run.h5", []
    process = start("live", path, 1.5)
    begin = time.monotonic()
    while process.poll() is None:
        assert time.monotonic() - begin < 60.0
        if path.exists():
            recording = Recording.load(path)
            np.testing.assert_array_equal(recording.data, expected(len(recording)))
            seen.append((len(recording), recording.complete))
        time.sleep(0.02)
    process.communicate()
    assert process.returncode == 0
    lengths = [rows for rows, _ in seen]
    assert lengths == sorted(lengths)
    growing = {rows for rows, complete in seen if not complete and rows}
    assert len(growing) >= 3, "rows must arrive while the run goes on"
    final = Recording.load(path)
    assert final.complete and len(final) == 1536


def test_not_there(tmp_path):
    with pytest.raises(BadInput, match="no such file"):
        Recording.load(tmp_path / "run.h5")
