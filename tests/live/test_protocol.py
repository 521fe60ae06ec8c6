"""Messages: numbers arrive as they were, and what a client may not ask for is refused."""

import json

import numpy as np
import pytest

from hyloop.errors import BadInput
from hyloop.live.protocol import message, numbers, wish, wished_views
from hyloop.live.views import Histories, Paths, Values


@pytest.mark.parametrize("title", ["", "a", "ab", "naïve ≥ µ", "</script>"])
def test_a_message_is_a_header_and_numbers_that_lie_at_a_multiple_of_four(title, rng):
    values = rng.normal(size=(3, 5)), rng.normal(size=2)
    data = message({"kind": "frame", "title": title}, values)
    length = int.from_bytes(data[:4], "little")
    assert length % 4 == 0 and json.loads(data[4 : 4 + length]) == {"kind": "frame", "title": title}
    found = np.frombuffer(data[4 + length :], "<f4")
    assert np.array_equal(found, np.concatenate([v.ravel() for v in values]).astype(np.float32))


def test_what_single_precision_cannot_hold_is_not_a_number():
    found = np.frombuffer(numbers(np.array([1.0, 1e300, -np.inf, np.nan, -2.5])), "<f4")
    assert np.array_equal(found, [1.0, np.nan, np.nan, np.nan, -2.5], equal_nan=True)


def test_views_are_made_as_they_are_asked_for():
    asked = [
        {"id": "a", "kind": "histories", "signals": [0, 4], "points": 300},
        {"id": "b", "kind": "paths", "pairs": [[0, 1], [2, 3]], "points": 900},
        {"id": "c", "kind": "values", "signals": [2]},
    ]
    made = wished_views(asked, 5)
    assert [type(view) for _, view in made.values()] == [Histories, Paths, Values]
    again = wished_views(asked, 5)
    assert all(made[name][0] == again[name][0] for name in made)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "1",
        '"stop"',
        '{"what": 1}',
        '{"stop": 1}',
        '{"ack": -1}',
        '{"ack": 1.5}',
        '{"ack": true}',
        '{"at": "now"}',
        '{"at": NaN}',
        '{"at": 1e300}',
        '{"span": 0}',
        '{"span": -1}',
        '{"views": {}}',
        '{"playing": 1}',
    ],
)
def test_other_messages_are_refused(text):
    with pytest.raises(BadInput):
        wish(text)


@pytest.mark.parametrize(
    "spec",
    [
        7,
        {},
        {"id": "a"},
        {"id": 1, "kind": "values", "signals": [0]},
        {"id": "a", "kind": "values", "signals": []},
        {"id": "a", "kind": "values", "signals": [5]},
        {"id": "a", "kind": "values", "signals": [-1]},
        {"id": "a", "kind": "values", "signals": [True]},
        {"id": "a", "kind": "values", "signals": "0"},
        {"id": "a", "kind": "paths", "pairs": [[0]]},
        {"id": "a", "kind": "paths", "pairs": [0, 1]},
        {"id": "a", "kind": "other", "signals": [0]},
        {"id": "a", "kind": "histories", "signals": [0], "points": 0},
        {"id": "a", "kind": "histories", "signals": [0], "points": 10**9},
        {"id": "a", "kind": "histories", "signals": [0] * 5000, "points": 10},
        {"id": "a" * 1000, "kind": "histories", "signals": [0], "points": 10},
    ],
)
def test_other_views_are_refused(spec):
    with pytest.raises(BadInput):
        wished_views([spec], 5)


def test_too_many_views_are_refused():
    with pytest.raises(BadInput):
        wished_views([{"id": str(k), "kind": "values", "signals": [0]} for k in range(500)], 5)
