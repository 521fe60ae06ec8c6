"""A study is written beside its results and takes their place, through a link as well."""

import shutil

import pytest

from hyloop.study.studies import run_study

STUDY = """
def run(job):
    job.kept.mkdir(exist_ok=True)
    count = len(list(job.kept.iterdir()))
    (job.kept / f"{count}.txt").write_text("a fit")
    return {"count": float(count)}
"""
CLAIMS = """
[[claims]]
claim = "count"
source = "counted"
paper = 0
unit = "-"
tolerance = 9
"""


@pytest.fixture
def study(tmp_path, monkeypatch):
    """The folder of a small study and of what it writes."""
    folder = tmp_path / "studies" / "small"
    folder.mkdir(parents=True)
    (folder / "study.toml").write_text('title = "Small"\nreference = "none"\n')
    (folder / "claims.toml").write_text(CLAIMS)
    (folder / "study.py").write_text(STUDY)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(out, keep=lambda earlier: None):
    return run_study("small", out, quick=False, progress=lambda what, part: None, keep=keep)


def test_a_link_to_a_folder_stays_one(study):
    (study / "elsewhere").mkdir()
    (study / "real").symlink_to(study / "elsewhere" / "results")
    earlier = []
    for _ in range(2):
        run(study / "real", earlier.append)
    assert (study / "real").is_symlink() and (study / "real" / "claims.json").is_file()
    assert earlier == [study / "elsewhere" / "results-1"] and (earlier[0] / "claims.json").is_file()
    assert {p.name for p in (study / "elsewhere").iterdir()} == {"results", "results-1"}


def test_a_copy_that_breaks_off_is_not_taken_for_the_whole(study, monkeypatch):
    out = study / "out"
    for _ in range(2):
        run(out, shutil.rmtree)
    whole = {"0.txt", "1.txt"}

    def broken(source, target):
        target.mkdir()
        shutil.copy(source / "0.txt", target)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(shutil, "copytree", broken)
        run(out)
    assert {p.name for p in (out / "kept").iterdir()} == whole
    run(out, shutil.rmtree)
    assert {p.name for p in (out / "kept").iterdir()} == {*whole, "2.txt"}
    assert {p.name for p in study.iterdir()} == {"studies", "out"}
