"""What is sent to a client, put together again, is what it asked to see; and nothing is sent twice without need."""

import numpy as np
import pytest
from oracles.live import made_board

from hyloop.core.paced import ROWS
from hyloop.live.board_source import BoardSource
from hyloop.live.views import Histories, Paths, Values
from hyloop.live.watched import Watched

NAMES = ["u.1", "u.2", "damper.d", "damper.f"]
COUNT = 5000


@pytest.fixture
def rows(rng):
    return np.cumsum(rng.normal(size=(COUNT, 4)), axis=0).astype(np.float32).astype(float)  # as they are sent


@pytest.fixture
def watched(rows):
    with made_board(rows, NAMES) as board:
        board["marks"][ROWS] = COUNT - 1
        yield Watched(BoardSource(board.path))


def seen(watched, view, ends, span):
    """Buckets as a client has them in the end, and how many were sent."""
    kept, sent, size = {}, 0, 0
    for end in ends:
        part = view.part(watched, max(end - span, 0), end, span)
        if part is None:
            continue
        if part.fresh:
            kept = {}
        sent, size = sent + part.buckets, part.size
        kept |= {part.first + k: part.numbers[:, k] for k in range(part.buckets)}
    return kept, sent, size


@pytest.mark.parametrize("span", [100, 700, 4000])
def test_histories_of_a_window_that_moves_on(watched, rows, span):
    ends = range(300, COUNT + 1, 37)
    kept, sent, size = seen(watched, Histories((1, 3), 100), ends, span)
    end = ends[-1]
    assert span / size <= 100 < 2 * max(span / size, 50.5)
    first, last = max(end - span, 0) // size, (end - 1) // size
    for k in range(max(first, 1), last):  # row 0 is the state before the first tick
        piece = rows[k * size : (k + 1) * size, [1, 3]]
        assert np.array_equal(kept[k], np.column_stack([piece.min(axis=0), piece.max(axis=0)]))
    assert sent <= span / size + 2 + (end - ends[0]) / size + 2 * len(ends)


def test_nothing_new_is_nothing_sent(watched):
    view = Histories((0,), 100)
    assert view.part(watched, 0, 1000, 1000) is not None and view.part(watched, 0, 1000, 1000) is None


def test_going_back_and_another_span_begin_anew(watched):
    view = Histories((0,), 100)
    view.part(watched, 0, 4000, 4000)
    back = view.part(watched, 0, 2000, 4000)
    assert back.fresh and back.first == 0 and back.buckets == -(-2000 // back.size)
    narrower = view.part(watched, 1500, 2000, 500)
    assert narrower.fresh and narrower.size < back.size and narrower.first == 1500 // narrower.size


def test_paths_keep_the_extremes_of_both_signals_and_end_at_the_place_in_time(watched, rows):
    part = Paths(((2, 3),), 400).part(watched, 1000, 3777, 2777)
    points = part.numbers.reshape(-1, 2)
    piece = rows[part.first * part.size : 3777, [2, 3]]
    assert np.array_equal(points.min(axis=0), piece.min(axis=0))
    assert np.array_equal(points.max(axis=0), piece.max(axis=0))
    assert all(any(np.array_equal(point, row) for row in piece) for point in points[::37])
    short = Paths(((2, 3), (0, 1)), 4000).part(watched, 3000, 3777, 777)
    assert short.size <= 4 and np.array_equal(short.numbers[1].reshape(-1, 2)[:777], rows[3000:3777, [0, 1]])


def test_values_are_those_of_the_last_row(watched, rows):
    view = Values((3, 0))
    assert np.array_equal(view.part(watched, 0, 77, 77).numbers, rows[76:77, [3, 0]])
    assert view.part(watched, 0, 77, 77) is None
