"""Boards: what one process writes another one sees, and nothing else than a board is taken for one."""

import os
import subprocess
import sys

import numpy as np
import pytest

from hyloop.core.board import Board
from hyloop.errors import BadInput

ARRAYS = {"rows": (float, (5, 3)), "marks": (np.int64, (7,)), "nothing": (float, (0, 2))}

OTHER = """
import sys
from pathlib import Path
from hyloop.core.board import Board
board = Board.open(Path(sys.argv[1]), write=True)
assert board.about == {"names": ["a", "b", "c"]}
board["rows"][4] = 2 * board["rows"][3]
board["marks"][6] = -5
"""


@pytest.fixture
def board(tmp_path):
    made = Board.make(ARRAYS, {"names": ["a", "b", "c"]}, tmp_path)
    yield made
    made.remove()


def test_another_process_sees_and_is_seen(board):
    board["rows"][3] = [1.0, np.pi, np.nan]
    subprocess.run([sys.executable, "-c", OTHER, str(board.path)], check=True)
    assert np.array_equal(board["rows"][4], [2.0, 2 * np.pi, np.nan], equal_nan=True) and board["marks"][6] == -5
    assert not board["rows"][:3].any() and board["nothing"].shape == (0, 2)


def test_who_opens_it_to_read_cannot_write(board):
    seen = Board.open(board.path)
    board["rows"][0, 0] = 7.0
    assert seen["rows"][0, 0] == 7.0
    with pytest.raises(ValueError, match="read-only"):
        seen["rows"][0, 0] = 8.0


def test_its_folder_is_its_own_and_goes(board):
    folder = board.path.parent
    assert os.stat(folder).st_mode & 0o077 == 0
    board.remove()
    assert not folder.exists() and board["rows"].shape == (5, 3)  # what is open stays


def test_another_file_is_refused(tmp_path):
    for text in (b"", b"hyloop board 1\n\0\xff\xff\xff\xff\0\0\0\0{", b"x" * 100):
        (tmp_path / "file").write_bytes(text)
        with pytest.raises(BadInput, match="is not the board"):
            Board.open(tmp_path / "file")
