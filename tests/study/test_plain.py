"""Results as text: what goes in comes out, and nothing else gets in."""

from dataclasses import dataclass

import numpy as np
import pytest

from hyloop.errors import BadInput
from hyloop.identification import MeasuredTest
from hyloop.study.plain import from_text, to_text
from hyloop.study.seeds import Seeds


def test_values_come_back_as_they_were():
    value = {
        "a": [1, 2.5, None, True, "ü", np.float64(3.0)],
        ("b", 3): (np.arange(6.0).reshape(2, 3), np.array([1, 2], dtype="<i2")),
        "seeds": Seeds.of([1.0, np.nan, np.inf]),
    }
    back = from_text(to_text(value))
    assert back["a"] == [1, 2.5, None, True, "ü", 3.0] and isinstance(back["seeds"], Seeds)
    for ours, theirs in zip(back["b", 3], value["b", 3], strict=True):
        assert ours.dtype == theirs.dtype and np.array_equal(ours, theirs)
    np.testing.assert_array_equal(back["seeds"].values, value["seeds"].values)
    assert to_text(back) == to_text(value)


def test_records_are_made_from_their_fields():
    test = MeasuredTest(0.01, {"d": np.linspace(0.0, 1.0, 20)}, np.linspace(1.0, 2.0, 20), name="a")
    back = from_text(to_text(test))
    assert isinstance(back, MeasuredTest) and np.array_equal(back.f, test.f) and back.name == "a"


@dataclass
class Foreign:
    x: float


def test_what_is_not_a_record_of_ours_is_refused():
    with pytest.raises(BadInput, match="none of hyloop's records"):
        from_text(to_text(Foreign(1.0)))
    with pytest.raises(BadInput, match="no record"):
        from_text('{"?": "hyloop.study.plain:to_text", "fields": {"value": 1}}')
    with pytest.raises(BadInput, match="none of hyloop's records"):
        from_text('{"?": "os:system", "fields": {"command": "true"}}')
    with pytest.raises(BadInput, match="cannot be kept"):
        to_text(object())
