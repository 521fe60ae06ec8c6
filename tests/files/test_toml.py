"""TOML files as editors write them, and those that are refused."""

import pytest

from hyloop.errors import BadInput
from hyloop.files.toml import read_toml
from hyloop.study.claims import load_claims
from hyloop.study.studies import describe


def test_a_mark_of_the_byte_order_is_accepted_everywhere(tmp_path):
    (tmp_path / "a.toml").write_bytes("\ufefftitle = 'größer'\r\n[a]\r\nb = 1\r\n".encode())
    assert read_toml(tmp_path / "a.toml") == {"title": "größer", "a": {"b": 1}}
    (tmp_path / "study.toml").write_text("title = 'a'\nreference = 'b'\n", encoding="utf-8-sig")
    (tmp_path / "claims.toml").write_text("[[claims]]\nclaim = 'a'\nsource = 'b'\n", encoding="utf-8-sig")
    assert describe(tmp_path).title == "a" and load_claims(tmp_path / "claims.toml")[0].claim == "a"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a = 1".encode("utf-16"), "UTF-16. Save it as UTF-8"),
        (b"a = '\xe4'", "not a text file in UTF-8"),
        (b"a = " + b"9" * 5000, "too many digits"),
        (b"a = " + b"[" * 5000 + b"]" * 5000, "too deep"),
        (b"a" + b".a" * 200 + b" = 1", "too deep"),
        (b"a = ", "not valid TOML"),
    ],
)
def test_what_is_no_toml_is_refused_in_words(tmp_path, content, message):
    (tmp_path / "a.toml").write_bytes(content)
    with pytest.raises(BadInput, match=message):
        read_toml(tmp_path / "a.toml")
