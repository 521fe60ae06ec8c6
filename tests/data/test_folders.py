"""One place for data: HYLOOP_DATA, else the user's data folder, and no other."""

import pytest

from hyloop.data import data_folder, folders
from hyloop.errors import BadInput


def test_the_variable_comes_first_and_must_be_right(tmp_path, monkeypatch):
    monkeypatch.setenv("HYLOOP_DATA", str(tmp_path))
    assert data_folder() == folders.download_folder() == tmp_path
    assert folders.set_folder("brfd") is None
    (tmp_path / "brfd").mkdir()
    assert folders.set_folder("brfd") == tmp_path / "brfd"
    (tmp_path / "brfd" / folders.UNFINISHED).touch()  # a download that broke off between its files
    assert folders.set_folder("brfd") is None
    monkeypatch.setenv("HYLOOP_DATA", str(tmp_path / "absent"))
    with pytest.raises(BadInput, match="HYLOOP_DATA"):
        data_folder()


def test_else_the_users_own_folder_if_it_exists(tmp_path, monkeypatch):
    monkeypatch.delenv("HYLOOP_DATA", raising=False)
    monkeypatch.setattr(folders, "user_data_path", lambda name, appauthor: tmp_path / "home" / name)
    (tmp_path / "shared" / "data").mkdir(parents=True)
    (tmp_path / "checkout").mkdir()
    monkeypatch.chdir(tmp_path / "checkout")  # a folder beside the checkout is not looked at
    assert data_folder() is None and folders.set_folder("brfd") is None
    assert folders.download_folder() == tmp_path / "home" / "hyloop"
    (tmp_path / "home" / "hyloop").mkdir(parents=True)
    assert data_folder() == tmp_path / "home" / "hyloop"
