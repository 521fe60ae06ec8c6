"""Every example runs, in an empty folder, as a newcomer would run it."""

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "examples"
LONGEST = 80  # lines: an example is read before it is run


@pytest.mark.parametrize("example", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_example(example, tmp_path):
    assert len(example.read_text(encoding="utf-8").splitlines()) <= LONGEST
    done = subprocess.run([sys.executable, "-W", "error", example], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    if example.stem == "demo":
        assert (tmp_path / "out" / "demo.png").stat().st_size > 20_000
    if example.stem == "own_device":
        assert "agree: True" in done.stdout
