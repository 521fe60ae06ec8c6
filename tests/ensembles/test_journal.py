"""The journal: whatever has been written before a death is there afterwards, and only that."""

import errno
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyloop.ensembles.journal import Journal
from hyloop.ensembles.outcome import AGAIN, COMPLETE, OUTCOMES, Row
from hyloop.errors import BadInput

ROWS = st.lists(
    st.builds(
        Row,
        identity=st.text("0123456789abcdef", min_size=4, max_size=4),
        outcome=st.sampled_from(OUTCOMES),
        reason=st.text(max_size=12),
        values=st.dictionaries(st.text("abc", min_size=1), st.floats(allow_nan=False), max_size=3),
    ),
    min_size=1,
    max_size=6,
    unique_by=lambda row: row.identity,
)


@given(rows=ROWS, data=st.data())
def test_any_beginning_of_the_file_is_recovered_and_goes_on(tmp_path_factory, rows, data):
    path = tmp_path_factory.mktemp("journal") / "runs.jsonl"
    assert Journal(path).add(rows) == rows
    whole = path.read_bytes()
    cut = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[:cut])
    found = Journal(path)
    assert list(found.rows.values()) == rows[: whole[:cut].count(b"\n")]
    found.add(rows)
    assert Journal(path).rows == {row.identity: row for row in rows}
    if not any(row.outcome in AGAIN for row in rows):  # which are written again
        assert path.read_bytes() == whole


def test_a_row_is_written_once_but_one_that_died_again(tmp_path):
    journal = Journal(tmp_path / "runs.jsonl")
    row, dead = Row("a", COMPLETE, "", {"x": 0.1}), Row("b", "died", "twice")
    assert journal.add([row, dead]) == [row, dead] and journal.add([row, row]) == []
    again = Row("b", COMPLETE, "", {"x": 1.0 / 3.0})
    assert journal.add([again, Row("a", "stopped", "other")]) == [again]
    assert Journal(journal.path).rows == {"a": row, "b": again}


def test_a_full_disk_leaves_the_journal_whole(tmp_path, monkeypatch):
    journal = Journal(tmp_path / "runs.jsonl")
    journal.add([Row("a", COMPLETE)])
    before = journal.path.read_bytes()

    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError):
        journal.add([Row("b", COMPLETE)])
    assert journal.path.read_bytes() == before and set(journal.rows) == {"a"}


def test_an_interrupt_while_the_disk_is_at_work_leaves_whole_lines(tmp_path, monkeypatch):
    journal = Journal(tmp_path / "runs.jsonl")

    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        journal.add([Row("b", COMPLETE)])
    assert set(Journal(journal.path).rows) == set(journal.rows) == {"b"}


def test_a_damaged_line_is_refused_by_number(tmp_path):
    path = tmp_path / "runs.jsonl"
    Journal(path).add([Row("a", COMPLETE), Row("b", COMPLETE)])
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + b"\0\0\n" + lines[1])
    with pytest.raises(BadInput, match="line 2 is damaged"):
        Journal(path)
