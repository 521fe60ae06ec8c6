"""Curves of incremental dynamic analysis: where they end, what they reach, and their quantiles."""

import numpy as np
import pytest

from hyloop.errors import BadShape
from hyloop.metrics.fragility import EXACT, FAILED, STANDS
from hyloop.metrics.ida_curves import IdaCurve, given_intensity, given_response, quantile

ROUND = 1e-12


def curve(x, y, fell=(), flattening=0.0, name="record"):
    return IdaCurve(name, np.array(x, float), np.array(y, float), np.array(fell, float), flattening)


def test_collapse_lies_between_the_highest_that_stands_and_the_lowest_that_falls():
    found = curve([1.0, 2.0, 4.0], [0.1, 0.3, 0.8], [9.0, 12.0])
    assert found.capacity == (pytest.approx(6.0, rel=ROUND), EXACT) and found.bracket == (4.0, 9.0)
    assert curve([1.0, 2.0], [0.1, 0.3]).capacity == (2.0, STANDS)
    assert curve([], [], [0.5]).capacity == (0.5, FAILED)
    # it stands again above: what counts is the first collapse
    assert curve([1.0, 2.0, 5.0], [0.1, 0.3, 0.4], [4.0]).bracket == (2.0, 4.0)


def test_a_curve_that_stays_flat_ends_where_it_becomes_so():
    # slopes over the elastic 10: 1, 0.5, 0.1 and 0.05
    x, y = [1.0, 2.0, 2.5, 2.6, 2.65], [0.1, 0.2, 0.3, 0.4, 0.5]
    assert curve(x, y, flattening=0.2).capacity == (2.5, EXACT)
    assert curve(x, y).capacity == (2.65, STANDS)
    # it hardens again, so that the flat part was none; and one that turns back is not flat
    assert curve([*x, 4.0], [*y, 0.6], flattening=0.2).capacity == (4.0, STANDS)
    assert curve([1.0, 2.0, 3.0], [0.1, 0.3, 0.2], flattening=0.2).capacity == (3.0, STANDS)


def test_a_response_is_reached_first_where_the_curve_weaves():
    found = curve([1.0, 2.0, 3.0, 4.0], [0.1, 0.3, 0.2, 0.5], [5.0])
    assert found.reaching(0.25) == (pytest.approx(1.75, rel=ROUND), EXACT)
    assert found.reaching(0.05) == (pytest.approx(0.5, rel=ROUND), EXACT)
    assert found.reaching(0.6) == found.capacity
    assert curve([1.0, 2.0], [0.1, 0.3]).reaching(0.4) == (2.0, STANDS)
    assert found.at(2.5) == pytest.approx(0.25, rel=ROUND) and found.at(4.8) == np.inf
    assert np.isnan(curve([1.0], [0.1]).at(1.5))


def test_quantiles_of_lines_are_those_of_their_slopes():
    """Twenty-one elastic records: the response at any intensity is slope times intensity, all quantiles are lines."""
    slopes = np.exp(np.random.default_rng(0).normal(size=21))
    curves = [curve([1.0, 3.0, 8.0], s * np.array([1.0, 3.0, 8.0])) for s in slopes]
    x = np.array([0.5, 2.0, 7.0])
    for part in (0.16, 0.5, 0.84):
        at = np.quantile(slopes, part, method="hazen")
        assert given_intensity(curves, x, part) == pytest.approx(at * x, rel=ROUND)
    assert given_response(curves, np.array([0.2]), 0.5) == pytest.approx(0.2 / np.median(slopes), rel=ROUND)


def test_quantiles_of_collapsed_and_unknown():
    values = np.array([1.0, 2.0, 3.0, np.inf, np.inf])
    assert quantile(values, 0.5) == 3.0 and quantile(values, 0.84) == np.inf and quantile(values, 0.6) == np.inf
    # two stand at 2.0, their highest run: beyond it the median is still that of the others, 84 % are not known
    known = [curve([1.0, 5.0], [0.1, y]) for y in (0.5, 0.6, 0.7)]
    curves = [*known, *(curve([1.0, 2.0], [0.3, 0.9]) for _ in range(2))]
    at = given_intensity(curves, np.array([5.0, 5.0]), 0.5), given_intensity(curves, np.array([5.0]), 0.84)
    assert at[0] == pytest.approx([0.7, 0.7]) and np.isnan(at[1]).all()
    # a response of 0.8 is reached by two at about 1.8, by the others beyond 5
    assert np.isnan(given_response(curves, np.array([0.8]), 0.5)).all()
    assert given_response(curves, np.array([0.8]), 0.16) == pytest.approx(1.0 + 0.5 / 0.6, rel=ROUND)


def test_intensities_must_rise():
    with pytest.raises(BadShape, match="rise"):
        curve([2.0, 1.0], [0.1, 0.2])
