"""A script in a process of its own is stopped with all it started, and only the end of what it printed is shown."""

import os
import sys
import time
from pathlib import Path

import pytest

from hyloop.errors import BadInput
from hyloop.structure.frames.opensees_script import run_script
from hyloop.structure.frames.script_running import run_within, what_was_printed


def _alive(pid: int) -> bool:
    """Whether it runs; what nobody has waited for yet does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")
def test_nothing_survives_the_timeout(tmp_path):
    script = tmp_path / "endless.py"
    script.write_text(
        "import os, subprocess\nfrom pathlib import Path\n"
        "child = subprocess.Popen(['sleep', '60'])\n"
        f"Path({str(tmp_path / 'pids')!r}).write_text(f'{{os.getpid()}} {{child.pid}}')\n"
        "while True: pass\n"
    )
    with pytest.raises(BadInput, match="did not end within 4 s"):
        run_script(script, timeout=4.0)
    pids = [int(word) for word in (tmp_path / "pids").read_text().split()]
    end = time.monotonic() + 5.0
    while any(map(_alive, pids)) and time.monotonic() < end:
        time.sleep(0.02)  # init takes a moment
    assert len(pids) == 2 and os.getpid() not in pids and not any(map(_alive, pids))


def test_a_script_has_no_keyboard(tmp_path):
    with (tmp_path / "said").open("wb") as output:
        assert run_within([sys.executable, "-c", "input()"], output, 20.0) == 1
    assert "EOFError" in what_was_printed(tmp_path / "said")


def test_only_the_end_is_shown_and_long_lines_are_cut(tmp_path):
    said = tmp_path / "said"
    said.write_bytes(b"the first line\n" + 200_000 * b"x" + b"\n\xff the last line\nProcess 0 Terminating\n")
    shown = what_was_printed(said)
    assert "first" not in shown and shown.endswith("the last line") and len(shown) < 400
    said.write_bytes(b"Process 0 Terminating\n")
    assert what_was_printed(said) == " It printed nothing."
