"""The benchmark of runs on the clock, short: both tests run, their numbers fit together, and turns are taken."""

from contextlib import contextmanager
from importlib import import_module

import pytest

from hyloop.core.board import Board

bench = import_module("benchmarks.paced")
SECONDS = 1.0


@pytest.mark.parametrize(("case", "rate"), [("frame", 1024), ("plant", 4096)])
def test_a_case_runs_on_the_clock(case, rate):
    found = bench.told(case, [bench.run(getattr(bench, case)(SECONDS))])
    assert found["ticks"] == pytest.approx(SECONDS * rate, abs=1) and found["tick"] == pytest.approx(1e6 / rate)
    for key in ("computes", "late", "share"):
        assert list(found[key].values()) == sorted(found[key].values())
    assert found["share"]["99 %"] == pytest.approx(found["computes"]["99 %"] * rate * 1e-6)
    assert len(bench.lines(found)) == 6 + len(found["refused"])


def test_runs_with_and_without_something_beside_them_take_turns():
    turns = []

    def beside(name):
        @contextmanager
        def one(run):
            turns.append(name)
            assert Board.open(run.board.path).about["title"] == case.name
            yield

        return one

    case = bench.plant(SECONDS)
    found = bench.compared(case, {"alone": beside("alone"), "page": beside("page")})
    assert turns == ["alone", "page", "alone", "page"]
    assert found["alone"]["ratio"] == {"computes": 1.0, "late": 1.0}
    for key, ratio in found["page"]["ratio"].items():
        assert ratio == found["page"][key]["99 %"] / found["alone"][key]["99 %"] > 0.0
    assert found["page"]["ticks"] == 2 * len(case.rows) - 2
