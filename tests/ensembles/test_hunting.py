"""Hunt, closing in and fill, against structures whose collapse is known."""

import pytest

from hyloop.ensembles.hunting import next_level
from hyloop.files.ida import Ida


def levels(plan, collapse):
    """All levels of a record that collapses from an intensity on, in the order in which they are run."""
    stood, fell, order = [], [], []
    while (level := next_level(plan, stood, fell)) is not None:
        order.append(level)
        (fell if level >= collapse else stood).append(level)
    return order, stood, fell


def plan(**given):
    return Ida.model_validate({"records": 1, "first": 1.0, "step": 1.0, "growth": 0.5, **given})


def test_steps_grow_until_it_falls_and_the_bracket_is_halved():
    order, _, _ = levels(plan(levels=9, fill=False), 5.2)
    assert order == [1.0, 2.0, 3.5, 5.5, 4.5, 5.0, 5.25]  # 5.0 stands, 5.25 falls: within 5 %


@pytest.mark.parametrize("collapse", [0.3, 0.9, 1.7, 4.0, 11.0])
def test_the_bracket_holds_the_collapse_within_the_resolution(collapse):
    _, stood, fell = levels(plan(levels=20), collapse)
    low, high = max(s for s in stood if s < collapse), min(fell)
    assert low < collapse <= high and high - low <= 0.05 * low and len(stood) + len(fell) == 20


def test_what_is_left_goes_to_the_widest_gaps():
    order, stood, _ = levels(plan(levels=12, resolution=0.2), 5.2)
    filled = sorted(stood)
    assert order[:5] == [1.0, 2.0, 3.5, 5.5, 4.5] and len(order) == 12
    assert max(b - a for a, b in zip([0.0, *filled[:-1]], filled, strict=True)) <= 0.75


def test_nothing_is_run_beyond_the_highest_level():
    order, _, fell = levels(plan(levels=9, highest=4.0), 5.2)
    assert max(order) == 4.0 and not fell and len(order) == 9 == len(set(order))
    assert levels(plan(levels=9, highest=4.0, fill=False), 5.2)[0] == [1.0, 2.0, 3.5, 4.0]


def test_where_the_first_level_falls_lower_ones_are_tried():
    order, stood, fell = levels(plan(levels=4), 1e-3)
    assert order == [1.0, 0.5, 0.25, 0.125] and not stood and len(fell) == 4
