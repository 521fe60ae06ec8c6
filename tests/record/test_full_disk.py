"""A recording for which there is no room any more, and one whose disk fails: said, readable, and no crash of HDF5."""

import subprocess
import sys

import pytest

from hyloop.errors import BadInput
from hyloop.record import Recording
from hyloop.record.room import check_room

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits as on POSIX systems")

MOST = 2_000_000  # bytes
# rows that tell their own number, until the limit of the system; `reserve` is left out to see HDF5 itself fail
WRITER = f"""
import resource, sys
import numpy as np
import hyloop.record.layout as layout
from hyloop.errors import HyloopError
from hyloop.record import Recorder

if sys.argv[2] == "unforeseen":
    layout.reserve = lambda *place: None
resource.setrlimit(resource.RLIMIT_FSIZE, ({MOST}, {MOST}))
try:
    with Recorder(sys.argv[1], list("abcdefgh"), ["N"] * 8, 0.01, ring_seconds=1.0, flush_every=0.01) as recorder:
        for k in range(100_000):
            recorder.write(k + np.arange(8) / 8)
except HyloopError as error:
    sys.exit(str(error))
"""


@pytest.mark.parametrize("how", ["foreseen", "unforeseen"])
def test_a_file_that_may_not_grow_ends_in_a_message_and_can_be_read(tmp_path, how):
    path = tmp_path / "run.h5"
    done = subprocess.run([sys.executable, "-c", WRITER, path, how], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1, done.stderr  # and no signal: HDF5 would crash when it ends
    assert "Traceback" not in done.stderr and str(path) in done.stderr
    recording = Recording.load(path)
    assert not recording.complete and len(recording) > 5000
    assert (recording.data[:, 0] == range(len(recording))).all()
    assert path.stat().st_size <= MOST and [p.name for p in tmp_path.iterdir()] == ["run.h5"]
    if how == "foreseen":
        assert f"{len(recording)} rows are in the file" in done.stderr and "no room" in recording.fault


def test_a_recording_larger_than_the_disk_is_refused(tmp_path):
    check_room(tmp_path / "run.h5", 1000)
    with pytest.raises(BadInput, match=r"needs about 8000000000\.\d MB"):
        check_room(tmp_path / "run.h5", 10**15)
