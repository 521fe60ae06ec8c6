"""A recording for which there is no room any more, and one whose disk fails: said, readable, and no crash of HDF5."""

import re
import subprocess
import sys

import pytest

from hyloop.errors import BadInput
from hyloop.record import Recording
from hyloop.record.room import check_room

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits as on POSIX systems")

MOST = 2_000_000  # bytes
# rows that tell their own number, until the limit of the system, or until the disk takes no more
WRITER = f"""
import os, resource, sys
import numpy as np
from hyloop.errors import HyloopError
from hyloop.record import Recorder

path, how = sys.argv[1:]
if how == "limit":
    resource.setrlimit(resource.RLIMIT_FSIZE, ({MOST}, {MOST}))
try:
    with Recorder(path, list("abcdefgh"), ["N"] * 8, 0.01, ring_seconds=1.0, flush_every=0.01) as recorder:
        for k in range(100_000):
            recorder.write(k + np.arange(8) / 8)
            if how == "failure" and k == 20_000:
                os.dup2(os.open(path, os.O_RDONLY), recorder._file._file.id.get_vfd_handle())
except HyloopError as error:
    sys.exit(str(error))
"""


@pytest.mark.parametrize(
    ("how", "message"), [("limit", "no room for more"), ("failure", "writing the recording failed")]
)
def test_what_was_recorded_can_be_read_and_hdf5_does_not_crash(tmp_path, how, message):
    path = tmp_path / "run.h5"
    done = subprocess.run([sys.executable, "-c", WRITER, path, how], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1, done.stderr  # and no signal
    assert f"{path}: {message}" in done.stderr and "Traceback" not in done.stderr
    recording = Recording.load(path)
    assert not recording.complete and len(recording) > 5000
    # a write that fails half-way may have left more rows than were counted, never fewer
    counted = int(re.search(r"(\d+) rows are in\s+the file", done.stderr)[1])
    assert counted == len(recording) if how == "limit" else 5000 < counted <= len(recording)
    assert (recording.data[:, 0] == range(len(recording))).all()
    assert path.stat().st_size <= MOST and [p.name for p in tmp_path.iterdir()] == ["run.h5"]
    assert ("no room" in recording.fault) is (how == "limit")


def test_a_recording_larger_than_the_disk_is_refused(tmp_path):
    check_room(tmp_path / "run.h5", 1000)
    with pytest.raises(BadInput, match=r"needs about 8000000001\.\d MB"):
        check_room(tmp_path / "run.h5", 10**15)
