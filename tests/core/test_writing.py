"""Files are replaced whole, where they can be written, by one process at a time, and nothing of before is lost."""

import subprocess
import sys

import pytest

from hyloop.cli.results import keeper
from hyloop.core.holding import holding
from hyloop.core.writing import check_target, replacing, set_aside
from hyloop.errors import BadInput

HOLDER = """
import sys, time
from pathlib import Path
from hyloop.core.holding import holding
with holding(Path(sys.argv[1]), "held"):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_write_that_fails_leaves_the_file_of_before(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("before")
    with pytest.raises(KeyboardInterrupt), replacing(path) as part:
        part.write_text("half")
        raise KeyboardInterrupt
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"] and path.read_text() == "before"


def test_a_link_and_the_longest_name_are_replaced(tmp_path):
    name = "x" * 255
    (tmp_path / "link").symlink_to(tmp_path / name)
    for text in ("one", "two"):
        with replacing(tmp_path / "link") as part:
            part.write_text(text)
    assert (tmp_path / "link").is_symlink() and (tmp_path / name).read_text() == "two"


@pytest.mark.parametrize(
    ("name", "folder", "message"),
    [
        ("file/x", False, "Not a directory"),
        ("folder", False, "is a folder"),
        ("file", True, "is a file"),
        ("x" * 300, False, "too long"),
        ("link", False, "cannot write"),
    ],
)
def test_a_place_that_cannot_be_written_is_refused(tmp_path, name, folder, message):
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("/proc/nowhere/x")
    with pytest.raises(BadInput, match=message):
        check_target(tmp_path / name, folder=folder)
    check_target(tmp_path / "new" / "folder" / "x", folder=folder)
    assert {p.name for p in tmp_path.iterdir()} == {"file", "folder", "link"}


def test_what_is_set_aside_keeps_its_company_and_takes_no_name(tmp_path):
    path = tmp_path / "a.h5"
    assert set_aside(path, ".html") is None
    for name in ("a.h5", "a.html", "a-1.html", "a-2.h5"):
        (tmp_path / name).write_text(name)
    assert set_aside(path, ".html") == tmp_path / "a-3.h5"
    assert {p.name: p.read_text() for p in tmp_path.iterdir()} == {
        "a-3.h5": "a.h5",
        "a-3.html": "a.html",
        "a-1.html": "a-1.html",
        "a-2.h5": "a-2.h5",
    }


def test_what_a_link_points_to_is_set_aside_and_the_neighbours_of_the_link_stay(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    link, real, precious = tmp_path / "a" / "run.h5", tmp_path / "b" / "run.h5", tmp_path / "a" / "run-1.h5"
    link.symlink_to("../b/run.h5")
    real.write_text("earlier")
    precious.write_text("precious")
    earlier = set_aside(link, ".html")
    assert earlier == tmp_path / "b" / "run-1.h5" and earlier.read_text() == "earlier"
    keeper(force=True)(earlier)
    assert precious.read_text() == "precious" and link.is_symlink() and not list((tmp_path / "b").iterdir())


def test_a_file_is_held_by_one_process_until_it_ends_or_dies(tmp_path):
    path = tmp_path / "a.h5"
    for end in ("close", "kill"):
        other = subprocess.Popen(
            [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert other.stdout.readline() == "held\n"
        with pytest.raises(BadInput, match=r"a.h5: it is taken. Wait"), holding(path, "it is taken"):
            pass
        if end == "kill":
            other.kill()
        other.communicate()
        with holding(path, "it is taken"), holding(path, "it is taken"):  # a process may hold again what it holds
            assert [p.name for p in tmp_path.iterdir()] == [".a.h5.lock"]
        assert not list(tmp_path.iterdir())
