"""A part of a run on the clock is lost: the rig comes to its stated state, and what was recorded can be read."""

import os
import re
from pathlib import Path

import pytest
from problems.faults import FAULTS
from problems.lost_parts import PARTS, tried

pytestmark = pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="boards are for POSIX systems")

PAGE = Path(__file__).parents[2] / "docs" / "safety.md"
ROUND = 1 + 1e-9
RECORDED = 200  # ticks, which every run has made when a part is lost


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_the_rig_comes_to_its_state(part, tmp_path):
    got = tried(part, tmp_path)
    assert (got.reason, got.state) == (part.reason, part.state)
    assert got.waited == 0 and 0.0 < got.fastest <= ROUND and got.fastest_down <= ROUND
    assert got.readable > RECORDED


def test_the_tables_of_the_page_are_those_of_the_tests():
    rows = [
        [cell.strip() for cell in line.strip("|\n ").split("|")]
        for line in PAGE.read_text().splitlines()
        if "|" in line
    ]
    first = {row[0]: row for row in rows}
    for fault in FAULTS:
        assert first[fault.name][1] == fault.detected, fault.name
    for part in PARTS:
        assert first[part.name][1:3] == [part.noticed, part.state]
    tried_rows = [row for row in rows if row[-1] in ("yes", "no")]
    assert len(tried_rows) == len(FAULTS) + len(PARTS)
    assert all(re.fullmatch(r"[01]\.\d{3}", row[4]) and float(row[4]) <= 1.0 for row in tried_rows)
