"""Decimation: every bucket has exactly the smallest and the largest of its rows."""

import numpy as np
import pytest

from hyloop.live.pyramid import BASE, Pyramid, extremes


def truth(rows, size):
    """Bucket by bucket, as NumPy has it."""
    pieces = [rows[k : k + size] for k in range(0, len(rows), size)]
    return np.stack([np.stack([np.nanmin(p, axis=0), np.nanmax(p, axis=0)], axis=-1) for p in pieces])


@pytest.mark.parametrize("size", [1, 2, 8, 32])
@pytest.mark.parametrize("count", [1, 31, 32, 1000])
def test_short_buckets(count, size, rng):
    rows = rng.normal(size=(count, 5))
    assert np.array_equal(extremes(rows, size), truth(rows, size))


def test_levels_are_exact_however_the_rows_come(rng):
    rows, chosen = rng.normal(size=(5000, 7)).astype(np.float32).astype(float), [4, 0, 6]
    pyramid = Pyramid(lambda begin, end: rows[begin:end], 7)
    for count in np.unique(rng.integers(1, 5000, 60)):
        pyramid.grow(int(count))
        for size in (BASE, 2 * BASE, 16 * BASE, 128 * BASE):
            wanted = truth(rows[:count], size)
            assert np.array_equal(pyramid.buckets(size, 0, len(wanted), chosen), wanted[:, chosen])
        assert np.array_equal(pyramid.least, rows[:count].min(axis=0))
        assert np.array_equal(pyramid.greatest, rows[:count].max(axis=0))


def test_many_rows_at_once_are_taken_in_pieces(rng):
    rows = rng.normal(size=(150_000, 2)).astype(np.float32).astype(float)
    pyramid, most = Pyramid(lambda begin, end: rows[begin:end], 2), 0

    def watched(begin, end):
        nonlocal most
        most = max(most, end - begin)
        return rows[begin:end]

    pyramid._rows = watched
    pyramid.grow(len(rows))
    assert most <= 1 << 16
    wanted = truth(rows, 1024)
    assert np.array_equal(pyramid.buckets(1024, 20, 147, [0, 1]), wanted[20:147])


def test_what_is_not_a_number_is_passed_over(rng):
    rows = rng.normal(size=(300, 2)).astype(np.float32).astype(float)
    rows[5:9, 0] = np.nan
    rows[64:128, 1] = np.nan
    pyramid = Pyramid(lambda begin, end: rows[begin:end], 2)
    pyramid.grow(300)
    found = pyramid.buckets(64, 0, 5, [0, 1])
    assert found[0, 0, 0] == np.nanmin(rows[:64, 0]) and np.isnan(found[1, 1]).all()
    assert pyramid.least[1] == np.nanmin(rows[:, 1])


def test_levels_take_a_small_part_of_the_room_of_the_rows(rng):
    rows = np.zeros((200_000, 4))
    pyramid = Pyramid(lambda begin, end: rows[begin:end], 4)
    pyramid.grow(len(rows))
    assert sum(level.nbytes for level in pyramid._levels) < rows.nbytes / 10
