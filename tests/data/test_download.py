"""Downloads from a server on this machine: good ones, damaged ones, cut ones, unsafe ones, and changed files."""

import errno
import io
import json
import signal
import stat
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import pytest
from oracles.server import serving

from hyloop.data import archive as archives
from hyloop.data import banded_damper
from hyloop.data.archive import unpack
from hyloop.data.catalogue import DATA_SETS, DataSet, Download, data_set
from hyloop.data.download import fetch
from hyloop.data.ledger import LEDGER, held, read_ledger, write_ledger
from hyloop.errors import BadInput, DownloadFailed, UnknownName

BODY = bytes(range(256)) * 1024
QUICK = {"pause": 0.0}


@pytest.fixture
def server():
    with serving() as answers:
        yield answers


def one(url, **more):
    return DataSet("set", "Title", "where it is from", "MIT", "Somebody", (Download(url, "a.bin", **more),), "use it")


def archive(members, top="repository-0e09aa9/"):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as content:
        for name, text in members.items():
            content.writestr(name if name.startswith(("/", "..")) else top + name, text)
    return packed.getvalue()


def zipped(url, **more):
    return DataSet("set", "T", "S", "MIT", "C", (Download(url, "published", unpack=True, **more),), "use")


def content(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_a_good_download_is_put_in_place_and_written_down(server, tmp_path):
    parts = []
    data = one(server.url("/a", BODY), sha256=sha256(BODY).hexdigest())
    folder = fetch(data, tmp_path, progress=lambda name, part: parts.append((name, part)), **QUICK)
    assert folder == tmp_path / "set" and (folder / "a.bin").read_bytes() == BODY
    assert content(tmp_path) == {"set/a.bin", f"set/{LEDGER}"} and server.asked == ["/a"]
    assert read_ledger(folder) == {"a.bin": sha256(BODY).hexdigest()}
    assert parts[0][1] < 0.5 and parts[-1] == ("a.bin", 1.0) and all(0 <= part <= 1 for _, part in parts)


def test_a_wrong_checksum_is_refused_and_tried_again(server, tmp_path):
    digest = sha256(BODY).hexdigest()
    folder = fetch(one(server.url("/a", BODY[:-1] + b"x", BODY), sha256=digest), tmp_path, **QUICK)
    assert (folder / "a.bin").read_bytes() == BODY and server.asked == ["/a", "/a"]
    with pytest.raises(DownloadFailed, match=r"in 3 attempt\(s\).*by hand: where it is from"):
        fetch(one(server.url("/b", b"something else"), sha256=digest), tmp_path / "other", attempts=3, **QUICK)
    assert server.asked.count("/b") == 3 and not (tmp_path / "other").exists()


@pytest.mark.parametrize("known", [True, False])
def test_a_line_that_breaks_is_tried_again(server, tmp_path, known):
    digest = sha256(BODY).hexdigest() if known else None
    data = one(server.url("/a", ("cut", BODY), ("status", 503), BODY), sha256=digest)
    assert (fetch(data, tmp_path, **QUICK) / "a.bin").read_bytes() == BODY
    assert server.asked == ["/a"] * 3
    with pytest.raises(DownloadFailed):
        fetch(one(server.url("/b", ("cut", BODY)), sha256=digest), tmp_path / "other", attempts=2, **QUICK)
    assert not (tmp_path / "other").exists()


def test_a_server_that_is_down_leaves_nothing(tmp_path):
    with serving() as answers:
        url = answers.url("/a", BODY)
    with pytest.raises(DownloadFailed, match="Check the connection"):
        fetch(one(url), tmp_path, attempts=2, **QUICK)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_gone_is_not_asked_for_again(server, tmp_path):
    with pytest.raises(DownloadFailed, match=r"404.*will say the same again.*by hand: where it is from"):
        fetch(one(server.url("/a", ("status", 404))), tmp_path, **QUICK)
    assert server.asked == ["/a"]


@pytest.mark.parametrize("status", [408, 425, 429, 500, 503])
def test_a_server_in_haste_or_in_trouble_is_asked_again(server, tmp_path, status):
    folder = fetch(one(server.url("/a", ("status", status), BODY)), tmp_path / "in", **QUICK)
    assert (folder / "a.bin").read_bytes() == BODY and server.asked == ["/a"] * 2
    with pytest.raises(DownloadFailed, match=rf"in 2 attempt\(s\) \({status}.*try again") as caught:
        fetch(one(server.url("/b", ("status", status))), tmp_path / "other", attempts=2, **QUICK)
    assert "the same again" not in str(caught.value)


# a download of two tests that kills itself: in its room after unpacking, or between the moves of the two
KILLED = """
import os, signal, sys
from pathlib import Path
from hyloop.data import download
from hyloop.data.catalogue import DataSet, Download

url, folder, where = sys.argv[1:]
def die():
    os.kill(os.getpid(), signal.SIGKILL)
if where == "room":
    download._compare = lambda *_: die()
plain = Path.replace
def replace(self, target):
    if where == "moves" and self.name == "b.json":
        die()
    return plain(self, target)
Path.replace = replace
item = Download(url, "published", unpack=True)
download.fetch(DataSet("brfd", "T", "S", "MIT", "C", (item,), "use"), folder)
"""


@pytest.mark.parametrize("where", ["room", "moves"])
def test_a_download_that_is_killed_is_not_here_and_leaves_nothing_to_the_next(server, tmp_path, monkeypatch, where):
    monkeypatch.setenv("HYLOOP_DATA", str(tmp_path))
    url = server.url("/z", archive({"dataset-2/a.json": "1", "dataset-2/b.json": "2"}))
    killed = subprocess.run([sys.executable, "-c", KILLED, url, str(tmp_path), where], check=False)
    assert killed.returncode == -signal.SIGKILL
    left = content(tmp_path)
    assert any(name.endswith("dataset-2/b.json") for name in left) and f"brfd/{LEDGER}" not in left
    assert ("brfd/published/dataset-2/a.json" in left) is (where == "moves")
    assert banded_damper.here() is None
    (tmp_path / ".mr_damper-download-x").mkdir()  # of another set, which may be under way
    data = DataSet("brfd", "T", "S", "MIT", "C", (Download(url, "published", unpack=True),), "use")
    folder = fetch(data, tmp_path, **QUICK)
    assert banded_damper.here() == folder == tmp_path / "brfd"
    assert content(tmp_path) == {
        f"brfd/{name}" for name in ("published/dataset-2/a.json", "published/dataset-2/b.json", LEDGER)
    }
    assert {path.name for path in tmp_path.iterdir()} == {"brfd", ".mr_damper-download-x"}


def test_one_download_of_a_set_at_a_time(server, tmp_path):
    data, seen = one(server.url("/a", BODY)), []

    def look(name, part):
        if not seen:
            seen.extend(path.name for path in (tmp_path / "set").iterdir())
            with pytest.raises(BadInput, match=r"set: another download of this set is under way"):
                fetch(data, tmp_path, **QUICK)
            seen.append("refused")

    (tmp_path / "set" / ".download-old").mkdir(parents=True)  # where rooms were once
    fetch(data, tmp_path, progress=look, **QUICK)
    assert seen == ["refused"] and content(tmp_path) == {"set/a.bin", f"set/{LEDGER}"} and server.asked == ["/a"]


def test_a_set_whose_folder_is_mounted_from_elsewhere(server, tmp_path, monkeypatch):
    plain = Path.replace

    def replace(path, target):
        if Path(target).parent == tmp_path / "set":
            raise OSError(errno.EXDEV, "Invalid cross-device link", str(path))
        return plain(path, target)

    monkeypatch.setattr(Path, "replace", replace)
    assert (fetch(one(server.url("/a", BODY)), tmp_path, **QUICK) / "a.bin").read_bytes() == BODY
    assert content(tmp_path) == {"set/a.bin", f"set/{LEDGER}"}


def test_checksums_of_several_writers_do_not_mix(tmp_path):
    lists = [{f"{number}-{k}": "0" * 64 for k in range(300)} for number in range(8)]
    with ThreadPoolExecutor(len(lists)) as pool:
        list(pool.map(lambda files: write_ledger(tmp_path, "S", files), lists * 4))
    assert read_ledger(tmp_path) in lists and content(tmp_path) == {LEDGER}


def test_a_set_comes_whole_or_not_at_all(server, tmp_path):
    good, gone = server.url("/a", BODY), server.url("/b", ("status", 404))
    data = DataSet("set", "T", "S", "MIT", "C", (Download(good, "a.bin"), Download(gone, "b.bin")), "use")
    with pytest.raises(DownloadFailed):
        fetch(data, tmp_path, **QUICK)
    assert list(tmp_path.iterdir()) == []


def test_an_archive_is_unpacked_without_its_top_folder_and_only_as_wanted(server, tmp_path):
    packed = archive({"data/one test.json": "1", "code.py": "2", "README.md": "3"})
    member = {"data/one test.json": sha256(b"1").hexdigest()}
    folder = fetch(zipped(server.url("/z", packed), keep=(".json", ".md"), members=member), tmp_path, **QUICK)
    assert content(folder) == {"published/data/one test.json", "published/README.md", LEDGER}
    wrong = {"data/one test.json": sha256(b"0").hexdigest()}
    for members in (wrong, {"data/other.json": sha256(b"1").hexdigest()}):
        with pytest.raises(DownloadFailed, match="is not the published file"):
            fetch(zipped(server.url("/z", packed), members=members), tmp_path / "other", **QUICK)
    assert not (tmp_path / "other").exists()


def test_an_archive_in_an_archive_is_unpacked_too(server, tmp_path):
    inner = archive({"Test signals/u.mat": "1", "read me.pdf": "2"}, top="BoucWenFiles/")
    outer = archive({"BoucWenFiles.zip": inner, "notes.txt": "3"}, top="")
    folder = fetch(zipped(server.url("/z", outer), keep=(".mat",)), tmp_path, **QUICK)
    assert content(folder) == {"published/BoucWenFiles/Test signals/u.mat", LEDGER}
    deep = archive({"a.zip": archive({"b.zip": archive({"c.mat": "1"})}, top="")}, top="")  # one level, no more
    assert content(fetch(zipped(server.url("/x", deep)), tmp_path / "deep", **QUICK)) == {"published/a/b.zip", LEDGER}
    bad = archive({"a.zip": archive({"../x.mat": "1"}, top="")}, top="")
    with pytest.raises(BadInput, match="outside"):
        fetch(zipped(server.url("/y", bad)), tmp_path / "other", **QUICK)


def test_a_damaged_archive_is_tried_again(server, tmp_path):
    packed = archive({"a.json": "1" * 1000, "b.json": "2" * 1000})
    damaged = bytearray(packed)
    damaged[len("repository-0e09aa9/a.json") + 34] ^= 0xFF  # in the packed bytes of the first member
    folder = fetch(zipped(server.url("/z", b"no archive", bytes(damaged), packed)), tmp_path, **QUICK)
    assert (folder / "published" / "b.json").read_text() == "2" * 1000 and server.asked == ["/z"] * 3
    with pytest.raises(DownloadFailed, match="none of the files that are wanted"):
        fetch(zipped(server.url("/y", packed), keep=(".csv",)), tmp_path / "other", attempts=1)


def test_no_damage_to_a_member_passes_unnoticed(tmp_path):
    """Every byte of the packed content in turn; what it does to the unpacker differs from place to place."""
    text = "".join(chr(65 + k * k % 61) for k in range(200))
    packed = archive({"a.json": text}, top="")
    begin = 30 + len("a.json")
    with zipfile.ZipFile(io.BytesIO(packed)) as whole:
        end = begin + whole.infolist()[0].compress_size
    noticed = 0
    for k in range(begin, end):
        (tmp_path / "damaged.zip").write_bytes(packed[:k] + bytes([packed[k] ^ 0x55]) + packed[k + 1 :])
        try:
            unpack(tmp_path / "damaged.zip", tmp_path / "content")
            assert (tmp_path / "content" / "a.json").read_text() == text  # bits after the end
        except zipfile.BadZipFile:
            noticed += 1
    assert noticed >= end - begin - 2 > 50


@pytest.mark.parametrize(
    "name", ["../outside.json", "/outside.json", "a/../../outside.json", "..\\outside.json", "...zip"]
)
def test_an_archive_that_leads_outside_is_refused(server, tmp_path, name):
    with pytest.raises(BadInput, match="outside"):
        fetch(zipped(server.url("/z", archive({"good.json": "1", name: "2"}, top=""))), tmp_path / "in", **QUICK)
    assert list(tmp_path.rglob("*")) == [] and server.asked == ["/z"]


def test_a_member_without_a_name_is_refused(server, tmp_path):
    with pytest.raises(BadInput, match=r"the member '\.', which is no name of a file"):
        fetch(zipped(server.url("/z", archive({"good.json": "1", ".": "2"}, top=""))), tmp_path / "in", **QUICK)
    assert list(tmp_path.rglob("*")) == []


@pytest.mark.parametrize(
    "members",
    [
        {"a": "1", "a.zip": archive({"b": "2"}, top="")},
        {"a.zip": archive({"b": "2"}, top=""), "a": "1"},
        {"a.zip": archive({"b": "2"}, top=""), "a/b": "1"},
        {"a": "1", "a/b": "2"},
        {"a/b": "2", "a": "1"},
    ],
)
def test_members_at_one_place_are_refused(server, tmp_path, members):
    with pytest.raises(BadInput, match=r"would lie at 'a(/b)?'"):
        fetch(zipped(server.url("/z", archive({"c": "3", **members}, top=""))), tmp_path / "in", **QUICK)
    assert list(tmp_path.rglob("*")) == [] and server.asked == ["/z"]


def test_the_size_is_bounded_with_all_that_is_nested(tmp_path, monkeypatch):
    inner = archive({"x.json": "0" * 4000}, top="")
    (tmp_path / "z.zip").write_bytes(archive({f"{k}.zip": inner for k in range(3)}, top=""))
    assert len(unpack(tmp_path / "z.zip", tmp_path / "content")) == 3
    monkeypatch.setattr(archives, "_MOST", 11_000)  # two fit, three do not
    with pytest.raises(BadInput, match="holds more than"):
        unpack(tmp_path / "z.zip", tmp_path / "other")


def test_a_link_in_an_archive_is_refused(server, tmp_path):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        link = zipfile.ZipInfo("top/link.json")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        file.writestr(link, "/etc/passwd")
    with pytest.raises(BadInput, match="outside"):
        fetch(zipped(server.url("/z", packed.getvalue())), tmp_path, **QUICK)


def test_what_was_trusted_at_first_is_held_to(server, tmp_path):
    data = one(server.url("/a", BODY, BODY, BODY[::-1]))
    folder = fetch(data, tmp_path, **QUICK)
    file = folder / "a.bin"
    assert held(folder, file, read_ledger(folder)) == file
    fetch(data, tmp_path, **QUICK)  # the same again
    with pytest.raises(DownloadFailed, match="not what it was at the first download"):
        fetch(data, tmp_path, **QUICK)
    assert file.read_bytes() == BODY
    file.write_bytes(BODY[::-1])
    with pytest.raises(BadInput, match=r"has changed since.*hyloop data get set"):
        held(folder, file, read_ledger(folder))
    (folder / "own.bin").write_bytes(b"not downloaded")
    assert held(folder, folder / "own.bin", read_ledger(folder))
    (folder / LEDGER).write_text("[]")
    with pytest.raises(BadInput, match="not a list of checksums"):
        read_ledger(folder)


def test_a_folder_that_cannot_be_written_to(server, tmp_path):
    (tmp_path / "set").write_text("a file where the folder should be")
    with pytest.raises(BadInput, match="HYLOOP_DATA"):
        fetch(one(server.url("/a", BODY)), tmp_path, **QUICK)


def test_the_catalogue_says_whose_the_data_are_and_invents_no_checksum():
    assert set(DATA_SETS) == {"brfd", "boucwen", "mr_damper"}
    for data in DATA_SETS.values():
        assert data.licence and data.citation and data.source and data.downloads
        assert all(item.url.startswith("https://") and item.sha256 is None for item in data.downloads)
    assert json.dumps([vars(item) for data in DATA_SETS.values() for item in data.downloads])
    with pytest.raises(UnknownName, match="Did you mean 'brfd'"):
        data_set("brdf")
